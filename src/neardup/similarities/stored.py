"""READ AGAIN → VERIFY: what is compared of the texts that must be verified, in temporary files."""

from functools import partial
from typing import Any

import numpy as np

from neardup.documents import Corpus
from neardup.io.batch import Batch
from neardup.io.spool import Spool
from neardup.kernels.bounds import EDIT
from neardup.kernels.edit import edit_memory
from neardup.kernels.similarities import Stored, similarities_of
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe import Recipe
from neardup.similarities.table import SIMILARITY_TABLE, Elements, Similarity
from neardup.text.columns import in_chunks
from neardup.threads import thread_count

Array = np.ndarray[Any, np.dtype[Any]]

MAPPED_BYTES = 256 << 20
"""What is mapped is released from memory once so many bytes of it may have been looked at."""
AROUND_BYTES = 64 << 10
"""So much of a file the system maps around what is looked at, anywhere in it."""


class ShingleSets:
    """What a similarity compares of some documents of a corpus, in temporary files that are mapped, not held, in memory.

    Attributes:
        values: uint64[], all documents' one after another.
        starts, ends: int64[rows]; a row has values[starts[row]:ends[row]], none if it was not wanted: its set of shingles,
            ascending; or what else `neardup.similarities.table` says.
        bytes_each: bytes that a value takes in the files, with its weight.
    """

    def __init__(
        self,
        corpus: Corpus,
        wanted: Array,
        *,
        similarity: str = "jaccard",
        recipe: Recipe | None = None,
        threads: int | None,
        temp_dir: str | None,
        progress: Progress,
    ) -> None:
        """Read the texts of the rows where `wanted` (bool[rows]) holds, in one streaming pass.

        `recipe` says what the features and weights of the cosine are; `Recipe()` if not given. Others do not depend on it.
        """
        self.starts, self.ends = np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.int64)
        self._similarity = SIMILARITY_TABLE[similarity]
        self._values = Spool(np.uint64, temp_dir=temp_dir)
        self._weights = Spool(np.float64, temp_dir=temp_dir)
        work = partial(_stored_of_batch, similarity=self._similarity, recipe=recipe or Recipe())
        try:
            total, self._longest = 0, 0
            for first, (rows, found) in corpus.map(
                work, threads=thread_count(threads), wanted=wanted, name="read again"
            ):
                offsets = total + found.offsets
                self.starts[first + rows], self.ends[first + rows] = offsets[:-1], offsets[1:]
                self._values.write(found.values)
                self._weights.write(found.weights)
                total += len(found.values)
                self._longest = max(self._longest, int(np.diff(offsets).max(initial=0)))
                progress.advance(len(rows))
            self._values.map()
            self._weights.map()
        except BaseException:
            self.close()
            raise
        self.bytes_each = 16 if len(self._weights.values) else 8

    @classmethod
    def read(
        cls, corpus: Corpus, wanted: Array, recipe: Recipe, options: DedupOptions, progress: Progress
    ) -> "ShingleSets":
        """As the options say."""
        return cls(
            corpus,
            wanted,
            similarity=options.similarity,
            recipe=recipe,
            threads=options.threads,
            temp_dir=options.temp_dir,
            progress=progress,
        )

    @property
    def values(self) -> Array:
        return self._values.values

    def stored(self, rows: Array | None = None) -> Stored:
        """What kernels compare of `rows` (int64[n]), known by their places there; or of all rows. For one thread, until `close`."""
        starts, ends = (self.starts, self.ends) if rows is None else (self.starts[rows], self.ends[rows])
        code = self._similarity.code
        return Stored(
            code, self.values, self._weights.values, starts, ends, edit_memory(self._longest if code == EDIT else 0)
        )

    def similarities(self, left: Array, right: Array, least: float) -> Array:
        """float64[p]: the similarity of rows left[i] and right[i] (int64[p]), or -1 where below `least`."""
        out, stored = np.empty(len(left)), self.stored()
        step = MAPPED_BYTES // (2 * AROUND_BYTES)
        for first in range(0, len(left), step):
            these = slice(first, first + step)
            similarities_of(stored, left[these], right[these], float(least), out[these])
            self.release()
        return out

    def release(self) -> None:
        """Let the operating system take the pages that were looked at; they stay in the files."""
        self._values.release()
        self._weights.release()

    def close(self) -> None:
        self._values.close()
        self._weights.close()

    def __enter__(self) -> "ShingleSets":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stored_of_batch(batch: Batch, similarity: Similarity, recipe: Recipe) -> tuple[Array, Elements]:
    """Of the texts that are there: which rows of the batch they are, and what is stored of them."""
    rows = np.flatnonzero(batch.texts.is_valid().to_numpy(zero_copy_only=False))
    found = [similarity.stored(chunk, recipe) for chunk in in_chunks(batch.texts.drop_null())]
    lengths = [np.zeros(1, np.int64), *(np.diff(part.offsets) for part in found)]
    values = [np.empty(0, np.uint64), *(part.values for part in found)]
    weights = [np.empty(0), *(part.weights for part in found)]
    return rows, Elements(np.concatenate(values), np.concatenate(weights), np.cumsum(np.concatenate(lengths)))
