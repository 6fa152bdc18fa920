"""What an interrupted command removes, even if the thread that made it is still at work and cannot."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from neardup.resources.temporary_files import TemporaryFiles

Removal = Callable[[], str | None]
"""Removes unfinished files, at most once and from any thread; may return what to tell of those that stay."""

_LOCK = RLock()
_REMOVALS: list[Removal] = []


@contextlib.contextmanager
def removed_by(removal: Removal) -> Iterator[None]:
    """While in this block, `remove_unfinished` calls `removal`."""
    with _LOCK:
        _REMOVALS.append(removal)
    try:
        yield
    finally:
        with _LOCK:
            _REMOVALS.remove(removal)


@contextlib.contextmanager
def told_if_interrupted(stays: str) -> Iterator[None]:
    """While in this block, an interrupt tells what stays, and what the same call does with it."""
    with removed_by(lambda: stays):
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(stays) from None


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While in this block, `remove_unfinished` waits: files get their final names, or a store is told to forget parts."""
    with _LOCK:
        yield


def remove_unfinished() -> str:
    """Remove all that is unfinished, the latest first; returns what to tell of files that stay."""
    with _LOCK:
        told = [removal() for removal in reversed(_REMOVALS)]
    return "; ".join(filter(None, told))


@dataclass(slots=True)
class TemporaryFolder:
    """A folder that is removed with all that is in it.

    Attributes:
        path: where it is.
        files: the temporary files of the run, which those in the folder belong to.
        written: the bytes that were counted there for this folder.
    """

    path: Path
    files: TemporaryFiles
    written: int = 0

    def write(self, name: str, pieces: Iterable[bytes]) -> Path:
        """Write a new file with this name in the folder.

        Raises:
            OptionError: the files of the run would exceed their limit.
        """
        path = self.path / name
        with path.open("wb") as file:
            for piece in pieces:
                self.add(len(piece))
                file.write(piece)
        return path

    def add(self, count: int) -> None:
        """Count bytes that are about to be written in the folder; an OptionError as for `write`."""
        self.files.add(count)
        self.written += count


@contextlib.contextmanager
def temporary_folder(files: TemporaryFiles | None = None) -> Iterator[TemporaryFolder]:
    """A folder where temporary files go; it is removed at the end of the block, or by an interrupt."""
    files = files or TemporaryFiles()
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=files.given) as name:

        def remove() -> None:
            shutil.rmtree(name, ignore_errors=True)

        folder = TemporaryFolder(Path(name), files)
        with removed_by(remove):
            try:
                yield folder
            finally:
                files.remove(folder.written)
