"""FOLDER of a job whose machines share it: a local path, or a URL of an object store. Files are written whole, under new names."""

import contextlib
import errno
import json
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from neardup.engines.job.checkpoint import parsed_notes
from neardup.errors import InputError
from neardup.io.storage.places import Place, place_of
from neardup.io.storage.remote import RemotePath

_FULL = (errno.ENOSPC, errno.EDQUOT)


class Folder:
    """A folder. Names of what lies in it have slashes."""

    def __init__(self, path: str) -> None:
        self._place = place_of(path.rstrip("/") or "/")

    def __str__(self) -> str:
        return str(self._place)

    @property
    def is_remote(self) -> bool:
        """Whether it lies in an object store."""
        return isinstance(self._place, RemotePath)

    def place(self, name: str) -> Place:
        """Where a file is."""
        return self._place / name

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a new file, in a folder that is there; it appears whole, or not at all.

        Raises:
            InputError: the folder is not there.
        """
        place = self.place(name)
        if isinstance(place, RemotePath):
            with tempfile.NamedTemporaryFile(prefix="neardup-") as file:
                yield file
                file.flush()
                place.upload(Path(file.name))
            return
        unfinished = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
        try:
            with unfinished.open("wb") as file:
                yield file
            unfinished.replace(place)
        except FileNotFoundError:
            raise InputError(
                f"{place.parent} is not there. The folder of `work=` must be one that the driver and all workers share: one of "
                "a network file system, or a URL of an object store."
            ) from None
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise

    def make(self, name: str) -> None:
        """Make a folder in it, which an object store has not got.

        Raises:
            InputError: that is not possible there.
        """
        place = self.place(name)
        if isinstance(place, Path):
            try:
                place.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                if problem.errno in _FULL:
                    raise
                raise InputError(
                    f"{self} cannot be the folder of `work=`: {place} cannot be made ({problem.strerror}). Give a folder in which "
                    "the driver and all workers may write."
                ) from None

    def ranges(self, name: str, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Parts of a file, by offset and size; short if it ends before."""
        place = self.place(name)
        if isinstance(place, RemotePath):
            return [place.read_range(offset, offset + size) for offset, size in spans]
        found = []
        with place.open("rb", buffering=0) as file:
            for offset, size in spans:
                file.seek(offset)
                found.append(file.read(size))
        return found

    def read(self, name: str) -> bytes:
        """A whole file."""
        return self.place(name).read_bytes()

    def names(self, name: str = "") -> list[str]:
        """The files in a folder in it, and below, by name; none if it is not there. Hidden ones are left out."""
        place = self.place(name) if name else self._place
        if isinstance(place, RemotePath):
            return [str(each)[len(str(place)) :].lstrip("/") for each in place.files()] if place.is_dir() else []
        found = (path.relative_to(place) for path in place.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if not any(part.startswith(".") for part in path.parts))

    def notes(self, name: str) -> "FileNotes":
        """The notes of a name."""
        return FileNotes(self, name)

    def other_file(self) -> str | None:
        """A file in the folder, if it has any."""
        return next((f"{self}/{name}" for name in self.names()), None)


class FileNotes:
    """Notes of one name: a file of JSON for each."""

    def __init__(self, folder: Folder, name: str) -> None:
        self._folder, self._name = folder, name

    def add(self, note: Any) -> None:
        """Write a note."""
        self._folder.make(self._name)
        with self._folder.writing(f"{self._name}/{secrets.token_hex(8)}.json") as file:
            file.write(json.dumps(note).encode())

    def read(self) -> list[dict[str, Any]]:
        """All notes, in no order; none, if nothing was noted.

        Raises:
            DataError: they are damaged.
        """
        names = self._folder.names(self._name)
        return parsed_notes(self._folder, (self._folder.read(f"{self._name}/{name}") for name in names))
