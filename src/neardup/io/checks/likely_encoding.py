"""Which encoding a file may have that is not of the one it is read as: a guess from its bytes, made where a run stops anyway."""

import codecs
import contextlib

from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.storage.compression import open_for_reading
from neardup.io.storage.encodings import UTF_8

_HEAD_BYTES = 1 << 22
_MIN_USUAL_SHARE = 0.9
_MIN_CHARACTERS = 3
"""Fewest characters beyond ASCII from which Chinese, Japanese or Korean is guessed."""
_MIN_LETTERS = 2
"""The same of letters with accents: a single byte that is out of place may be damage."""


def encoding_advice(shard: Shard, reason: str) -> str:
    """A sentence about the encoding of a shard of which a row or the header cannot be read for this reason; or nothing.

    If the reason is not the encoding, the encoding may still be wrong: characters of another one are read, and make no sense.
    """
    is_certain = reason.lower().startswith(f"it is not {shard.encoding}")
    if shard.format in (*OF_COLUMNS, "warc") or (shard.encoding == UTF_8 and not is_certain):
        return ""
    head = _head_of(shard)
    found = UTF_8 if _is_other_utf8(head, shard.encoding) else _of_two_bytes(head)
    found = found or (likely_encoding(head) if is_certain else None)
    if shard.encoding == UTF_8:
        if found:
            return f"It looks like {found}: pass `encoding={found!r}`. "
        return "If all of the file has another encoding, name it with `encoding`. "
    given = f"`encoding={shard.encoding!r}`"
    if found == UTF_8:
        return f"The file is UTF-8, not what {given} says: leave that out. "
    if found and not shard.encoding.startswith(found):  # of utf-16, the order of bytes may be given
        return f"The file looks like {found}, not like what {given} says: pass `encoding={found!r}`. "
    return f"If all of the file has another encoding than {given} says, name that. " if is_certain else ""


def _head_of(shard: Shard) -> bytes:
    with contextlib.suppress(Exception), open_for_reading(shard.path, shard.compression, name=shard.name) as file:
        return bytes(file.read(_HEAD_BYTES))
    return b""


def _is_other_utf8(head: bytes, encoding: str) -> bool:
    """Whether the beginning of a file is UTF-8, and another text as such than by `encoding`."""
    try:
        text = codecs.getincrementaldecoder(UTF_8)().decode(head)  # it may be cut within a character
    except UnicodeDecodeError:
        return False
    return bool(text) and text != head.decode(encoding, "replace")


def _of_two_bytes(head: bytes) -> str | None:
    """The encoding of characters of two bytes of which one is often 0, by a mark or by where these zeros are; None without any."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    zeros = [head[first::2].count(0) for first in (0, 1)]
    if min(zeros) or max(zeros) < _MIN_CHARACTERS:
        return None
    return "utf-16-le" if zeros[1] else "utf-16-be"


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
    if shares[best] >= _MIN_USUAL_SHARE:
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
            # narrow kana, which bytes of others look like
            usual -= "\uff61" <= character <= "\uff9f" and name == "shift_jis"
            continue
        total += 1
        usual += any(low <= stored[0] <= high for low, high in _USUAL[name])
        kana += "\u3040" <= character <= "\u30ff"
    if total < _MIN_CHARACTERS or (name == "shift_jis" and kana * 10 < total):
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
    if len(high) >= _MIN_LETTERS and letters >= 0.6 * len(high) and pairs <= 0.2 * len(high):
        return "latin-1" if not any(0x80 <= data[place] < 0xA0 for place in high) else "cp1252"
    return None
