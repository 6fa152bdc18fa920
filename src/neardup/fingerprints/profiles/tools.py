"""The tools whose fingerprints are reproduced bit for bit: each tool's features, with its quirks."""

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial

from neardup.fingerprints.profiles.profile import Profile, Weighted, counted, windows
from neardup.recipe.stored_parts import check_installed
from neardup.recipe.tables.hashes import HashFunction
from neardup.text.html import page_text
from neardup.text.normal_forms import normal_form

_LEONSIM_LETTERS = re.compile(r"[\w\u4e00-\u9fcc]+")
_MFONDA_WORDS = re.compile(rb"[\w']+(?:\://[\w\./]+){0,1}")
_NO_WORD = re.compile(r"\W+")
_CLICKHOUSE_WORDS = re.compile(rb"[0-9A-Za-z\x80-\xff]+")


def leonsim(text: str) -> Weighted:
    """Windows of four characters of all letters joined; a shorter text is one window, even an empty text."""
    letters = "".join(_LEONSIM_LETTERS.findall(text.lower()))
    return counted(letters[i : i + 4].encode() for i in range(max(len(letters) - 3, 1)))


def moz(text: str, size: int = 4) -> Weighted:
    """Windows of words. simhash-py leaves the choice of words to its caller; here they are split as in its README."""
    return counted(windows(_NO_WORD.split(text.lower()), size))


def go_lower(text: str) -> str:
    """Lowercase as in Go's bytes.ToLower: each code point becomes one code point, whatever its context."""
    return "".join("i" if c == "\u0130" else c.lower() for c in text)


def mfonda(text: str) -> Weighted:
    """Words of ASCII letters, digits, `_` and `'`, including an address behind `://`; repetitions count."""
    return counted(_MFONDA_WORDS.findall(go_lower(text).encode()))


def mfonda_unicode(text: str) -> Weighted:
    """Words of letters of any script, `-`, `_` and `'`, lowercased after NFKC."""
    words, word = [], []
    for c in [*go_lower(normal_form("NFKC", text)), " "]:
        if c in "-_'" or unicodedata.category(c)[0] == "L":
            word.append(c)
        elif word:
            words.append("".join(word).encode())
            word = []
    return counted(words)


def mfonda_cjk(text: str) -> Weighted:
    """Every code point, lowercased; this feature set does not normalize."""
    return counted(c.encode() for c in go_lower(text))


def ferd(text: str) -> Weighted:
    """Pairs of bytes, except the first and the last pair."""
    data = text.encode()
    return counted(data[i : i + 2] for i in range(1, len(data) - 2))


def _case_insensitive(data: bytes) -> bytes:
    return bytes(byte | 0x20 for byte in data)


def _bytes(text: str) -> bytes:
    """The bytes that ClickHouse sees; bytes that are not UTF-8 arrive as lone surrogates."""
    return text.encode("utf-8", "surrogateescape")


def clickhouse_ngram(text: str, size: int = 3, *, any_case: bool = False) -> Weighted:
    """Every window of `size` bytes; a shorter text is one window."""
    data = _case_insensitive(_bytes(text)) if any_case else _bytes(text)
    if len(data) < size:
        return [(data, 1)] if data else []
    return counted(data[i : i + size] for i in range(len(data) - size + 1))


def _code_points(data: bytes) -> list[bytes]:
    """Cut into code points: the first byte of each gives its length, whatever the other bytes are."""
    found, at = [], 0
    while at < len(data):
        first = data[at]
        length = 1 if first < 0xC0 or first >= 0xF8 else 2 + (first >= 0xE0) + (first >= 0xF0)
        found.append(data[at : at + length])
        at += length
    return found


def clickhouse_ngram_utf8(text: str, size: int = 3, *, any_case: bool = False) -> Weighted:
    """Every window of `size` code points except the first; a shorter text is one window."""
    change = _case_insensitive if any_case else bytes
    points = _code_points(_bytes(text))
    if len(points) < size:
        return [(change(b"".join(points)), 1)] if points else []
    return counted(change(b"".join(points[i : i + size])) for i in range(1, len(points) - size + 1))


def clickhouse_words(text: str, size: int = 3, *, any_case: bool = False) -> Weighted:
    """Every run of `size` words, joined, or all words if there are fewer; words of fewer than four bytes are left out."""
    change = _case_insensitive if any_case else bytes
    words = [change(word) for word in _CLICKHOUSE_WORDS.findall(_bytes(text)) if len(word) >= 4]
    if len(words) < size:
        return [(b"".join(words), 1)] if words else []
    return counted(b"".join(words[i : i + size]) for i in range(len(words) - size + 1))


def _between_spaces(text: str) -> list[str]:
    """Words between spaces; a line break or a tab is part of a word."""
    return [word for word in text.split(" ") if word]


def _between_punctuation(text: str) -> list[str]:
    """The pieces between punctuation marks, including empty ones."""
    pieces = [""]
    for c in text:
        if unicodedata.category(c)[0] == "P":
            pieces.append("")
        else:
            pieces[-1] += c
    return pieces


DATA_JUICER: dict[str, tuple[Callable[[str], Sequence[str]], str]] = {
    "space": (_between_spaces, " "),
    "character": (str, ""),
    "punctuation": (_between_punctuation, " "),
}
"""data-juicer's ways to cut texts: the function that cuts, and the string that joins windows."""


def data_juicer_windows(text: str, size: int, tokenization: str) -> Weighted:
    """Windows of the unchanged text."""
    cut, between = DATA_JUICER[tokenization]
    return counted(windows(cut(text), size, between))


def data_juicer(text: str, size: int = 6, *, tokenization: str) -> Weighted:
    """Windows of the lowercased text."""
    return data_juicer_windows(text.lower(), size, tokenization)


def text_dedup_0_3_0(text: str, size: int = 3) -> Weighted:
    """Runs of words between spaces, one after another, the last one shorter; repetitions count."""
    words = _between_spaces(text)
    return counted(" ".join(words[i : i + size]).encode() for i in range(0, len(words), size))


_TEXT_DEDUP_LEAST = 5
"""Texts of fewer characters, or of fewer words from 0.4.1 on, have no features."""


def text_dedup_characters(text: str, size: int = 3, *, lower: bool) -> Weighted:
    """The different windows of characters, each lowercased by itself; a text shorter than the window is one."""
    if len(text) < _TEXT_DEDUP_LEAST:
        return []
    found = [text[i : i + size] for i in range(max(len(text) - size + 1, 1))]
    return [(each.encode(), 1) for each in dict.fromkeys(each.lower() if lower else each for each in found)]


def text_dedup_0_4_1(text: str, size: int = 3) -> Weighted:
    """The different windows of words, cut at non-word characters; if the windows are larger than the text, one of all words."""
    words = [word for word in _NO_WORD.split(text.lower()) if word]
    found = windows(words, min(size, len(words))) if len(words) >= _TEXT_DEDUP_LEAST else []
    return [(feature, 1) for feature in dict.fromkeys(found)]


def _xxhash(function: str, bits: int, *, profile: str, seed: int = 0) -> HashFunction:
    """A hash of the package xxhash, for a profile whose hash is not compiled here."""

    def value(feature: bytes) -> int:
        check_installed(f"`profile={profile!r}`", ("xxhash",), "profiles")
        import xxhash

        return int(getattr(xxhash, f"{function}_intdigest")(feature, seed=seed))

    return HashFunction(value, name=f"{function}-seed-{seed}", version="1", bits=bits)


_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))


def wayback(page: str) -> Weighted:
    """The words of an HTML page, including its title, with their counts; without scripts, styles and comments.

    ASCII punctuation counts as spaces, and every tag begins a word.
    """
    return counted(word.encode() for word in page_text(page).lower().translate(_PUNCTUATION).split())


def moz_character(text: str, size: int = 4) -> Weighted:
    """Windows of characters of the joined words, as in simhash-py's tests."""
    letters = "".join(_NO_WORD.split(text.lower()))
    return counted(windows(letters, size, ""))


def _clickhouse(features: Callable[..., Weighted], *, any_case: bool, empty: int | None = None) -> Profile:
    return Profile(partial(features, any_case=any_case), "crc32c", hash_bits=32, empty=empty, window=3)


PROFILES = {
    "leonsim": Profile(leonsim, "md5"),
    "moz": Profile(moz, "md5", hash_bits=128, window=4),
    "moz-character": Profile(moz_character, "md5", hash_bits=128, window=4),
    "mfonda": Profile(mfonda, "fnv1_64", tie=1),
    "mfonda-unicode": Profile(mfonda_unicode, "fnv1_64", tie=1),
    "mfonda-cjk": Profile(mfonda_cjk, "fnv1_64", tie=1),
    "ferd": Profile(ferd, "sha1", tie=1, reversed=True),
    "ferd-md5": Profile(ferd, "md5", tie=1, reversed=True),
    "ferd-sha512": Profile(ferd, "sha512", tie=1, reversed=True),
    "ferd-phash": Profile(ferd, "phash2", tie=1, reversed=True),
    "clickhouse-ngram": _clickhouse(clickhouse_ngram, any_case=False, empty=1),
    "clickhouse-ngram-any-case": _clickhouse(clickhouse_ngram, any_case=True, empty=1),
    "clickhouse-ngram-utf8": _clickhouse(clickhouse_ngram_utf8, any_case=False, empty=1),
    "clickhouse-ngram-utf8-any-case": _clickhouse(clickhouse_ngram_utf8, any_case=True, empty=1),
    "clickhouse-words": _clickhouse(clickhouse_words, any_case=False),
    "clickhouse-words-any-case": _clickhouse(clickhouse_words, any_case=True),
    "data-juicer": Profile(partial(data_juicer, tokenization="space"), "md5", hash_bits=128, window=6),
    "data-juicer-character": Profile(partial(data_juicer, tokenization="character"), "md5", hash_bits=128, window=6),
    "data-juicer-punctuation": Profile(
        partial(data_juicer, tokenization="punctuation"), "md5", hash_bits=128, window=6
    ),
    "text-dedup-0.3.0": Profile(text_dedup_0_3_0, _xxhash("xxh64", 64, profile="text-dedup-0.3.0"), window=3),
    "text-dedup-0.3.1": Profile(
        partial(text_dedup_characters, lower=False),
        _xxhash("xxh64", 64, profile="text-dedup-0.3.1"),
        wide_hash="xxh3_128",
        window=3,
    ),
    "text-dedup-0.4.0": Profile(partial(text_dedup_characters, lower=True), "xxh3_64", wide_hash="xxh3_128", window=3),
    "text-dedup-0.4.1": Profile(
        text_dedup_0_4_1,
        _xxhash("xxh3_64", 64, profile="text-dedup-0.4.1", seed=42),  # the seed of the tool's configuration files
        wide_hash=_xxhash("xxh3_128", 128, profile="text-dedup-0.4.1", seed=42),
        window=3,
    ),
    "wayback": Profile(wayback, "blake2b"),
}
"""The profiles, by the names in `neardup.recipe.tables.profiles.PROFILES`, which describes each."""
