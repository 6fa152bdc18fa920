"""ORIGINALS: texts as they were given, each a frame of zstd behind a seal that binds it to its document."""

import struct
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from neardup.errors import DataError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3
"""Of zstd: 10 µs for 200 bytes, 30 µs for 3 KB."""
_SEAL = struct.Struct("<I")
_SURROGATES = "surrogatepass"


class Original(NamedTuple):
    """The text of a document that came.

    Attributes:
        name: its id as JSON.
        sealed: what `sealed` makes of the text; None if a repair has lost it.
    """

    name: str
    sealed: bytes | None


def sealed(digest: bytes, name: str, text: str | None) -> bytes | None:
    """A text as it is kept: the CRC-32 of its digest, the id and the frame (4 bytes, little-endian), then the frame.

    Args:
        digest: 16 bytes, of the normalized text.
        name: the id of the document, as JSON.
        text: as it was given; None for one that is lost.
    """
    if text is None:
        return None
    frame = zstd.compress(text.encode(), LEVEL)
    return _SEAL.pack(_crc(digest, name, frame)) + frame


def originals(digests: Sequence[bytes], names: Sequence[str], texts: Sequence[str | None]) -> list[Original]:
    """Texts as they are kept; None stands for one that is lost."""
    return [
        Original(name, sealed(digest, name, text)) for digest, name, text in zip(digests, names, texts, strict=True)
    ]


def is_whole(digest: bytes, original: Original) -> bool:
    """Whether a text is what was written; one that is lost is, as far as it goes."""
    found = original.sealed
    if found is None:
        return True
    if not isinstance(found, bytes) or not isinstance(original.name, str) or len(found) < _SEAL.size:
        return False
    return bool(_SEAL.unpack_from(found)[0] == _crc(digest, original.name, found[_SEAL.size :]))


def text_of(digest: bytes, original: Original | None, where: str) -> str | None:
    """The text; None if it is lost, or there is none. A DataError, which begins with `where`, if it is not what was written."""
    if original is None or original.sealed is None:
        return None
    if not is_whole(digest, original):
        raise DataError(f"{where} is not what was written. Verify the store.")
    return zstd.decompress(original.sealed[_SEAL.size :]).decode()


def damaged(digests: Iterable[bytes], found: Iterable[Original | None]) -> list[int]:
    """The places of texts that are missing, or not what was written."""
    pairs = enumerate(zip(digests, found, strict=True))
    return [place for place, (digest, each) in pairs if each is None or not is_whole(digest, each)]


def _crc(digest: bytes, name: str, frame: bytes) -> int:
    return crc32(frame, crc32(name.encode("utf-8", _SURROGATES), crc32(digest)))
