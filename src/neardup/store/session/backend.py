"""BACK ENDS: what calls of a store need of the one that keeps it, and what is done with the places of each kind.

A back end answers from files in a folder, which `Documents` has, and makes changes in its own way. `Files` is the one of a folder;
one that several services share has such files as a replica of what it keeps, and is a `WithReplica`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from neardup.arrays import Array
from neardup.matching.text_features import Texts
from neardup.progress import Progress
from neardup.recipe.presets import RecipeLike
from neardup.recipe.tables.keeps import KeepAs
from neardup.resources.resources import Resources
from neardup.store.answers import StoreCheck
from neardup.store.candidates.proposing import Candidates, Plan
from neardup.store.formats.contents import Contents, Layout
from neardup.store.formats.derived import Derived
from neardup.store.formats.removal_bits import Marks
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.notes_table import NoteRow
from neardup.store.record.record import Record
from neardup.store.record.sealed_texts import Original
from neardup.store.record.skipped_table import OrphanRow, SkippedContent, SkippedRow
from neardup.store.rules import Rules
from neardup.store.session.batching import Blocks
from neardup.store.session.lookup import Known

R = TypeVar("R")


class Documents(Protocol):
    """The documents of a store, in files of a folder; see `neardup.store.session.reader.OpenFiles`."""

    path: Path
    recipe: Any
    rules: Rules
    similarity: Any
    record: Record
    contents: Contents
    derived: Derived
    known: Known
    candidates: Candidates
    gone: Marks
    removed: int
    state: Any
    plan: Plan
    short_rule: int
    blocks: Blocks
    resources: Resources

    @property
    def keep_as(self) -> KeepAs | None: ...
    @property
    def layout(self) -> Layout: ...
    def kept(self) -> Array: ...
    def digests(self, numbers: Array) -> list[bytes]: ...
    def texts(self, given: Sequence[str]) -> Texts: ...


class Apart(Protocol):
    """What may be kept elsewhere than in those files, and is asked for when it is needed: texts, notes, judgements and orphans."""

    @property
    def has_texts(self) -> bool: ...
    @property
    def texts_shown(self) -> str: ...
    def originals(self, names: dict[int, str]) -> dict[int, Original]: ...
    def removed_originals(self, numbers: Sequence[int]) -> dict[int, Original]: ...
    def notes(self, keys: Sequence[str]) -> dict[str, NoteRow]: ...
    def judgements(self, after: int, limit: int | None) -> list[tuple[int, JudgementRow]]: ...
    def judged_pairs(self) -> set[tuple[bytes, bytes]]: ...
    def count_judgements(self) -> int: ...
    @property
    def skipped_since(self) -> float | None: ...
    def orphans(self, after: int, limit: int | None) -> list[OrphanRow]: ...
    def count_orphans(self) -> int: ...


class Changes(Protocol):
    """What calls change, within the block of `one_change`, at whose end it is durable."""

    is_repeatable: bool

    @property
    def latest(self) -> float: ...
    def clock(self) -> float: ...
    @property
    def is_in_change(self) -> bool: ...
    def demand_sound(self) -> None: ...
    def demand_writable(self) -> None: ...
    def one_change(self, unless: Sequence[str] = ()) -> AbstractContextManager[dict[str, Any]]: ...
    def keep(
        self,
        texts: Texts,
        rows: list[DocumentRow],
        removed: list[RemovedRow],
        seen: set[int],
        now: float,
        came: Sequence[Original] = (),
    ) -> None: ...
    def forget(self, numbers: Array) -> int: ...
    def keep_notes(self, rows: Sequence[NoteRow], now: float) -> None: ...
    def keep_judgement(self, row: JudgementRow) -> None: ...
    def keep_skipped(self, rows: Mapping[str, SkippedRow | None], contents: Iterable[SkippedContent] = ()) -> None: ...
    def skipped_of(self, survivors: Sequence[int]) -> list[SkippedRow]: ...
    def skipped_contents(self, survivors: Sequence[int]) -> dict[tuple[int, bytes], bytes]: ...
    def forget_skipped(self, survivors: Sequence[int]) -> None: ...
    def add_orphans(self, found: Sequence[tuple[str, bool]], now: float) -> int: ...
    def set_skipped_since(self, since: float | None) -> None: ...


class Calls(Protocol):
    """The calls of a store, one after another, and its end."""

    is_closed: bool

    @property
    def shown(self) -> str: ...
    def call(self, method: Callable[[], R], *, changes: bool) -> R: ...
    def in_use(self) -> AbstractContextManager[None]: ...
    def ping(self) -> None: ...
    def claim(self, what: str, wait: float) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class Backend(Documents, Apart, Changes, Calls, Protocol):
    """All of it."""


def passed_on(to: str, name: str) -> Any:
    """An attribute or a method that another object has, the attribute `to`."""
    return property(
        lambda self: getattr(getattr(self, to), name), lambda self, value: setattr(getattr(self, to), name, value)
    )


class WithReplica:
    """The `Documents` of a back end that has them in a replica, whose files are `local`, as long as it is the same."""

    path = passed_on("local", "path")
    recipe = passed_on("local", "recipe")
    rules = passed_on("local", "rules")
    similarity = passed_on("local", "similarity")
    record = passed_on("local", "record")
    contents = passed_on("local", "contents")
    derived = passed_on("local", "derived")
    known = passed_on("local", "known")
    candidates = passed_on("local", "candidates")
    gone = passed_on("local", "gone")
    removed = passed_on("local", "removed")
    state = passed_on("local", "state")
    latest = passed_on("local", "latest")
    plan = passed_on("local", "plan")
    short_rule = passed_on("local", "short_rule")
    layout = passed_on("local", "layout")
    blocks = passed_on("local", "blocks")
    resources = passed_on("local", "resources")
    kept = passed_on("local", "kept")
    digests = passed_on("local", "digests")
    texts = passed_on("local", "texts")
    demand_sound = passed_on("local", "demand_sound")


class Building(NamedTuple):
    """How a store is made of a run; see `Store.build`."""

    recipe: RecipeLike | None
    texts: bool
    threads: int | None
    progress: Progress


class Kind(Protocol):
    """One row of `neardup.store.back_ends.BACK_ENDS`: what is done with places of stores (`path`), and with a whole one
    (`files`: what `open` has returned). See the methods of `Store` with these names.

    Attributes:
        is_shared: whether several services write to a store at a time.
    """

    is_shared: bool = False

    def has(self, path: Any) -> bool:
        """Whether a place is of this kind."""
        ...

    def shown(self, path: str | Path) -> str:
        """A place as messages show it: without password."""
        ...

    def folder(self, path: str | Path) -> Path | None:
        """The folder that has all of a store; None if there is none."""
        ...

    def is_there(self, path: str | Path) -> bool: ...
    def open(self, path: str | Path, **how: Any) -> Backend:
        """Open a store, or create it. `how`: see `neardup.store.session.reader.OpenFiles`."""
        ...

    def compact(self, files: Any) -> bool: ...
    def verify(self, files: Any) -> StoreCheck: ...
    def backup(self, files: Any, target: str | Path) -> None: ...
    def repair(self, path: str | Path, wait: float) -> StoreCheck: ...
    def restore(self, path: str | Path, exported: Path, threads: int | None) -> None: ...
    def build(self, path: str | Path, run: str | Path, made: Building) -> None: ...
    def upgrade(self, path: str | Path) -> tuple[int, int]:
        """Make of the tables of stores those of this version. Returns the versions before and after."""
        ...
