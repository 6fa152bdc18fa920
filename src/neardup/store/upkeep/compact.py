"""COMPACT: write the contents anew without documents that are gone, and anew what answers, all under the latest order.

The new files are written beside the old ones, and one change of the record goes over to them: readers find the old or the new.
"""

import contextlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

from neardup.arrays import Array
from neardup.io.outputs.growing_file import to_disk
from neardup.store.candidates.proposing import DOCUMENTS_AT_ONCE
from neardup.store.formats.contents import Contents
from neardup.store.formats.derived import Derived, nothing_derived
from neardup.store.formats.removal_bits import NO_MARKS, Marks
from neardup.store.record.documents_table import with_survivor
from neardup.store.session.creating import SKIPPED
from neardup.store.session.lookup import Known, recall
from neardup.store.session.writer import Files


def compact(files: Files) -> bool:
    """Give up the room of documents that are gone, and of remembered texts whose survivors are. Numbers change, answers do not.

    Returns False if there was nothing to do.
    """
    files.flush()
    files.record.demand_rows()  # they are paired with the contents by their order
    with files.changing():
        if files.derived.settle():
            files.list_derived()
    if not files.gone.count and len(files.derived.orders) < 2:
        if _is_compact(files):
            return False
        with files.changing():
            files.spill(compact=True)
        return True
    with files.changing(), contextlib.ExitStack() as stack:
        files.derived.settle()
        kept, contents, facts = files.kept(), files.contents, dict[str, Any]()
        if files.gone.count:
            contents = stack.enter_context(contextlib.closing(_copied(files, kept)))
            facts = {"generation": contents.generation, "documents": len(kept), "ends": contents.ends}
            if files.skips is not None:
                facts[SKIPPED] = files.skips | {"generation": contents.generation}
        nothing = nothing_derived(files.derived.listed()["serial"])
        derived = stack.enter_context(contextlib.closing(Derived(files.path, nothing)))
        removed = _derive(files, contents, derived)
        to_disk(files.path)
        if files.gone.count:
            files.record.renumber(kept)
            files.candidates.forget(files.path)  # before the record: what is gone is made again
        files.record.set_facts({**facts, "removed": removed, "derived": derived.listed()})
        files.record.commit()
    with files.changing():  # from here on, so that nobody else has changed what is opened again
        files.reopen()
        files.spill()
    files.record.tidy()
    return True


def _is_compact(files: Files) -> bool:
    """Whether all that answers is in one segment each, or in memory."""
    if not files.candidates.in_derived and len(files.contents):
        return False
    return all(len(files.derived.postings(name).segments) < 2 for name in files.derived.names)


def _copied(files: Files, kept: Array) -> Contents:
    """The contents of the kept documents (int64[n]) as the next generation, durable."""
    layout, before = files.layout, files.contents
    anew = Contents(files.path, layout, layout.no_ends, store=before.store, generation=before.generation + 1)
    with contextlib.ExitStack() as stack:
        stack.callback(anew.close)
        for first in range(0, len(kept), DOCUMENTS_AT_ONCE):
            anew.append(before.texts(kept[first : first + DOCUMENTS_AT_ONCE]))
        anew.sync()
        stack.pop_all()
    return anew


def _derive(files: Files, contents: Contents, derived: Derived) -> int:
    """Write what answers for the kept documents, numbered from 0 on. Returns how many texts stay remembered."""
    nothing, candidates = Marks.of(NO_MARKS), None
    known = Known(files.record, contents, derived, nothing)
    if files.candidates.in_derived:
        candidates = files.new_candidates()
        candidates.open(contents, derived, nothing, 1)
        candidates.prepare()

    def write_full(upto: int, removed_upto: int) -> None:
        if derived.is_full:
            derived.settle()
            derived.write(upto, removed_upto, nothing)

    documents = ((i, row.id) for i, row in enumerate(files.record.documents_from(0)))
    upto = recall(documents, enumerate(_remembered(files)), contents, known, candidates, after=write_full)
    derived.settle()
    derived.write(*upto, nothing, compact=True)
    derived.settle()
    return upto[1]


def _remembered(files: Files) -> Iterator[bytes]:
    """The digests of the texts whose survivors are kept."""
    rows = files.record.removed_from(0)
    while some := list(islice(rows, DOCUMENTS_AT_ONCE)):
        yield from (row.digest for row in with_survivor(some, files.gone))
