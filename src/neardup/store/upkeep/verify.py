"""VERIFY every byte of a store, and REPAIR what can be repaired."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import DataError, InputError, NeardupError
from neardup.matching.text_features import digest_words
from neardup.store.answers import StoreCheck
from neardup.store.arguments import seconds_of
from neardup.store.candidates.proposing import DOCUMENTS_AT_ONCE
from neardup.store.candidates.table import CANDIDATES
from neardup.store.decisions.orphans import forget
from neardup.store.formats.derived import Derived, nothing_derived
from neardup.store.formats.segments import Found
from neardup.store.record.documents_table import with_survivor
from neardup.store.record.record import Record
from neardup.store.record.sealed_texts import damaged
from neardup.store.session.backend import Backend
from neardup.store.session.batching import Blocks, by_halves
from neardup.store.session.folder import RECORD, is_store, writing
from neardup.store.session.writer import Files
from neardup.store.upkeep.repair_record import salvage

DOCUMENTS_ASKED_AT_ONCE = 1 << 8
"""Documents that are asked for together, at most."""


def check_files(files: Backend) -> StoreCheck:
    """Read everything, and ask for every document; see `Store.verify`."""
    found = _read_all(files)
    return dataclasses.replace(found, problems=(*found.problems, *_lost(files))) if found.is_sound else found


def _read_all(files: Backend) -> StoreCheck:
    problems = list(files.record.damage())
    is_readable = not problems
    problems += [f"{name} is damaged: it is made of the other files." for name in files.derived.damaged()]
    if is_readable:
        problems += [f"{name} is damaged: it is made of the other files." for name in files.candidates.damaged()]
    kept, damaged = files.kept(), damaged_documents(files)
    if not is_readable:  # the ids of damaged documents are in the record
        problems += [f"Document {number:,} is not what was written." for number in damaged.tolist()]
        return StoreCheck(len(kept), (), tuple(problems))
    names = {row.number: row.id for row in files.record.documents_from(0) if row.number < len(files.contents)}
    if sorted(names) != kept.tolist():
        problems.append(f"The record has {len(names):,} documents, the contents {len(kept):,}.")
    if twice := len(names) - len(set(names.values())):
        problems.append(f"The record has {counted(twice, 'id')} twice.")
    texts = sum(row.number < files.removed for row in files.record.removed_from(0))  # a writer may add others
    if texts != files.removed:
        problems.append(f"The record has {texts:,} texts that were not kept, of {files.removed:,}.")
    problems += told_of_texts(damaged_texts(files, kept[~np.isin(kept, damaged)]))
    return StoreCheck(
        len(kept), tuple(json.loads(names[each]) for each in damaged.tolist() if each in names), tuple(problems)
    )


def damaged_documents(files: Backend) -> Array:
    """int64[n]: the kept documents whose contents are not what was written."""
    found: list[int] = []
    kept = files.kept()
    for first in range(0, len(kept), DOCUMENTS_AT_ONCE):
        read = by_halves(files.contents.texts, kept[first : first + DOCUMENTS_AT_ONCE])
        found += [int(numbers[0]) for numbers, texts in read if texts is None]
    return np.array(found, np.int64)


def _lost(files: Backend) -> list[str]:
    """What derived files do not have: kept documents by their own ids, texts and elements, and texts that were not kept."""
    texts_removed = 0
    kept, removed = files.kept(), files.record.removed_from(0)

    def lost_of(block: slice) -> int:
        numbers = kept[block]
        texts, rows = files.contents.texts(numbers), files.record.documents(numbers.tolist())
        by_id = files.known.of_ids([row.id for row in rows.values()])
        has = np.isin(numbers, [row.number for row in by_id.values()])
        has &= _finds(files.known.all_kept(texts.prints), numbers)
        has &= _finds(files.candidates.found_by_keys(texts), numbers) | ~files.candidates.is_found(texts)
        return int(np.count_nonzero(~has))

    documents = sum(Blocks(DOCUMENTS_ASKED_AT_ONCE).over(len(kept), lost_of))
    while some := list(islice(removed, DOCUMENTS_ASKED_AT_ONCE)):
        has = _finds(
            files.known.all_removed(digest_words([row.digest for row in some])), np.array([row.number for row in some])
        )
        texts_removed += int(np.count_nonzero(~has))
    counts = ((documents, "document"), (texts_removed, "remembered text"))
    return [
        f"Questions do not find {counted(count, what)}: derived files are incomplete."
        for count, what in counts
        if count
    ]


def _finds(pairs: Found, numbers: Array) -> Array:
    """bool[n]: which places are paired with the documents of these numbers."""
    found: Array = np.zeros(len(numbers), np.bool_)
    found[pairs.asked[numbers[pairs.asked] == pairs.found]] = True
    return found


def repair(path: Path, wait: float) -> StoreCheck:
    """See `Store.repair`."""
    if not is_store(path):
        raise InputError(f"{path} is no store. Name the folder of one.")
    salvaged, wait = list[str](), seconds_of("wait", wait)
    with writing(path, wait), contextlib.closing(Record(path / RECORD)) as record:
        if any(record.damage()) or _lacks_rows(record):
            salvaged = salvage(path, record)
    with writing(path, wait), contextlib.closing(Record(path / RECORD)) as record:
        facts = record.facts()
        broken = [
            *_broken_derived(path, facts["derived"]),
            *CANDIDATES[facts["rules"]["method"]].damage_in(path, facts),
        ]
    if broken or salvaged:
        _drop_derived(path, wait)
    with contextlib.closing(_open(path, wait, recalls=False)) as files:
        found = _read_all(files)
        forget(files, damaged_documents(files), compares=False)  # nothing can be asked here
        files.lose_texts(*damaged_texts(files, files.kept()))
        files.acknowledge({})
    with contextlib.closing(_open(path, wait)) as files:
        lost = _lost(files)
    if lost:
        _drop_derived(path, wait)
        _open(path, wait).close()
    return StoreCheck(found.documents, found.damaged, (*salvaged, *broken, *found.problems, *lost))


def _lacks_rows(record: Record) -> bool:
    """Whether a record that can be read has fewer rows than it should."""
    try:
        record.demand_rows()
    except DataError:
        return True
    return False


def _drop_derived(path: Path, wait: float) -> None:
    """Forget what is made of other files; whoever opens the store makes it anew."""
    with writing(path, wait), contextlib.closing(Record(path / RECORD)) as record, record.changing():
        facts = record.facts()
        record.set_facts({"derived": nothing_derived(facts["derived"]["serial"])})
        CANDIDATES[facts["rules"]["method"]].forget(path)


def _broken_derived(path: Path, listed: dict[str, Any]) -> list[str]:
    """What is wrong with the files that are made of others."""
    try:
        names = Derived(path, listed).damaged()
    except NeardupError as problem:
        return [str(problem)]
    return [f"{name} was damaged, and is made anew." for name in names]


def _open(path: Path, wait: float, *, recalls: bool = True) -> Files:
    return Files(path, mode="w", wait=wait, durable="each", threads=None, recipe=None, given={}, recalls=recalls)


class DamagedTexts(NamedTuple):
    """The numbers of kept documents, and of remembered duplicates, whose texts are damaged or missing."""

    documents: list[int]
    removed: list[int]


def damaged_texts(files: Backend, kept: Array) -> DamagedTexts:
    """Read the texts of documents (int64[n], whose contents are sound), and of all remembered duplicates."""
    found = DamagedTexts([], [])
    if not files.has_texts:
        return found
    for first in range(0, len(kept), DOCUMENTS_AT_ONCE):
        numbers = kept[first : first + DOCUMENTS_AT_ONCE]
        rows = files.record.documents_there(numbers.tolist())
        there = numbers[np.isin(numbers, list(rows))]
        texts = files.originals({number: rows[number].id for number in there.tolist()})
        places = damaged(files.digests(there), (texts.get(number) for number in there.tolist()))
        found.documents.extend(there[places].tolist())
    remembered = files.record.removed_from(0)
    while some := list(islice(remembered, DOCUMENTS_AT_ONCE)):
        some = with_survivor(some, files.gone)
        texts = files.removed_originals([row.number for row in some])
        places = damaged((row.digest for row in some), (texts.get(row.number) for row in some))
        found.removed.extend(some[place].number for place in places)
    return found


def told_of_texts(found: DamagedTexts) -> Iterator[str]:
    """Damaged texts in words."""
    for what, numbers in (("document", found.documents), ("remembered duplicate", found.removed)):
        yield from (f"The text of {what} {number:,} is not what was written, or missing." for number in numbers)
