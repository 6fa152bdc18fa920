"""BACK ENDS: what calls of a store need of the one that keeps it.

A back end answers from files in a folder, which `Documents` has, and makes changes in its own way. `Files` is the one of a folder;
one that several services share has such files as a replica of what it keeps, and is a `WithReplica`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from neardup.arrays import Array
from neardup.matching.text_features import Texts
from neardup.resources.resources import Resources
from neardup.store.candidates.plan import Plan
from neardup.store.candidates.proposing import Candidates
from neardup.store.formats.contents import Contents, Layout
from neardup.store.formats.derived import Derived
from neardup.store.formats.removal_bits import Marks
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.notes_table import NoteRow
from neardup.store.record.record import Record
from neardup.store.record.sealed_texts import Original
from neardup.store.rules import Rules
from neardup.store.session.batching import Blocks
from neardup.store.session.lookup import Known
from neardup.store.session.writer import Files

R = TypeVar("R")


class Documents(Protocol):
    """The documents of a store, in files of a folder; see `neardup.store.session.reader.OpenFiles`."""

    @property
    def path(self) -> Path: ...
    @property
    def recipe(self) -> Any: ...
    @property
    def rules(self) -> Rules: ...
    @property
    def similarity(self) -> Any: ...
    @property
    def record(self) -> Record: ...
    @property
    def contents(self) -> Contents: ...
    @property
    def derived(self) -> Derived: ...
    @property
    def known(self) -> Known: ...
    @property
    def candidates(self) -> Candidates: ...
    @property
    def gone(self) -> Marks: ...
    @property
    def removed(self) -> int: ...
    @property
    def state(self) -> Any: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def blocks(self) -> Blocks: ...
    @property
    def resources(self) -> Resources: ...
    def kept(self) -> Array: ...
    def digests(self, numbers: Array) -> list[bytes]: ...
    def texts(self, given: Sequence[str]) -> Texts: ...


class Apart(Protocol):
    """What may be kept elsewhere than in those files, and is asked for when it is needed: texts, notes and judgements."""

    @property
    def has_texts(self) -> bool: ...
    @property
    def texts_shown(self) -> str: ...
    def originals(self, names: dict[int, str]) -> dict[int, Original]: ...
    def removed_originals(self, numbers: Sequence[int]) -> dict[int, Original]: ...
    def notes(self, keys: Sequence[str], now: float) -> dict[str, NoteRow]: ...
    def judgements(self, after: int, limit: int | None) -> list[tuple[int, JudgementRow]]: ...
    def judged_pairs(self) -> set[tuple[bytes, bytes]]: ...
    def count_judgements(self) -> int: ...


class Changes(Protocol):
    """What calls change, within the block of `one_change`, at whose end it is durable."""

    is_repeatable: bool

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


class Calls(Protocol):
    """The calls of a store, one after another, and its end."""

    @property
    def shown(self) -> str: ...
    @property
    def is_closed(self) -> bool: ...
    def call(self, method: Callable[[], R], *, changes: bool) -> R: ...
    def in_use(self) -> AbstractContextManager[None]: ...
    def ping(self) -> None: ...
    def claim(self, what: str, wait: float) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class Backend(Documents, Apart, Changes, Calls, Protocol):
    """All of it."""


class WithReplica:
    """The `Documents` of a back end that has them in a replica, as long as that is the same."""

    @property
    def local(self) -> Files:
        """The files of the replica."""
        raise NotImplementedError

    @property
    def path(self) -> Path:
        return self.local.path

    @property
    def recipe(self) -> Any:
        return self.local.recipe

    @property
    def rules(self) -> Rules:
        return self.local.rules

    @property
    def similarity(self) -> Any:
        return self.local.similarity

    @property
    def record(self) -> Record:
        return self.local.record

    @property
    def contents(self) -> Contents:
        return self.local.contents

    @property
    def derived(self) -> Derived:
        return self.local.derived

    @property
    def known(self) -> Known:
        return self.local.known

    @property
    def candidates(self) -> Candidates:
        return self.local.candidates

    @property
    def gone(self) -> Marks:
        return self.local.gone

    @property
    def removed(self) -> int:
        return self.local.removed

    @property
    def state(self) -> Any:
        return self.local.state

    @property
    def plan(self) -> Plan:
        return self.local.plan

    @property
    def layout(self) -> Layout:
        return self.local.layout

    @property
    def blocks(self) -> Blocks:
        return self.local.blocks

    @property
    def resources(self) -> Resources:
        return self.local.resources

    def kept(self) -> Array:
        return self.local.kept()

    def digests(self, numbers: Array) -> list[bytes]:
        return self.local.digests(numbers)

    def texts(self, given: Sequence[str]) -> Texts:
        return self.local.texts(given)

    def demand_sound(self) -> None:
        self.local.demand_sound()
