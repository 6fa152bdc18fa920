"""OUTCOMES: which documents are removed, and the log: where copies are, and what becomes of these."""

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array, Bools
from neardup.engines.columns import ascending, beginnings, looked_up
from neardup.engines.packing import ints
from neardup.engines.repeats.cuts import pieces_in
from neardup.engines.repeats.work import EDITS, LOCATED, LOGGED, OUTCOMES, PLACE_BITS, PassageWork, joined
from neardup.engines.schemas import ROW_BITS, of_reference
from neardup.engines.stages import Found, Output, Stage
from neardup.survivors.repeats.cuts import meet_any
from neardup.survivors.repeats.text_cuts import SPACE

TOTALS = Output(pa.schema({name: pa.int64() for name in (
    "tokens", "changed", "removed", "kept_for_copies", "segments", "cut_tokens", "cut_characters"
)}))  # fmt: skip


LOG_COLUMNS = (
    *("id", "start", "end", "tokens", "copy_id", "copy_start", "copy_end", "copy_is_cut", "copy_in_reference"),
    *("separator", "document_removed"),
)
"""What users get of the log, where texts are in one column."""


def decide(work: PassageWork) -> Stage:
    """The stage that says where copies are and which documents go: of copies, texts, segments and documents that are cut."""
    return Stage("outcomes", partial(_decide, work), {"located": LOCATED, "outcomes": OUTCOMES})


def _decide(work: PassageWork, copies: pa.Table, texts: pa.Table, segments: pa.Table, edited: pa.Table) -> Found:
    if len(edited):
        doc = ints(edited, "doc")[0]
        named = np.isin(doc, copies.column("doc").to_numpy())
        left = edited.column("left").to_numpy()
        is_few, stays = (
            left < work.passages.min_left,
            named & (left > 0),
        )  # as `neardup.survivors.repeats.outcomes` decides
        columns = [*edited.select(["doc", "id", "text"]).columns, is_few & ~stays, is_few & stays]
        yield (
            "outcomes",
            pa.table([pa.array(each) if isinstance(each, np.ndarray) else each for each in columns], OUTCOMES.schema),
        )
    if len(copies):
        doc, asker, place, count = ints(copies, "doc", "asker", "place", "tokens")
        known, at = looked_up(ints(texts, "doc")[0], doc)
        assert known.all()
        spans = _spans(work, texts.column("text"), at, place, count)
        columns = [
            asker,
            doc,
            place,
            count,
            texts.column("id").take(at),
            *spans.T,
            _are_cut(segments, doc, place, count),
        ]
        yield (
            "located",
            pa.table([pa.array(each) if isinstance(each, np.ndarray) else each for each in columns], LOCATED.schema),
        )


def _spans(work: PassageWork, texts: Any, rows: Array, place: Array, count: Array) -> Array:
    """int64[n, 3]: the column, first character and end of each copy. `rows`: of their texts, ascending."""
    found = np.empty((len(rows), 3), np.int64)
    starts = np.flatnonzero(beginnings(rows))
    ends, given = [*starts[1:].tolist(), len(rows)], pieces_in(texts.take(pa.array(rows[starts])), work)
    for first, last, pieces in zip(starts.tolist(), ends, given, strict=True):
        found[first:last] = pieces.located(place[first:last], count[first:last])
    return found


def _are_cut(segments: pa.Table, doc: Array, place: Array, count: Array) -> Bools:
    """bool[n]: whether some of the places of a document from `place` on are in a segment."""
    of, first, tokens = ints(segments, "doc", "place", "tokens")
    order = ascending(of, first)
    docs, number = np.unique(of[order], return_inverse=True)
    before = number << PLACE_BITS  # so that places of all documents ascend
    begins, ends = first[order] + before, (first + tokens)[order] + before
    known, at = looked_up(docs, doc)
    asked = place + (at << PLACE_BITS)
    return known & meet_any(begins, ends, asked, asked + count)


def _log(segments: pa.Table, located: pa.Table, outcomes: pa.Table) -> Found:
    if not len(segments):
        return
    names = ("copy", "copy_place", "tokens")
    at = joined(tuple(ints(located, *names)), tuple(ints(segments, *names)))
    _, of = looked_up(*ints(outcomes, "doc"), *ints(segments, "doc"))
    copies = located.take(at)
    is_separated = segments.column("is_separated").to_numpy()
    columns = {name: segments.column(name) for name in ("doc", "place", "column", "start", "end", "tokens", "copy")}
    columns |= {
        name: copies.column(name) for name in LOCATED.schema.names if name.startswith("copy_") and name != "copy_place"
    }
    columns |= {"id": outcomes.column("id").take(of), "document_removed": outcomes.column("is_removed").take(of)}
    columns["copy_in_reference"] = pa.array(of_reference(ints(segments, "copy")[0]))
    columns["separator"] = pc.if_else(pa.array(is_separated), SPACE, pa.scalar(None, pa.large_string()))
    yield "log", pa.table([columns[name] for name in LOGGED.schema.names], LOGGED.schema)


LOG = Stage("log", _log, {"log": LOGGED})
"""Of segments, copies with their places, and outcomes."""


def _divide(outcomes: pa.Table) -> Found:
    doc = outcomes.column("doc")
    part = pc.shift_right(doc, ROW_BITS)
    yield "edits", pa.table([part, doc, outcomes.column("text"), outcomes.column("is_removed")], EDITS.schema)


DIVIDE = Stage("parts", _divide, {"edits": EDITS})
"""Of outcomes."""


def _tally(documents: pa.Table, outcomes: pa.Table, log: pa.Table) -> Found:
    flags = [outcomes.column(name).to_numpy().sum() for name in ("is_removed", "is_kept_for_copies")]
    start, end, tokens = ints(log, "start", "end", "tokens")
    is_own = ~documents.column("is_reference").to_numpy()
    counts = [
        ints(documents, "tokens")[0][is_own].sum(),
        len(outcomes),
        *flags,
        len(log),
        tokens.sum(),
        (end - start).sum(),
    ]
    yield "totals", pa.table([[int(count)] for count in counts], TOTALS.schema)


TALLY = Stage("all counted", _tally, {"totals": TOTALS})
"""Of documents, outcomes and the log."""
