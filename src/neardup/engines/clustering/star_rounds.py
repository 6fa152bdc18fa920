"""STAR ROUNDS: the star of more matches than one task can hold.

In each round, whoever matches nobody that is preferred and still undecided survives, and all that it matches are out. Few rounds
decide most; a chain of n documents would take n / 2. So what is left after some rounds goes by connected component to one walk
each. Where a component is too large for one task, more rounds are made.
"""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.clustering.connected_components import labels_of
from neardup.engines.clustering.matches import linked, places_of, survivors_of
from neardup.engines.columns import heavier
from neardup.engines.job_options import Work
from neardup.engines.packing import ints
from neardup.engines.schemas import INT, LINKS, MATCHES, ranked_before_all
from neardup.engines.stages import Found, Output, Stage

_EDGE = {"p": INT, "q": INT, "p_rank": INT, "q_rank": INT}
ENDS = Output(pa.schema({"node": INT, "is_q": pa.bool_(), **_EDGE}), ("node",))
ASKED = Output(pa.schema({**_EDGE, "survives": pa.bool_()}), ("q",))
OUT = Output(pa.schema({"doc": INT}), ("doc",))
SIZES = Output(pa.schema({"component": INT, "matches": INT}), ("component",), is_sorted=False)
LEFT = Output(pa.schema(_EDGE), ("p_rank",))
OF_COMPONENT = Output(pa.schema({"component": INT, **_EDGE}), ("component",))
BY_P = Output(pa.schema([*MATCHES.schema, pa.field("q_out", pa.bool_())]), ("p",))
_NAMES = tuple(_EDGE)


def _ends(edges: pa.Table) -> pa.Table:
    """Edges at both of their ends."""
    columns = [edges.column(name) for name in _NAMES]
    parts = [
        pa.table([edges.column(node), np.full(len(edges), is_q), *columns], ENDS.schema)
        for node, is_q in (("p", False), ("q", True))
    ]
    return pa.concat_tables(parts)


def _begin(matches: pa.Table) -> Found:
    """The edges that decide: two documents of a reference stay both."""
    p_rank, q_rank = ints(matches, "p_rank", "q_rank")
    counts = ~(ranked_before_all(p_rank) & ranked_before_all(q_rank))
    yield "ends", _ends(matches.filter(counts).select(_NAMES))


def _ask(ends: pa.Table, out: pa.Table, open_docs: pa.Table) -> Found:
    """The edges of documents that are not out, with whether their preferred document survives for certain.

    It does if nothing undecided matches it and comes before it; of open documents, more may be found. Those of a reference survive
    in any case.
    """
    node, is_q = ends.column("node").to_numpy(), ends.column("is_q").to_numpy()
    kept = _alive(ends, out)
    edges = ends.take(kept).select(_NAMES)
    is_open = np.isin(node[kept], open_docs.column("doc").to_numpy()) & ~ranked_before_all(ints(edges, "p_rank")[0])
    yield "asked", edges.append_column("survives", pa.array(~np.isin(node[kept], node[is_q]) & ~is_open))


def _alive(ends: pa.Table, out: pa.Table) -> Array:
    """int64[n]: the rows of preferred ends whose document is not out, so that each edge comes once."""
    is_q = ends.column("is_q").to_numpy()
    found: Array = np.flatnonzero(~is_q & ~np.isin(ends.column("node").to_numpy(), out.column("doc").to_numpy()))
    return found


def _answer(asked: pa.Table) -> Found:
    """Who is out; and the edges that are still open."""
    q, survives = asked.column("q").to_numpy(), asked.column("survives").to_numpy()
    out = np.unique(q[survives])
    yield "out", pa.table([out], OUT.schema)
    yield "ends", _ends(asked.filter(~np.isin(q, out)))


def _leave(ends: pa.Table, out: pa.Table) -> Found:
    """The edges that are still open, each once."""
    yield "left", ends.take(_alive(ends, out)).select(_NAMES)


def _divide(left: pa.Table, labels: pa.Table) -> Found:
    """Edges by their components."""
    _, component = labels_of(labels, left.column("p_rank").to_numpy())
    yield "edges", pa.table([component, *(left.column(name) for name in _NAMES)], OF_COMPONENT.schema)
    yield "sizes", pa.table(np.unique(component, return_counts=True), SIZES.schema)


def find_large(work: Work) -> Stage:
    """The stage that finds components that are too large for a task, and how many matches they have: of their sizes."""
    outputs = {"large": Output(SIZES.schema)}
    return Stage("large components", partial(_find_large, work.limits.matches_per_component), outputs)


def _find_large(most: int, sizes: pa.Table) -> Found:
    yield "large", pa.table(heavier(*ints(sizes, "component", "matches"), most=most), SIZES.schema)


def _finish(edges: pa.Table) -> Found:
    """Who is out, by all edges of some components."""
    if not len(edges):
        return
    ranks, earlier, later = places_of(edges)
    docs = np.empty(len(ranks), np.int64)
    docs[np.concatenate([earlier, later])] = np.concatenate(ints(edges, "p", "q"))
    survives = survivors_of(len(ranks), earlier, later) | ranked_before_all(ranks)
    yield "out", pa.table([np.sort(docs[~survives])], OUT.schema)


def _join_q(matches: pa.Table, out: pa.Table) -> Found:
    """Matches with whether their second document is out."""
    flags = np.isin(matches.column("q").to_numpy(), out.column("doc").to_numpy())
    yield "matches", matches.append_column("q_out", pa.array(flags))


def _join_p(matches: pa.Table, out: pa.Table) -> Found:
    """The matches of which one document survives."""
    p_survives = ~np.isin(matches.column("p").to_numpy(), out.column("doc").to_numpy())
    q_survives = ~matches.column("q_out").to_numpy()
    yield "links", linked(matches, p_survives, q_survives)


BEGIN = Stage("round", _begin, {"ends": ENDS})
ASK = Stage("round", _ask, {"asked": ASKED})
ANSWER = Stage("round", _answer, {"out": OUT, "ends": ENDS})
LEAVE = Stage("round", _leave, {"left": LEFT})
DIVIDE = Stage("components", _divide, {"edges": OF_COMPONENT, "sizes": SIZES})
FINISH = Stage("star", _finish, {"out": OUT})
JOIN_Q = Stage("who is out", _join_q, {"matches": BY_P})
JOIN_P = Stage("who is out", _join_p, {"links": LINKS})
