"""TOKENIZE: a family of segmenters behind one table; each takes normalized texts and gives their tokens as joined buffers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup.recipe import Recipe
    from neardup.text.normalizers import FoldedTexts
    from neardup.text.segmenters.tokens import Tokens


def tokens_of(folded: "FoldedTexts", recipe: "Recipe") -> "Tokens":
    """The tokens of normalized texts, as the recipe says; without its stop words.

    Raises:
        MissingExtra: the segmenter's package is not installed.
        OptionError: the segmenter cannot do what it is asked, or gives what are no strings.
    """
    from neardup.text.segmenters.table import (
        segmented,
    )  # the recipe knows segmenters by name: their kernels are loaded when used

    return segmented(folded, recipe)
