"""What probable methods find: the chance that a pair at a distance is found, in closed form and by simulation."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.hamming.probabilities import prefix_hit

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


def simulated_prefix_hit(
    distance: int, *, bits: int, prefix: int, tables: int, seed: int = SEED, trials: int | None = None
) -> tuple[float, int]:
    """The share of random differences of `distance` bits that leave some of `tables` random prefixes alone, and the trials.

    Every trial draws its permutations anew.
    """
    random = np.random.default_rng(seed)
    count = trials or max(1, min(MOST_TRIALS, MOST_BITS // (bits * (tables + 1))))
    differs = np.zeros((count, bits), bool)
    np.put_along_axis(differs, _drawn(random, count, bits, distance), True, axis=1)
    found = np.zeros(count, bool)
    for _ in range(tables):
        found |= ~np.take_along_axis(differs, _drawn(random, count, bits, prefix), axis=1).any(axis=1)
    return float(found.mean()), count


def _drawn(random: np.random.Generator, count: int, bits: int, chosen: int) -> Array:
    """Random choices of different bits: int64[count, chosen]."""
    return np.argsort(random.random((count, bits)), axis=1)[:, :chosen]


def simulated_beam_hit(
    distance: int, *, bits: int, permutations: int, beam: int, rows: int, seed: int = SEED, trials: int = MOST_TRIALS
) -> tuple[float, int]:
    """The chance that sorted orders of `rows` uniform fingerprints have a pair at a distance within the beam, and the trials.

    Under a random permutation the bits that differ lie at random places, and their values are apart by a share of the range; so
    many rows are expected in between, about as Poisson. Orders are taken as independent.
    """
    if distance == 0:
        return 1.0, trials
    random = np.random.default_rng(seed)
    places = _drawn(random, trials, bits, distance)
    signs = random.choice((-1.0, 1.0), places.shape)
    apart = np.abs((signs * np.ldexp(1.0, -1 - places)).sum(axis=1))
    between = random.poisson(np.minimum(apart * rows, 4.0 * beam + 1000))
    one = float((between < beam).mean())
    return 1 - (1 - one) ** permutations, trials


def hit_probabilities(
    method: str, options: Mapping[str, int], *, bits: int, distance: int, rows: int, seed: int = SEED
) -> HitProbability | None:
    """Of a probable method with these options; None for an exact one."""
    if method == "prefix-tables":
        prefix, tables = options["prefix"], options["tables"]
        simulated, trials = simulated_prefix_hit(distance, bits=bits, prefix=prefix, tables=tables, seed=seed)
        forms = prefix_hit(distance, bits=bits, prefix=prefix, tables=tables)
        return HitProbability(
            distance, forms.exact, forms.exact, forms.by_distance, forms.by_prefix, simulated, trials, seed
        )
    if method == "sorted-beam":
        found, trials = simulated_beam_hit(
            distance, bits=bits, permutations=options["permutations"], beam=options["beam"], rows=rows, seed=seed
        )
        return HitProbability(distance, found, None, None, None, found, trials, seed)
    return None


def hit_probability(method: str, options: Mapping[str, int], *, bits: int, distance: int, rows: int) -> float:
    """The chance alone: 1 for exact methods, the closed form for prefix tables, simulated for sorted orders."""
    if method == "prefix-tables":
        return prefix_hit(distance, bits=bits, prefix=options["prefix"], tables=options["tables"]).exact
    found = hit_probabilities(method, options, bits=bits, distance=distance, rows=rows)
    return 1.0 if found is None else found.value


def tables_for(prefix: int, *, bits: int, distance: int, chance: float) -> int:
    """The fewest prefix tables that find a pair at a distance with at least this chance; 0 if no number does."""
    one = prefix_hit(distance, bits=bits, prefix=prefix, tables=1).exact
    if one <= 0:
        return 0
    return 1 if one >= 1 else max(1, math.ceil(math.log1p(-chance) / math.log1p(-one)))
