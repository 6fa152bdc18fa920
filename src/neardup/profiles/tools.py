"""The tools whose fingerprints are made here bit for bit: features as each of them takes them, with their quirks."""

import re
import string
import unicodedata
from collections.abc import Callable
from functools import partial

from neardup.profiles.profile import Profile, Weighted, counted, windows
from neardup.text.html import extractor

_LEONSIM_LETTERS = re.compile(r"[\w\u4e00-\u9fcc]+")
_MFONDA_WORDS = re.compile(rb"[\w']+(?:\://[\w\./]+){0,1}")
_NO_WORD = re.compile(r"\W+")
_NO_WORD_CHARACTER = re.compile(r"\W")
_CLICKHOUSE_WORDS = re.compile(rb"[0-9A-Za-z\x80-\xff]+")


def leonsim(text: str) -> Weighted:
    """Windows of four characters of all letters put together; all of a shorter text, even of an empty one."""
    letters = "".join(_LEONSIM_LETTERS.findall(text.lower()))
    return counted(letters[i : i + 4].encode() for i in range(max(len(letters) - 3, 1)))


def moz(text: str) -> Weighted:
    """Windows of four words; simhash-py leaves the words to its caller: here as its README splits them."""
    return counted(windows(_NO_WORD.split(text.lower()), 4))


def go_lower(text: str) -> str:
    """Small letters as Go's bytes.ToLower has them: one code point for one, wherever it stands."""
    return "".join("i" if c == "\u0130" else c.lower() for c in text)


def mfonda(text: str) -> Weighted:
    """Words of ASCII letters, digits, `_` and `'`, with an address behind `://`; repetitions count."""
    return counted(_MFONDA_WORDS.findall(go_lower(text).encode()))


def mfonda_unicode(text: str) -> Weighted:
    """Words of letters of any script, `-`, `_` and `'`, after NFKC."""
    words, word = [], []
    for c in [*unicodedata.normalize("NFKC", go_lower(text)), " "]:
        if c in "-_'" or unicodedata.category(c)[0] == "L":
            word.append(c)
        elif word:
            words.append("".join(word).encode())
            word = []
    return counted(words)


def mfonda_cjk(text: str) -> Weighted:
    """Every code point, after NFKC."""
    return counted(c.encode() for c in unicodedata.normalize("NFKC", go_lower(text)))


def ferd(text: str) -> Weighted:
    """Pairs of bytes, but for the first and the last one."""
    data = text.encode()
    return counted(data[i : i + 2] for i in range(1, len(data) - 2))


def _case_insensitive(data: bytes) -> bytes:
    return bytes(byte | 0x20 for byte in data)


def clickhouse_ngram(text: str, size: int = 3, *, any_case: bool = False) -> Weighted:
    """Every window of so many bytes; all of a shorter text."""
    data = _case_insensitive(text.encode()) if any_case else text.encode()
    if len(data) < size:
        return [(data, 1)] if data else []
    return counted(data[i : i + size] for i in range(len(data) - size + 1))


def clickhouse_ngram_utf8(text: str, size: int = 3, *, any_case: bool = False) -> Weighted:
    """Every window of so many code points but the first; all of a shorter text."""
    change = _case_insensitive if any_case else bytes
    if len(text) < size:
        return [(change(text.encode()), 1)] if text else []
    return counted(change(text[i : i + size].encode()) for i in range(1, len(text) - size + 1))


def clickhouse_words(text: str, size: int = 3, *, any_case: bool = False) -> Weighted:
    """Every so many words in a row, put together, or all if there are fewer; words of fewer than four bytes are left out."""
    data = _case_insensitive(text.encode()) if any_case else text.encode()
    words = [word for word in _CLICKHOUSE_WORDS.findall(data) if len(word) >= 4]
    if len(words) < size:
        return [(b"".join(words), 1)] if words else []
    return counted(b"".join(words[i : i + size]) for i in range(len(words) - size + 1))


def data_juicer(text: str) -> Weighted:
    """Windows of six words, cut at spaces."""
    return counted(windows(text.lower().split(), 6))


def data_juicer_character(text: str) -> Weighted:
    """Windows of six characters."""
    return counted(windows(text.lower(), 6, ""))


def text_dedup(text: str) -> Weighted:
    """The distinct windows of three words, cut at every character that is none of a word; none of fewer than five pieces."""
    pieces = _NO_WORD_CHARACTER.split(text.lower())
    return [(feature, 1) for feature in set(windows(pieces, 3))] if len(pieces) >= 5 else []


_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))


def wayback(page: str) -> Weighted:
    """The words of an HTML page with their counts, without scripts, styles and comments; punctuation is as spaces."""
    return counted(word.encode() for word in extractor("whole")(page).lower().translate(_PUNCTUATION).split())


def moz_character(text: str) -> Weighted:
    """Windows of four characters of the words put together, as simhash-py's tests do it."""
    letters = "".join(_NO_WORD.split(text.lower()))
    return counted(windows(letters, 4, ""))


def _clickhouse(features: Callable[..., Weighted], *, any_case: bool, empty: int | None = None) -> Profile:
    return Profile(partial(features, any_case=any_case), "crc32c", hash_bits=32, empty=empty)


def _moz(features: Callable[[str], Weighted]) -> Profile:
    return Profile(features, "md5", hash_bits=128)


def _mfonda(features: Callable[[str], Weighted]) -> Profile:
    return Profile(features, "fnv1_64", tie=1)


def _ferd(hash_name: str) -> Profile:
    return Profile(ferd, hash_name, tie=1, reversed=True)


PROFILES = {
    "leonsim": Profile(leonsim, "md5"),
    "moz": _moz(moz),
    "moz-character": _moz(moz_character),
    "mfonda": _mfonda(mfonda),
    "mfonda-unicode": _mfonda(mfonda_unicode),
    "mfonda-cjk": _mfonda(mfonda_cjk),
    "ferd": _ferd("sha1"),
    "ferd-md5": _ferd("md5"),
    "ferd-sha512": _ferd("sha512"),
    "clickhouse-ngram": _clickhouse(clickhouse_ngram, any_case=False, empty=1),
    "clickhouse-ngram-any-case": _clickhouse(clickhouse_ngram, any_case=True, empty=1),
    "clickhouse-ngram-utf8": _clickhouse(clickhouse_ngram_utf8, any_case=False, empty=1),
    "clickhouse-ngram-utf8-any-case": _clickhouse(clickhouse_ngram_utf8, any_case=True, empty=1),
    "clickhouse-words": _clickhouse(clickhouse_words, any_case=False),
    "clickhouse-words-any-case": _clickhouse(clickhouse_words, any_case=True),
    "data-juicer": _moz(data_juicer),
    "data-juicer-character": _moz(data_juicer_character),
    "text-dedup": Profile(text_dedup, "xxh3_64"),
    "wayback": Profile(wayback, "blake2b"),
}
"""By the names of `neardup.profiles.names.PROFILES`, which says what each is."""
