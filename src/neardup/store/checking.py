"""VERIFY every byte of a store, and REPAIR what can be repaired."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, InputError, NeardupError
from neardup.store.derived import Derived
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
    problems = [f"record.sqlite: {each}" for each in files.record.damage()]
    problems += [f"{name} is damaged: it is made of the other files." for name in files.derived.damaged()]
    kept, damaged = files.kept(), damaged_documents(files)
    names = {row.number: row.id for row in files.record.documents_from(0)}
    if sorted(names) != kept.tolist():
        problems.append(f"The record has {len(names):,} documents, the contents {len(kept):,}.")
    ids = tuple(json.loads(names[number]) for number in damaged.tolist() if number in names)
    return StoreCheck(len(kept), ids, tuple(problems))


def damaged_documents(files: Files) -> Array:
    """int64[n]: the kept documents whose rows or elements are not what was written."""
    found: list[int] = []
    kept = files.kept()
    for first in range(0, len(kept), REBUILT):
        found += _damaged(files, kept[first : first + REBUILT])
    return np.array(found, np.int64)


def _damaged(files: Files, numbers: Array) -> list[int]:
    """Those of some documents that are damaged, by halves."""
    try:
        rows = files.contents.rows(numbers)
        for kind in files.layout.kinds:
            files.contents.elements(numbers, kind, rows)
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
        broken = _broken_derived(path, record.facts()["derived"])
        if broken:
            record.set_facts({"derived": {"serial": record.facts()["derived"].get("serial", 0)}})
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
