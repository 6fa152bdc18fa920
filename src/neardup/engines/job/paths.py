"""PATHS of what a command on an engine reads and writes: formats by their endings, which lie in one another, and what is written.

Outputs are noted in the folder of the job before they are written, so that those that an interrupted run began are replaced:

    FOLDER/written/     a line of JSON: what is written where, and that it is finished
"""

import contextlib
import posixpath
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from neardup.engines.job.checkpoint import Notes
from neardup.errors import InputError, OptionError

FORMATS = {".parquet": "parquet", ".orc": "orc", ".json": "json", ".jsonl": "json", ".csv": "csv"}
"""Of the endings of paths."""
_CODECS = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstd"}
"""Of the second endings that lines have."""


def format_of(path: str, otherwise: str) -> tuple[str, str | None]:
    """The format that the ending of a path tells, or else another one; and the codec of compressed lines."""
    stem, ending = posixpath.splitext(path.rstrip("/"))
    inner = FORMATS.get(posixpath.splitext(stem)[1].lower())
    if ending.lower() in _CODECS and inner in ("json", "csv"):
        return inner, _CODECS[ending.lower()]
    return FORMATS.get(ending.lower(), otherwise), None


def without_ending(path: str) -> tuple[str, str]:
    """A path without the ending that tells its format, and that ending."""
    path = path.rstrip("/")
    found = re.search(
        rf"({'|'.join(map(re.escape, FORMATS))})({'|'.join(map(re.escape, _CODECS))})?$", path, re.IGNORECASE
    )
    return (path, "") if found is None or path[: found.start()].endswith("/") else (path[: found.start()], found[0])


def demand_one_format(paths: Sequence[str], otherwise: str) -> str:
    """The format of paths that are read together.

    Raises:
        OptionError: they have several.
    """
    found = {format_of(path, otherwise)[0]: path for path in paths}
    if len(found) > 1:
        shown = ", ".join(f"{path} ({name})" for name, path in found.items())
        raise OptionError(
            f"All inputs must have one format, and these differ: {shown}. Write them in one format first."
        )
    return next(iter(found))


def nothing_in(shown: str, name: str) -> InputError:
    """The error of paths without rows, whose columns nothing tells."""
    return InputError(
        f"There are no rows in {shown}, and nothing tells the columns. Give paths of {name} with rows, and `format` where no "
        "ending tells it."
    )


def demand_flat(path: str, otherwise: str, nested: Sequence[str]) -> None:
    """Refuse CSV for columns that are nested or binary, which are named.

    Raises:
        InputError: there are some.
    """
    if format_of(path, otherwise)[0] == "csv" and nested:
        raise InputError(f"{path}: CSV cannot hold the column {nested[0]!r}, which is nested or binary. Write Parquet.")


def demand_apart(written: Mapping[str, str], reading: Collection[str]) -> None:
    """Refuse what is written if it is, holds, or lies in something else that is written, or what is read.

    Args:
        written: whole paths, by what was given.
        reading: whole paths.

    Raises:
        InputError: it is so.
    """
    for at, (path, place) in enumerate(written.items()):
        if any(_overlap(place, other) for other in reading):
            raise InputError(f"{path} is to be written, and is, holds, or lies in what is read. Choose another path.")
        for other in list(written)[:at]:
            if _overlap(place, written[other]):
                raise InputError(f"{path} and {other} are both to be written, and overlap. Choose other paths.")


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


class Files(ABC):
    """What a command on an engine does with files."""

    @abstractmethod
    def read(self, paths: Sequence[str], otherwise: str) -> Any:
        """The rows of files, folders or patterns. `otherwise`: the format, if no ending tells it.

        Raises:
            OptionError: they have several formats, or one that is not read here.
            InputError: they cannot be read, or have no columns.
        """

    @abstractmethod
    def columns(self, rows: Any) -> Sequence[str]:
        """The names of columns."""

    def sources(self, rows: Any) -> Collection[str]:  # noqa: ARG002
        """The whole paths of the files that rows are read from, if they tell."""
        return ()

    @abstractmethod
    def whole(self, path: str) -> str:
        """The whole path of a file or folder."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file or folder."""

    @abstractmethod
    def demand_writable(self, rows: Any, path: str, otherwise: str) -> None:
        """Refuse a format that is not written here, or cannot hold the columns.

        Raises:
            InputError: a column is nested, and the format has none such.
            OptionError: it is another format.
        """

    @abstractmethod
    def write(self, rows: Any, path: str, otherwise: str, *, overwrite: bool) -> None:
        """Write a folder of files."""

    @abstractmethod
    def notes(self, folder: str, name: str) -> Notes:
        """Notes in the folder of a job."""

    @abstractmethod
    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        """Errors of the engine in our words."""


WRITTEN = "written"
"""The name of the notes."""


class Outputs:
    """What a run writes.

    Attributes:
        replaced: the paths of those that are there and are written anew.
    """

    def __init__(self, notes: Notes, places: Mapping[str, str], there: Collection[str], *, overwrite: bool) -> None:
        """Look at the outputs, before anything runs.

        Args:
            notes: in the folder of the job, which may not be there.
            places: whole paths, by what was given.
            there: those, as given, that exist.
            overwrite: whether they are replaced.

        Raises:
            InputError: an output exists that no run of this job has begun to write.
        """
        self._notes, self._places = notes, dict(places)
        found = sorted(notes.read(), key=lambda note: int(note["number"]))
        self._number = len(found)
        begun = found[-1]["begun"] if found else []
        for path in () if overwrite else there:
            if self._places[path] not in begun:
                raise InputError(f"{path} exists. Choose another path, or replace it with `overwrite=True`.")
        self.replaced = set(places) if overwrite else set(there)

    def begin(self) -> None:
        """Note what is written from now on."""
        self._note(list(self._places.values()))

    def finish(self) -> None:
        """Note that all are written."""
        self._note([])

    def _note(self, begun: list[str]) -> None:
        self._notes.add({"number": self._number, "begun": begun})
        self._number += 1
