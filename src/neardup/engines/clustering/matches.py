"""MATCHES decide which classes survive; and, while more are to come, which documents are out for certain.

Star: a class survives unless it matches a preferred survivor (the lexicographic greedy independent set of the matches).
Components: of all that matches connect, the most preferred survives.
"""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import ascending
from neardup.engines.job_options import Work
from neardup.engines.packing import ints
from neardup.engines.schemas import LINKS, NONE, STANDING, UNKNOWN, ranked_before_all
from neardup.engines.stages import Found, Stage
from neardup.kernels.engines.standing import OUT, standing_of_pairs
from neardup.kernels.survivors.listed_pairs import EarlierMatches, star_of_pairs
from neardup.survivors.listed_pairs import connected


def _settle_star(matches: pa.Table) -> Found:
    """Decide by all matches at once."""
    if len(matches):
        ranks, left, right = places_of(matches)
        fixed = ranked_before_all(ranks)
        counts = ~(fixed[left] & fixed[right])  # two of a reference do not match; another text in the class of one does
        survives = survivors_of(len(ranks), left[counts], right[counts]) | fixed
        yield "links", linked(matches, survives[left], survives[right])


def _settle_components(matches: pa.Table) -> Found:
    """Decide by all matches at once. The similarity of a document to its survivor is known if the two match.

    All that is connected gets a link, the survivor itself as well: then its class is connected to others.
    """
    if not len(matches):
        return
    ranks, left, right = places_of(matches)
    order = ascending(right, left)
    root = connected(len(ranks), [(left[order], right[order])])
    first = np.empty(len(ranks), np.int64)  # a match of each document, for what it is
    first[np.concatenate([left, right])] = np.arange(2 * len(left))
    docs = np.concatenate(ints(matches, "p", "q"))[first]
    similarity, distance = np.full(len(ranks), np.nan), np.full(len(ranks), UNKNOWN)
    listed = root[right] == left
    similarity[right[listed]] = matches.column("similarity").to_numpy()[listed]
    distance[right[listed]] = matches.column("distance").to_numpy()[listed]
    yield "links", pa.table([docs, ranks, docs[root], ranks[root], similarity, distance], LINKS.schema)


def places_of(matches: pa.Table) -> tuple[Array, Array, Array]:
    """The ranks of all documents, ascending, and where those of the matches are among them."""
    ranks, at = np.unique(np.concatenate(ints(matches, "p_rank", "q_rank")), return_inverse=True)
    left, right = np.split(at, 2)
    return ranks, left, right


def survivors_of(n: int, earlier: Array, later: Array) -> Array:
    """bool[n]: which of n documents in order of preference survive, by their matches: int64[p], int64[p]."""
    order = ascending(later, earlier)
    starts = np.searchsorted(later[order], np.arange(n + 1))
    survivor, grades, counts = np.arange(n), np.full(n, -1.0), np.zeros(2, np.int64)
    star_of_pairs(EarlierMatches(starts, earlier[order], np.ones(len(earlier))), survivor, grades, counts)
    found: Array = survivor == np.arange(n)
    return found


def linked(matches: pa.Table, p_survives: Array, q_survives: Array) -> pa.Table:
    """The matches of which one survives. Of a reference, both may."""
    parts = []
    for x, s, wanted in (("q", "p", p_survives), ("p", "q", q_survives & ~p_survives)):
        rows = matches.take(np.flatnonzero(wanted))
        names = (x, f"{x}_rank", s, f"{s}_rank", "similarity", "distance")
        parts.append(pa.table([rows.column(name) for name in names], LINKS.schema))
    return pa.concat_tables(parts)


SETTLED = {
    "star": Stage("star", _settle_star, {"links": LINKS}),
    "components": Stage("components", _settle_components, {"links": LINKS}),
}
"""By the names of clusterings: of all matches, in one bucket."""


def standing(work: Work) -> Stage:
    """The stage that says what is certain: of all matches so far, and the ranks of documents with pairs that are not compared."""
    return Stage("standing", partial(_standing, work), {"standing": STANDING})


def _standing(work: Work, matches: pa.Table, open_ranks: pa.Table) -> Found:
    if not len(matches):
        return
    ranks, left, right = places_of(matches)
    order = ascending(right, left)
    docs = np.empty(len(ranks), np.int64)
    docs[np.concatenate([left, right])] = np.concatenate(ints(matches, "p", "q"))
    left, right = left[order], right[order]
    if work.options.cluster == "components":
        part, out = connected(len(ranks), [(left, right)]), np.zeros(len(ranks), np.bool_)
    else:
        part, out = np.full(len(ranks), NONE), _outs(ranks, left, right, open_ranks.column("rank").to_numpy())
    known = np.flatnonzero(out | (part != NONE))
    yield "standing", pa.table([docs[known], part[known], out[known]], STANDING.schema)


def _outs(ranks: Array, left: Array, right: Array, open_ranks: Array) -> Array:
    """bool[n]: which documents match one that survives for certain."""
    starts, found = np.searchsorted(right, np.arange(len(ranks) + 1)), np.empty(len(ranks), np.uint8)
    standing_of_pairs(starts, left, np.isin(ranks, open_ranks), ranked_before_all(ranks), found)
    outs: Array = found == OUT
    return outs


def _fallen(out: pa.Table) -> Found:
    """What is certain, of documents that are out."""
    n = len(out)
    yield "standing", pa.table([out.column("doc"), np.full(n, NONE), np.ones(n, np.bool_)], STANDING.schema)


FALLEN = Stage("standing", _fallen, {"standing": STANDING})
"""Of who is out."""


def _connected(links: pa.Table) -> Found:
    """What is certain, of documents with the first of their component."""
    columns = [links.column("x"), links.column("survivor"), np.zeros(len(links), np.bool_)]
    yield "standing", pa.table(columns, STANDING.schema)


CONNECTED = Stage("standing", _connected, {"standing": STANDING})
"""Of the links of components."""
