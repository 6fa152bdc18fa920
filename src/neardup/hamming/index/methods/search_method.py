"""What a method of Hamming search provides: how to build and restore a searcher, its cost, and its hit probability."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.keyed_tables import KeyPlan, build_tables, tables_of
from neardup.hamming.index.planning.costs import Cost, Options, Setting, table_cost
from neardup.hamming.index.planning.hit_probability import SEED, HitProbability


class Searcher(Protocol):
    """Unique fingerprints, in the order and form in which a method keeps them.

    The method's `build` gives each fingerprint its position.
    """

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        """Write the hits of queries [first, last) to `hits` as (query, position, distance), from `count` on; return the new count.

        Hits beyond the room of `hits` (int64[room, 3]) are only counted.
        """
        ...

    def values(self) -> Array:
        """The fingerprints, by position: uint64[n, words]."""
        ...

    def arrays(self) -> dict[str, Array]:
        """Its arrays, by name."""
        ...


Built = tuple[Searcher, Array]
"""A searcher, and the order that it gave to the fingerprints: uint32[n]."""


def in_given_order(values: Array) -> Array:
    """An order that leaves each fingerprint of uint64[n, words] in its place: uint32[n]."""
    return np.arange(len(values), dtype=np.uint32)


class ExpectedHit(Protocol):
    """Estimates a method's hit probability from its options, before anything is built: the mean over all random draws."""

    def __call__(
        self, options: Options, *, bits: int, distance: int, rows: int, seed: int = SEED
    ) -> HitProbability: ...


@dataclass(frozen=True, kw_only=True)
class HitModel:
    """The probability that a method finds a pair at a distance, if the method can miss pairs.

    Attributes:
        expected: the probability for a method with some options, for a plan.
        of_searcher: the probability for one searcher with its random draws, from the searcher and the distance.
    """

    expected: ExpectedHit
    of_searcher: Callable[[Any, int], float]


def _no_options(_: Setting) -> Iterable[dict[str, int]]:
    return ({},)


@dataclass(frozen=True, kw_only=True)
class SearchMethod:
    """The code of a method.

    Attributes:
        build: makes a searcher from unique fingerprints uint64[n, words], the distance and the options.
        restore: restores a searcher from its arrays, the bits, the distance, the options and the number of fingerprints.
        cost: computes the cost from the setting and the options. Raises OptionError if the method cannot be used for them.
        considered: lists the options among which the planner chooses, from the setting.
        keys: makes the keys of its tables from the bits, the distance and the options; None for a method without tables.
        hits: the probability that it finds a pair; None for an exact method.
    """

    build: Callable[[Array, int, Options], Built]
    restore: Callable[[Mapping[str, Array], int, int, Options, int], Searcher]
    cost: Callable[[Setting, Options], Cost]
    considered: Callable[[Setting], Iterable[dict[str, int]]] = _no_options
    keys: Callable[[int, int, Options], KeyPlan] | None = None
    hits: HitModel | None = None


def method_of_keys(
    keys: Callable[[int, int, Options], KeyPlan],
    *,
    considered: Callable[[Setting], Iterable[dict[str, int]]] = _no_options,
    hits: HitModel | None = None,
) -> SearchMethod:
    """A method with tables that are grouped by keys. Such methods differ only in their keys."""

    def build(values: Array, distance: int, options: Options) -> Built:
        return build_tables(values, keys(64 * values.shape[1], distance, options))

    def restore(arrays: Mapping[str, Array], bits: int, distance: int, options: Options, _rows: int) -> Searcher:
        return tables_of(keys(bits, distance, options), **arrays)

    def cost(setting: Setting, options: Options) -> Cost:
        return table_cost(keys(setting.bits, setting.max_distance, options), setting)

    return SearchMethod(build=build, restore=restore, cost=cost, considered=considered, keys=keys, hits=hits)
