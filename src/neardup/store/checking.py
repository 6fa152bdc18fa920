"""VERIFY every byte of a store, and REPAIR what can be repaired."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, InputError, NeardupError
from neardup.store.candidates.table import CANDIDATES
from neardup.store.derived import Derived, nothing_derived
from neardup.store.files import REBUILT, Files
from neardup.store.opening import RECORD, is_store, writing
from neardup.store.record import Record


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What a check of all bytes has found.

    Attributes:
        documents: how many kept documents were checked.
        damaged: the ids of those whose contents are not what was written; a repair removes them.
        problems: whatever else is wrong, in words; a repair makes derived files anew.
    """

    documents: int
    damaged: tuple[Any, ...]
    problems: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damaged and not self.problems


def check_files(files: Files) -> StoreCheck:
    """Read everything; see `Store.verify`."""
    problems = list(files.record.damage())
    is_readable = not problems
    problems += [f"{name} is damaged: it is made of the other files." for name in files.derived.damaged()]
    if is_readable:
        problems += files.candidates.damage_in(files.path, files.record.facts())
    kept, damaged = files.kept(), damaged_documents(files)
    if not is_readable:  # the ids of damaged documents are in the record
        problems += [f"Document {number:,} is not what was written." for number in damaged.tolist()]
        return StoreCheck(len(kept), (), tuple(problems))
    names = {row.number: row.id for row in files.record.documents_from(0)}
    if sorted(names) != kept.tolist():
        problems.append(f"The record has {len(names):,} documents, the contents {len(kept):,}.")
    texts = sum(1 for _ in files.record.removed_from(0))
    if texts != files.removed:
        problems.append(f"The record has {texts:,} texts that were not kept, of {files.removed:,}.")
    return StoreCheck(len(kept), tuple(json.loads(names[each]) for each in damaged.tolist() if each in names), tuple(problems))


def damaged_documents(files: Files) -> Array:
    """int64[n]: the kept documents whose contents are not what was written."""
    found: list[int] = []
    kept = files.kept()
    for first in range(0, len(kept), REBUILT):
        found += _damaged(files, kept[first : first + REBUILT])
    return np.array(found, np.int64)


def _damaged(files: Files, numbers: Array) -> list[int]:
    """Those of some documents that are damaged, by halves."""
    try:
        files.contents.texts(numbers)
    except DataError:
        if len(numbers) == 1:
            return [int(numbers[0])]
        half = len(numbers) // 2
        return _damaged(files, numbers[:half]) + _damaged(files, numbers[half:])
    return []


def repair(path: Path) -> StoreCheck:
    """See `Store.repair`."""
    if not is_store(path):
        raise InputError(f"{path} is no store. Name the folder of one.")
    with writing(path, 0.0), contextlib.closing(Record(path / RECORD)) as record, record.changing():
        for problem in record.damage():
            raise DataError(f"{path / RECORD} cannot be repaired: {problem}")
        facts = record.facts()
        method = CANDIDATES[facts["rules"]["method"]]
        broken = _broken_derived(path, facts["derived"]) + method.damage_in(path, facts)
        if broken:
            record.set_facts({"derived": nothing_derived(facts["derived"]["serial"])})
            method.forget(path)
    with contextlib.closing(_open(path, recalls=False)) as files:
        found = check_files(files)
        files.forget(damaged_documents(files))
        files.acknowledge({})
    if broken:
        with contextlib.closing(_open(path)) as files:
            files.derived.sweep()
    return StoreCheck(found.documents, found.damaged, (*broken, *found.problems))


def _broken_derived(path: Path, listed: dict[str, Any]) -> list[str]:
    """What is wrong with the files that are made of others."""
    try:
        names = Derived(path, listed).damaged()
    except NeardupError as problem:
        return [str(problem)]
    return [f"{name} was damaged, and is made anew." for name in names]


def _open(path: Path, *, recalls: bool = True) -> Files:
    return Files(path, mode="w", wait=0.0, durable="each", threads=None, recipe=None, given={}, recalls=recalls)
