"""VERIFY: the similarity of two texts, and of one text to each of many."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.kernels.matching.similarities import similarities_of
from neardup.matching.similarities.table import maker_of
from neardup.recipe.given_elements import recipe_of_elements, similarity_of_elements
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity, SimilarityLike, measure_of, similarity_of, version_of
from neardup.recipe.tables.similarities import SIMILARITIES, SimilarityName, normalizers_only
from neardup.recipe.tables.spellings import one_of
from neardup.text.columns import as_text_arrays
from neardup.text.given_elements import have_sets, is_collection, texts_of_items
from neardup.text.normalizers import normalize, normalized


def similarity(
    a: str | Collection[str | int],
    b: str | Collection[str | int],
    *,
    kind: SimilarityName | None = None,
    similarity: SimilarityLike | None = None,
    recipe: RecipeLike | None = None,
) -> float:
    """The similarity of two texts, or of two given sets, from 0 to 1, as `deduplicate` computes it with the same recipe.

    For texts without tokens it is 1 if they are equal after normalization, else 0; for empty sets, 1.

    Args:
        a, b: two texts; or two sets or lists of strings and integers, which are compared as they are: see `deduplicate`.
        kind: jaccard (the default), weighted, containment, cosine or edit: see `neardup.matching.similarities`.
        similarity: instead of `kind`, a `Similarity` with the shingles and tokens to compare, a name, or a .toml file.
        recipe: its normalizers are applied to both texts first; by default, those of `Recipe()`. The cosine compares the
            recipe's features and weights. The others have shingles of their own, and refuse a recipe with another segmenter, other
            shingles, stop words, weights or a profile, which they would ignore.

    Raises:
        OptionError: there is no such similarity, or it would ignore a part of the recipe; or a part is not available.
        MissingExtra: the package of a normalizer or segmenter is not installed.
        DataError: a text is not valid Unicode, or an element is neither a string nor an integer.

    >>> similarity("to be or not to be", "To be, or not to be?")
    1.0
    >>> similarity("to be or not to be", "to be or not", kind="containment")
    1.0
    >>> similarity("page 12 of 30", "page 13 of 30", recipe=Recipe(normalize=["nfkc_casefold", "digits"]))
    1.0
    >>> similarity("a d", "a c d", similarity=Similarity(word_shingle=1))
    0.6666666666666666
    >>> similarity({"a", "d"}, {"a", "c", "d"})
    0.6666666666666666
    """
    chosen, used = _chosen(kind, similarity, recipe)
    if not (is_collection(a) and is_collection(b)) and not (isinstance(a, str) and isinstance(b, str)):
        raise OptionError(f"a is a {type(a).__name__}, b a {type(b).__name__}: give two texts, or two sets or lists.")
    if not isinstance(a, str):
        both = texts_of_items((a, b))
        return float(
            similarities_to(
                both[0].as_py(),
                both.slice(1),
                similarity=similarity_of_elements(chosen, have_sets=have_sets((a, b))),
                recipe=recipe_of_elements(used),
            )[0]
        )
    _check_readable(chosen, used, similarity, recipe)
    [texts] = as_text_arrays([b])
    return float(similarities_to(a, texts, similarity=chosen, recipe=used)[0])


def _check_readable(
    chosen: Similarity | SimilarityName,
    used: Recipe,
    similarity: SimilarityLike | None,
    recipe: RecipeLike | None,
) -> None:
    """Refuse a recipe of which the similarity of texts would ignore a part."""
    name = measure_of(chosen)
    if recipe is not None and SIMILARITIES[name].shingles is not None:
        normalizers_only(used, f"`{'kind' if similarity is None else 'similarity'}={name!r}` is")
    if isinstance(chosen, Similarity):
        chosen.check_recipe(used)


def compared_by(
    kind: SimilarityName | None, similarity: SimilarityLike | None, recipe: RecipeLike | None
) -> tuple[Similarity | SimilarityName, Recipe]:
    """What `similarity` compares texts by, and the recipe, for `similarities_between`; see there for the arguments.

    Raises:
        OptionError: as there.
    """
    chosen, used = _chosen(kind, similarity, recipe)
    _check_readable(chosen, used, similarity, recipe)
    return chosen, used


def _chosen(
    kind: SimilarityName | None, similarity: SimilarityLike | None, recipe: RecipeLike | None
) -> tuple[Similarity | SimilarityName, Recipe]:
    if isinstance(kind, Similarity):
        raise OptionError(
            f"`kind` is the name of a similarity. Give a `Similarity` as `similarity`: `similarity={kind}`."
        )
    if kind is not None and kind not in tuple(SIMILARITIES):
        raise OptionError(f"{one_of('kind', kind, SIMILARITIES)}.")
    if kind is not None and similarity is not None:
        raise OptionError(f"`kind={kind!r}` and `similarity={similarity!r}` say the same. Give one of them.")
    chosen = similarity_of(similarity or kind or "jaccard")
    return chosen, recipe_of(recipe, version_of(chosen))


def similarities_to(text: str, texts: Any, *, similarity: Similarity | SimilarityName, recipe: Recipe) -> Array:
    """float64[n]: the similarity of one text to each text of an Arrow `large_string` array. A null counts as an empty text."""
    [mine] = as_text_arrays([text])
    both = pa.concat_arrays([mine, texts])
    return _similarities(both, np.zeros(len(texts), np.int64), np.arange(1, len(texts) + 1), similarity, recipe)


def similarities_between(left: Any, right: Any, *, similarity: Similarity | SimilarityName, recipe: Recipe) -> Array:
    """float64[n]: the similarity of each text to that of the same place, both of Arrow `large_string` arrays of n texts."""
    rows = np.arange(len(left))
    return _similarities(pa.concat_arrays([left, right]), rows, rows + len(left), similarity, recipe)


def _similarities(
    texts: Any, left: Array, right: Array, similarity: Similarity | SimilarityName, recipe: Recipe
) -> Array:
    """float64[n]: the similarity of texts[left] and texts[right] (int64[n])."""
    maker = maker_of(similarity)
    elements = maker.stored(texts, recipe)
    out, lengths = np.empty(len(left)), np.diff(elements.offsets)
    similarities_of(elements.stored(maker.code), left, right, 0.0, out)
    own = None if maker.given is None else maker.given.normalize
    for i in np.flatnonzero((lengths[left] == 0) & (lengths[right] == 0)).tolist():
        mine, other = (texts[int(side[i])].as_py() or "" for side in (left, right))
        out[i] = _form(mine, own, recipe) == _form(other, own, recipe)
    return out


def _form(text: str, own: Sequence[Any] | None, recipe: Recipe) -> str:
    """The form in which texts without elements are equal or not: after a similarity's own normalizers, or the recipe's."""
    return normalize(text, recipe.normalize) if own is None else normalized(pa.array([text], pa.large_string()), own)[0]
