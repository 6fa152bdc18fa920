"""READ → FINGERPRINT: one streaming pass over a corpus; what is kept of each document is a few dozen bytes."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks, join_fingerprints
from neardup.io.batch import Batch
from neardup.io.kept_rows import KeptRows
from neardup.options import memory_bytes
from neardup.progress import Progress
from neardup.recipe import Recipe
from neardup.text.columns import in_chunks
from neardup.threads import thread_count

Array = np.ndarray[Any, np.dtype[Any]]
Result = TypeVar("Result")


class Corpus(Protocol):
    """Documents that can be read more than once, always in the same order."""

    def map(
        self, work: Callable[[Batch], Result], *, threads: int, wanted: Array | None = None
    ) -> Iterator[tuple[int, Result]]:
        """work(batch) of every batch of rows, on several threads, but in order; with the batch's first row in the corpus.

        Rows where `wanted` (bool[rows]; only once the corpus has been read) is False have null texts.
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


def _fingerprint(batch: Batch, recipe: Recipe) -> tuple[Fingerprints, Array, Any]:
    found = fingerprint_chunks(in_chunks(batch.texts), recipe)
    lengths = pc.fill_null(pc.utf8_length(batch.texts), 0).to_numpy()
    if batch.texts.null_count:
        found.tokens[batch.texts.is_null().to_numpy(zero_copy_only=False)] = -1
    return found, lengths, batch.ids


def read_documents(
    corpus: Corpus,
    recipe: Recipe,
    *,
    threads: int | None,
    progress: Progress,
    memory: int | str | None = None,
    temp_dir: str | None = None,
) -> Documents:
    """Fingerprint every document of `corpus`; what takes more than a quarter of `memory` lies in files in `temp_dir`, mapped."""
    kept = KeptRows(memory=memory_bytes(memory) // 4, temp_dir=temp_dir)
    none = join_fingerprints([], recipe)
    kept.append((none.values, none.digests, none.tokens, np.empty(0, np.int64)), pa.array([], pa.large_string()))
    with contextlib.closing(kept):
        for _, (found, characters, names) in corpus.map(
            partial(_fingerprint, recipe=recipe), threads=thread_count(threads)
        ):
            kept.append((found.values, found.digests, found.tokens, characters), names)
            progress.advance(len(characters))
        (fingerprints, digests, tokens, lengths), ids = kept.whole()
    return Documents(fingerprints, digests, tokens, lengths, ids)
