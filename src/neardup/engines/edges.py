"""EDGES: pairs of classes that may match, each once, the preferred one first: what the two are is joined to both ends."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.packing import ints
from neardup.engines.schemas import EDGES, HALF_PAIRS, LEADERS, MARKED, bitmaps_of, marked, prints_of
from neardup.engines.sorted_columns import distinct
from neardup.engines.stage import Found, Stage
from neardup.engines.work import Work
from neardup.kernels.engines.bitmaps import may_share_enough

_OF_A = tuple(name for name in LEADERS.schema.names if f"a_{name}" in HALF_PAIRS.schema.names)


def _at(docs: Array, leaders: pa.Table) -> pa.Array:
    """Where documents (int64[n]) are among the leaders of the same bucket."""
    return pa.array(np.searchsorted(leaders.column("doc").to_numpy(), docs))


def _first_ends(work: Work, pairs: pa.Table, leaders: pa.Table) -> Found:
    """Pairs, each once, with what their first document is."""
    a, b = distinct(*ints(pairs, "a", "b"))
    of_a = leaders.take(_at(a, leaders))
    columns = {"b": b, "a": a, **{f"a_{name}": of_a.column(name) for name in _OF_A}}
    if work.max_distance is None:  # then nobody asks for fingerprints before the texts are read again
        columns["a_print"] = _no_prints(len(a))
    yield "pairs", pa.table([columns[name] for name in HALF_PAIRS.schema.names], HALF_PAIRS.schema)


def _second_ends(work: Work, pairs: pa.Table, leaders: pa.Table) -> Found:
    """Edges of those pairs that can match, and the documents whose texts are needed for that."""
    if not len(pairs):
        return
    b, a, a_rank, a_group = ints(pairs, "b", "a", "a_rank", "a_group")
    of_b = leaders.take(_at(b, leaders))
    b_rank, b_group = ints(of_b, "rank", "group")
    flags = [table.column(name).to_numpy() for table, name in (
        (pairs, "a_is_reference"), (pairs, "a_has_others"), (of_b, "is_reference"), (of_b, "has_others"))]  # fmt: skip
    # Two documents of a reference do not match; but another text in the class of one matches both.
    wanted = (a_group == b_group) & ~(flags[0] & flags[2] & ~(flags[1] | flags[3]))
    if work.max_distance is not None:
        differing = prints_of(pairs, "a_print") ^ prints_of(of_b)
        wanted &= np.bitwise_count(differing).sum(axis=1, dtype=np.int64) <= work.max_distance
    if not work.by_distance:
        wanted &= _may_be_similar(work, pairs, of_b)
    kept = np.flatnonzero(wanted)
    swaps = (b_rank < a_rank)[kept]

    def either(first: Array, second: Array) -> tuple[Array, Array]:
        first, second = first[kept], second[kept]
        return np.where(swaps, second, first), np.where(swaps, first, second)

    (p, q), (p_rank, q_rank) = either(a, b), either(a_rank, b_rank)
    p_print = q_print = _no_prints(len(p))
    if work.max_distance is not None:
        prints = [table.column(name) for table, name in ((pairs, "a_print"), (of_b, "print"))]
        p_print, q_print = (
            pa.concat_arrays([each.combine_chunks() for each in prints]).take(pa.array(places))
            for places in either(np.arange(len(a)), np.arange(len(a)) + len(a))
        )
    columns = {"q": q, "p": p, "p_rank": p_rank, "q_rank": q_rank, "p_print": p_print, "q_print": q_print}
    yield "edges", pa.table([columns[name] for name in EDGES.schema.names], EDGES.schema)
    if not work.by_distance:
        yield "first", marked(np.unique(p))
        yield "second", marked(np.unique(q))


def _no_prints(n: int) -> pa.Array:
    return pa.array([b""] * n, pa.large_binary())


def _may_be_similar(work: Work, pairs: pa.Table, of_b: pa.Table) -> Array:
    """bool[p]: which pairs may have enough elements in common, by their bitmaps."""
    found = np.empty(len(pairs), np.bool_)
    left = (*ints(pairs, "a_size"), *bitmaps_of(pairs, "a_bitmap"))
    right = (*ints(of_b, "size"), *bitmaps_of(of_b))
    may_share_enough(work.similarity.code, float(work.options.min_similarity), left, right, found)
    return found


def first_ends(work: Work) -> Stage:
    """Of pairs and leaders."""
    return Stage("distinct pairs", partial(_first_ends, work), {"pairs": HALF_PAIRS})


def second_ends(work: Work) -> Stage:
    """Of pairs with what their first document is, and leaders."""
    return Stage("edges", partial(_second_ends, work), {"edges": EDGES, "first": MARKED, "second": MARKED})
