"""What the methods of a store have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.minhash import Signing
from neardup.matching.candidates.task import min_tokens_of
from neardup.matching.distance_limit import distance_limit
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.store.contents import Contents
from neardup.store.derived import Derived
from neardup.store.marks import Marks
from neardup.store.postings import Found
from neardup.store.texts import Texts

AT_ONCE = 1 << 12


class Candidates(ABC):
    """Proposes pairs of texts.

    Attributes:
        signing: how texts are signed, if the method needs that.
        min_tokens: texts with fewer tokens match only equal ones.
        max_distance: the largest distance of candidates, if the method has one.
    """

    signing: Signing | None = None

    def __init__(self, recipe: Recipe, options: DedupOptions) -> None:
        self.recipe, self.options = recipe, options
        self.min_tokens = min_tokens_of(options.method, recipe, options)
        self.max_distance = distance_limit(recipe, options)

    def open(self, contents: Contents, derived: Derived, gone: Marks) -> None:
        """Use the files of a store. What is kept later than these say is given to `keep` again."""
        self.contents, self.derived, self.gone = contents, derived, gone

    def blocks(self, first: int, last: int) -> Iterator[Array]:
        """The numbers (int64[n]) of kept documents from one on, before another, some at a time."""
        for begin in range(first, last, AT_ONCE):
            numbers = np.arange(begin, min(begin + AT_ONCE, last))
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

    def forget(self) -> None:
        """Remove files of its own, because numbers change."""
        return

    def learn(self) -> None:
        """Look at the documents, now and then, to answer faster from now on."""
        return

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
