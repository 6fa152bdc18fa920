"""REMOVAL RANGES: how many documents a stricter threshold would remove, estimated from the matches in an audit."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neardup.arrays import Array
from neardup.judging.reports.tally import Tally

STEPS = 100
"""Thresholds of similarity are multiples of one part in so many."""


@dataclass(frozen=True, slots=True)
class RemovalRange:
    """How many documents a threshold would remove.

    Attributes:
        threshold: a similarity, or a distance.
        least, most: if no documents that it keeps are alike but those of equal text; if all of a cluster are.
        exact: these are the numbers of a run at this threshold.
    """

    threshold: float
    least: int
    most: int
    exact: bool


def removal_ranges(
    counts: Tally, *, min_similarity: float, max_distance: int | None, digests: Array | None
) -> tuple[RemovalRange, ...]:
    """The ranges at the run's own threshold, first, and at stricter ones; empty if nothing is known.

    A document is kept if the match that removed it falls short. Whether it then matches another document that is kept is not in
    the audit. `least` counts no such match, except with an equal text; `most` supposes that all documents of a cluster that are
    no longer removed match the first of these. Where no match falls short, the numbers are those of a run.

    Args:
        counts: of the audit.
        min_similarity, max_distance: of the run; a similarity of 0 means that distances alone decided.
        digests: uint64[len(counts.near)], equal for equal texts; None if texts are not known.
    """
    near = counts.near
    if min_similarity > 0:
        if np.isnan(near.strength).any():
            return ()
        thresholds, strength, sign = [min_similarity, *_steps_above(min_similarity)], near.strength, 1
    elif max_distance is not None:
        thresholds, strength, sign = [float(each) for each in range(max_distance, -1, -1)], -near.distance, -1
    else:
        return ()
    texts = np.arange(len(near)) if digests is None else digests
    weakest = [_weakest(groups, strength) for groups in (texts, near.cluster)]
    found = [
        RemovalRange(thresholds[0], counts.duplicates, counts.duplicates, exact=True)
    ]  # even if chains reach further
    for threshold in thresholds[1:]:
        least, most = (counts.duplicates - int(np.searchsorted(each, sign * threshold)) for each in weakest)
        found.append(RemovalRange(threshold, least, most, most == counts.duplicates))
    return tuple(found) if sign > 0 else tuple(_with_changes(found))


def _weakest(groups: Array, strength: Array) -> Array:
    """The weakest match of each group, ascending: as many of them as are below a threshold have one that falls short."""
    order = np.lexsort((strength, groups))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = groups[order[1:]] != groups[order[:-1]]
    return np.sort(strength[order][is_first])


def _steps_above(threshold: float) -> list[float]:
    return [step / STEPS for step in range(math.floor(threshold * STEPS + 1e-9) + 1, STEPS + 1)]


def _with_changes(found: list[RemovalRange]) -> list[RemovalRange]:
    """Without thresholds that remove what the one before removes, but for the first and the last."""
    changed = [now for before, now in pairwise(found) if (now.least, now.most) != (before.least, before.most)]
    return list(dict.fromkeys([found[0], *changed, found[-1]]))
