"""READ → FINGERPRINT: one streaming pass over a corpus; what is kept of each document is a few dozen bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.io.batch import Batch
from neardup.progress import Progress
from neardup.recipe import Recipe
from neardup.text.columns import in_chunks
from neardup.threads import in_order, thread_count

Array = np.ndarray[Any, np.dtype[Any]]


class Corpus(Protocol):
    """Documents that can be read more than once, always in the same order."""

    def batches(self, wanted: Array | None = None) -> Iterator[Batch]:
        """All rows in order, `Batch.row` counted over the whole corpus.

        Rows where `wanted` (bool[rows]) is False have null texts.
        """
        ...


@dataclass(frozen=True, slots=True)
class Documents:
    """What one pass keeps, by row; a row that was rejected is no document.

    Attributes:
        fingerprints: uint64[rows, words].
        digests: uint64[rows, 2], equal for equal normalized texts.
        tokens: int64[rows], -1 where the row was rejected.
        lengths: int64[rows], characters of the text as it came.
        ids: Arrow large_string[rows], each a JSON value.
    """

    fingerprints: Array
    digests: Array
    tokens: Array
    lengths: Array
    ids: Any

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def valid(self) -> Array:
        """bool[rows]: the row is a document."""
        return self.tokens >= 0


def _chunks(corpus: Corpus) -> Iterator[tuple[Any, Any]]:
    for batch in corpus.batches():
        first = 0
        for texts in in_chunks(batch.texts):
            yield texts, batch.ids.slice(first, len(texts))
            first += len(texts)


def _fingerprint(chunk: tuple[Any, Any], recipe: Recipe) -> tuple[Fingerprints, Array, Any]:
    texts, ids = chunk
    found = fingerprint_array(texts, recipe)
    lengths = pc.fill_null(pc.utf8_length(texts), 0).to_numpy()
    if texts.null_count:
        found.tokens[texts.is_null().to_numpy(zero_copy_only=False)] = -1
    return found, lengths, ids


def read_documents(corpus: Corpus, recipe: Recipe, *, threads: int | None, progress: Progress) -> Documents:
    """Fingerprint every document of `corpus`."""
    parts: list[Fingerprints] = []
    lengths: list[Array] = []
    ids: list[Any] = []
    work = partial(_fingerprint, recipe=recipe)
    for found, characters, names in in_order(work, _chunks(corpus), thread_count(threads)):
        parts.append(found)
        lengths.append(characters)
        ids.append(names)
        progress.advance(len(characters))
    if not parts:
        empty = np.empty(0, np.int64)
        two = np.empty((0, 2), np.uint64)
        return Documents(np.empty((0, recipe.words), np.uint64), two, empty, empty, pa.array([], pa.large_string()))
    return Documents(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.digests for part in parts]),
        np.concatenate([part.tokens for part in parts]),
        np.concatenate(lengths),
        pa.chunked_array(ids).combine_chunks(),
    )
