"""What a run reads, which nothing that it writes replaces."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.io.corpora.shard import Shard
from neardup.io.storage.places import Place, identity, is_inside, real_name
from neardup.io.storage.remote import RemotePath

INPUT = "an input"


class ReadFiles:
    """The files and folders that a run reads, under whatever names.

    Args:
        shards: the inputs.
        others: what else it reads, by what that is in messages: `the cluster file`, `a benchmark`. A folder stands for all in it.
    """

    def __init__(self, shards: Iterable[Shard] = (), others: Mapping[str, Iterable[Place]] | None = None) -> None:
        self._names: dict[str, str] = {}
        self._files: dict[tuple[Any, Any], str] = {}
        self._folders: dict[str, str] = {}
        for shard in shards:
            self._add(shard.path, INPUT)
        for what, places in (others or {}).items():
            for place in places:
                if isinstance(place, Path) and place.is_dir():
                    self._folders.setdefault(real_name(place), what)
                else:
                    self._add(place, what)

    def _add(self, place: Place, what: str) -> None:
        self._names.setdefault(real_name(place), what)
        if (known := _identity(place)) is not None:
            self._files.setdefault(known, what)

    def problem(self, path: Place) -> str | None:
        """Why a run must not write to this path; None if it may."""
        name = real_name(path)
        what = self._names.get(name) or self._files.get(_identity(path) or ("", name))
        if what is not None:
            return f"{path} is {what}, and no run replaces what it reads. Name another file."
        for folder, what in self._folders.items():
            if is_inside(name, folder):
                return f"{path} lies in the folder of {what}, where nothing else belongs. Name a file elsewhere."
        return None

    def problems(self, paths: Iterable[Place]) -> Iterator[str]:
        """Why a run must not write to some of these paths."""
        return filter(None, map(self.problem, dict.fromkeys(paths)))

    def refuse(self, paths: Iterable[Place]) -> None:
        """Refuse to write to what is read.

        Raises:
            InputError: with every such path.
        """
        if problems := list(self.problems(paths)):
            raise InputError("\n".join(problems))


NOTHING_READ = ReadFiles()


def _identity(place: Place) -> tuple[Any, Any] | None:
    """What two names of one file have in common; None if there is no file."""
    if isinstance(place, RemotePath):
        return None  # a name is all that it has
    try:
        return identity(place)
    except OSError:
        return None
