"""PAIR PARTITIONS, or homes: where two documents of a pair meet, first what is known of them, and then their texts.

Pairs that share documents meet in one home, so that a document travels there once, and not once for each pair. The home of a
pair is the first of all documents that are paired with its later one; pairs of a family of texts that are all alike have the same
one. Any home is right, as both documents of a pair go there. A home of too many pairs is divided into chunks of two blocks of
documents, so no task has all of a large family.
"""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import ascending, beginnings, distinct, heavier, runs
from neardup.engines.job_options import Limits, Work
from neardup.engines.packing import ints, mixed
from neardup.engines.schemas import INT, MEETINGS, VISITS
from neardup.engines.stages import Found, Output, Stage

CHUNK_BITS = 21
"""Of the number of a chunk, for each of its blocks and its run."""
SIZES = Output(pa.schema({"home": INT, "pairs": INT}), ("home",), is_sorted=False)
LARGE_HOMES = Output(pa.schema({"home": INT}))


def _place(pairs: pa.Table) -> Found:
    """Pairs, each once, with their homes."""
    if not len(pairs):
        return
    b, a = distinct(*ints(pairs, "b", "a"))
    home = a[np.flatnonzero(beginnings(b))][runs(b)]
    chunk = np.zeros(len(home), np.int64)
    yield "pairs", pa.table([home, chunk, a, b], MEETINGS.schema)
    yield "visits", visits_of(home, chunk, a, b)
    homes, counts = np.unique(home, return_counts=True)
    yield "sizes", pa.table([homes, counts], SIZES.schema)


PLACE = Stage("distinct pairs", _place, {"pairs": MEETINGS, "visits": VISITS, "sizes": SIZES})
"""Of pairs."""


def find_large(work: Work) -> Stage:
    """The stage that finds homes with too many pairs: of the sizes of homes."""
    return Stage("large homes", partial(_large, work.limits.pairs_per_chunk), {"large": LARGE_HOMES})


def _large(most: int, sizes: pa.Table) -> Found:
    yield "large", pa.table([heavier(*ints(sizes, "home", "pairs"), most=most)[0]], LARGE_HOMES.schema)


def divide(work: Work) -> Stage:
    """The stage that divides homes into chunks, with who comes there: of pairs by their homes, if any of these are large."""
    return Stage("homes", partial(_divide, work.limits), {"pairs": MEETINGS, "visits": VISITS})


def _divide(limits: Limits, pairs: pa.Table) -> Found:
    if not len(pairs):
        return
    home, a, b = ints(pairs, "home", "a", "b")
    one = np.ones(len(a), np.int64)
    chunk = chunks_of(runs(home), (a, b), (one, one), limits.documents_per_block, limits.pairs_per_chunk)
    yield "pairs", pa.table([home, chunk, a, b], MEETINGS.schema)
    yield "visits", visits_of(home, chunk, a, b)


def chunks_of(group: Array, ends: tuple[Array, Array], weights: tuple[Array, Array], most: int, pairs: int) -> Array:
    """int64[p]: the chunks of pairs within their groups: 0, if the documents of a group weigh no more than two blocks.

    Args:
        group: int64[p], ascending from 0.
        ends: int64[p] each, the documents.
        weights: int64[p] each, what these weigh.
        most: the weight of a block, or of one document that weighs more.
        pairs: how many a chunk has at most.
    """
    chunk = np.zeros(len(group), np.int64)
    large = np.flatnonzero((np.bincount(group, weights[0] + weights[1]) > 2 * most)[group])
    if len(large):
        chunk[large] = _chunks(
            group[large], [end[large] for end in ends], [each[large] for each in weights], most, pairs
        )
    return chunk


def _chunks(group: Array, ends: list[Array], weights: list[Array], most: int, pairs: int) -> Array:
    """The chunks of pairs whose groups may be large: those of two blocks of documents, and of each, a run of pairs."""
    of, doc, weight = np.concatenate([group, group]), np.concatenate(ends), np.concatenate(weights)
    order = ascending(of, doc)
    of, doc, weight = of[order], doc[order], weight[order]
    first = np.flatnonzero(beginnings(of, doc))  # of each document of a group
    own, own_weight = of[first], weight[first]
    before = np.cumsum(own_weight) - own_weight
    before -= before[np.flatnonzero(beginnings(own))][runs(own)]
    is_whole = np.bincount(own, own_weight) <= 2 * most
    block = np.empty(len(of), np.int64)
    block[order] = np.where(is_whole[own], 0, before // most)[runs(of, doc)]
    low, high = np.sort(np.split(block, 2), axis=0)
    pair = mixed(group, low, high)
    order = np.argsort(pair, kind="stable")
    nth = np.empty(len(group), np.int64)
    nth[order] = np.arange(len(group)) - np.flatnonzero(beginnings(pair[order]))[runs(pair[order])]
    found: Array = (low << 2 * CHUNK_BITS) + (high << CHUNK_BITS) + nth // pairs
    return found


def visits_of(home: Array, chunk: Array, a: Array, b: Array) -> pa.Table:
    """The documents of pairs, each once in a chunk, as rows of VISITS."""
    places = (np.concatenate([column, column]) for column in (home, chunk))
    return once(pa.table([np.concatenate([a, b]), *places], VISITS.schema))


def once(visits: pa.Table) -> pa.Table:
    """Each visit once. Buckets that send a document to the same home do not know of one another."""
    columns = ints(visits, *VISITS.schema.names)
    order = ascending(*columns)
    new = beginnings(*(column[order] for column in columns))
    return visits.take(order[new])
