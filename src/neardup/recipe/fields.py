"""The fields of a recipe with their defaults; `neardup.recipe.recipe.Recipe` documents and checks them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from neardup.recipe.files.word_lists import DictionaryName, StopListName, WordList
from neardup.recipe.stored_parts import StoredPart
from neardup.recipe.tables.hashes import HashFunction
from neardup.recipe.tables.parts import FOLDING, VERSION, HashName, NormalizerName, WeightName
from neardup.recipe.tables.profiles import ProfileName
from neardup.recipe.tables.segmenters import Segmenter, SegmenterMode, SegmenterName


@dataclass(frozen=True, kw_only=True)
class RecipeFields:
    """A recipe before it is checked.

    A `StoredPart` stands for a part of a stored recipe that is not available here. Paths become a `WordList` when they are read.
    """

    word_shingle: int = 1
    cjk_shingle: int = 2
    weights: WeightName | StoredPart = "log"
    hash: HashName | HashFunction | StoredPart = "xxh3"
    bits: int = 128
    min_tokens: int = 8
    max_distance: int | None = None
    normalize: Sequence[NormalizerName | StoredPart] = FOLDING
    segmenter: SegmenterName | Segmenter | StoredPart = "words"
    keywords: int | Literal["by_length"] | None = None
    mode: SegmenterMode | None = None
    hmm: bool = True
    dictionary: DictionaryName | str | Path | WordList | StoredPart | None = None
    stop_words: Sequence[StopListName | str | Path | WordList | StoredPart] = ()
    document_frequencies: Any = None  # `Recipe` has its type, which needs the differences between recipes
    profile: ProfileName | None = None
    profile_window: int | None = None
    version: int = VERSION
