"""Generate src/neardup/text/unicode-14.0.0.npz, the character tables that are part of every recipe.

Run by hand, with the one Python whose `unicodedata` is of the pinned version:  python3.11 tools/make_unicode_tables.py

All properties come from `unicodedata`, but for one that it lacks (Default_Ignorable_Code_Point, written down here from the
Unicode 14.0 file DerivedCoreProperties.txt). NFKC_Casefold is derived as The Unicode Standard 14.0 says (section 3.13, R5
and D147): fold and normalize until stable, without the default ignorables.
"""

import sys
import unicodedata
from pathlib import Path

import numpy as np

VERSION = "14.0.0"
TARGET = Path(__file__).parent.parent / "src/neardup/text" / f"unicode-{VERSION}.npz"
BLOCK = 128
LIMIT = 0x110000

# What an entry of the fold table holds; src/neardup/kernels/text/normalization.py reads it.
KIND_SHIFT, CLASS_SHIFT, MARK_BIT = 21, 23, 25
ITSELF, ONE, SEVERAL, DELETED = range(4)
SEPARATOR, WORD, CJK = range(3)
COMPOSES = 255

IGNORABLE_RANGES = """
    00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8
    1BCA0-1BCA3 1D173-1D17A E0000-E0FFF
"""
WHITE_SPACE = {*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
CJK_NAMES = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "HENTAIGANA",
    "IDEOGRAPHIC ITERATION MARK", "IDEOGRAPHIC NUMBER ZERO", "HANGZHOU NUMERAL", "VERTICAL IDEOGRAPHIC ITERATION MARK",
    "VERTICAL KANA REPEAT", "COMBINING KATAKANA-HIRAGANA", "MASU MARK", "OLD CHINESE ITERATION MARK",
    "VIETNAMESE ALTERNATE READING MARK",
)  # fmt: skip
SPACELESS_NAMES = (
    "THAI ", "LAO ", "MYANMAR ", "KHMER ", "TAI LE ", "NEW TAI LUE ", "TAI THAM ", "TAI VIET ", "AHOM ", "JAVANESE ",
    "BALINESE ", "BUGINESE ", "BATAK ", "YI SYLLABLE ",
)  # fmt: skip
"""Scripts that write no spaces between words. Their letters and marks are tokens by themselves in version 2 of a recipe."""
EMOJI_RANGES = """
    231A-231B 23E9-23F3 23F8-23FA 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271D 2721 2728 2733-2734 2744
    2747 274C 274E 2753-2755 2757 2763-2767 2795-2797 27A1 27B0 27BF 2B1B-2B1C 2B50 2B55 1F000-1F0FF 1F170-1F171 1F17E-1F17F
    1F18E 1F191-1F19A 1F1E6-1F1FF 1F300-1F53D 1F546-1F64F 1F680-1F6FF 1F7D5-1F7FF 1F90C-1FAFF 1FC00-1FFFD
"""
"""Tokens by themselves in version 2: Extended_Pictographic (emoji-data.txt) without signs that text has as punctuation, such as
bullets, arrows and the copyright sign; with regional indicators and skin tones. What later versions add there is one, too.
"""
MARK_RANGES = """
    0300-036F 0483-0487 0591-05BD 05BF 05C1-05C2 05C4-05C5 05C7 0610-061A 0640 064B-0652 0656-065F 0670 06D6-06DC 06DF-06E4
    06E7-06E8 06EA-06ED 0711 0730-074A 0898-089F 08CA-08E1 08E3-08FF 1AB0-1ACE 1DC0-1DFF 20D0-20F0 FE20-FE2F
"""
"""What the normalizer `marks` removes: accents, and vowel signs and points of Arabic, Hebrew and Syriac; and tatweel."""
HAMZA_RANGES = "0653-0655"
LETTERS = {"\u0671": "\u0627", "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643", "\u06aa": "\u0643"} | dict(
    zip("\u05da\u05dd\u05df\u05e3\u05e5\u03c2", "\u05db\u05de\u05e0\u05e4\u05e6\u03c3", strict=True)
)
"""What `letters` replaces: alef wasla, forms of ye and kaf, final letters of Hebrew and Greek. It removes hamza and madda."""
REMOVED = LIMIT
RESERVED_FOR_IDEOGRAPHS = range(0x20000, 0x3FFFE)
"""Planes 2 and 3: an ideograph that a later Unicode adds there is already an ideograph here."""


def code_points(ranges: str) -> set[int]:
    found: set[int] = set()
    for text in ranges.split():
        first, _, last = text.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return found


def nfkc_casefold(character: str, ignorable: set[int]) -> str:
    before, now = "", character
    while now != before:
        before = now
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", now).casefold())
        now = unicodedata.normalize("NFKC", "".join(c for c in folded if ord(c) not in ignorable))
    return now


def token_class(code: int) -> int:
    character = chr(code)
    category = unicodedata.category(character)
    if category == "Cn":
        return CJK if code in RESERVED_FOR_IDEOGRAPHS else SEPARATOR
    if category[0] not in "LMN":
        return SEPARATOR
    return CJK if unicodedata.name(character, "").startswith(CJK_NAMES) else WORD


def is_spaceless(code: int) -> bool:
    """Whether it is a letter or mark of a script that writes no spaces between words."""
    return unicodedata.category(chr(code))[0] in "LM" and unicodedata.name(chr(code), "").startswith(SPACELESS_NAMES)


def composing() -> set[int]:
    """Code points that may merge with what stands before them (NFC_Quick_Check=Maybe)."""
    found = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
    for code in range(LIMIT):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            pair = "".join(chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", pair) == chr(code):
                found.add(ord(pair[1]))
    return found


def changes(removed: set[int], replaced: dict[str, str]) -> np.ndarray:
    """Rows of a code point and what it becomes without these characters and with those replaced; REMOVED if nothing is left.

    Composed characters become what they would if they were decomposed (NFKD). One that would become several stays: a ligature.
    """
    rows = []
    for code in range(LIMIT):
        parts = unicodedata.normalize("NFKD", chr(code))
        kept = "".join(replaced.get(part, part) for part in parts if ord(part) not in removed)
        found = unicodedata.normalize("NFC", kept)
        if kept != parts and len(found) < 2:
            rows.append((code, ord(found) if found else REMOVED))
    return np.array(rows, np.uint32)


def two_stage(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct blocks of BLOCK values, and which of them stands where."""
    blocks, index = np.unique(values.reshape(-1, BLOCK), axis=0, return_inverse=True)
    return index.astype(np.uint16).ravel(), blocks.ravel()


def edges(holds: list[bool]) -> np.ndarray:
    """Where runs of code points for which something holds begin and end, in turn."""
    return np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]))).astype(np.int32)


def main() -> None:
    if unicodedata.unidata_version != VERSION:
        sys.exit(
            f"this Python has Unicode {unicodedata.unidata_version}; run it with one that has {VERSION} (Python 3.11)"
        )
    ignorable, maybe = code_points(IGNORABLE_RANGES), composing()
    folds, marks = np.zeros(LIMIT, np.uint32), np.zeros(LIMIT, np.uint8)
    expansions: dict[str, int] = {}
    for code in range(LIMIT):
        surrogate = 0xD800 <= code < 0xE000
        folded = chr(code) if surrogate else nfkc_casefold(chr(code), ignorable)
        if code in WHITE_SPACE:
            folded = " "
        if folded == chr(code):
            kind, value = ITSELF, 0
        elif not folded:
            kind, value = DELETED, 0
        elif len(folded) == 1:
            kind, value = ONE, ord(folded)
        else:
            kind, value = SEVERAL, expansions.setdefault(folded, len(expansions))
        combining = unicodedata.combining(chr(code))
        marks[code] = COMPOSES if code in maybe else combining
        folds[code] = value | kind << KIND_SHIFT | token_class(code) << CLASS_SHIFT | (marks[code] != 0) << MARK_BIT
    categories = [unicodedata.category(chr(code)) for code in range(LIMIT)]
    punctuation = [category[0] == "P" or chr(code) in "$+<=>^`|~" for code, category in enumerate(categories)]
    emoji = code_points(EMOJI_RANGES)
    fold_index, fold_blocks = two_stage(folds)
    mark_index, mark_blocks = two_stage(marks)
    texts = list(expansions)
    np.savez_compressed(
        TARGET,
        fold_index=fold_index,
        fold_blocks=fold_blocks,
        mark_index=mark_index,
        mark_blocks=mark_blocks,
        expansion_starts=np.cumsum([0, *map(len, texts)]).astype(np.int32),
        expansions=np.array([ord(c) for text in texts for c in text], np.uint32),
        assigned=edges([category != "Cn" for category in categories]),
        decimal_digits=edges([category == "Nd" for category in categories]),
        punctuation=edges(punctuation),  # and what ASCII has of symbols, as most tools mean it
        spaceless=edges([is_spaceless(code) for code in range(LIMIT)]),
        marks=changes(code_points(MARK_RANGES), {}),
        letters=changes(code_points(HAMZA_RANGES), LETTERS),
        emoji=edges([code in emoji for code in range(LIMIT)]),
    )
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, {len(texts)} expansions")


if __name__ == "__main__":
    main()
