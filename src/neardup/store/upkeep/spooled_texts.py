"""SPOOL TEXTS that are kept later: in a temporary file, which is gone when it is closed."""

import struct
import tempfile
from array import array
from collections.abc import Iterable
from pathlib import Path

from neardup.store.record.sealed_texts import Original

_NAME = struct.Struct("<q")


class SpooledTexts:
    """Texts in the order in which they were added."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the file lies."""
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close()
        self._starts = array("q", [0])

    def add(self, given: Iterable[Original]) -> None:
        """Add texts, none of which is lost."""
        for each in given:
            name, text = each.name.encode(), each.sealed or b""
            size = self._file.write(_NAME.pack(len(name))) + self._file.write(name) + self._file.write(text)
            self._starts.append(self._starts[-1] + size)

    def read(self, places: Iterable[int]) -> list[Original]:
        """The texts at some places."""
        return list(map(self._read, places))

    def _read(self, place: int) -> Original:
        self._file.seek(self._starts[place])
        content = self._file.read(self._starts[place + 1] - self._starts[place])
        end = _NAME.size + _NAME.unpack_from(content)[0]
        return Original(content[_NAME.size : end].decode(), content[end:])

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
