"""The methods of Hamming search, one row for each. A row, or the module that it names, has all facts of a method.

The table is light, so that a command can list the methods in its help. A module is imported when it is first used.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from neardup.hamming.index.methods.search_method import SearchMethod
    from neardup.hamming.index.planning.hit_probability import HitProbability

IndexMethod = Literal[
    "auto", "scan", "block-tables", "multi-index", "bit-lists", "neighbours", "prefix-tables", "sorted-beam"
]
AUTO = "auto"
"""Not a method: chooses an exact method for each segment by its size. See `neardup.hamming.index.planning.planner`."""


@dataclass(frozen=True)
class Option:
    """An option of a method.

    Attributes:
        name: its name in `neardup.Index`, and as a flag.
        meaning: its meaning, in words.
        least: the smallest value.
    """

    name: str
    meaning: str
    least: int = 1


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        name: the method's name in options.
        purpose: what it does and when to use it.
        module: the module of this folder that has its code, as `METHOD`.
        options: its options; the planner chooses the values that are not given.
    """

    name: str
    purpose: str
    module: str
    options: tuple[Option, ...] = ()

    @cached_property
    def code(self) -> "SearchMethod":
        """The method's code: how it builds and searches, its cost, and its hit probability."""
        found: SearchMethod = importlib.import_module(f"{__package__}.{self.module}").METHOD
        return found

    @property
    def is_exact(self) -> bool:
        """Whether the method finds every document within the distance. If so, its code has no hit probability."""
        return self.code.hits is None

    @property
    def option_names(self) -> tuple[str, ...]:
        """The names of its options."""
        return tuple(option.name for option in self.options)

    def hit_probability(
        self, options: Mapping[str, int], *, bits: int, distance: int, rows: int
    ) -> "HitProbability | None":
        """Probability of finding a pair at a distance among `rows` rows: the mean over random draws; None for an exact method."""
        hits = self.code.hits
        return None if hits is None else hits.expected(options, bits=bits, distance=distance, rows=rows)


_BLOCKS = Option("blocks", "number of blocks that fingerprints are cut into")
_SEED = Option("seed", "random seed of the permutations", least=0)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("scan", "compares a query with every fingerprint, at the speed of memory", "scan"),
        Method(
            "block-tables",
            "tables keyed by every choice of blocks - k blocks: for small distances",
            "block_tables",
            (_BLOCKS,),
        ),
        Method(
            "multi-index",
            "one table per block, probed within a radius: for distances from 6 to 16",
            "multi_index",
            (_BLOCKS,),
        ),
        Method(
            "bit-lists",
            "adds up, for each bit, the list of fingerprints that have it: for learning, not for speed",
            "bit_lists",
        ),
        Method(
            "neighbours",
            "one table, in which a query looks up every code within the distance: for distances up to 3",
            "neighbors",
        ),
        Method(
            "prefix-tables",
            "tables keyed by the first bits under random permutations of the bits: probable",
            "prefix_tables",
            (Option("prefix", "bits of a key"), Option("tables", "number of tables"), _SEED),
        ),
        Method(
            "sorted-beam",
            "sorted under random permutations of the bits; compares a query with its neighbors in each order: probable",
            "sorted_beam",
            (
                Option("permutations", "number of orders"),
                Option("beam", "number of neighbors in each order, on each side"),
                _SEED,
            ),
        ),
    )
}
"""The methods by name, in the order of listings and of the planner."""


def option_meanings() -> dict[str, str]:
    """The options of all methods, by name: the methods that have them, and their meaning."""
    owners: dict[Option, list[str]] = {}
    for method in METHODS.values():
        for option in method.options:
            owners.setdefault(option, []).append(method.name)
    meanings: dict[str, list[str]] = {}
    for option, names in owners.items():
        meanings.setdefault(option.name, []).append(f"For {' and '.join(names)}: {option.meaning}.")
    return {name: " ".join(parts) for name, parts in meanings.items()}
