"""Write this package's files about documents (audit, rejects): JSON lines, compressed according to their names."""

from collections.abc import Iterable
from pathlib import Path

from neardup.io.storage.compression import compression_of_name, open_for_writing
from neardup.io.storage.places import Place


def compression_of(path: Place) -> str:
    """The compression that a file's ending names."""
    return compression_of_name(path.name)


def write_lines(path: Place, temporary: Path, lines: Iterable[str]) -> None:
    """Write lines to `temporary`, compressed according to the name `path`."""
    with open_for_writing(temporary, compression_of(path)) as file:
        for line in lines:
            file.write(line.encode())
