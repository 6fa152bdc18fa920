"""PREFIX TABLES: tables keyed by the first bits under random permutations of the bits. The method can miss pairs.

A query finds a pair if the key of at least one table has none of the bits in which the two differ.
"""

import math
from collections.abc import Iterable

import numpy as np

from neardup.arrays import Int64s, UInt64s
from neardup.errors import OptionError
from neardup.hamming.index.keyed_tables import MAX_CHOSEN_TABLES, MAX_TABLES, KeyPlan
from neardup.hamming.index.methods.search_method import HitModel, method_of_keys
from neardup.hamming.index.planning.costs import Options, Setting
from neardup.hamming.index.planning.hit_probability import MAX_DRAWN_BITS, MAX_TRIALS, SEED, HitProbability, drawn_bits
from neardup.hamming.probabilities import prefix_hit

CHANCE = 0.95
"""The planner takes enough tables to find a pair at the index's distance with this probability, up to MAX_CHOSEN_TABLES."""
MAX_COUNTED_TABLES = 16
"""Up to this many tables, all choices of tables are counted; the hit probability of more tables is simulated."""


def prefix_keys(bits: int, prefix: int, tables: int, seed: int) -> KeyPlan:
    """The first `prefix` bits under random permutations of the bits, as the key of each table.

    Raises:
        OptionError: the prefix has more bits than the fingerprints, or there are too many tables.
    """
    if prefix > bits or tables > MAX_TABLES:
        raise OptionError(
            f"`prefix={prefix}`, `tables={tables}`: give a prefix up to {bits}, the bits, and up to {MAX_TABLES} tables; each "
            "holds all fingerprints."
        )
    choose = np.random.default_rng(seed)
    chosen = tuple(tuple(sorted(choose.permutation(bits)[:prefix].tolist())) for _ in range(tables))
    return KeyPlan(bits, chosen, (0,) * tables)


def tables_for(prefix: int, *, bits: int, distance: int, chance: float) -> int:
    """The fewest prefix tables that find a pair at a distance with at least this probability; 0 if no number of tables does."""
    one = prefix_hit(distance, bits=bits, prefix=prefix, tables=1).exact
    if one <= 0:
        return 0
    return 1 if one >= 1 else max(1, math.ceil(math.log1p(-chance) / math.log1p(-one)))


def _considered(setting: Setting) -> Iterable[dict[str, int]]:
    longest = max(8, math.ceil(math.log2(max(2, setting.rows))))
    for prefix in range(max(1, min(longest, setting.bits) - 8), min(longest, setting.bits) + 1):
        tables = tables_for(prefix, bits=setting.bits, distance=setting.max_distance, chance=CHANCE)
        yield {"prefix": prefix, "tables": min(tables or MAX_CHOSEN_TABLES, MAX_CHOSEN_TABLES), "seed": 0}


def expected_hit(
    options: Options,
    *,
    bits: int,
    distance: int,
    rows: int,  # noqa: ARG001 - has no influence here
    seed: int = SEED,
) -> HitProbability:
    """The mean over random permutations, in closed form and simulated."""
    prefix, tables = options["prefix"], options["tables"]
    forms = prefix_hit(distance, bits=bits, prefix=prefix, tables=tables)
    simulated, trials = simulated_prefix_hit(distance, bits=bits, prefix=prefix, tables=tables, seed=seed)
    return HitProbability(
        distance, forms.exact, forms.exact, forms.by_distance, forms.by_prefix, simulated, trials, seed
    )


def simulated_prefix_hit(
    distance: int, *, bits: int, prefix: int, tables: int, seed: int = SEED, trials: int | None = None
) -> tuple[float, int]:
    """Simulate the share of random differences of `distance` bits that touch no bit of at least one random prefix; also the trials.

    Each trial draws new permutations.
    """
    random = np.random.default_rng(seed)
    count = trials or max(1, min(MAX_TRIALS, MAX_DRAWN_BITS // (bits * (tables + 1))))
    differs = np.zeros((count, bits), bool)
    np.put_along_axis(differs, drawn_bits(random, count, bits, distance), True, axis=1)
    found = np.zeros(count, bool)
    for _ in range(tables):
        found |= ~np.take_along_axis(differs, drawn_bits(random, count, bits, prefix), axis=1).any(axis=1)
    return float(found.mean()), count


def hit_by_masks(masks: UInt64s, distance: int) -> float:
    """The share of all choices of `distance` differing bits that touch no bit of at least one table's key.

    For up to MAX_COUNTED_TABLES tables it is exact, by inclusion and exclusion. For more, it is the share among MAX_TRIALS
    choices drawn with a fixed seed, with a standard error of at most 0.004.

    Args:
        masks: uint64[tables, words], the bits of each table's key.
        distance: up to the bits, 64 * words.
    """
    return _counted_hit(masks, distance) if len(masks) <= MAX_COUNTED_TABLES else _drawn_hit(masks, distance)


def _counted_hit(masks: UInt64s, distance: int) -> float:
    """Count by inclusion and exclusion: if the keys of some tables have u bits in all, C(N - u, k) choices of k bits touch none."""
    bits = 64 * masks.shape[1]
    unions: UInt64s = np.zeros((1, masks.shape[1]), np.uint64)
    signs: Int64s = np.ones(1, np.int64)
    for mask in masks:
        unions, signs = np.concatenate([unions, unions | mask]), np.concatenate([signs, -signs])
    sizes = np.bitwise_count(unions).sum(axis=1, dtype=np.int64)
    # Sums of up to 2^16 ones are exact in floating point. All further numbers are integers.
    weights: list[int] = np.bincount(sizes, signs, bits + 1).astype(np.int64).tolist()
    every = math.comb(bits, distance)
    touched = sum(weight * math.comb(bits - size, distance) for size, weight in enumerate(weights) if weight)
    found: float = (every - touched) / every
    return found


def _drawn_hit(masks: UInt64s, distance: int) -> float:
    bits = 64 * masks.shape[1]
    trials = max(1, min(MAX_TRIALS, MAX_DRAWN_BITS // bits))
    differs = np.zeros((trials, bits), bool)
    np.put_along_axis(differs, drawn_bits(np.random.default_rng(SEED), trials, bits, distance), True, axis=1)
    packed = np.packbits(differs, axis=1).view(np.uint64)
    touched = np.ones(trials, bool)
    for mask in masks:
        touched &= (packed & mask).any(axis=1)
    return float(1 - touched.mean())


METHOD = method_of_keys(
    lambda bits, _distance, options: prefix_keys(bits, options["prefix"], options["tables"], options["seed"]),
    considered=_considered,
    hits=HitModel(expected=expected_hit, of_searcher=lambda tables, distance: hit_by_masks(tables.masks, distance)),
)
