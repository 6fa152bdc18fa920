"""What the methods of a store have in common, and the plan that a method makes when a store is created."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.minhash import Signing
from neardup.matching.distance_limit import demand_similarity
from neardup.matching.resolved_options import resolve
from neardup.matching.text_features import Texts
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.store.formats.contents import Contents
from neardup.store.formats.derived import Derived
from neardup.store.formats.removal_bits import Marks
from neardup.store.formats.segments import Found


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Limits of candidates, by the options of a new store. The record has them: a later version may plan otherwise.

    Attributes:
        min_tokens: texts with fewer tokens match only equal ones.
        max_distance: the largest distance of candidates, if the method has one.
        bands, rows: how the method minhash cuts signatures: into so many bands of so many values. None for others.
        agreement: in how many values of signatures candidates must agree. None for others.
    """

    min_tokens: int
    max_distance: int | None
    bands: int | None = None
    rows: int | None = None
    agreement: int | None = None

    def to_store(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


DOCUMENTS_AT_ONCE = 1 << 12
"""Documents that are read together to make again what finds them."""


class Candidates(ABC):
    """Proposes pairs of texts.

    Attributes:
        signing: how texts are signed, if the method needs that.
        in_derived: whether all that it keeps is in `Derived`, and nothing in files of its own.
        min_tokens, max_distance: see `Plan`.
    """

    signing: Signing | None = None
    in_derived = True

    def __init__(self, recipe: Recipe, options: DedupOptions, plan: Plan) -> None:
        """`plan`: the result of `plan_of` when the store was created.

        Raises:
            OptionError: a part of the similarity is not available here.
        """
        demand_similarity(recipe, options)
        self.recipe, self.options = recipe, options
        self.min_tokens, self.max_distance = plan.min_tokens, plan.max_distance

    @classmethod
    def plan_of(cls, recipe: Recipe, options: DedupOptions) -> Plan:
        """The limits of a new store; an OptionError if the options do not go with the recipe."""
        resolved = resolve(recipe, options)
        return Plan(min_tokens=resolved.min_tokens, max_distance=resolved.max_distance)

    def open(self, contents: Contents, derived: Derived, gone: Marks, threads: int) -> None:
        """Use the files of a store. What is kept later than these say is given to `keep` again."""
        self.contents, self.derived, self.gone, self.threads = contents, derived, gone, threads

    def blocks(self, first: int, last: int) -> Iterator[Array]:
        """The numbers (int64[n]) of kept documents from one on, before another, some at a time."""
        for begin in range(first, last, DOCUMENTS_AT_ONCE):
            numbers = np.arange(begin, min(begin + DOCUMENTS_AT_ONCE, last))
            yield numbers[~self.gone.has(numbers)]

    def long_enough(self, texts: Texts) -> Array:
        """bool[n]: whether texts match others than equal ones."""
        enough: Array = texts.prints.tokens >= self.min_tokens
        return enough

    def is_found(self, texts: Texts) -> Array:
        """bool[n]: whether a text that equals a kept one is among the candidates; others are known by their digests alone."""
        return self.long_enough(texts)

    @abstractmethod
    def keep(self, texts: Texts, numbers: Array) -> None:
        """Keep texts as documents with these numbers (int64[n], ascending); their contents are there."""

    def spill(self) -> None:
        """Write what is in memory to files of its own, if the method has any besides `Derived`."""
        return

    def folders(self) -> list[Path]:
        """The folders of files of its own."""
        return []

    @property
    def is_behind(self) -> bool:
        """Whether files of its own lack documents that those of `Derived` have."""
        return False

    @classmethod
    def damage_in(cls, folder: Path, facts: Mapping[str, Any]) -> list[str]:  # noqa: ARG003
        """What is wrong, in words, with files of its own in the folder of a store with these facts."""
        return []

    def damaged(self) -> list[str]:
        """The names of files of its own, as they were opened, that are damaged."""
        return []

    @classmethod
    def copied(cls, folder: Path, facts: Mapping[str, Any]) -> None:  # noqa: ARG003
        """Remove copies of files of its own from the copy of a store with these facts, unless they belong to it."""
        return

    @classmethod
    def forget(cls, folder: Path) -> None:  # noqa: ARG003
        """Remove files of its own from the folder of a store, because they are damaged, or numbers change."""
        return

    def prepare(self) -> None:
        """Look at the documents before any is kept."""
        return

    def learn(self) -> bool:
        """Look at the documents, now and then, to answer faster from now on. Returns whether that changed derived files."""
        return False

    @abstractmethod
    def of_kept(self, texts: Texts) -> Found:
        """Pairs of a place in `texts` and the number of a kept document that is not gone, each once."""

    @abstractmethod
    def among(self, texts: Texts) -> Found:
        """Pairs of two places in `texts`, the smaller first, each once."""


def once(found: Found) -> Found:
    """The pairs, each once, ascending."""
    if not len(found.asked):
        return found
    packed = np.sort(found.asked << 32 | found.found)
    first = np.ones(len(packed), np.bool_)
    np.not_equal(packed[1:], packed[:-1], out=first[1:])
    packed = packed[first]
    return Found(packed >> 32, packed & (1 << 32) - 1)


def smaller_first(pairs: list[Found]) -> Found:
    """Pairs of two different places, the smaller first, each once."""
    left = np.concatenate([np.minimum(*pair) for pair in pairs])
    right = np.concatenate([np.maximum(*pair) for pair in pairs])
    apart = left != right
    return once(Found(left[apart], right[apart]))
