"""What each similarity compares of a text, for joins and for verification, as its row says."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.features import features_of_texts
from neardup.fingerprints.workspace import Workspace
from neardup.kernels.fingerprints.shingles import sort_spare
from neardup.kernels.fingerprints.votes import UNIFORM, WEIGHTINGS
from neardup.kernels.matching.elements import FORMS, WEIGHTS, elements
from neardup.kernels.matching.similarities import CODES
from neardup.kernels.text.tokens import most_tokens, token_spare
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarities import SIMILARITIES, SimilarityRow
from neardup.text.normalizers import FoldedTexts
from neardup.text.unicode_tables import fold_tables


class Elements(NamedTuple):
    """What is compared of n texts, one after another; all read-only: kernels are compiled for one kind of arrays.

    Attributes:
        values: uint64[total]; text i has values[offsets[i]:offsets[i + 1]].
        weights: float64[total], whole numbers, where elements have weights; else empty.
        offsets: int64[n + 1].
    """

    values: Array
    weights: Array
    offsets: Array

    @classmethod
    def of(cls, values: Array, weights: Array, offsets: Array) -> "Elements":
        """A copy of what a kernel filled, without the room behind it."""
        values, weights = values[: offsets[-1]].copy(), weights[: offsets[-1]].copy()
        values.flags.writeable = weights.flags.writeable = False
        return cls(values, weights, offsets)


def _for_longest(longest: int, _: int) -> tuple[Array, Array, Array, Array]:
    """What the kernel needs for one text of so many bytes."""
    most = most_tokens(longest)
    return (
        np.empty(most, np.uint64),
        np.empty(most, np.uint8),
        np.empty(token_spare(longest), np.int64),
        np.empty(sort_spare(most), np.uint64),
    )


def _for_all(total: int, weighted: int) -> tuple[Array, Array]:
    """Room for so many elements, and their weights."""
    return np.empty(total, np.uint64), np.empty(total if weighted else 0)


_WORKSPACE, _FILLED = Workspace(_for_longest), Workspace(_for_all)


def room_for(folded: FoldedTexts, weighted: bool) -> tuple[Array, Array]:
    """Room for the elements of all these texts, and for their weights; until the next call."""
    return _FILLED.scratch(len(folded.data) // 2 + len(folded) + 1, weighted)


@dataclass(frozen=True, slots=True)
class Similarity:
    """One way to say how alike two texts are.

    Attributes:
        code: what kernels know it by.
        row: what others know of it.
        joined, verified: what a join and verification take of the shingles, as kernels know it.
    """

    code: int
    row: SimilarityRow
    joined: int
    verified: int

    @classmethod
    def of(cls, name: str) -> "Similarity":
        """The one that a row of SIMILARITIES describes."""
        row = SIMILARITIES[name]
        return cls(CODES[name], row, FORMS[row.joined], FORMS[row.verified])

    @property
    def shingles(self) -> tuple[int, int] | None:
        """Tokens of a shingle that starts at a word, at a Han or Kana character; None: the recipe's."""
        return self.row.shingles

    def elements(self, texts: Any, recipe: Recipe) -> Elements:
        """What a join indexes of an Arrow `large_string` array's texts: ascending and distinct in each.

        Bounds on what two similar texts have in common, `neardup.kernels.matching.similarities`, are of these.
        """
        return self._elements(texts, recipe, self.joined)

    def stored(self, texts: Any, recipe: Recipe) -> Elements:
        """What verification reads of an Arrow `large_string` array's texts; for edit, the tokens in their order."""
        return self._elements(texts, recipe, self.verified)

    def _elements(self, texts: Any, recipe: Recipe, form: int) -> Elements:
        if form == WEIGHTS and self.shingles is None and recipe.needs_names:
            return _weighted_elements(texts, recipe)
        folded = _WORKSPACE.fold(texts)
        longest = int(np.diff(folded.offsets).max(initial=0))
        hashes, kinds, tokens, sorting = _WORKSPACE.scratch(longest, 0)
        values, weights = room_for(folded, form == WEIGHTS)
        offsets = np.empty(len(folded) + 1, np.int64)
        word_shingle, cjk_shingle = self.shingles or (recipe.word_shingle, recipe.cjk_shingle)
        elements(
            folded.data,
            folded.offsets,
            form,
            word_shingle,
            cjk_shingle,
            WEIGHTINGS.get(recipe.weights, UNIFORM),  # others are of recipes with named features, or not looked at
            hashes,
            hashes.view(np.uint8),
            kinds,
            tokens,
            sorting,
            values,
            weights,
            offsets,
            fold_tables(),
        )
        return Elements.of(values, weights, offsets)


def _weighted_elements(texts: Any, recipe: Recipe) -> Elements:
    """The features that vote, and their weights; by hash."""
    features, weights, _ = features_of_texts(texts, recipe)
    order = np.lexsort((features.hashes, features.documents))
    values, weights = features.hashes[order], weights[order].astype(np.float64)
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, features.offsets)


SIMILARITY_TABLE = {name: Similarity.of(name) for name in SIMILARITIES}


def shingle_sets_of(texts: Any) -> tuple[Array, Array]:
    """The sorted distinct shingle hashes of an Arrow `large_string` array's texts: uint64[total], offsets int64[n + 1]."""
    sets = SIMILARITY_TABLE["jaccard"].elements(texts, Recipe())
    return sets.values, sets.offsets
