"""Keywords of the package jieba: it cuts the texts and weighs the words, so users of jieba get its own keywords.

The features are jieba's words in jieba's order, the heaviest first, so `keywords=N` keeps the N words that its `topK=N` returns.
"""

import copy
import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from neardup.fingerprints.feature_arrays import WeightedFeatures, named_features
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.weights.table import FINE
from neardup.recipe.document_frequencies import EXTRA
from neardup.recipe.recipe import Recipe
from neardup.recipe.stored_parts import available, check_installed
from neardup.resources.unfinished import temporary_folder
from neardup.text.normalizers import FoldedTexts
from neardup.text.segmenters.tokens import from_joined

METHODS = {"jieba_tfidf": "extract_tags", "jieba_textrank": "textrank"}
"""The name of each method in jieba."""


class _Recorder:
    """A tokenizer that records the words it returns."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.given: list[Any] = []

    def cut(self, text: str) -> Iterator[Any]:
        """The tokenizer's words."""
        self.given = list(self._tokenizer.cut(text))
        return iter(self.given)


_LOADING = Lock()


@lru_cache(2)
def _package(name: str) -> tuple[Any, Any]:
    """An extractor with a tokenizer of its own: words that a program adds to jieba's shared tokenizer are not part of a recipe."""
    check_installed(f"`weights={name!r}`", ("jieba",), EXTRA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its source in newer versions of Python, and files that it leaves open
        import jieba.analyse
        import jieba.posseg

        level = jieba.default_logger.level
        jieba.default_logger.setLevel(logging.WARNING)
        try:
            tokenizer = jieba.Tokenizer()
            with temporary_folder() as folder:
                tokenizer.tmp_dir = str(folder)  # not a cache that another program left among the temporary files
                tokenizer.initialize()
            if name == "jieba_tfidf":
                return jieba.analyse.TFIDF(), tokenizer
            return jieba.analyse.TextRank(), jieba.posseg.POSTokenizer(tokenizer)
        finally:
            jieba.default_logger.setLevel(level)


def _of_text(text: str, name: str, package: tuple[Any, Any]) -> tuple[list[tuple[str, float]], list[str]]:
    """Each keyword with its weight, in jieba's order, and the words of the text."""
    extractor, recorder = copy.copy(package[0]), _Recorder(package[1])
    extractor.tokenizer = recorder
    extract: Callable[..., list[tuple[str, float]]] = getattr(extractor, METHODS[name])
    found = extract(text, topK=None, withWeight=True)
    return found, [getattr(each, "word", each) for each in recorder.given]


def extracted(folded: FoldedTexts, recipe: Recipe) -> WeightedFeatures:
    """All keywords that jieba finds in normalized texts, as features.

    Raises:
        MissingExtra: jieba is not installed.
    """
    name = available(recipe.weights, "weights")
    with _LOADING:  # several threads may need it at once
        package = _package(name)
    of_texts = [_of_text(folded[d], name, package) for d in range(len(folded))]
    found, words = [each[0] for each in of_texts], [each[1] for each in of_texts]
    names = [word for of_text in found for word, _ in of_text]
    occurring = [Counter(of_text) for of_text in words]
    counts = np.array([of[word] for of, of_text in zip(occurring, found, strict=True) for word, _ in of_text], np.int64)
    weights = fixed(np.array([weight for of_text in found for _, weight in of_text], np.float64), FINE)
    offsets = np.cumsum([0, *map(len, found)])
    features = named_features([name.encode() for name in names], counts, offsets)
    joined = "\0".join(word for of_text in words for word in of_text).encode()
    kept = from_joined(joined, np.array([len(of_text) for of_text in words], np.int64))
    return WeightedFeatures(features, weights, np.diff(kept.documents))
