"""TOKENIZE: a family of segmenters behind one table; each takes normalized texts and gives their tokens as joined buffers."""

from collections.abc import Callable

from neardup.recipe import Recipe
from neardup.segmenters.tokens import Tokens, words_of
from neardup.text.normalizers import FoldedTexts


def _words(folded: FoldedTexts, _: Recipe) -> Tokens:
    return words_of(folded)


SEGMENTER_TABLE: dict[str, Callable[[FoldedTexts, Recipe], Tokens]] = {"words": _words}
"""By the names of `neardup.recipe.SEGMENTERS`."""


def tokens_of(folded: FoldedTexts, recipe: Recipe) -> Tokens:
    """The tokens of normalized texts, as the recipe says."""
    return SEGMENTER_TABLE[recipe.segmenter](folded, recipe)
