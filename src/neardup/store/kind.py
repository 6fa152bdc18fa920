"""KIND of a back end: what is done with the places of its stores, and with a whole store."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

from neardup.progress import Progress
from neardup.recipe.presets import RecipeLike
from neardup.store.session.backend import Backend
from neardup.store.upkeep.verify import StoreCheck


class Building(NamedTuple):
    """How a store is made of a run; see `Store.build`."""

    recipe: RecipeLike | None
    texts: bool
    threads: int | None
    progress: Progress


class Kind(ABC):
    """One row of `neardup.store.back_ends.BACK_ENDS`. `path`: the place of a store; see `Store` for what calls do and raise.

    Attributes:
        is_shared: whether several services write to a store at a time.
    """

    is_shared = False

    @abstractmethod
    def has(self, path: Any) -> bool:
        """Whether a place is of this kind."""

    @abstractmethod
    def shown(self, path: str | Path) -> str:
        """A place as messages show it: without password."""

    @abstractmethod
    def folder(self, path: str | Path) -> Path | None:
        """The folder that has all of a store; None if there is none."""

    @abstractmethod
    def is_there(self, path: str | Path) -> bool:
        """Whether there is a store."""

    @abstractmethod
    def open(self, path: str | Path, **how: Any) -> Backend:
        """Open a store, or create it. `how`: see `neardup.store.session.reader.OpenFiles`."""

    @abstractmethod
    def compact(self, files: Any) -> bool:
        """See `Store.compact`; `files`: what `open` has returned."""

    @abstractmethod
    def verify(self, files: Any) -> StoreCheck:
        """See `Store.verify`."""

    @abstractmethod
    def backup(self, files: Any, target: str | Path) -> None:
        """See `Store.backup`."""

    @abstractmethod
    def repair(self, path: str | Path, wait: float) -> StoreCheck:
        """See `Store.repair`."""

    @abstractmethod
    def restore(self, path: str | Path, exported: Path, threads: int | None) -> None:
        """See `Store.from_export`."""

    @abstractmethod
    def build(self, path: str | Path, run: str | Path, made: Building) -> None:
        """See `Store.build`."""

    @abstractmethod
    def upgrade(self, path: str | Path) -> tuple[int, int]:
        """Make of the tables of stores those of this version. Returns the versions before and after."""
