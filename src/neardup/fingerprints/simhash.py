"""FINGERPRINT: the SimHash of texts (Charikar 2002; Manku, Jain and Das Sarma 2007, section 2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from neardup.arrays import Array, UInt64s
from neardup.fingerprints.workspace import Workspace
from neardup.io.resume.codecs import codec
from neardup.kernels.digests import digest_documents
from neardup.kernels.fingerprints.simhash import FeatureForm, FingerprintArrays, fingerprint_documents, scratch
from neardup.kernels.fingerprints.votes import WEIGHTINGS
from neardup.recipe.given_elements import recipe_of_elements
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import available
from neardup.resources.threads import in_order, thread_count
from neardup.text.columns import in_chunks
from neardup.text.frames import frame_of, holds_elements, texts_of, texts_of_elements
from neardup.text.normalizers import FoldedTexts, digests_without_figures, fold_texts, normalized, utf8_buffers
from neardup.text.unicode_tables import fold_tables

_WORKSPACE = Workspace(scratch)


@codec("fingerprints", 2, values="uint64[n, words]", digests="uint64[n, 2]", tokens="int64[n]", figures="uint64[n]")
@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Fingerprints of n texts, and the other results of the same pass.

    Attributes:
        values: uint64[n, words]; word 0 is the most significant, and its unused top bits are 0.
        digests: uint64[n, 2], XXH3-128 of the normalized text: equal digests mark exact duplicates.
        tokens: int64[n], the number of tokens; 0 if no feature votes.
        figures: uint64[n], equal for texts that are equal or differ in digits only; 0 if unknown. See `digests_without_figures`.
    """

    values: Array
    digests: Array
    tokens: Array
    figures: Array = None  # type: ignore[assignment]  # all unknown

    def __post_init__(self) -> None:
        if self.figures is None:
            object.__setattr__(self, "figures", np.zeros(len(self.tokens), np.uint64))


def fingerprint_array(texts: Any, recipe: Recipe) -> Fingerprints:
    """Fingerprints of one Arrow `large_string` array of valid UTF-8; a null counts as an empty text."""
    if recipe.profile is not None:
        return _fingerprint_by_profile(texts, recipe)
    if recipe.needs_names:
        return fingerprint_normalized(normalized(texts, recipe.normalize), recipe)
    folded = _WORKSPACE.fold(texts, recipe.normalize)
    n, words = len(folded), recipe.words
    out = room_for_fingerprints(n, words)
    memory = _WORKSPACE.scratch(int(np.diff(folded.offsets).max(initial=0)), words)
    fingerprint_documents(folded.data, folded.offsets, feature_form(recipe), memory, fold_tables(recipe.version), out)
    return Fingerprints(*out, digests_without_figures(folded))


def _fingerprint_by_profile(texts: Any, recipe: Recipe) -> Fingerprints:
    """Fingerprints as another tool computes them.

    Digests are of the unchanged texts, because only the other tool knows which texts it takes for equal. Tokens are the default
    ones, at least one per text; 0 where the tool finds no features. All such texts have one fingerprint, and are `short` rather
    than alike.
    """
    # Other recipes than the default bring modules of their own, which are loaded with the first text.
    from neardup.fingerprints.profiles.tools import PROFILES
    from neardup.text.segmenters.tokens import words_of

    given = [text or "" for text in texts.to_pylist()]
    values, counts = PROFILES[recipe.profile or ""].with_counts(given, recipe.bits, recipe.profile_window)
    data, offsets = utf8_buffers(texts)
    digests = np.empty((len(texts), 2), np.uint64)
    digest_documents(data if len(data) else np.zeros(1, np.uint8), offsets, digests)
    folded = fold_texts(texts)
    figures = digests_without_figures(folded)
    tokens = np.maximum(np.diff(words_of(folded).documents), 1)
    return Fingerprints(values, digests, np.where(counts > 0, tokens, 0), figures)


def fingerprint_normalized(texts: FoldedTexts, recipe: Recipe) -> Fingerprints:
    """Fingerprints by named features, of texts that the recipe's normalizers have been applied to."""
    from neardup.fingerprints.by_features import fingerprint_folded

    return Fingerprints(*fingerprint_folded(texts, recipe), digests_without_figures(texts))


def room_for_fingerprints(n: int, words: int) -> FingerprintArrays:
    """Empty arrays for the results of a kernel for n texts."""
    return FingerprintArrays(np.empty((n, words), np.uint64), np.empty((n, 2), np.uint64), np.empty(n, np.int64))


def feature_form(recipe: Recipe) -> FeatureForm:
    """The features that vote, in the form that kernels take; for recipes whose features need no names."""
    top_mask = np.uint64((1 << (recipe.bits - 64 * (recipe.words - 1))) - 1)
    return FeatureForm(
        recipe.word_shingle, recipe.cjk_shingle, WEIGHTINGS[available(recipe.weights, "weights")], top_mask
    )


def join_fingerprints(parts: list[Fingerprints], recipe: Recipe) -> Fingerprints:
    """Concatenate the fingerprints of consecutive texts."""
    nothing = Fingerprints(np.empty((0, recipe.words), np.uint64), np.empty((0, 2), np.uint64), np.empty(0, np.int64))
    return Fingerprints(
        np.concatenate([part.values for part in parts or [nothing]]),
        np.concatenate([part.digests for part in parts or [nothing]]),
        np.concatenate([part.tokens for part in parts or [nothing]]),
        np.concatenate([part.figures for part in parts or [nothing]]),
    )


def fingerprint_chunks(chunks: Iterable[Any], recipe: Recipe) -> Fingerprints:
    """Fingerprint Arrow `large_string` arrays, one after another."""
    return join_fingerprints([fingerprint_array(chunk, recipe) for chunk in chunks], recipe)


def fingerprint(
    texts: Any, *, text: str | Iterable[str] = "text", recipe: RecipeLike | None = None, threads: int | None = None
) -> UInt64s:
    """The SimHash fingerprint of each text.

    Args:
        texts: a list or an iterator of strings, a column or a table: any input of `deduplicate`. Or given sets: a list of sets or
            of lists of strings and integers, or an Arrow column of lists; each element is a feature, weighted by its count.
        text: the column of the texts in a table, or several columns; as in `deduplicate`.
        recipe: defines the fingerprint; `Recipe()` by default.
        threads: all processors by default. The result does not depend on it.

    Returns:
        uint64[n] for up to 64 bits, else uint64[n, words] with the most significant word first.

    Raises:
        OptionError: `texts` is one string, or holds something other than strings.
        DataError: a text is null, or not valid Unicode.

    >>> a, b = fingerprint(["a rose is a rose", "A rose  is a ROSE"], recipe=Recipe(bits=64, max_distance=3))
    >>> int(a) == int(b)
    True
    """
    recipe = recipe_of(recipe)
    frame = frame_of(texts, "texts")
    of_elements = holds_elements(frame)
    recipe, arrays = (
        (recipe_of_elements(recipe), texts_of_elements(frame)) if of_elements else (recipe, texts_of(frame, text))
    )
    chunks = (chunk for array in arrays for chunk in in_chunks(array))
    work = partial(fingerprint_array, recipe=recipe)
    values = join_fingerprints(list(in_order(work, chunks, thread_count(threads))), recipe).values
    return values[:, 0].copy() if recipe.words == 1 else values
