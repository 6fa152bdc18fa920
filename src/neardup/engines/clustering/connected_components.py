"""CONNECTED COMPONENTS of more matches than one task can hold, by alternating stars (Kiveris, Lattanzi, Mirrokni and others 2014).

Edges join ranks. A large star joins all larger neighbors of a rank to the smallest rank that it knows, a small star all smaller
ones and itself. When both change nothing, each rank is joined to the smallest of its component; that takes O(log² n) rounds.
"""

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import distinct, looked_up
from neardup.engines.packing import ints
from neardup.engines.schemas import INT, LINKS, MATCH_FIELDS, MATCHES, UNKNOWN
from neardup.engines.stages import Found, Output, Stage
from neardup.kernels.store.postings import MIX

EDGES = Output(pa.schema({"node": INT, "other": INT}), ("node",))
LABELED = Output(pa.schema({"rank": INT, "label": INT}), ("rank",))
TOLD = Output(pa.schema({"edges": INT, "sum": INT}))
NODES = Output(pa.schema({"rank": INT, "doc": INT}), ("rank",))
BY_Q_RANK = Output(MATCHES.schema, ("q_rank",))
DIRECT = Output(pa.schema({"rank": INT, **MATCH_FIELDS}), ("rank",))
OF_LABEL = Output(pa.schema({"label": INT, "rank": INT, "doc": INT, **MATCH_FIELDS}), ("label",))


def _begin(edges: pa.Table) -> Found:
    """Edges in both directions."""
    yield "edges", _both(*ints(edges, "p_rank", "q_rank"))


def _both(left: Array, right: Array) -> pa.Table:
    return pa.table([np.concatenate([left, right]), np.concatenate([right, left])], EDGES.schema)


def _large_star(edges: pa.Table) -> Found:
    node, other = ints(edges, "node", "other")
    smallest = np.minimum(_smallest(node, other), node)
    larger = other > node
    yield "edges", pa.table(distinct(other[larger], smallest[larger]), EDGES.schema)


def _small_star(edges: pa.Table) -> Found:
    """Edges in both directions, and what there are in one, to tell whether anything has changed."""
    node, other = ints(edges, "node", "other")  # of each edge, the larger and the smaller end
    smallest = _smallest(node, other)
    left, right = distinct(np.concatenate([other, node]), np.concatenate([smallest, smallest]))
    apart = left != right
    left, right = left[apart], right[apart]
    yield "edges", _both(left, right)
    yield "labels", pa.table([left, right], LABELED.schema)
    total = ((left.view(np.uint64) * MIX) ^ (right.view(np.uint64) + MIX)).sum(dtype=np.uint64)
    yield "told", pa.table([[len(left)], np.array([total]).view(np.int64)], TOLD.schema)


def _smallest(node: Array, other: Array) -> Array:
    """int64[n]: the smallest of the others of each row's node; nodes ascend."""
    if not len(node):
        return node
    starts = np.flatnonzero(np.diff(node, prepend=node[0] - 1))
    found: Array = np.repeat(np.minimum.reduceat(other, starts), np.diff(np.append(starts, len(node))))
    return found


def _nodes(matches: pa.Table) -> Found:
    """What all documents of matches are; and the matches by the ranks of their second documents."""
    for end in ("p", "q"):
        yield "nodes", pa.table([matches.column(f"{end}{name}") for name in ("_rank", "")], NODES.schema)
    yield "matches", matches


def _direct(matches: pa.Table, labels: pa.Table) -> Found:
    """How documents match the first of their component, if they do."""
    q_rank, p_rank = ints(matches, "q_rank", "p_rank")
    known, label = labels_of(labels, q_rank)
    found = np.flatnonzero(known & (label == p_rank))
    columns = [q_rank[found], *(matches.column(name).take(found) for name in MATCH_FIELDS)]
    yield "direct", pa.table(columns, DIRECT.schema)


def labels_of(labels: pa.Table, ranks: Array) -> tuple[Array, Array]:
    """bool[n], int64[n]: whether ranks have a label, and it; without one, they are first themselves."""
    has, at = looked_up(labels.column("rank").to_numpy(), ranks)
    found = ranks.copy()
    found[has] = labels.column("label").to_numpy()[at[has]]
    return has, found


def _label(nodes: pa.Table, labels: pa.Table, direct: pa.Table) -> Found:
    """Documents, each once, by the first of their component."""
    rank, first = np.unique(nodes.column("rank").to_numpy(), return_index=True)
    rows = nodes.take(first)
    similarity, distance = np.full(len(rank), np.nan), np.full(len(rank), UNKNOWN)
    at = np.searchsorted(rank, direct.column("rank").to_numpy())
    similarity[at], distance[at] = direct.column("similarity").to_numpy(), direct.column("distance").to_numpy()
    columns = [labels_of(labels, rank)[1], rank, rows.column("doc"), similarity, distance]
    yield "members", pa.table(columns, OF_LABEL.schema)


def _link(members: pa.Table) -> Found:
    """Each document with the first of its component, which is linked to itself as well."""
    label, rank = ints(members, "label", "rank")
    first = np.flatnonzero(label == rank)
    of = pa.array(first[np.searchsorted(label[first], label)])
    ends = [members.column(name) for name in ("doc", "rank")]
    columns = [*ends, *(end.take(of) for end in ends), *(members.column(name) for name in MATCH_FIELDS)]
    yield "links", pa.table(columns, LINKS.schema)


BEGIN = Stage("components", _begin, {"edges": EDGES})
LARGE_STAR = Stage("components", _large_star, {"edges": EDGES})
SMALL_STAR = Stage("components", _small_star, {"edges": EDGES, "labels": LABELED, "told": TOLD})
ENDS = Stage("components", _nodes, {"nodes": NODES, "matches": BY_Q_RANK})
DIRECT_MATCHES = Stage("components", _direct, {"direct": DIRECT})
LABEL = Stage("components", _label, {"members": OF_LABEL})
LINK = Stage("components", _link, {"links": LINKS})
