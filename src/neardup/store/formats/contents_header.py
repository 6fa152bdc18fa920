"""The HEADER of a file of contents: which store it belongs to, and what it has. 64 bytes, so that items stay aligned.

magic | format | type of items | name | generation | identity of the store | checksum of the bytes before
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import checksum
from neardup.store.formats.versions import demand_version

MAGIC = b"NDSTORE\n"
FORMAT = 1
_FIELDS = struct.Struct("<8sI4s24sQ8s")
_CHECKSUM = struct.Struct("<Q")
BYTES = _FIELDS.size + _CHECKSUM.size
"""The length of a header."""


@dataclass(frozen=True)
class Header:
    """What a file of contents says of itself.

    Attributes:
        name: which of the files it is, such as `rows`.
        kind: the type of its items, as NumPy writes it.
        generation: how often the store was compacted before.
        store: the identity of the store, 16 hexadecimal digits.
    """

    name: str
    kind: str
    generation: int
    store: str

    def __str__(self) -> str:
        return f"{self.name}-{self.generation} ({self.kind}) of the store {self.store}"

    def to_bytes(self) -> bytes:
        """The header as it is written."""
        fields = (self.kind.encode(), self.name.encode(), self.generation, bytes.fromhex(self.store))
        written = _FIELDS.pack(MAGIC, FORMAT, *fields)
        return written + _CHECKSUM.pack(checksum(written))

    def demand(self, path: Path, written: bytes) -> None:
        """Refuse a file that begins with other bytes.

        Raises:
            DataError: it is no file of contents, of another format, damaged, or of another store, kind or generation.
        """
        if written == self.to_bytes():
            return
        if len(written) < BYTES or not written.startswith(MAGIC):
            raise DataError(f"{path} is no file of a store: it begins with other bytes. Restore it from a backup.")
        _, version, kind, name, generation, store = _FIELDS.unpack_from(written)
        demand_version(path, version, FORMAT)
        if _CHECKSUM.unpack_from(written, _FIELDS.size)[0] != checksum(written[: _FIELDS.size]):
            raise DataError(f"{path} is damaged: its header is not what was written. Restore it from a backup.")
        found = Header(name.rstrip(b"\0").decode(), kind.rstrip(b"\0").decode(), generation, store.hex())
        raise DataError(f"{path} is another file: {found}, not {self}. Restore it from a backup.")
