"""The methods of Hamming search, one row each: all that is known of a method is in its row, or in the module that the row names.

The table is light, so that a command can list the methods in its help: a module is imported when it is first used.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup.hamming.index.hit_probability import HitProbability
    from neardup.hamming.index.methods.search_method import SearchMethod

AUTO = "auto"
"""No method, but the choice of an exact one for each segment, by its size; see `neardup.hamming.index.planner`."""


@dataclass(frozen=True)
class Option:
    """An option of a method.

    Attributes:
        name: as in `neardup.Index`, and as a flag.
        meaning: in words.
        least: the smallest value.
    """

    name: str
    meaning: str
    least: int = 1


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        name: by which it is chosen.
        purpose: what it is, and what for.
        module: of this folder; it has the rest as `METHOD`.
        options: those that it has; the planner chooses their values if they are not given.
    """

    name: str
    purpose: str
    module: str
    options: tuple[Option, ...] = ()

    @cached_property
    def code(self) -> "SearchMethod":
        """How it builds and searches, what it costs, how likely it finds a pair."""
        found: SearchMethod = importlib.import_module(f"{__package__}.{self.module}").METHOD
        return found

    @property
    def is_exact(self) -> bool:
        """It finds all that there is, so its code has no hit probability."""
        return self.code.hits is None

    @property
    def option_names(self) -> tuple[str, ...]:
        """Of its options."""
        return tuple(option.name for option in self.options)

    def hit_probability(
        self, options: Mapping[str, int], *, bits: int, distance: int, rows: int
    ) -> "HitProbability | None":
        """With these options, for a pair at a distance among so many rows: the mean over what it draws; None of an exact method."""
        hits = self.code.hits
        return None if hits is None else hits.expected(options, bits=bits, distance=distance, rows=rows)


_BLOCKS = Option("blocks", "blocks that fingerprints are cut into")
_SEED = Option("seed", "what their permutations are drawn from", least=0)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("scan", "compares with every fingerprint, at the speed of the memory", "scan"),
        Method(
            "block-tables",
            "tables whose keys are any blocks - k of the blocks: for small distances",
            "block_tables",
            (_BLOCKS,),
        ),
        Method(
            "multi-index",
            "a table a block, probed within a radius: for distances from 6 to 16",
            "multi_index",
            (_BLOCKS,),
        ),
        Method(
            "bit-lists",
            "for each bit the list of those that have it, added up: to be understood, not to be fast",
            "bit_lists",
        ),
        Method(
            "neighbours",
            "one table, in which every code within the distance is looked up: for distances to 3",
            "neighbors",
        ),
        Method(
            "prefix-tables",
            "tables under random permutations of the bits, whose keys are the first ones: probable",
            "prefix_tables",
            (Option("prefix", "bits of a key"), Option("tables", "how many"), _SEED),
        ),
        Method(
            "sorted-beam",
            "sorted under random permutations of the bits; compares with what lies nearby in each order: probable",
            "sorted_beam",
            (
                Option("permutations", "how many orders"),
                Option("beam", "how many neighbors in each order, on both sides"),
                _SEED,
            ),
        ),
    )
}
"""By name, in the order in which they are listed and considered."""


def option_meanings() -> dict[str, str]:
    """The options of all methods, by name: of which methods they are, and what they mean."""
    owners: dict[Option, list[str]] = {}
    for method in METHODS.values():
        for option in method.options:
            owners.setdefault(option, []).append(method.name)
    meanings: dict[str, list[str]] = {}
    for option, names in owners.items():
        meanings.setdefault(option.name, []).append(f"Of {' and '.join(names)}: {option.meaning}.")
    return {name: " ".join(parts) for name, parts in meanings.items()}
