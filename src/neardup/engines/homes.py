"""HOMES: where two documents of a pair meet, first what is known of them, and then their texts.

Pairs that share documents meet in one home, so that a document travels there once, and not once for each pair. The home of a
pair is the first of all documents that are paired with its later one; pairs of a family of texts that are all alike have the same
one. Any home is right, as both documents of a pair go there. A home of too many pairs is divided into chunks of two blocks of
documents, so no task has all of a large family.
"""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.packing import ints, mixed
from neardup.engines.schemas import INT, MEETINGS, PAIRS, VISITS
from neardup.engines.sorted_columns import beginnings
from neardup.engines.stage import Found, Output, Stage

BLOCK = 1 << 12
"""Documents of a block of a home that is divided: a chunk has twice as many, and some MB of what is known of them."""
MOST = 1 << 20
"""Pairs of a home that is not divided, or of a chunk, which is else divided into runs of pairs."""
CHUNK_BITS = 21
"""Of the number of a chunk, for each of its blocks and its run."""
SIZES = Output(pa.schema({"home": INT, "pairs": INT}), ("home",), is_sorted=False)
LARGE = Output(pa.schema({"home": INT}))


def paired(left: Array, right: Array) -> pa.Table:
    """Pairs (int64[p] each, the smaller document first) as rows of PAIRS, in an order in which they take few bytes."""
    order = np.argsort(right, kind="stable")
    return pa.table([right[order], left[order]], PAIRS.schema)


def _place(pairs: pa.Table) -> Found:
    """Pairs, each once, with their homes."""
    if not len(pairs):
        return
    b, a = ints(pairs, "b", "a")
    order = np.argsort(mixed(b, a))
    kept = order[beginnings(b[order], a[order])]
    b, a = b[kept], a[kept]
    order = np.lexsort((a, b))
    b, a = b[order], a[order]
    starts = np.flatnonzero(beginnings(b))
    home = np.repeat(a[starts], np.diff(np.append(starts, len(b))))
    chunk = np.zeros(len(home), np.int64)
    yield "pairs", pa.table([home, chunk, a, b], MEETINGS.schema)
    yield "visits", visits_of(home, chunk, a, b)
    homes, counts = np.unique(home, return_counts=True)
    yield "sizes", pa.table([homes, counts], SIZES.schema)


PLACE = Stage("distinct pairs", _place, {"pairs": MEETINGS, "visits": VISITS, "sizes": SIZES})
"""Of pairs."""


def _large(sizes: pa.Table) -> Found:
    """The homes with too many pairs."""
    homes, of = np.unique(ints(sizes, "home")[0], return_inverse=True)
    counts = np.bincount(of, ints(sizes, "pairs")[0], len(homes))
    yield "large", pa.table([homes[counts > MOST]], LARGE.schema)


FIND_LARGE = Stage("large homes", _large, {"large": LARGE})
"""Of the sizes of homes."""


def _divide(pairs: pa.Table) -> Found:
    """Pairs by the chunks of their homes, and who comes there."""
    if not len(pairs):
        return
    home, a, b = ints(pairs, "home", "a", "b")
    one = np.ones(len(a), np.int64)
    chunk = chunks_of(np.cumsum(beginnings(home)) - 1, (a, b), (one, one), BLOCK)
    yield "pairs", pa.table([home, chunk, a, b], MEETINGS.schema)
    yield "visits", visits_of(home, chunk, a, b)


DIVIDE = Stage("homes", _divide, {"pairs": MEETINGS, "visits": VISITS})
"""Of pairs by their homes, if any of these are large."""


def chunks_of(group: Array, ends: tuple[Array, Array], weights: tuple[Array, Array], most: int) -> Array:
    """int64[p]: the chunks of pairs within their groups: 0, if the documents of a group weigh no more than two blocks.

    Args:
        group: int64[p], ascending from 0.
        ends: int64[p] each, the documents.
        weights: int64[p] each, what these weigh.
        most: the weight of a block, or of one document that weighs more.
    """
    chunk = np.zeros(len(group), np.int64)
    sums = np.zeros(int(group[-1]) + 1 if len(group) else 0, np.int64)
    np.add.at(sums, group, sum(weights))
    large = np.flatnonzero((sums > 2 * most)[group])
    if len(large):
        chunk[large] = _chunks(group[large], [end[large] for end in ends], [each[large] for each in weights], most)
    return chunk


def _chunks(group: Array, ends: list[Array], weights: list[Array], most: int) -> Array:
    """The chunks of pairs whose groups may be large: those of two blocks of documents, and of each, a run of pairs."""
    of, doc, weight = np.concatenate([group, group]), np.concatenate(ends), np.concatenate(weights)
    order = np.lexsort((doc, of))
    new = beginnings(of[order], doc[order])
    each = np.flatnonzero(new)
    own = of[order][each]
    first = np.flatnonzero(beginnings(own))
    total = np.cumsum(weight[order][each])
    before = total - weight[order][each]
    before -= np.repeat(before[first], np.diff(np.append(first, len(own))))
    block = np.empty(len(of), np.int64)
    block[order] = (before // most)[np.cumsum(new) - 1]
    low, high = np.sort(np.split(block, 2), axis=0)
    fits = np.repeat(
        np.maximum.reduceat(before + weight[order][each], first) <= 2 * most, np.diff(np.append(first, len(own)))
    )
    is_whole = np.zeros(int(group[-1]) + 1, np.bool_)
    is_whole[own[fits]] = True
    low, high = (np.where(is_whole[group], 0, each) for each in (low, high))
    pair = mixed(group, low, high)
    order = np.argsort(pair, kind="stable")
    starts = np.flatnonzero(beginnings(pair[order]))
    nth = np.empty(len(group), np.int64)
    nth[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return (low << 2 * CHUNK_BITS) + (high << CHUNK_BITS) + nth // MOST


def visits_of(home: Array, chunk: Array, a: Array, b: Array) -> pa.Table:
    """The documents of pairs, each once in a chunk, as rows of VISITS."""
    places = (np.concatenate([column, column]) for column in (home, chunk))
    return once(pa.table([np.concatenate([a, b]), *places], VISITS.schema))


def once(visits: pa.Table) -> pa.Table:
    """Each visit once. Buckets that send a document to the same home do not know of one another."""
    columns = ints(visits, *VISITS.schema.names)
    order = np.argsort(mixed(*columns))
    new = beginnings(*(column[order] for column in columns))
    return visits.take(pa.array(order[new]))
