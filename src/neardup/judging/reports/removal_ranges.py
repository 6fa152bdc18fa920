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
        thresholds = [min_similarity, *_steps_above(min_similarity)]
        short = [near.strength < threshold for threshold in thresholds]
    elif max_distance is not None:
        thresholds = [float(threshold) for threshold in range(max_distance, -1, -1)]
        short = [near.distance > threshold for threshold in thresholds]
    else:
        return ()
    texts = np.arange(len(near)) if digests is None else digests
    found = []
    for number, (threshold, kept) in enumerate(zip(thresholds, short, strict=True)):
        if number == 0:
            kept = np.zeros(len(near), np.bool_)  # the run's own threshold: chains may connect what is further apart
        least = counts.duplicates - len(np.unique(texts[kept]))
        most = counts.duplicates - len(np.unique(near.cluster[kept]))
        found.append(RemovalRange(threshold, least, most, not kept.any()))
    return tuple(_with_changes(found)) if min_similarity <= 0 else tuple(found)


def _steps_above(threshold: float) -> list[float]:
    return [step / STEPS for step in range(math.floor(threshold * STEPS + 1e-9) + 1, STEPS + 1)]


def _with_changes(found: list[RemovalRange]) -> list[RemovalRange]:
    """Without thresholds that remove what the one before removes, but for the first and the last."""
    changed = [now for before, now in pairwise(found) if (now.least, now.most) != (before.least, before.most)]
    return list(dict.fromkeys([found[0], *changed, found[-1]]))
