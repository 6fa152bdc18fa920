"""Which encoding a file that is not UTF-8 may have: a guess from its bytes, made where a run stops anyway."""

import contextlib

from neardup.io.shard import Shard
from neardup.io.storage.compression import open_for_reading

_BYTES = 1 << 22
_MOST_SHARE = 0.9
_FEWEST = 3
"""Fewest characters beyond ASCII from which Chinese, Japanese or Korean is guessed."""
_FEWEST_LETTERS = 2
"""The same of letters with accents: a single byte that is out of place may be damage."""


def encoding_advice(shard: Shard) -> str:
    """A sentence about the encoding of a shard that was read as UTF-8 and is not."""
    found = None
    with contextlib.suppress(Exception), open_for_reading(shard.path, shard.compression, name=shard.name) as file:
        found = likely_encoding(file.read(_BYTES))
    return (
        f"It looks like {found}: pass `encoding={found!r}`. "
        if found
        else "If all of the file has another encoding, name it with `encoding`. "
    )


def likely_encoding(data: bytes) -> str | None:
    """The encoding that a text probably has, as it is not UTF-8; None if no guess is better than others.

    >>> likely_encoding("Élève déjà vu".encode("latin-1"))
    'latin-1'
    >>> likely_encoding("中文文本，这是一个例子".encode("gbk"))
    'gb18030'
    """
    lines = [line for line in data.split(b"\n") if not line.isascii() and not _is_utf8(line)]
    some = b"\n".join(lines)[: 1 << 16]
    shares = {name: _usual_share(some, name) for name in _USUAL}
    best = max(shares, key=lambda name: shares[name])
    if shares[best] >= _MOST_SHARE:
        return best
    return _western(some)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


_USUAL = {
    "shift_jis": ((0x82, 0x83), (0x88, 0x97)),
    "euc_kr": ((0xB0, 0xC8),),
    "gb18030": ((0xB0, 0xD7),),
    "big5": ((0xA4, 0xC6),),
}
"""First bytes of frequent characters: kana and frequent Han characters, Hangul, and the frequent Han characters of each."""


def _usual_share(data: bytes, name: str) -> float:
    """The share of frequent characters among those beyond ASCII and punctuation; 0 if the text has another encoding."""
    usual = total = kana = 0
    for character in _decoded(data, name):
        stored = character.encode(name)
        if len(stored) == 1 or not character.isalnum():
            usual -= (
                "\uff61" <= character <= "\uff9f" and name == "shift_jis"
            )  # narrow kana, which bytes of others look like
            continue
        total += 1
        usual += any(low <= stored[0] <= high for low, high in _USUAL[name])
        kana += "\u3040" <= character <= "\u30ff"
    if total < _FEWEST or (name == "shift_jis" and kana * 10 < total):
        return 0.0
    return usual / total


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as problem:
        return data[: problem.start].decode(name) if problem.start > len(data) - 4 else ""  # cut within a character


def _western(data: bytes) -> str | None:
    """`latin-1`, where bytes beyond ASCII are letters of words that are mostly ASCII."""
    high = [place for place, byte in enumerate(data) if byte >= 0x80]
    letters = sum(data[place] >= 0xC0 for place in high)
    pairs = sum(1 for place in high if data[place - 1 : place] >= b"\x80")
    if len(high) >= _FEWEST_LETTERS and letters >= 0.6 * len(high) and pairs <= 0.2 * len(high):
        return "latin-1" if not any(0x80 <= data[place] < 0xA0 for place in high) else "cp1252"
    return None
