"""The probability that a method finds a pair at a distance, for methods that can miss pairs; and constants of the simulations."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array

SEED = 20050612
"""Seed of the simulations."""
MAX_TRIALS = 20_000
MAX_DRAWN_BITS = 1 << 24
"""Maximum number of bits that one simulation draws."""


@dataclass(frozen=True)
class HitProbability:
    """The probability that a pair at a distance is found.

    Attributes:
        distance: the Hamming distance of the pair.
        value: the best estimate: `exact` if there is a closed form, else `simulated`.
        exact, by_distance, by_prefix: see `neardup.hamming.probabilities.PrefixHit`; None for sorted orders, which have no
            closed form.
        simulated: the share of simulated pairs that were found.
        trials: the number of simulated pairs.
        seed: the seed of the simulation.
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
    """Random choices of `chosen` different bits: int64[count, chosen]."""
    return np.argsort(random.random((count, bits)), axis=1)[:, :chosen]
