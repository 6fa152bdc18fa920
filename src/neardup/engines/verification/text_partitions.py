"""TEXT PARTITIONS, or sites: where texts arrive when they are read again.

Two texts that are alike mostly have the same one, and are compared there. The site of a text is its smallest element, so two texts
of similarity 0.8 have the same one with a probability of 0.8 (Broder 1997). Only those of other edges travel on to a home. A site
of too many texts is not used: each of its texts has a site of its own.
"""

from collections.abc import Collection
from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import heavier, runs
from neardup.engines.job_options import Limits, Work
from neardup.engines.packing import ints, mixed
from neardup.engines.schemas import EDGES, INT, JOURNEYS, LOCAL_EDGES
from neardup.engines.stages import Found, Output, Stage
from neardup.engines.verification.pair_partitions import chunks_of, visits_of

LARGE_SITES = Output(pa.schema({"site": INT}))
_MOVED = 1 << 62
"""Chunks of moved edges have numbers from here on."""


def own_sites(sites: Array, docs: Array, large: Collection[int]) -> Array:
    """int64[n]: sites, but for documents of large ones, which have one of their own."""
    is_large = np.isin(sites, np.fromiter(large, np.int64, len(large)))
    return np.where(is_large, mixed(docs).view(np.int64), sites)


def find_large(work: Work) -> Stage:
    """The stage that finds sites with too many elements: of what texts are needed at sites."""
    return Stage("large sites", partial(_find_large, work.limits.elements_per_site), {"large": LARGE_SITES})


def _find_large(most: int, needs: pa.Table) -> Found:
    yield "large", pa.table([heavier(*ints(needs, "site", "weight"), most=most)[0]], LARGE_SITES.schema)


def move(work: Work, large: Collection[int]) -> Stage:
    """The stage that moves the edges of large sites to chunks: of local edges, journeys and needs."""
    outputs = {"local": LOCAL_EDGES, "journeys": JOURNEYS, "edges": EDGES}
    return Stage("sites", partial(_move, work.limits, large), outputs)


def _move(limits: Limits, large: Collection[int], local: pa.Table, journeys: pa.Table, needs: pa.Table) -> Found:
    sites = np.fromiter(large, np.int64, len(large))
    moves = np.isin(local.column("site").to_numpy(), sites)
    yield "local", local.filter(~moves)
    site, doc = ints(journeys, "site", "doc")
    place = journeys.schema.get_field_index("site")
    yield "journeys", journeys.set_column(place, "site", pa.array(own_sites(site, doc, large)))
    moved = local.filter(moves).sort_by("site")
    if not len(moved):
        return
    site, p, q, p_rank, q_rank = ints(moved, "site", "p", "q", "p_rank", "q_rank")
    known, first = np.unique(needs.column("doc").to_numpy(), return_index=True)
    weight = needs.column("weight").to_numpy()[first]
    weights = weight[np.searchsorted(known, p)], weight[np.searchsorted(known, q)]
    chunk = _MOVED + chunks_of(runs(site), (p, q), weights, limits.elements_per_block, limits.pairs_per_chunk)
    yield "edges", pa.table([site, chunk, p, q, p_rank, q_rank], EDGES.schema)
    visits = visits_of(site, chunk, p, q)
    doc, home = ints(visits, "doc", "home")
    yield "journeys", pa.table([own_sites(home, doc, large), doc, home, visits.column("chunk")], JOURNEYS.schema)
