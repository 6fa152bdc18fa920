"""Data of the package jieba: the inverse document frequencies in its file analyse/idf.txt."""

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.weights.idf_table import IdfTable, idf_table
from neardup.recipe.files.jieba_files import IDF, read_jieba_file
from neardup.text.normalizers import normalized
from neardup.text.segmenters.tokens import hashes_of_texts


@lru_cache(1)
def background(what: str = "`document_frequencies='jieba'`") -> tuple[tuple[str, ...], Array]:
    """Words, and the inverse document frequency of each: float64[k].

    Raises:
        MissingExtra: jieba is not installed; the message says that `what` needs it.
        DataError: a line of the file is not one word and one number.
    """
    rows = [line.split(" ") for line in read_jieba_file(IDF, what).decode().splitlines()]
    try:
        return tuple(word for word, _ in rows), np.array([float(idf) for _, idf in rows])
    except ValueError:
        raise DataError("The file analyse/idf.txt of the package jieba is damaged. Install jieba again.") from None


def _table(words: tuple[str, ...], values: Array, unknown: int, normalize: tuple[Any, ...]) -> IdfTable:
    """A table of int64 values of words, normalized as texts are; when several words become equal, the smallest value stays."""
    hashes = hashes_of_texts(normalized(pa.array(words, pa.large_string()), normalize))
    order = np.lexsort((values, hashes))
    features, firsts = np.unique(hashes[order], return_index=True)
    return idf_table(features, values[order][firsts], unknown)


def background_table(normalize: tuple[Any, ...]) -> IdfTable:
    """The frequencies of all words. Other words get the median, as in the package."""
    words, values = background()
    as_integers = fixed(values)
    return _table(words, as_integers, int(np.sort(as_integers)[len(values) // 2]), normalize)


@lru_cache(1)
def float_table() -> IdfTable:
    """The frequencies of all words as they stand in the file: the bits of float64 in place of integers, as jieba reckons."""
    words, values = background("`weights='jieba_tfidf'`")
    last = dict(zip(words, values.tolist(), strict=True))  # of equal words, jieba keeps the last
    idf = np.array(list(last.values()))
    unknown = int(np.sort(idf)[len(idf) // 2].view(np.int64))
    return _table(tuple(last), idf.view(np.int64), unknown, ())


@lru_cache(2)
def keyword_table(normalize: tuple[Any, ...]) -> IdfTable:
    """The frequencies as in cppjieba: words of two or more characters, as in its file. Other words get their mean.

    Values are the bits of float64, which ascend as the numbers do because none is negative.
    """
    words, values = background("`weights='cppjieba'`")
    several = np.array([len(word) > 1 for word in words])
    chosen = tuple(word for word in words if len(word) > 1)
    idf = values[several]
    mean = np.cumsum(idf)[-1] / len(idf)  # added one after another, as there: `np.sum` rounds otherwise
    return _table(chosen, idf.view(np.int64), int(mean.view(np.int64)), normalize)
