"""The elements of a text that each similarity compares, for joins and for verification, as its row defines them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.feature_arrays import WeightedFeatures
from neardup.fingerprints.features import features_of_texts, weighted_features
from neardup.fingerprints.shingle_hashes import shingle_hashes
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.workspace import Workspace
from neardup.io.resume.codecs import ascend, codec
from neardup.kernels.fingerprints.features import hash_windows
from neardup.kernels.fingerprints.shingles import sort_spare
from neardup.kernels.fingerprints.votes import UNIFORM, WEIGHTINGS
from neardup.kernels.matching.elements import (
    FORMS,
    SEQUENCE,
    SET,
    WEIGHTS,
    ElementArrays,
    ElementForm,
    TokenMemory,
    elements,
)
from neardup.kernels.matching.similarities import CODES, Stored, working_memory
from neardup.kernels.text.tokens import most_tokens, token_arrays
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.parts import folds_last
from neardup.recipe.tables.similarities import SIMILARITIES, SimilarityName, SimilarityRow
from neardup.text.normalizers import FoldedTexts
from neardup.text.unicode_tables import fold_tables


def _is_sound(found: "Elements") -> bool:
    """Whether the offsets lie within the arrays."""
    return ascend(found.offsets, len(found.values)) and len(found.weights) in (0, len(found.values))


@codec("elements", 1, is_sound=_is_sound, values="uint64[total]", weights="float64[weights]", offsets="int64[n+1]")
class Elements(NamedTuple):
    """The elements of n texts, one text after another. Arrays are read-only, because kernels are compiled for one kind of array.

    Attributes:
        values: uint64[total]; text i has values[offsets[i]:offsets[i + 1]].
        weights: float64[total], whole numbers; empty if elements have no weights.
        offsets: int64[n + 1].
    """

    values: Array
    weights: Array
    offsets: Array

    @classmethod
    def joined(cls, parts: Sequence["Elements"]) -> "Elements":
        """Those of consecutive texts; of several parts, the arrays can be written."""
        if len(parts) == 1:
            return parts[0]
        values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
        weights = np.concatenate([np.empty(0), *(part.weights for part in parts)])
        lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
        return cls(values, weights, np.cumsum(lengths))

    @classmethod
    def of(cls, filled: ElementArrays) -> "Elements":
        """A copy of the elements that a kernel wrote, without unused room."""
        values, weights = (array[: filled.offsets[-1]].copy() for array in (filled.values, filled.weights))
        values.flags.writeable = weights.flags.writeable = False
        return cls(values, weights, filled.offsets)

    def stored(self, code: int) -> Stored:
        """The elements as kernels compare them, by one of CODES; for one thread at a time."""
        values, weights = self.values.view(), self.weights.view()
        values.flags.writeable = weights.flags.writeable = False
        longest = int(np.diff(self.offsets).max(initial=0))
        starts, ends = self.offsets[:-1].copy(), self.offsets[1:].copy()
        return Stored(code, values, weights, starts, ends, working_memory(code, longest))


def token_memory(longest: int) -> TokenMemory:
    """A kernel's working memory for the tokens of one text of `longest` bytes."""
    return TokenMemory(token_arrays(longest), np.empty(sort_spare(most_tokens(longest)), np.uint64))


def _for_all(total: int, weighted: int) -> tuple[Array, Array]:
    """Room for `total` elements, and for their weights if `weighted`."""
    return np.empty(total, np.uint64), np.empty(total if weighted else 0)


_WORKSPACE, _FILLED = Workspace(lambda longest, _: token_memory(longest)), Workspace(_for_all)


def room_for_elements(folded: FoldedTexts, form: ElementForm) -> ElementArrays:
    """Room for the elements of all these texts, and for their weights if the form has them. Valid until the next call."""
    values, weights = _FILLED.scratch(len(folded.data) // 2 + len(folded) + 1, form.form == WEIGHTS)
    return ElementArrays(values, weights, np.empty(len(folded) + 1, np.int64))


@dataclass(frozen=True, slots=True)
class ElementMaker:
    """Makes the elements of texts that a similarity compares.

    Attributes:
        code: the number of the measure in kernels.
        row: its facts for other modules.
        joined, verified: the forms of the elements that a join and verification use, as numbers of kernels.
        shingles: tokens of a shingle that starts at a word, and at a Han or Kana character; None if the recipe defines them.
        given: the similarity, if it is not the one that the measure's name stands for.
    """

    code: int
    row: SimilarityRow
    joined: int
    verified: int
    shingles: tuple[int, int] | None
    given: Similarity | None = None

    @classmethod
    def of(cls, name: SimilarityName, given: Similarity | None = None) -> "ElementMaker":
        """For a measure, a row of SIMILARITIES, and the similarity that has it if that is not the one of its name."""
        row = SIMILARITIES[name]
        shingles = row.shingles
        if given is not None:
            made = given.features(())
            shingles = (made.word_shingle, made.cjk_shingle)
        return cls(CODES[name], row, FORMS[row.joined], FORMS[row.verified], shingles, given)

    def elements(self, texts: Any, recipe: Recipe) -> Elements:
        """The elements that a join indexes, for the texts of an Arrow `large_string` array: ascending and unique in each text.

        The bounds on what two similar texts share, in `neardup.kernels.matching.similarities`, are about these elements.
        """
        return self._elements(texts, recipe, self.joined)

    def stored(self, texts: Any, recipe: Recipe) -> Elements:
        """The elements that verification compares, for the texts of an Arrow `large_string` array; for edit, tokens in order."""
        return self._elements(texts, recipe, self.verified)

    def elements_of_normalized(self, texts: FoldedTexts, recipe: Recipe) -> Elements:
        """What `elements` returns, for texts that the normalizers of a recipe with named features have been applied to.

        Only for similarities that compare texts after the normalizers of the recipe.
        """
        if self._is_of_names(recipe, self.joined):
            return _weighted_elements(weighted_features(texts, recipe))
        return self._of_folded(
            texts if folds_last(recipe.normalize) else _WORKSPACE.fold(texts.as_array()), recipe, self.joined
        )

    @property
    def is_of_recipe(self) -> bool:
        """Whether the tokens are those of the segmenter `words` in texts that went through the recipe's normalizers."""
        return self.given is None or (self.given.is_plain and self.given.normalize is None)

    def steps(self, recipe: Recipe) -> tuple[Any, ...]:
        """The normalizers that come before folding, or, for a similarity with its own, all."""
        own = None if self.given is None else self.given.normalize
        return tuple(recipe.normalize if own is None else own)

    def _elements(self, texts: Any, recipe: Recipe, form: int) -> Elements:
        if self._is_of_names(recipe, form):
            return _weighted_elements(features_of_texts(texts, recipe))
        if self.given is not None:
            self.given.check_available()
            if not self.given.is_plain:
                return in_form(*shingle_hashes(texts, self.given, recipe), form)
        return self._of_folded(_WORKSPACE.fold(texts, self.steps(recipe)), recipe, form)

    def _is_of_names(self, recipe: Recipe, form: int) -> bool:
        """Whether elements are the recipe's own features, which kernels cannot weigh without their names."""
        return form == WEIGHTS and self.shingles is None and recipe.needs_names

    def _of_folded(self, folded: FoldedTexts, recipe: Recipe, form: int) -> Elements:
        made = self.element_form(recipe, form)
        memory = _WORKSPACE.scratch(int(np.diff(folded.offsets).max(initial=0)), 0)
        out = room_for_elements(folded, made)
        elements(folded.data, folded.offsets, made, memory, fold_tables(recipe.version), out)
        return Elements.of(out)

    def element_form(self, recipe: Recipe, form: int) -> ElementForm:
        """The parameters by which kernels make elements. Recipes with named features have no weights by count alone."""
        weighting = WEIGHTINGS.get(recipe.weights, UNIFORM) if isinstance(recipe.weights, str) else UNIFORM
        return ElementForm(form, *(self.shingles or (recipe.word_shingle, recipe.cjk_shingle)), weighting)


def in_form(hashes: Array, offsets: Array, form: int) -> Elements:
    """The elements of shingles, which `neardup.kernels.matching.elements` makes of tokens: in order, as sets, or numbered."""
    if form != SEQUENCE:
        documents = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.lexsort((hashes, documents))
        hashes, starts = hashes[order], np.ones(len(hashes), np.bool_)
        starts[1:] = (hashes[1:] != hashes[:-1]) | (documents[1:] != documents[:-1])
        if form == SET:
            hashes = hashes[starts]
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(starts, dtype=np.int64)])[offsets]
        else:
            hashes = _numbered(hashes, starts)
            hashes = hashes[np.lexsort((hashes, documents))]
    hashes, weights = np.ascontiguousarray(hashes), np.empty(0)
    hashes.flags.writeable = weights.flags.writeable = False
    return Elements(hashes, weights, offsets)


def _numbered(hashes: Array, starts: Array) -> Array:
    """Hashes in runs of equal ones, made different as `number_occurrences` does: the first of a run stays."""
    places = np.arange(len(hashes))
    again = np.flatnonzero(~starts)
    number = again - np.maximum.accumulate(np.where(starts, places, 0))[again]
    pairs = np.column_stack([hashes[again], number.astype(np.uint64)]).ravel()
    changed, found = np.empty(len(again), np.uint64), hashes.copy()
    hash_windows(pairs, pairs.view(np.uint8), 2 * np.arange(len(again)), np.full(len(again), 2), changed)
    found[again] = changed
    return found


def _weighted_elements(found: WeightedFeatures) -> Elements:
    """The features that vote and their weights, ordered by hash. Weights that are no integers become fixed-point ones here."""
    features, weights, _ = found
    whole = fixed(weights) if weights.dtype == np.float64 else weights
    order = np.lexsort((features.hashes, features.documents))
    values, weights = features.hashes[order], whole[order].astype(np.float64)
    values.flags.writeable = weights.flags.writeable = False
    return Elements(values, weights, features.offsets)


SIMILARITY_TABLE = {name: ElementMaker.of(name) for name in get_args(SimilarityName)}
"""The makers of the similarities that have a name."""


def maker_of(similarity: Similarity | SimilarityName) -> ElementMaker:
    """What makes the elements of texts for a similarity."""
    if isinstance(similarity, Similarity):
        return ElementMaker.of(similarity.measure, similarity)
    return SIMILARITY_TABLE[similarity]


def shingle_sets_of(texts: Any, recipe: Recipe | None = None) -> tuple[Array, Array]:
    """The sorted unique shingle hashes of each text of an Arrow `large_string` array: uint64[total], offsets int64[n + 1].

    `recipe`: its normalizers come first; by default, those of `Recipe()`.
    """
    sets = SIMILARITY_TABLE["jaccard"].elements(texts, recipe or Recipe())
    return sets.values, sets.offsets
