"""Read a sample of a corpus into memory: the first rows of shards that are spread over it."""

import itertools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.io.batch import BATCH_BYTES
from neardup.io.corpus import FileCorpus
from neardup.io.shard import Shard

SAMPLED_BYTES = 32 << 20
"""Approximate number of bytes to read, whatever the size of the corpus."""
MOST_SHARDS = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a corpus' texts.

    Attributes:
        texts: Arrow arrays of large_string, without rejected texts.
        ids_bytes: total size of their ids as JSON values.
        shards: number of sampled shards.
        read_bytes: number of bytes read of the shards' files, as stored on disk.
        total_bytes: size of all files; equal to `read_bytes` if everything was read.
        seconds: time spent reading, on as many threads as the caller allowed.
        compressions: which part of the bytes of all files has each compression, from 0 to 1.
    """

    texts: tuple[Any, ...]
    ids_bytes: int
    shards: int
    read_bytes: int
    total_bytes: int
    seconds: float
    compressions: Mapping[str, float] = field(default_factory=dict)

    @property
    def text_bytes(self) -> int:
        """The size of its texts, decompressed."""
        return int(sum(array.nbytes for array in self.texts))

    @property
    def growth(self) -> float:
        """The size of the corpus divided by the size of the sample."""
        return max(1.0, self.total_bytes / self.read_bytes) if self.read_bytes else 1.0

    def __len__(self) -> int:
        return sum(map(len, self.texts))

    def standing_for(self, documents: int) -> "Sample":
        """The same sample of a corpus of so many documents like these; of fewer than it has, a part of it."""
        part = self if documents >= len(self) else self.thinned(-(-len(self) // documents))
        return replace(part, total_bytes=round(part.read_bytes * documents / max(1, len(part))))

    def thinned(self, step: int) -> "Sample":
        """Every `step`-th document of the sample; the counts shrink in proportion."""
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
    """Read about `size` bytes of text (SAMPLED_BYTES by default), in equal parts from up to MOST_SHARDS shards.

    Raises:
        RowError, DataError: as reading the whole corpus would, for the parts that are read.
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
        _shares(corpus.shards),
    )


def _shares(shards: Iterable[Shard]) -> dict[str, float]:
    """The share of each compression in the bytes of some files."""
    found: dict[str, float] = {}
    for shard in shards:
        found[shard.compression] = found.get(shard.compression, 0) + shard.size
    total = max(1.0, sum(found.values()))
    return {name: size / total for name, size in found.items()}


def _spread(sizes: Any) -> list[int]:
    """Shards in the middles of equal parts of all bytes; all shards if there are few."""
    if len(sizes) <= MOST_SHARDS:
        return list(range(len(sizes)))
    middles = (np.arange(MOST_SHARDS) + 0.5) * sizes.sum() / MOST_SHARDS
    found: list[int] = np.unique(np.searchsorted(np.cumsum(sizes), middles)).tolist()
    return found
