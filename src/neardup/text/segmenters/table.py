"""The segmenters by name, and how they turn texts into tokens."""

from array import array
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.kernels.text.segmenters import list_hashes
from neardup.recipe.files.dictionaries import jieba_entries
from neardup.recipe.files.word_lists import WordList
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import StoredPart, available, check_installed
from neardup.recipe.tables.parts import folds_last
from neardup.recipe.tables.segmenters import EXTRAS, PACKAGES, Segmenter
from neardup.text.normalizers import FoldedTexts, normalized
from neardup.text.segmenters.cutting import CutterSettings, cut_texts
from neardup.text.segmenters.jieba import words_of_jieba
from neardup.text.segmenters.tokens import (
    Tokens,
    between_spaces_of,
    characters_of,
    from_joined,
    hashes_of_texts,
    words_of,
    words_of_any,
)
from neardup.text.segmenters.workers import cut_by_package


def _words(folded: FoldedTexts, recipe: Recipe) -> Tokens:
    cut = words_of if folds_last(recipe.normalize) else words_of_any
    return cut(folded, recipe.version)


def _of_package(folded: FoldedTexts, recipe: Recipe) -> Tokens:
    return _from_cut(*cut_by_package(*_raw(folded), _settings_of(recipe)), recipe)


def _settings_of(recipe: Recipe) -> CutterSettings:
    name = str(recipe.segmenter)
    check_installed(f"segmenter={name!r}", PACKAGES[name], EXTRAS[name])
    return _settings(name, recipe.mode, recipe.hmm, recipe.dictionary, tuple(recipe.normalize))


@lru_cache(4)
def _settings(name: str, mode: str | None, hmm: bool, dictionary: Any, normalize: tuple[Any, ...]) -> CutterSettings:
    words: tuple[tuple[str, int | None], ...] = ()
    source = source_name = ""
    if isinstance(dictionary, StoredPart):
        dictionary.refuse("dictionary")
    if dictionary is not None and name == "sudachi":  # sudachi normalizes words as it does texts
        source, source_name = "\n".join(dictionary.lines) + "\n", dictionary.name
    elif dictionary is not None:
        found = jieba_entries(dictionary)
        as_texts = normalized(pa.array([word for word, _ in found], pa.large_string()), normalize)
        words = tuple((as_texts[i], count) for i, (_, count) in enumerate(found) if as_texts[i])
    return CutterSettings(name, mode, hmm, words, source, source_name)


def _by_caller(folded: FoldedTexts, segmenter: Segmenter, recipe: Recipe) -> Tokens:
    data, offsets = _raw(folded)
    return _from_cut(*cut_texts(data, array("q", offsets), segmenter.function, segmenter.name, foreign=True), recipe)


def _raw(folded: FoldedTexts) -> tuple[bytes, bytes]:
    return folded.data[: folded.offsets[-1]].tobytes(), folded.offsets.astype(np.int64).tobytes()


def _from_cut(joined: bytes, counts: bytes, recipe: Recipe) -> Tokens:
    return from_joined(joined, np.frombuffer(counts, np.int64), recipe.version)


SEGMENTER_TABLE: dict[str, Callable[[FoldedTexts, Recipe], Tokens]] = {
    "words": _words,
    "characters": lambda folded, recipe: characters_of(folded, recipe.version),
    "whitespace": lambda folded, recipe: between_spaces_of(folded, recipe.version),
    "jieba": lambda folded, recipe: words_of_jieba(folded, _settings_of(recipe)),
    "rjieba": _of_package,
    "cppjieba": _of_package,
    "sudachi": _of_package,
    "icu": _of_package,
}
"""The segmenters, by the names in `neardup.recipe.tables.segmenters.SEGMENTERS`."""


@lru_cache(8)
def _listed(stop_words: tuple[WordList, ...], normalize: tuple[Any, ...]) -> Array:
    """A table of the hashes of the words in stop lists, in the form that `not_among` takes."""
    words = normalized(pa.array([line for each in stop_words for line in each.lines], pa.large_string()), normalize)
    hashes = hashes_of_texts(words)
    table = np.zeros(1 << (4 * len(hashes)).bit_length(), np.uint64)
    list_hashes(hashes, table)
    table.flags.writeable = False
    return table


def _cut(folded: FoldedTexts, recipe: Recipe) -> Tokens:
    segmenter = recipe.segmenter
    if isinstance(segmenter, StoredPart):
        segmenter.refuse("segmenter")
    if isinstance(segmenter, Segmenter):
        return _by_caller(folded, segmenter, recipe)
    return SEGMENTER_TABLE[segmenter](folded, recipe)


def tokens_of(folded: FoldedTexts, recipe: Recipe) -> Tokens:
    """The tokens of normalized texts according to the recipe, without its stop words."""
    tokens = _cut(folded, recipe)
    if not recipe.stop_words:
        return tokens
    for each in recipe.stop_words:
        available(each, "stop_words")
    return tokens.not_among(_listed(tuple(recipe.stop_words), tuple(recipe.normalize)))
