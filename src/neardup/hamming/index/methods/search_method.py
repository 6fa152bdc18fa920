"""What the module of a method of Hamming search provides: to build and to restore a searcher, its cost and its hit probability."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.costs import Cost, Options, Setting, table_cost
from neardup.hamming.index.hit_probability import SEED, HitProbability
from neardup.hamming.index.keyed_tables import KeyPlan, build_tables, tables_of


class Searcher(Protocol):
    """Unique fingerprints, in whatever order and form a method keeps them.

    Their positions are those that the method's `build` gave to them.
    """

    def look_up(self, queries: Array, first: int, last: int, max_distance: int, hits: Array, count: int) -> int:
        """Write (query, position, distance) of what queries [first, last) find to `hits`, from `count` on; returns the new count.

        Those beyond the room of `hits` (int64[room, 3]) are counted only.
        """
        ...

    def values(self) -> Array:
        """The fingerprints, by position: uint64[n, words]."""
        ...

    def arrays(self) -> dict[str, Array]:
        """All that it holds, by name."""
        ...


Built = tuple[Searcher, Array]
"""And the order that it gave to the fingerprints: uint32[n]."""


def in_given_order(values: Array) -> Array:
    """The order of a searcher that leaves each of uint64[n, words] in its place: uint32[n]."""
    return np.arange(len(values), dtype=np.uint32)


class ExpectedHit(Protocol):
    """The hit probability of a method with these options, before anything is built: the mean over what the method draws."""

    def __call__(
        self, options: Options, *, bits: int, distance: int, rows: int, seed: int = SEED
    ) -> HitProbability: ...


@dataclass(frozen=True, kw_only=True)
class HitModel:
    """How likely a probable method finds a pair at a distance.

    Attributes:
        expected: of the method with some options, for a plan.
        of_searcher: of one searcher, by what it has drawn; from the searcher and the distance.
    """

    expected: ExpectedHit
    of_searcher: Callable[[Any, int], float]


def _no_options(_: Setting) -> Iterable[dict[str, int]]:
    return ({},)


@dataclass(frozen=True, kw_only=True)
class SearchMethod:
    """The code of a method.

    Attributes:
        build: from unique fingerprints uint64[n, words], the distance and the options, what is looked up.
        restore: from a searcher's arrays, the bits, the distance, the options and the number of fingerprints, the searcher again.
        cost: from the setting and the options. Refuses, by OptionError, what the method cannot be used for.
        considered: from the setting, the options among which the planner chooses.
        keys: from the bits, the distance and the options, the keys of its tables; None of a method without tables.
        hits: how likely it finds a pair; None of an exact method, which finds all that there is.
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
    """A method of tables that are grouped by keys: all but the keys is the same for each of them."""

    def build(values: Array, distance: int, options: Options) -> Built:
        return build_tables(values, keys(64 * values.shape[1], distance, options))

    def restore(arrays: Mapping[str, Array], bits: int, distance: int, options: Options, _rows: int) -> Searcher:
        return tables_of(keys(bits, distance, options), **arrays)

    def cost(setting: Setting, options: Options) -> Cost:
        return table_cost(keys(setting.bits, setting.max_distance, options), setting)

    return SearchMethod(build=build, restore=restore, cost=cost, considered=considered, keys=keys, hits=hits)
