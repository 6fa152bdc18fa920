"""SORTED BEAM: fingerprints sorted under random permutations of the bits. A query is compared with the rows around its place.

The method can miss pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array, Bools, Float64s
from neardup.errors import DataError, OptionError
from neardup.hamming.index.keyed_tables import MAX_TABLES
from neardup.hamming.index.methods.search_method import Built, HitModel, Searcher, SearchMethod, in_given_order
from neardup.hamming.index.planning.costs import LABEL_BYTES, Cost, Options, Setting
from neardup.hamming.index.planning.hit_probability import MAX_DRAWN_BITS, MAX_TRIALS, SEED, HitProbability, drawn_bits
from neardup.kernels.hamming import index_scans as kernels


@dataclass(frozen=True)
class SortedBeam:
    """Fingerprints sorted under several permutations of the bits. A query is compared with the rows around its place in each order.

    Attributes:
        orders: uint64[P, n, words], the permuted rows, ascending.
        positions: uint32[P, n], the original row of each.
        sources: int64[P, bits], the bit that goes to each place, both counted from the most significant one.
        beam: number of rows to compare before the query's place, and after it.
    """

    orders: Array
    positions: Array
    sources: Array
    beam: int

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        asked = queries[first:last]
        permuted = np.empty((len(asked), len(self.sources), queries.shape[1]), np.uint64)
        one = np.empty_like(asked)
        for o, sources in enumerate(self.sources):
            kernels.permute(asked, sources, one)
            permuted[:, o] = one
        beam = min(self.beam, self.orders.shape[1])
        seen = np.empty(2 * beam * len(self.sources), np.int64)
        found: int = kernels.look_around(
            permuted, first, self.orders, self.positions, beam, max_distance, seen, hits, count
        )
        return found

    def values(self) -> Array:
        back: Array = np.empty_like(self.orders[0])
        out: Array = np.empty_like(self.orders[0])
        kernels.permute(self.orders[0], np.argsort(self.sources[0]), back)
        out[self.positions[0]] = back
        return out

    def arrays(self) -> dict[str, Array]:
        return {"orders": self.orders, "positions": self.positions, "sources": self.sources}


def _build(values: Array, _distance: int, options: Options) -> Built:
    n, words = values.shape
    if options["permutations"] > MAX_TABLES:
        raise OptionError(
            f"`permutations={options['permutations']}`: give up to {MAX_TABLES}; each order holds all fingerprints."
        )
    choose = np.random.default_rng(options["seed"])
    sources = np.array([choose.permutation(64 * words) for _ in range(options["permutations"])], np.int64)
    orders = np.empty((len(sources), n, words), np.uint64)
    positions = np.empty((len(sources), n), np.uint32)
    one = np.empty_like(values)
    for o, source in enumerate(sources):
        kernels.permute(values, source, one)
        positions[o] = np.lexsort(one.T[::-1])
        orders[o] = one[positions[o]]
    return SortedBeam(orders, positions, sources, options["beam"]), in_given_order(values)


def _restore(arrays: Mapping[str, Array], bits: int, _distance: int, options: Options, _rows: int) -> Searcher:
    if not (np.sort(arrays["sources"], axis=1) == np.arange(bits)).all():
        raise DataError("its permutations are none")
    return SortedBeam(**arrays, beam=options["beam"])


def _cost(setting: Setting, options: Options) -> Cost:
    permutations, beam = options["permutations"], options["beam"]
    n, size = setting.rows, permutations * setting.rows * setting.width
    looked = setting.seconds("around", size) + 2 * beam * setting.seconds("row") * setting.words
    built = setting.sorting() + permutations * n * setting.words * setting.seconds("order")
    return Cost(
        permutations,
        0,
        permutations * ((8 * setting.words + 4) * n + 8 * setting.bits) + LABEL_BYTES * n,
        0,
        float(permutations * min(n, 2 * beam)),
        permutations * looked,
        built,
    )


def expected_hit(options: Options, *, bits: int, distance: int, rows: int, seed: int = SEED) -> HitProbability:
    """The mean over random permutations, simulated because there is no closed form."""
    found, trials = simulated_beam_hit(distance, options, bits=bits, rows=rows, seed=seed)
    return HitProbability(distance, found, None, None, None, found, trials, seed)


def simulated_beam_hit(
    distance: int, options: Options, *, bits: int, rows: int, seed: int = SEED, trials: int = MAX_TRIALS
) -> tuple[float, int]:
    """Simulate how often sorted orders of `rows` uniform fingerprints have a pair at a distance within the beam; also the trials.

    Under a random permutation, the differing bits lie at random places, which puts the two values a share of the range apart.
    The number of rows between them is about Poisson, with that share of the rows as its mean. Orders count as independent.
    """
    if distance == 0:
        return 1.0, trials
    random = np.random.default_rng(seed)
    places = drawn_bits(random, trials, bits, distance)
    signs = random.choice((-1.0, 1.0), places.shape)
    one = float(_is_within(random, places, signs, rows, options["beam"]).mean())
    return 1 - (1 - one) ** options["permutations"], trials


def _is_within(random: np.random.Generator, places: Array, signs: Float64s, rows: int, beam: int) -> Bools:
    """bool[trials]: whether fewer than `beam` rows lie between two whose bits differ, by `signs`, at places int64[trials, d]."""
    apart = np.abs((signs * np.ldexp(1.0, -1 - places)).sum(axis=1))
    found: Bools = random.poisson(np.minimum(apart * rows, 4.0 * beam + 1000)) < beam
    return found


def hit_of_orders(searcher: SortedBeam, distance: int) -> float:
    """Same as `simulated_beam_hit`, but with this searcher's permutations: the same bits differ in all of its orders."""
    rows, bits = searcher.orders.shape[1], searcher.sources.shape[1]
    if distance == 0 or rows <= searcher.beam:
        return 1.0
    random = np.random.default_rng(SEED)
    trials = max(1, min(MAX_TRIALS, MAX_DRAWN_BITS // (distance * len(searcher.sources))))
    differing = drawn_bits(random, trials, bits, distance)
    signs = random.choice((-1.0, 1.0), differing.shape)
    found = np.zeros(trials, bool)
    for places in np.argsort(searcher.sources, axis=1):
        found |= _is_within(random, places[differing], signs, rows, searcher.beam)
    return float(found.mean())


METHOD = SearchMethod(
    build=_build,
    restore=_restore,
    cost=_cost,
    considered=lambda _: ({"permutations": 16, "beam": 16, "seed": 0},),
    hits=HitModel(expected=expected_hit, of_searcher=hit_of_orders),
)
