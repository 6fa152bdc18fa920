"""What the methods of a store have in common, and the plan that a method makes when a store is created."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.minhash import Signing
from neardup.kernels.matching.similarities import CODES
from neardup.matching.distance_limit import demand_similarity
from neardup.matching.join_keys import Bound
from neardup.matching.resolved_options import resolve
from neardup.matching.text_features import Texts
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.store.formats.contents import Against, Contents
from neardup.store.formats.derived import Derived
from neardup.store.formats.removal_bits import Marks
from neardup.store.formats.segments import Found, TooManyPairsError


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


MIN_TEXTS_SAMPLED, TEXTS_SAMPLED = 64, 16
"""From so many texts on, a sample of so many says whether they are nearly alike."""
DENSE_SHARE = 64
"""A store is dense for texts that have a key in common with one of so many documents."""
DOCUMENTS_AT_ONCE = 1 << 12
"""Documents that are read together to make again what finds them."""


class Candidates(ABC):
    """Proposes pairs of texts.

    Attributes:
        signing: how texts are signed, if the method needs that.
        in_derived: whether all that it keeps is in `Derived`, and nothing in files of its own.
        min_tokens, max_distance: see `Plan`.
        bound: the similarity that candidates may reach, and what is to be reached.
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
        self.bound = Bound(CODES[options.measure], float(options.min_similarity))

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

    def of_kept(self, texts: Texts) -> Found:
        """Pairs of a place in `texts` and the number of a kept document that is not gone, each once: all that match.

        Where most documents are nearly alike, keys find nearly all pairs: then bitmaps tell them apart, of which a pair takes a
        nanosecond or two. A sample of the texts says which is less.
        """
        found = self.proposed(texts, self._met(texts)) if self._is_dense(texts) else self.found_by_keys(texts)
        if texts.numbers is None or not len(found.found):
            return found
        kept, at = np.unique(found.found, return_inverse=True)
        return _same(found, texts.numbers, self.contents.numbers(self.contents.rows(kept))[at])

    def _is_dense(self, texts: Texts) -> bool:
        """Whether a sample finds many of all documents by its keys, and few by bitmaps."""
        if not self.contents.layout.bounded or len(texts) < MIN_TEXTS_SAMPLED:
            return False
        some = texts[np.arange(0, len(texts), len(texts) // TEXTS_SAMPLED)]
        try:
            found = len(self.found_by_keys(some).asked)
            return bitmaps_tell_more(found, lambda: len(self._met(some).asked), len(some) * len(self.contents))
        except TooManyPairsError:
            return False

    def _met(self, texts: Texts) -> Found:
        """The pairs of a place in texts and a kept document that may be similar enough, by their bitmaps."""
        wanted = np.flatnonzero(self.is_found(texts))
        return self.contents.met(texts, wanted, self.gone.bits, self.bound.code, self.bound.threshold, self.min_tokens)

    def among(self, texts: Texts) -> Found:
        """Pairs of two places in `texts`, the smaller first, each once: all that match."""
        found = self._among(texts)
        return found if texts.numbers is None else _same(found, texts.numbers, texts.numbers[found.found])

    def _among(self, texts: Texts) -> Found:
        if self.contents.layout.bounded and len(texts) >= MIN_TEXTS_SAMPLED:
            wanted = np.flatnonzero(self.is_found(texts))
            some = np.arange(0, len(texts), len(texts) // MIN_TEXTS_SAMPLED)
            found = len(self.among_by_keys(texts[some]).asked)
            if bitmaps_tell_more(found, lambda: len(self._met_among(texts, some).asked), len(some) ** 2):
                return self.proposed_among(texts, self._met_among(texts, wanted))
        return self.among_by_keys(texts)

    def _met_among(self, texts: Texts, wanted: Array) -> Found:
        return Against(texts, wanted).among(self.bound.code, self.bound.threshold)

    @abstractmethod
    def found_by_keys(self, texts: Texts) -> Found:
        """What `of_kept` says, by what the method keeps for it."""

    @abstractmethod
    def among_by_keys(self, texts: Texts) -> Found:
        """What `among` says, in the same way."""

    def proposed(self, texts: Texts, pairs: Found) -> Found:  # noqa: ARG002
        """Those of some pairs, of a place in `texts` and a kept document, that the method proposes if they match."""
        return pairs

    def proposed_among(self, texts: Texts, pairs: Found) -> Found:  # noqa: ARG002
        """Those of some pairs of two places in `texts`."""
        return pairs


def _same(pairs: Found, numbers: Array, of_others: Array) -> Found:
    """The pairs of equal numbers: of the texts that are asked about, and of the second of each pair."""
    same = numbers[pairs.asked] == of_others
    return Found(pairs.asked[same], pairs.found[same])


def bitmaps_tell_more(by_keys: int, by_bitmaps: Callable[[], int], most: int) -> bool:
    """Whether keys find many pairs of so many that there are, and bitmaps less than half of these."""
    return by_keys * DENSE_SHARE > most and 2 * by_bitmaps() < by_keys


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
