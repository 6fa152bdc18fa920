"""BEST SURVIVOR: each document that is removed gets its best match among the survivors before it, then the earlier."""

from functools import partial

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import looked_up
from neardup.engines.job_options import Work
from neardup.engines.packing import ints
from neardup.engines.schemas import LINKS, MARKED, NONE, REMOVED, UNKNOWN, marked, ranked_before_all
from neardup.engines.stages import Found, Stage
from neardup.survivors.listed_pairs import best_first

_GRADES = ("similarity", "distance")
_OUTPUTS = {"removed": REMOVED, "gone": MARKED, "named": MARKED, "compared": MARKED}


def stage(work: Work) -> Stage:
    """The stage that gives documents their survivors: of links, heads and members of classes."""
    return Stage("decide", partial(_decide, work), _OUTPUTS)


def _decide(work: Work, links: pa.Table, heads: pa.Table, members: pa.Table) -> Found:
    if not len(links) and not len(members):
        return
    choices = pa.concat_tables([links, _own(work, heads, links)])
    x = choices.column("x").to_numpy()
    order = np.argsort(x, kind="stable")
    choices, x = choices.take(order), x[order]
    # Whoever is to be removed: leaders that match a survivor, and all other members of classes.
    (linked, first), linked_ranks = np.unique(links.column("x").to_numpy(), return_index=True), ints(links, "x_rank")[0]
    falls = ~ranked_before_all(linked_ranks[first]) & (links.column("survivor").to_numpy()[first] != linked)
    leaders = links.take(first[falls])
    docs = np.concatenate([linked[falls], members.column("doc").to_numpy()])
    of = np.concatenate([linked[falls], members.column("leader").to_numpy()])
    rank = np.concatenate([leaders.column("x_rank").to_numpy(), members.column("outcome_rank").to_numpy()])
    is_copy = np.concatenate([np.zeros(len(leaders), np.bool_), members.column("is_copy").to_numpy()])

    best = _best(work, choices, x, of, rank, is_copy)
    survivor = choices.column("survivor").to_numpy()[best]
    exact = is_copy & (survivor == of)
    own = _references(work, members, linked)
    at = len(leaders) + np.flatnonzero(own != NONE)
    survivor = survivor.copy()
    survivor[at], exact[at] = own[own != NONE], True
    similarity = np.where(exact, 1.0, choices.column("similarity").to_numpy()[best])
    distance = choices.column("distance").to_numpy()[best].copy()
    if work.max_distance is None:  # else documents of a class have equal fingerprints
        distance[np.flatnonzero(~is_copy[len(leaders) :]) + len(leaders)] = UNKNOWN
    distance[exact] = 0
    yield from _outcomes(docs, survivor, exact, similarity, distance)


def _outcomes(docs: Array, survivor: Array, exact: Array, similarity: Array, distance: Array) -> Found:
    """Removed documents, and which ones are gone, need a name, and are compared, as the texts of the two are not equal."""
    yield "removed", pa.table([docs, survivor, exact, similarity, distance], REMOVED.schema)
    yield "gone", marked(docs)
    yield "named", marked(np.unique(np.concatenate([docs, survivor])))
    yield "compared", marked(np.unique(np.concatenate([docs[~exact], survivor[~exact]])))


def _follow(removed: pa.Table, copies: pa.Table) -> Found:
    """Copies share the outcome of the document that they follow, or are its duplicates if it survives."""
    if not len(copies):
        return
    leader, docs = ints(copies, "leader", "doc")
    falls, at = looked_up(removed.column("doc").to_numpy(), leader)
    survivor, exact, similarity, distance = leader.copy(), ~falls, np.ones(len(docs)), np.zeros(len(docs), np.int64)
    for name, column in (("survivor", survivor), ("exact", exact), ("similarity", similarity), ("distance", distance)):
        column[falls] = removed.column(name).to_numpy()[at[falls]]
    yield from _outcomes(docs, survivor, exact, similarity, distance)


FOLLOW = Stage("copies", _follow, _OUTPUTS)
"""Of removed documents, and copies."""


def _references(work: Work, members: pa.Table, linked: Array) -> Array:
    """int64[n]: for each member, the document of a reference with an equal text that is its survivor, besides that of its class;
    NONE for most. As components, all of a class are one if anything connects them: another text of the input, or another class.
    """
    found: Array = members.column("reference").to_numpy()
    if work.options.cluster == "star" or not (found != NONE).any():
        return found
    leader = members.column("leader").to_numpy()
    texts = leader[(found == NONE) & ~members.column("is_copy").to_numpy()]
    return np.where(np.isin(leader, linked) | np.isin(leader, texts), NONE, found)


def _own(work: Work, heads: pa.Table, links: pa.Table) -> pa.Table:
    """The survivors that lead a class of several, as links of the class with itself; its members are as similar as can be."""
    fallen = np.isin(heads.column("leader").to_numpy(), links.column("x").to_numpy())
    if work.options.cluster == "star":  # a document of a reference survives beside others that it matches
        fallen &= ~heads.column("is_reference").to_numpy()
    rows = heads.take(np.flatnonzero(~fallen))
    end, n = [rows.column(name) for name in ("leader", "rank")], len(rows)
    return pa.table([*end, *end, np.full(n, np.nan if work.by_distance else 1.0), np.zeros(n, np.int64)], LINKS.schema)


def _best(work: Work, choices: pa.Table, x: Array, of: Array, rank: Array, is_copy: Array) -> Array:
    """int64[n]: the best choice for each document, of class `of` and with a rank: one of a survivor before it."""
    first, last = np.searchsorted(x, of), np.searchsorted(x, of, "right")
    counts = last - first
    document = np.repeat(np.arange(len(of)), counts)
    choice = np.arange(len(document)) - np.repeat(np.cumsum(counts) - counts, counts) + first[document]
    survivor_rank = choices.column("survivor_rank").to_numpy()[choice]
    before = survivor_rank <= rank[document]  # equal for copies of a leader that survives
    document, choice, survivor_rank = document[before], choice[before], survivor_rank[before]
    survivor, similarity, distance = (choices.column(name).to_numpy()[choice] for name in ("survivor", *_GRADES))
    equal = is_copy[document] & (survivor == of[document])
    order = best_first(document, survivor_rank, similarity, distance, by_distance=work.by_distance, equal=equal)
    places = np.searchsorted(document[order], np.arange(len(of)))
    found: Array = choice[order][places]
    return found
