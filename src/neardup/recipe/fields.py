"""The fields of a recipe with their defaults; `neardup.recipe.recipe.Recipe` documents and checks them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RecipeFields:
    """A recipe before it is checked."""

    word_shingle: int = 1
    cjk_shingle: int = 2
    weights: str = "log"
    hash: Any = "xxh3"
    bits: int = 128
    min_tokens: int = 8
    max_distance: int | None = None
    normalize: Sequence[str] = ("nfkc_casefold",)
    segmenter: Any = "words"
    keywords: int | str | None = None
    mode: str | None = None
    hmm: bool = True
    dictionary: Any = None
    stop_words: Sequence[Any] = ()
    document_frequencies: Any = None
    profile: str | None = None
    profile_window: int | None = None
