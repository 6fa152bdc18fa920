"""DENSE GROUPS: where nearly all documents are nearly alike, their texts meet in tiles, and no pair is listed that does not match.

Documents of large groups have an element in common with very many others. If listing these pairs takes longer than to hold each of
the documents against each other one, as `costs.is_dense` says, they become one group, whatever elements they have in common. This
group goes through waves as others do; but its tiles have texts, and what leaves them are matches (`verification/held_pairs.py`).
Documents with different values of `within` are of different groups. A group of too much text is left as it is.
"""

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.columns import beginnings, looked_up
from neardup.engines.job_options import Work
from neardup.engines.packing import rows_of_docs, with_columns
from neardup.engines.pairing.blocks import are_given, tiles_of
from neardup.engines.reading.row_selection import Marks, marked_rows
from neardup.engines.schemas import (
    CROWDS,
    HELD,
    HELD_TEXTS,
    LARGE_POSTINGS,
    MARKED,
    NONE,
    TEXT_TILES,
    WAITING,
    marked,
)
from neardup.engines.stages import Found, Part, Reading, Stage
from neardup.matching.candidates.costs import is_dense


def _crowds(large: pa.Table, leaders: pa.Table) -> Found:
    """The documents of large groups, each once."""
    if not len(large):
        return
    doc, starts = np.unique(large.column("doc").to_numpy(), return_index=True)
    known = rows_of_docs(leaders, doc)
    columns = {name: known.column(name) for name in ("rank", "has_later")}
    columns |= {"key": known.column("group"), "doc": doc, "size": known.column("size").cast(pa.int32())}
    columns["expected"] = np.add.reduceat(large.column("expected").to_numpy(), starts)
    yield "crowds", pa.table([columns[name] for name in CROWDS.schema.names], CROWDS.schema)


CROWDS_OF = Stage("dense groups", _crowds, {"crowds": CROWDS})
"""Of the postings of large groups, and leaders."""


def find(work: Work) -> Stage:
    """The stage that finds dense groups, whose documents wait to be held against each other: of the documents of large groups."""
    return Stage("dense groups", partial(_find, work), {"waiting": WAITING, "held": HELD, "marked": MARKED})


def _find(work: Work, crowds: pa.Table) -> Found:
    if not len(crowds):
        return
    crowds = crowds.sort_by([("key", "ascending"), ("doc", "ascending")])
    key, size, expected = (crowds.column(name).to_numpy() for name in ("key", "size", "expected"))
    starts = np.flatnonzero(beginnings(key))
    counts, elements = np.diff(np.append(starts, len(key))), np.add.reduceat(size.astype(np.int64), starts)
    pairs = zip(counts.tolist(), np.add.reduceat(expected, starts).tolist(), strict=True)
    dense = np.array([is_dense(*each) for each in pairs]) & (elements <= work.limits.elements_held)
    rows = crowds.filter(np.repeat(dense, counts))
    n = len(rows)
    some = with_columns(
        rows,
        position=np.zeros(n, np.int32),
        asks=np.ones(n, np.bool_),
        part=np.full(n, NONE),
        is_out=np.zeros(n, np.bool_),
    )
    yield "waiting", some.select(WAITING.schema.names)
    yield "held", rows.select(HELD.schema.names)
    yield "marked", marked(rows.column("doc").to_numpy())


def _leave(large: pa.Table, held: pa.Table) -> Found:
    """The postings of documents that are in no dense group."""
    yield "large", large.filter(~looked_up(held.column("doc").to_numpy(), large.column("doc").to_numpy())[0])


LEAVE = Stage("large groups", _leave, {"large": LARGE_POSTINGS})
"""Of the postings of large groups, and the documents of dense groups."""


def reading(marks: Marks) -> Reading:
    """The stage that reads the texts of dense groups."""
    return Reading("dense texts", partial(_read, marks), {"texts": HELD_TEXTS})


def _read(marks: Marks, part: Part) -> Found:
    for docs, rows, _ in marked_rows(part, marks):
        yield "texts", pa.table([docs, rows.column("text")], HELD_TEXTS.schema)


def attach(work: Work) -> Stage:
    """The stage that sends documents to their tiles, with their texts: of rows of PLACED, leaders and texts."""
    return Stage("dense blocks", partial(_attach, work), {"tiles": TEXT_TILES})


def _attach(work: Work, rows: pa.Table, leaders: pa.Table, texts: pa.Table) -> Found:
    if not len(rows):
        return
    doc = rows.column("doc").to_numpy()
    known, of = rows_of_docs(leaders, doc), rows_of_docs(texts, doc).column("text")
    columns = {name: rows.column(name) for name in ("key", "at", "doc", "leads", "part")}
    columns |= {"rank": known.column("rank"), "is_given": pa.array(are_given(known)), "text": of}
    weight, limits = pc.binary_length(of).to_numpy(), work.limits
    for row, tile in tiles_of(rows, limits.elements_per_block, weight, limits.text_bytes):
        taken = {name: column.take(row) for name, column in columns.items()} | {"tile": pa.array(tile)}
        yield "tiles", pa.table([taken[name] for name in TEXT_TILES.schema.names], TEXT_TILES.schema)
