"""Some rows of a corpus, read at once: the first of shards that are spread over it."""

import itertools
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.io.batch import BATCH_BYTES
from neardup.io.corpus import FileCorpus

SAMPLED_BYTES = 32 << 20
"""About so much is read, whatever the size of the corpus."""
MOST_SHARDS = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """Texts of a corpus.

    Attributes:
        texts: Arrow arrays of large_string, without those that were rejected.
        ids_bytes: what their ids take as JSON values.
        shards: how many were looked into.
        read_bytes: of their files, as they lie on the disk, were read.
        total_bytes: of all files; the same where all was read.
        seconds: that reading took, by as many threads as were asked for.
    """

    texts: tuple[Any, ...]
    ids_bytes: int
    shards: int
    read_bytes: int
    total_bytes: int
    seconds: float

    @property
    def growth(self) -> float:
        """How many times as large the corpus is as what was read."""
        return max(1.0, self.total_bytes / self.read_bytes) if self.read_bytes else 1.0

    def __len__(self) -> int:
        return sum(map(len, self.texts))

    def thinned(self, step: int) -> "Sample":
        """Every so many-th document of it, standing for as much."""
        texts, first = [], 0
        for array in self.texts:
            texts.append(array.take(pa.array(np.arange(-first % step, len(array), step))))
            first += len(array)
        share = sum(map(len, texts)) / max(1, first)
        return replace(
            self,
            texts=tuple(texts),
            ids_bytes=int(self.ids_bytes * share),
            read_bytes=max(1, int(self.read_bytes * share)),
            seconds=self.seconds * share,
        )


def read_sample(corpus: FileCorpus, *, size: int | None = None) -> Sample:
    """Read about `size` bytes of text (SAMPLED_BYTES if not given), in equal parts of up to MOST_SHARDS shards.

    Raises:
        RowError, DataError: as reading all of the corpus would, for what is read of it.
    """
    began = time.perf_counter()
    sizes = np.array([shard.size for shard in corpus.shards], np.int64)
    chosen = _spread(sizes)
    parts = max(1, (size or SAMPLED_BYTES) // BATCH_BYTES // len(chosen))
    texts, ids_bytes, read_bytes = [], 0, 0
    for number in chosen:
        position = 0
        batches = corpus.first_batches(number, parts + 1)
        for batch in itertools.islice(batches, parts):
            present = batch.texts.drop_null()
            texts.append(present)
            ids_bytes += batch.ids.nbytes
            position = batch.position
        complete = next(batches, None) is None
        shard = corpus.shards[number]
        read_bytes += shard.size if complete else min(position, shard.size)
    return Sample(
        tuple(texts) or (pa.array([], pa.large_string()),),
        ids_bytes,
        len(chosen),
        read_bytes,
        int(sizes.sum()),
        time.perf_counter() - began,
    )


def _spread(sizes: Any) -> list[int]:
    """Shards in the middles of equal parts of all bytes; all of them where they are few."""
    if len(sizes) <= MOST_SHARDS:
        return list(range(len(sizes)))
    middles = (np.arange(MOST_SHARDS) + 0.5) * sizes.sum() / MOST_SHARDS
    found: list[int] = np.unique(np.searchsorted(np.cumsum(sizes), middles)).tolist()
    return found
