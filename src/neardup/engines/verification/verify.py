"""VERIFY: bring both texts of an edge to one place, their site or their home, and compare them there."""

from collections.abc import Collection
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.engines.candidates.table import METHODS
from neardup.engines.columns import ascending, beginnings
from neardup.engines.job_options import Work
from neardup.engines.packing import ints, mixed
from neardup.engines.reading.documents import sites_of
from neardup.engines.reading.row_selection import Marks, marked_rows
from neardup.engines.schemas import ARRIVALS, MATCHES, TEXTS, VISITS
from neardup.engines.stages import Found, Part, Reading, Stage
from neardup.engines.verification.pair_partitions import once
from neardup.engines.verification.text_partitions import own_sites
from neardup.hamming.near import row_distances
from neardup.kernels.matching.similarities import similarities_of
from neardup.matching.text_features import Texts, texts_of_column


def reading(work: Work, marks: Marks, large: Collection[int]) -> Reading:
    """The stage that reads the texts of edges again, which are marked. `large`: sites that are not used."""
    return Reading("texts again", partial(_read, work, marks, large), {"texts": TEXTS})


def _read(work: Work, marks: Marks, large: Collection[int], part: Part) -> Found:
    for docs, rows, _ in marked_rows(part, marks):
        elements = work.similarity.elements(rows.column("text"), work.recipe)
        sites = own_sites(sites_of(elements), docs, large)
        yield "texts", pa.table([sites, docs, rows.column("text")], TEXTS.schema)


def at_sites(work: Work) -> Stage:
    """The stage that compares texts with the same site, and sends those of other edges on: of local edges, journeys and texts.

    Texts travel, not their elements, which take two to three times the bytes of packed text.
    """
    return Stage("sites", partial(_at_sites, work), {"matches": MATCHES, "arrivals": ARRIVALS})


def _at_sites(work: Work, local: pa.Table, journeys: pa.Table, texts: pa.Table) -> Found:
    yield from _verify(work, ("site",), local, texts)
    order = ascending(texts.column("doc").to_numpy())
    docs = texts.column("doc").to_numpy()[order]
    visits = once(journeys.select(VISITS.schema.names))
    at = order[np.searchsorted(docs, visits.column("doc").to_numpy())]
    for first, last in pairwise(_pieces(_bytes_of(texts)[at], work.limits.text_bytes)):
        rows = visits.slice(first, last - first).append_column("text", texts.column("text").take(at[first:last]))
        yield "arrivals", rows.select(ARRIVALS.schema.names)


def stage(work: Work) -> Stage:
    """The stage that compares the texts of edges: of edges by the chunks of their homes, and the texts that arrive there."""
    return Stage("verify", partial(_verify, work, ("home", "chunk")), {"matches": MATCHES})


def _verify(work: Work, place: tuple[str, ...], edges: pa.Table, arrivals: pa.Table) -> Found:
    """The matches of edges, by sites or chunks (columns `place`): some at a time, so that few texts have their elements here."""
    of, where = mixed(*ints(edges, *place)), mixed(*ints(arrivals, *place))
    order, texts = np.argsort(of, kind="stable"), np.argsort(where, kind="stable")
    of, where = of[order], where[texts]
    starts = np.append(np.flatnonzero(beginnings(of)), len(of))  # of the edges of each place
    begin, end = (np.searchsorted(where, of[starts[:-1]], side) for side in ("left", "right"))
    before = np.concatenate([[0], np.cumsum(_bytes_of(arrivals)[texts])])
    for first, last in pairwise(_pieces(before[end] - before[begin], work.limits.text_bytes)):
        taken = order[starts[first] : starts[last]]
        arrived = np.concatenate([texts[begin[at] : end[at]] for at in range(first, last)])
        yield from _compared(work, edges.take(taken), arrivals.take(arrived))


def _bytes_of(rows: pa.Table) -> Array:
    """int64[n]: the bytes of the texts of rows."""
    found: Array = pc.binary_length(rows.column("text")).to_numpy()
    return found


def _pieces(sizes: Array, most: int) -> list[int]:
    """Where pieces begin, and the end of the last: each has so many bytes at most, or one size that is larger."""
    found, ends = [0], np.cumsum(sizes)
    while found[-1] < len(sizes):
        before = int(ends[found[-1]] - sizes[found[-1]])
        found.append(max(found[-1] + 1, int(np.searchsorted(ends, before + most, "right"))))
    return found


def _compared(work: Work, edges: pa.Table, arrivals: pa.Table) -> Found:
    """The matches of some edges, whose texts are among those that arrived."""
    known, first = np.unique(arrivals.column("doc").to_numpy(), return_index=True)
    wanted = np.isin(known, np.concatenate(ints(edges, "p", "q")))
    known, first = known[wanted], first[wanted]
    column = arrivals.column("text").take(first).combine_chunks()
    texts = texts_of_column(column, work.recipe, work.similarity, None)
    left, right = (np.searchsorted(known, docs) for docs in ints(edges, "p", "q"))
    similarity = np.empty(len(edges))
    similarities_of(
        texts.compared.stored(work.similarity.code), left, right, float(work.options.min_similarity), similarity
    )
    found = np.flatnonzero(similarity >= 0)
    is_proposed, distance = proposed(work, texts, left[found], right[found])
    found, distance = found[is_proposed], distance[is_proposed]
    ends = [edges.column(name).to_numpy()[found] for name in ("p", "q", "p_rank", "q_rank")]
    yield "matches", pa.table([*ends, similarity[found], distance], MATCHES.schema)


def proposed(work: Work, texts: Texts, left: Array, right: Array) -> tuple[Array, Array]:
    """bool[p], int64[p]: whether the method compares pairs of texts (int64[p], places) that are similar enough; their distances."""
    prints, proposes = texts.prints.values, METHODS[work.options.method].proposes
    distance: Array = row_distances(prints[left], prints[right])
    if proposes is not None:
        return proposes(work, texts.joined, left, right, distance), distance
    if work.max_distance is not None:
        return distance <= work.max_distance, distance
    return np.ones(len(left), np.bool_), distance
