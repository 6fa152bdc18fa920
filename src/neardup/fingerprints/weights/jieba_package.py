"""What the package jieba knows of words: the inverse document frequencies that it comes with (its file analyse/idf.txt)."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.fingerprints.weights.fixed_point import ONE, fixed
from neardup.recipe.document_frequencies import jieba_idf_file

if TYPE_CHECKING:
    from neardup.fingerprints.weights.idf_table import IdfTable


@lru_cache(1)
def background(what: str = "document_frequencies='jieba'") -> tuple[tuple[str, ...], Array]:
    """Words, and the inverse document frequency of each: float64[k].

    Raises:
        MissingExtra: jieba is not installed; `what` needs it.
        DataError: the file is not of one word and one number a line.
    """
    rows = [line.split(" ") for line in jieba_idf_file(what).decode().splitlines()]
    try:
        return tuple(word for word, _ in rows), np.array([float(idf) for _, idf in rows])
    except ValueError:
        raise DataError("The file analyse/idf.txt of the package jieba is damaged. Install jieba again.") from None


def _table(words: tuple[str, ...], values: Array, unknown: float, normalize: tuple[Any, ...]) -> "IdfTable":
    """Of words, normalized as texts are; of several that become one, the smallest value."""
    from neardup.fingerprints.weights.idf_table import idf_table
    from neardup.kernels.fingerprints.features import hash_spans
    from neardup.text.normalizers import normalized

    folded = normalized(pa.array(words, pa.large_string()), normalize)
    hashes = np.empty(len(words), np.uint64)
    hash_spans(folded.data, folded.offsets[:-1].copy(), folded.offsets[1:].copy(), hashes)
    order = np.lexsort((values, hashes))
    features, firsts = np.unique(hashes[order], return_index=True)
    return idf_table(features, fixed(values)[order][firsts], int(np.floor(unknown * ONE + 0.5)))


def background_table(normalize: tuple[Any, ...]) -> "IdfTable":
    """Of all words; of others the median, as the package itself has it."""
    words, values = background()
    return _table(words, values, float(np.sort(values)[len(values) // 2]), normalize)


@lru_cache(2)
def keyword_table(normalize: tuple[Any, ...]) -> "IdfTable":
    """As cppjieba has it: of words of two characters or more (that is all its file has); of others the mean of these."""
    words, values = background("weights='cppjieba'")
    several = np.array([len(word) > 1 for word in words])
    chosen = tuple(word for word in words if len(word) > 1)
    return _table(chosen, values[several], float(values[several].mean()), normalize)
