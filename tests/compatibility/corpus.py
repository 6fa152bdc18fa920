"""Texts full of what tokenizers dislike."""

import random
import unicodedata

PIECES = {
    "nothing": "",
    "letter": "a",
    "blank": " ",
    "line break": "\n",
    "carriage return": "\r\n",
    "tabs": "one\ttwo\t\tthree",
    "vertical tab and form feed": "one\x0btwo\x0cthree",
    "separators of files": "one\x1ctwo\x1dthree\x1efour\x1ffive",
    "next line": "one\x85two",
    "line separator": "one\u2028two\u2029three",
    "no-break space": "one\xa0two\u202fthree\u2007four",
    "spaces of all widths": "one\u2000two\u2003three\u2009four\u200afive\u205fsix\u3000seven\u1680eight",
    "no width": "one\u200btwo\u200cthree\u2060four\ufefffive",
    "byte order mark": "\ufeffone two three",
    "soft hyphen": "soft\xadhyphen co\xadop\xader\xadate",
    "hyphens": "well-known e‐mail twenty\u2011one — – -",
    "underscores": "snake_case __dunder__ _ a_b",
    "apostrophes": "don't l’été o`clock ʼn",
    "punctuation": "Some (old) text, of [words]: 7.5% — «yes»! ¿no? … § ¶ • ‽ ⸘",
    "only punctuation": "?!… — ()",
    "symbols": "a+b=c $5 €6 ™ © ° ^ ~ | < >",
    "addresses": "https://example.org/a.b?c=d&e#f me@example.org C:\\temp",
    "combining marks": "e\u0301 a\u0308\u0304 q\u0307\u0323 \u0301",
    "composed": unicodedata.normalize("NFC", "Café Ångström Việt Nam"),
    "decomposed": unicodedata.normalize("NFD", "Café Ångström Việt Nam"),
    "many marks": "Z" + "\u0351\u0324\u0317\u034b" * 6 + "algo",
    "Hangul": "한국어 단어",
    "Hangul in Jamo": unicodedata.normalize("NFD", "한국어 단어"),
    "Turkish": "İstanbul ISPARTA ıI iİ",
    "German": "Straße STRASSE ẞ GROẞ",
    "Greek": "ΟΔΟΣ ΟΔΟΣΟ Σ ΑΣ. ΣΑΣ",
    "title case": "ǅ ǈ ǋ ǲ ᾈ ᾼ",
    "ligatures": "ﬁre oﬃce ﬆ ĳ",
    "full width": "ＡＢＣ　ａｂｃ　１２３",
    "half width": "ｶﾀｶﾅ ﾊﾟ",
    "superscripts": "x² H₂O 1½ Ⅷ ⅷ ㎏ ①",
    "digits": "٣٤٥ ۶۷ १२ ৩ ๔ 𝟙𝟚 ５",
    "Chinese": "今天天气很好，我们去公园散步吧。",
    "Chinese with Latin": "我用Python3写了2个程序",
    "astral Chinese": "𠮷野家 𪚥 \U00020000",
    "after U+9FCC": "\u9fcd\u9fd5\u9fef",
    "Japanese": "東京タワーへ行きました。ゞ々〆ー",
    "Arabic": "السَّلَامُ عَلَيْكُمْ ــ ٪",
    "Hebrew": "שָׁלוֹם עֲלֵיכֶם",
    "direction": "abc \u202edef\u202c \u200fghi\u200e \u2067jkl\u2069",
    "Thai": "สวัสดีครับ",
    "Hindi": "नमस्ते क्षत्रिय",
    "emoji": "👩‍👩‍👧‍👦 👍🏽 🇩🇪 ❤️ 1️⃣",
    "letters as emoji": "🅰 🄰 ⓐ 𝒜 𝔄",
    "variation selectors": "葛\U000e0100城 ⛩︎",
    "private use": "\ue000 \U000f0000",
    "unassigned": "\u0378 \U0003ffff",
    "not a character": "\ufffe \uffff \ufdd0",
    "replacement": "\ufffd caf\ufffd",
    "control": "\x00 nul \x07 bell \x1b[0m \x7f",
    "repetition": "the the the the the the the the",
    "alternation": "a b a b a b a b a b",
}
"""Short texts, by what they have."""


def _mixtures(count: int) -> list[str]:
    """Texts of random pieces, so that all of them lie beside one another within one window."""
    choose = random.Random(11)
    between = ["", " ", " ", " ", "\n", "_", ", "]
    found = []
    for _ in range(count):
        pieces = choose.choices([*PIECES.values()], k=choose.randint(2, 9))
        found.append("".join(piece + choose.choice(between) for piece in pieces))
    return found


def _near_copies() -> list[str]:
    """Long texts with versions that differ by a word or a letter, so that there are pairs at every small distance."""
    choose = random.Random(5)
    words = [word for piece in PIECES.values() for word in piece.split(" ") if word]
    found = []
    for _ in range(12):
        text = choose.choices(words, k=300)
        found.append(" ".join(text))
        for changes in (0, 1, 2, 5):
            copy = list(text)
            for place in choose.sample(range(len(copy)), changes):
                copy[place] = choose.choice(words)
            found.append(" ".join(copy))
    return found


def _characters() -> list[str]:
    """Every character that this Python's Unicode has, except most ideographs and Hangul: before, between and behind letters."""
    dense = (*range(0x3400, 0x4DBF), *range(0x4E00, 0x9FF0), *range(0xAC00, 0xD7A0), *range(0x20000, 0xE0000))
    skipped = set(dense) - set(dense[::499])
    kept = [
        chr(code)
        for code in range(0xE01F0)
        if code not in skipped and unicodedata.category(chr(code)) not in ("Cn", "Cs")
    ]
    rows = [kept[i : i + 100] for i in range(0, len(kept), 100)]
    return [" ".join(f"{c} A{c}b {c}C{c}" for c in row) for row in rows]


NEAR_COPIES = _near_copies()
TEXTS = [*PIECES.values(), *_mixtures(200), *NEAR_COPIES, "x" * 20_000, "漢" * 5_000, "long " * 3_000]
CHARACTERS = _characters()
