"""Files that this package writes about documents (audit, rejects): JSON lines, compressed as their name says."""

from collections.abc import Iterable
from pathlib import Path

from neardup.io.storage.compression import compression_of_name, open_for_writing
from neardup.io.storage.places import Place


def compression_of(path: Place) -> str:
    """What the ending of a file says."""
    return compression_of_name(path.name)


def write_lines(path: Place, temporary: Path, lines: Iterable[str]) -> None:
    """Write lines to `temporary`, compressed as the name `path` says."""
    with open_for_writing(temporary, compression_of(path)) as file:
        for line in lines:
            file.write(line.encode())
