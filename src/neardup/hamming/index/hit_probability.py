"""The hit probability of a pair at a distance, by a method that may miss it; and what its simulations have in common."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array

SEED = 20050612
"""Of simulations."""
MOST_TRIALS = 20_000
MOST_BITS = 1 << 24
"""That a simulation draws in all."""


@dataclass(frozen=True)
class HitProbability:
    """The chance that a pair at a distance is found.

    Attributes:
        distance: of the pair.
        value: the best that is known: `exact`, if there is a closed form, else `simulated`.
        exact, by_distance, by_prefix: see `neardup.hamming.probabilities.PrefixHit`; None for sorted orders, which have no
            closed form.
        simulated: the share of simulated pairs that were found.
        trials: how many there were.
        seed: of the simulation.
    """

    distance: int
    value: float
    exact: float | None
    by_distance: float | None
    by_prefix: float | None
    simulated: float
    trials: int
    seed: int


def drawn_bits(random: np.random.Generator, count: int, bits: int, chosen: int) -> Array:
    """Random choices of different bits: int64[count, chosen]."""
    return np.argsort(random.random((count, bits)), axis=1)[:, :chosen]
