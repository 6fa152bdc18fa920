"""PREFILTER: pairs of classes that may match (edges), the preferred one first, by what is known of both without texts."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import runs
from neardup.engines.job_options import Work
from neardup.engines.packing import ints, rows_of_docs
from neardup.engines.schemas import (
    EDGES,
    JOURNEYS,
    LOCAL_EDGES,
    MARKED,
    MATCHES,
    NEEDS,
    RECORDS,
    bitmaps_of,
    marked,
    prints_of,
)
from neardup.engines.stages import Found, Stage
from neardup.engines.verification.pair_partitions import chunks_of, once, visits_of
from neardup.hamming.near import hamming_distances
from neardup.kernels.matching.bitmaps import may_share_enough
from neardup.kernels.store.postings import MIX

EXTRA_ELEMENTS = 1 << 6
"""Elements that a text counts for besides its own."""


def _inform(visits: pa.Table, leaders: pa.Table) -> Found:
    """What is known of the documents that come to chunks."""
    visits = once(visits)
    known = rows_of_docs(leaders, *ints(visits, "doc"))
    columns = [(visits if name in visits.schema.names else known).column(name) for name in RECORDS.schema.names]
    yield "records", pa.table(columns, RECORDS.schema)


INFORM = Stage("what is known", _inform, {"records": RECORDS})
"""Of visits, and leaders."""


def _sieve(work: Work, pairs: pa.Table, records: pa.Table) -> Found:
    """Edges of those pairs that can match, and the texts that are needed for them; matches, where distances decide alone."""
    if not len(pairs):
        return
    home, chunk, a, b = ints(pairs, "home", "chunk", "a", "b")
    doc, first = np.unique(records.column("doc").to_numpy(), return_index=True)
    known = records.take(first)  # a document may come to several chunks of the bucket
    left, right = np.searchsorted(doc, a), np.searchsorted(doc, b)
    rank, group, size = ints(known, "rank", "group", "size")
    is_reference, has_others = (known.column(name).to_numpy() for name in ("is_reference", "has_others"))
    # Two documents of a reference do not match; but another text in the class of one matches both.
    given = is_reference & ~has_others
    wanted = (group[left] == group[right]) & ~(given[left] & given[right])
    distance = np.zeros(len(a), np.int64)
    if work.max_distance is not None:
        prints = prints_of(known)
        distance = hamming_distances(prints, left, right)
        wanted &= distance <= work.max_distance
    if not work.by_distance:
        wanted &= _may_be_similar(work, known, left, right)
    kept = np.flatnonzero(wanted)
    left, right, home, chunk = left[kept], right[kept], home[kept], chunk[kept]
    left, right = np.where(rank[right] < rank[left], (right, left), (left, right))
    ends = [doc[left], doc[right], rank[left], rank[right]]
    if work.by_distance:
        yield "matches", pa.table([*ends, np.full(len(kept), np.nan), distance[kept]], MATCHES.schema)
        return
    weight, site = size + EXTRA_ELEMENTS, ints(known, "site")[0]
    is_local = site[left] == site[right]
    yield "local", pa.table([site[left[is_local]], *(end[is_local] for end in ends)], LOCAL_EDGES.schema)
    needed = np.unique(np.concatenate([left, right]))
    yield "needed", marked(doc[needed])
    yield "needs", pa.table([site[needed], doc[needed], weight[needed]], NEEDS.schema)
    others = np.flatnonzero(~is_local)
    left, right, home, chunk = left[others], right[others], home[others], chunk[others]
    ends = [end[others] for end in ends]
    bounds, weights = (work.limits.elements_per_block, work.limits.pairs_per_chunk), (weight[left], weight[right])
    part = chunks_of(runs(home, chunk), (ends[0], ends[1]), weights, *bounds)
    chunk = (chunk.view(np.uint64) * MIX).view(np.int64) + part
    yield "edges", pa.table([home, chunk, *ends], EDGES.schema)
    visits = visits_of(home, chunk, ends[0], ends[1])
    of = site[np.searchsorted(doc, ints(visits, "doc")[0])]
    yield "journeys", pa.table([of, *(visits.column(name) for name in JOURNEYS.schema.names[1:])], JOURNEYS.schema)


def _may_be_similar(work: Work, known: pa.Table, left: Array, right: Array) -> Array:
    """bool[p]: which pairs (places in what is known) may have enough elements in common, by their bitmaps."""
    found = np.empty(len(left), np.bool_)
    size, (bitmaps, starts) = np.ascontiguousarray(ints(known, "size")[0]), bitmaps_of(known)
    may_share_enough(
        work.similarity.code, float(work.options.min_similarity), size, bitmaps, starts, (left, right), found
    )
    return found


def sieve(work: Work) -> Stage:
    """The stage that leaves out pairs that cannot match: of pairs in their chunks, and what is known of documents there."""
    outputs = {"local": LOCAL_EDGES, "edges": EDGES, "journeys": JOURNEYS, "needs": NEEDS}
    return Stage("edges", partial(_sieve, work), {**outputs, "needed": MARKED, "matches": MATCHES})
