"""Candidates by EXACT prefixes: of two texts that reach the similarity, both have a key in common, whichever comes first.

The order of elements is learned from the documents as the store grows. Any one order is right: documents are kept under the order
of their time, and asked for under all that are in use.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.kernels.store.postings import Keys
from neardup.kernels.store.prefixes import Order
from neardup.matching.element_order import BY_HASH, learned
from neardup.matching.join_keys import keys_of_elements
from neardup.matching.text_features import Texts
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.resources.threads import in_order
from neardup.store.candidates.proposing import Candidates, Plan, once, smaller_first
from neardup.store.formats.segments import Found, Postings, Table, joined

MIN_DOCUMENTS_LEARNED, GROWTH_FACTOR = 64, 128
"""The order is learned when a store has so many documents, and again when it has grown so many times."""
SAMPLED_DOCUMENTS = 4096
"""Documents of which it is learned, the last ones."""
MIN_TEXTS_PER_THREAD = 32
"""Texts for which another thread is worth its start."""
MAX_DOCUMENTS_MOVED = 1 << 17
"""Up to so many documents get new keys when the order is learned; more stay under theirs until the store is compacted."""


@dataclass(frozen=True)
class Side:
    """Keys under which texts are stored, and keys by which they are asked for: all elements of a text, or its prefix."""

    name: str
    stores_all: bool
    asks_all: bool


BOTH_PREFIXES = (Side("prefixes", stores_all=False, asks_all=False),)
CONTAINED = (Side("all", stores_all=True, asks_all=False), Side("prefixes", stores_all=False, asks_all=True))
"""For containment, where the smaller text's prefix meets all of the larger, and either may come first."""


class ExactCandidates(Candidates):
    """Every pair that reaches the similarity, by theorem.

    Attributes:
        bound: what places of keys and sizes must allow, too.
        sides: see `Side`.
    """

    def __init__(self, recipe: Recipe, options: DedupOptions, plan: Plan) -> None:
        super().__init__(recipe, options, plan)
        self.sides = CONTAINED if options.measure == "containment" else BOTH_PREFIXES

    def order(self, version: int) -> Order:
        """The order of a version; 0 is that by hash alone."""
        return self.derived.orders[version - 1] if version else BY_HASH

    def postings(self, side: Side, version: int) -> Postings:
        """The postings of documents that were kept under a version of the order."""
        return self.derived.postings(f"{side.name}-{version}")

    def keys(self, texts: Texts, order: Order, *, whole: bool) -> Keys:
        """The keys of texts, whose numbers are their places."""
        return keys_of_elements(texts.joined, self.long_enough(texts), order, self.bound, whole=whole)

    def is_found(self, texts: Texts) -> Array:
        found: Array = self.long_enough(texts) & (np.diff(texts.joined.offsets) > 0)
        return found

    def keep(self, texts: Texts, numbers: Array) -> None:
        latest = len(self.derived.orders)
        for side in self.sides:
            keys = self.keys(texts, self.order(latest), whole=side.stores_all)
            self.postings(side, latest).add(keys._replace(texts=numbers[keys.texts]))

    def prepare(self) -> None:
        if len(self.contents) >= MIN_DOCUMENTS_LEARNED:
            self._learn()

    def learn(self) -> bool:
        documents, versions = len(self.contents), len(self.derived.orders)
        if documents < max(MIN_DOCUMENTS_LEARNED, GROWTH_FACTOR * self.derived.learned_from):
            return False
        self._learn()
        if documents <= MAX_DOCUMENTS_MOVED:
            for side in self.sides:
                for version in range(versions + 1):
                    self.derived.drop(f"{side.name}-{version}")
            for some in self.blocks(0, documents):
                self.keep(self.contents.texts(some), some)
        return True

    def _learn(self) -> None:
        documents = len(self.contents)
        numbers = np.arange(max(0, documents - SAMPLED_DOCUMENTS), documents)
        sample = self.contents.texts(numbers[~self.gone.has(numbers)])
        self.derived.settle()  # its thread may be writing what is dropped now
        self.derived.add_order(learned(sample.joined.values), documents)

    def found_by_keys(self, texts: Texts) -> Found:
        count = min(self.threads, len(texts) // MIN_TEXTS_PER_THREAD)
        if count < 2:
            return self._of_kept(texts)
        parts = [texts[places] for places in np.array_split(np.arange(len(texts)), count)]
        firsts = itertools.accumulate((len(part) for part in parts[:-1]), initial=0)
        found = zip(firsts, in_order(self._of_kept, parts, count), strict=True)
        return joined([Found(first + asked, numbers) for first, (asked, numbers) in found])

    def _of_kept(self, texts: Texts) -> Found:
        parts = []
        for version in range(len(self.derived.orders) + 1):
            for side in self.sides:
                postings = self.postings(side, version)
                if len(postings):
                    asked = self.keys(texts, self.order(version), whole=side.asks_all)
                    parts.append(postings.find(asked, self.gone.bits, self.bound))
        return once(joined(parts))

    def among_by_keys(self, texts: Texts) -> Found:
        parts, order = [], self.order(len(self.derived.orders))
        if order is BY_HASH and len(texts) >= MIN_DOCUMENTS_LEARNED:
            order = learned(texts.joined.values)
        for side in self.sides:
            asked, kept = self.keys(texts, order, whole=side.asks_all), Table()
            kept.add(asked if side.asks_all == side.stores_all else self.keys(texts, order, whole=side.stores_all))
            parts.append(kept.find(asked, np.zeros(0, np.uint8), self.bound))
        return smaller_first(parts)
