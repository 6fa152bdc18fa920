"""The inverse document frequencies that a recipe names, loaded once: from a file of `neardup fit`, or from the package jieba."""

from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.weights.fixed_point import fixed
from neardup.fingerprints.weights.idf_table import IdfTable, idf_table
from neardup.recipe.files.document_frequencies import BACKGROUND, DocumentFrequencies
from neardup.recipe.files.frequency_file import frequency_parts


def smooth_idf(counts: Array, documents: int) -> Array:
    """1 + ln((1 + documents) / (1 + count)), in 2^-16: as if one more document contained each feature. int64[k] -> int64[k].

    >>> smooth_idf(np.array([0, 9]), 9).tolist()
    [216438, 65536]
    """
    distinct, places = np.unique(counts, return_inverse=True)
    return fixed(1.0 + np.log((1.0 + documents) / (1.0 + distinct)))[places]


_LOADING = Lock()


def load_idf(named: DocumentFrequencies, normalize: tuple[Any, ...]) -> IdfTable:
    """The table that a recipe names; it stays in memory for the next call.

    Args:
        named: the frequencies that the recipe names.
        normalize: the recipe's normalizers, also applied to the words of BACKGROUND.

    Raises:
        DataError: the file is damaged, or has changed since it was named.
    """
    with _LOADING:  # several threads may need it at once
        return _load(named, named.path, normalize)


@lru_cache(maxsize=2)
def _load(named: DocumentFrequencies, path: str, normalize: tuple[Any, ...]) -> IdfTable:
    if path == BACKGROUND:
        from neardup.fingerprints.weights.jieba_package import background_table

        return background_table(normalize)
    parts = list(frequency_parts(named))
    features = np.concatenate([np.empty(0, np.uint64), *(part[0] for part in parts)])
    counts = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
    unknown = int(smooth_idf(np.zeros(1, np.int64), named.documents)[0])
    return idf_table(features, smooth_idf(counts, named.documents), unknown)
