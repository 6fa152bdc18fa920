"""LARGE GROUPS of documents with a key in common, compared in waves, so that a family of near-equal texts costs little.

Few documents, the most preferred of each group, are compared with all others first. Whoever then matches a document that survives
for certain is out: it need not be compared with those after it, only with the survivors before it. So a family of n near-equal
texts costs some n pairs, and not n² / 2, with the decisions of a walk among all pairs.
"""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engines.candidates.groups import group_starts, grouped, listed, paired
from neardup.engines.candidates.table import METHODS
from neardup.engines.columns import ascending, looked_up
from neardup.engines.job_options import Work
from neardup.engines.packing import ints, rows_of_docs, with_columns
from neardup.engines.pairing.blocks import placed
from neardup.engines.schemas import NONE, OPEN, PAIRS, PLACED, REST, WAITING
from neardup.engines.stages import Found, Stage
from neardup.kernels.engines.groups import pairs_of_leading


def _rank(large: pa.Table, leaders: pa.Table) -> Found:
    """The postings of large groups with the ranks of their documents."""
    known, n = rows_of_docs(leaders, *ints(large, "doc")), len(large)
    ours = {name: known.column(name) for name in ("rank", "has_later")}
    waiting = with_columns(large, **ours, part=np.full(n, NONE), is_out=np.zeros(n, np.bool_))
    yield "waiting", waiting.select(WAITING.schema.names)


RANK = Stage("large groups", _rank, {"waiting": WAITING})
"""Of the postings of large groups, and leaders."""


def wave(work: Work, leading: int, *, holds: bool = False) -> Stage:
    """The stage that pairs so many documents of each group with the others; the rest waits for the next wave.

    The pairs of the first wave are listed, if they are not too many; those of others, when families have fallen, in tiles. `holds`:
    all come to tiles, whose blocks are of elements, as texts come there (`dense_groups.py`).
    """
    outputs = {"pairs": PAIRS, "placed": PLACED, "rest": REST, "open": OPEN}
    return Stage("wave", partial(_wave, work, leading, holds), outputs)


def _wave(work: Work, leading: int, holds: bool, waiting: pa.Table) -> Found:
    if not len(waiting):
        return
    key, rank, part = ints(waiting, "key", "rank", "part")
    order = ascending(key, rank)
    rows, key, part = waiting.take(order), key[order], part[order]
    starts = group_starts(key)
    sizes = np.diff(starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    is_in = ~rows.column("is_out").to_numpy()
    before = np.cumsum(is_in) - is_in  # of all groups, who are in
    nth = before - before[starts[:-1]][group]
    leads = is_in & (nth < leading)
    is_listed = (leading == work.limits.first_documents) & (sizes * leading <= work.limits.listed_pairs) & (not holds)
    of_listed = is_listed[group]
    code, least = METHODS[work.options.method].code(work), float(work.options.min_similarity)
    some = grouped(rows.filter(of_listed))
    pairs = listed(pairs_of_leading, code, least, some, leads[of_listed], part[of_listed])
    yield "pairs", paired(*pairs)
    weight = np.maximum(ints(rows, "size")[0], 1).astype(np.int64) if holds else np.ones(len(rows), np.int64)
    block = work.limits.elements_per_block if holds else work.limits.documents_per_block
    at, last = np.cumsum(weight) - weight, np.full(len(sizes), NONE)
    at -= at[starts[:-1]][group]
    np.maximum.at(last, group[leads], at[leads])
    divided = np.flatnonzero(~of_listed & (last != NONE)[group])
    of, extents = group[divided], np.add.reduceat(weight, starts[:-1])
    yield "placed", placed(block, rows.take(divided), at[divided], extents[of], last[of], leads[divided])
    # Of each group, all after the last one that leads, if any of them may be needed by those after it.
    later = nth >= leading
    lowest, highest = (np.full(len(sizes), value) for value in (np.iinfo(np.int64).max, np.iinfo(np.int64).min))
    np.minimum.at(lowest, group[later], part[later])
    np.maximum.at(highest, group[later], part[later])
    is_one = (lowest == highest) & (lowest != NONE)
    needed = (np.bincount(group[later & is_in], minlength=len(sizes)) > 0) & ~is_one
    rest = later & needed[group]
    yield "rest", rows.filter(rest).select(REST.schema.names)
    waits = rest & is_in
    docs, first = np.unique(rows.column("doc").to_numpy()[waits], return_index=True)
    yield "open", pa.table([docs, rows.column("rank").to_numpy()[waits][first]], OPEN.schema)


def _next(rest: pa.Table, standing: pa.Table) -> Found:
    """What waits, with what is certain of its documents. Other texts in the class of one that is out may match those after it."""
    if not len(rest):
        return
    is_known, at = looked_up(standing.column("doc").to_numpy(), rest.column("doc").to_numpy())
    part, out = np.full(len(rest), NONE), np.zeros(len(rest), np.bool_)
    part[is_known] = standing.column("part").to_numpy()[at[is_known]]
    out[is_known] = standing.column("is_out").to_numpy()[at[is_known]]
    out &= ~rest.column("has_later").to_numpy()
    columns = {name: rest.column(name) for name in rest.schema.names} | {"part": part, "is_out": out}
    yield "waiting", pa.table([columns[name] for name in WAITING.schema.names], WAITING.schema)


NEXT = Stage("next wave", _next, {"waiting": WAITING})
"""Of what waits, and what is certain."""
