"""SALVAGE what can be read of a damaged record: it goes to a new one, and the damaged file stays beside it."""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from neardup.display import counted
from neardup.errors import DataError
from neardup.io.outputs.growing_file import to_disk
from neardup.store.formats.derived import nothing_derived
from neardup.store.formats.removal_bits import CHUNK_BYTES, NO_MARKS, Marks
from neardup.store.record.documents_table import DocumentRow, with_survivor
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.record import Record
from neardup.store.record.sealed_texts import Original
from neardup.store.record.skipped_table import NAMES
from neardup.store.session.batching import by_halves
from neardup.store.session.creating import SKIPPED
from neardup.store.session.folder import RECORD

DAMAGED, NEW = f"{RECORD}.damaged", f"{RECORD}.new"
ROWS_AT_ONCE = 1 << 12
LOST = Original("null", None)
T = TypeVar("T")


def salvage(folder: Path, damaged: Record) -> list[str]:
    """Put a record in the place of a damaged one, with all rows that are what was written. Returns what was lost, in words.

    Documents whose rows are lost count as removed, and texts whose rows or survivors are lost are forgotten. What is made of
    other files is to be made anew.

    Raises:
        DataError: the facts are damaged, without which nothing can be read.
    """
    try:
        facts = damaged.facts()
    except DataError as problem:
        raise DataError(f"{folder / RECORD} cannot be repaired: {problem}") from None
    before = Marks.of(NO_MARKS)
    with contextlib.suppress(DataError):  # without them, documents that were removed before count as lost
        before = damaged.marks()
    for name in (NEW, DAMAGED):
        (folder / name).unlink(missing_ok=True)
    with contextlib.closing(Record(folder / NEW, create=True)) as record, record.changing():
        gone, lost = Marks.of(NO_MARKS), 0
        if damaged.has_texts:
            record.make_texts()
        for block, rows in _blocks(damaged.documents_there, facts["documents"]):
            record.add_documents(rows.values())
            if damaged.has_texts:
                texts_of = dict(_readable(partial(_texts_of_documents, damaged, rows), block))
                record.add_texts(rows, (texts_of.get(number, LOST) for number in rows))
            missing = np.array([number for number in block if number not in rows], np.int64)
            lost += len(missing) - int(before.has(missing).sum())
            if len(missing):
                gone.set(missing)
        marked = np.flatnonzero(np.unpackbits(gone.bits, bitorder="little"))
        record.forget(marked[np.unique(marked // (8 * CHUNK_BYTES), return_index=True)[1]].tolist(), gone)
        texts = 0
        for block, removed in _blocks(damaged.removed, facts["removed"]):
            there = with_survivor(list(removed.values()), gone)
            record.add_removed(row._replace(number=texts + place) for place, row in enumerate(there))
            if damaged.has_texts:
                of_removed = dict(_readable(damaged.removed_texts, block))
                numbers, survivors = range(texts, texts + len(there)), (row.survivor for row in there)
                record.add_removed_texts(numbers, survivors, (of_removed.get(row.number, LOST) for row in there))
            texts += len(there)
        record.add_judgements(_judgements(damaged))
        lost_skipped = _salvage_skipped(damaged, record, gone)
        if lost_skipped and (known := facts.get(SKIPPED)) is not None:
            facts[SKIPPED] = known | {"since": time.time()}
        record.set_facts({**facts, "removed": texts, "derived": nothing_derived(facts["derived"]["serial"])})
    shutil.copyfile(folder / RECORD, folder / DAMAGED)
    damaged.close()
    for ending in ("-wal", "-shm"):  # they would be taken for those of the new one
        Path(f"{folder / RECORD}{ending}").unlink(missing_ok=True)
    os.replace(folder / NEW, folder / RECORD)
    to_disk(folder)
    told = [f"{RECORD} was damaged: it is made anew of what can be read of it, and kept as {DAMAGED}."]
    for count, what in ((lost, "document"), (facts["removed"] - texts, "remembered text")):
        told += [f"{counted(count, what)} of it {'is' if count == 1 else 'are'} lost."] if count else []
    if lost_skipped:
        told.append("Some skipped documents of it are lost: their orphans will not be named.")
    return told


def _salvage_skipped(damaged: Record, record: Record, gone: Marks) -> bool:
    """Copy what can be read of skipped documents and orphans; whether something is lost."""
    is_lost = False
    rows: dict[str, list[Any]] = {name: [] for name in NAMES}
    reads = (damaged._skipped, damaged._skipped_content, damaged._orphan)
    for name, read in zip(NAMES, reads, strict=True):
        try:
            for row in damaged.all_skipped(name):
                try:
                    rows[name].append(read(row))
                except DataError:
                    is_lost = True
        except DataError:  # the rest of the table
            is_lost = True
    skipped, contents, orphans = rows.values()
    there = set(with_survivor(skipped, gone))
    record.keep_skipped({row.id: row for row in there}, with_survivor(contents, gone))
    if orphans:
        record.add_orphans(orphans)
    return is_lost or len(there) < len(skipped)


def _texts_of_documents(
    damaged: Record, rows: Mapping[int, DocumentRow], numbers: Sequence[int]
) -> dict[int, Original]:
    """The texts of those of some documents whose rows can be read."""
    return damaged.texts({number: rows[number].id for number in numbers if number in rows})


def _judgements(damaged: Record) -> Iterator[JudgementRow]:
    """The judgements that can be read."""
    last = 0
    with contextlib.suppress(DataError):
        last = damaged.last_judgement()
    for numbers in (range(first, first + ROWS_AT_ONCE) for first in range(1, last + 1, ROWS_AT_ONCE)):
        yield from (row for _, row in sorted(_readable(damaged.judgements_of, numbers)))


def _blocks(read: Callable[[Sequence[int]], dict[int, T]], count: int) -> Iterator[tuple[range, dict[int, T]]]:
    """The rows that can be read, by number, block after block."""
    for first in range(0, count, ROWS_AT_ONCE):
        block = range(first, min(first + ROWS_AT_ONCE, count))
        rows = dict(_readable(read, block))
        yield block, {number: rows[number] for number in block if number in rows}


def _readable(read: Callable[[Sequence[int]], dict[int, T]], numbers: range) -> Iterator[tuple[int, Any]]:
    """Those of some rows that can be read."""
    for _, found in by_halves(read, numbers):
        yield from (found or {}).items()
