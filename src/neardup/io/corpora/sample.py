"""Read a sample of a corpus into memory: the first rows of shards that are spread over it."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.corpora.batch import BATCH_BYTES, Batch
from neardup.io.corpora.file_corpus import FileCorpus, rank_of_source
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_values import only
from neardup.resources.resources import Resources
from neardup.resources.threads import in_order

Result = TypeVar("Result")

SAMPLED_BYTES = 32 << 20
"""Approximate number of bytes to read, whatever the size of the corpus."""
MAX_SHARDS = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a corpus' documents.

    Attributes:
        batches: the documents, with ids and values, without rejected rows. Rows and shards are counted in the sample.
        names: the names of the sampled shards.
        read_bytes: number of bytes read of the shards' files, as stored on disk.
        total_bytes: size of all files; equal to `read_bytes` if everything was read.
        seconds: time spent reading, on as many threads as the caller allowed.
        compressions: which part of the bytes of all files has each compression, from 0 to 1.
    """

    batches: tuple[Batch, ...]
    names: tuple[str, ...]
    read_bytes: int
    total_bytes: int
    seconds: float
    compressions: Mapping[str, float] = field(default_factory=dict)

    @property
    def text_bytes(self) -> int:
        """The size of its texts, decompressed."""
        return sum(batch.texts.nbytes for batch in self.batches)

    @property
    def ids_bytes(self) -> int:
        """The size of its ids as JSON values."""
        return sum(batch.ids.nbytes for batch in self.batches)

    @property
    def shards(self) -> int:
        """The number of sampled shards."""
        return len(self.names)

    @property
    def growth(self) -> float:
        """The size of the corpus divided by the size of the sample."""
        return max(1.0, self.total_bytes / self.read_bytes) if self.read_bytes else 1.0

    def __len__(self) -> int:
        return sum(len(batch.texts) for batch in self.batches)

    def standing_for(self, documents: int) -> "Sample":
        """The same sample of a corpus of so many documents like these; of fewer than it has, a part of it."""
        part = self if documents >= len(self) else self.thinned(-(-len(self) // documents))
        return replace(part, total_bytes=round(part.read_bytes * documents / max(1, len(part))))

    def thinned(self, step: int) -> "Sample":
        """Every `step`-th document of the sample; the counts shrink in proportion."""
        batches = [_taken(each, np.arange(-each.row % step, len(each.texts), step)) for each in self.batches]
        part = replace(self, batches=_numbered(batches))
        share = len(part) / max(1, len(self))
        return replace(part, read_bytes=max(1, int(self.read_bytes * share)), seconds=self.seconds * share)


def read_sample(corpus: FileCorpus, *, size: int | None = None) -> Sample:
    """Read about `size` bytes of text (SAMPLED_BYTES by default), in equal parts from up to MAX_SHARDS shards.

    Raises:
        RowError, DataError: as reading the whole corpus would, for the parts that are read.
    """
    began = time.perf_counter()
    sizes = np.array([shard.size for shard in corpus.shards], np.int64)
    chosen = _spread(sizes)
    parts = max(1, (size or SAMPLED_BYTES) // BATCH_BYTES // len(chosen))
    found, read_bytes = [], 0
    for place, number in enumerate(chosen):
        position = 0
        batches = corpus.first_batches(number, parts + 1)
        for batch in itertools.islice(batches, parts):
            present = np.flatnonzero(batch.texts.is_valid().to_numpy(zero_copy_only=False))
            found.append(replace(_taken(batch, present), shard=place))
            position = batch.position
        complete = next(batches, None) is None
        shard = corpus.shards[number]
        read_bytes += shard.size if complete else min(position, shard.size)
    corpus.demand_readable()
    return Sample(
        _numbered(found),
        tuple(corpus.shards[number].name for number in chosen),
        read_bytes,
        int(sizes.sum()),
        time.perf_counter() - began,
        _shares(corpus.shards),
    )


def _taken(batch: Batch, rows: Array) -> Batch:
    """Some rows of a batch."""
    at = pa.array(rows)
    return replace(
        batch, texts=batch.texts.take(at), ids=batch.ids.take(at), values=tuple(each.take(at) for each in batch.values)
    )


def _numbered(batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """Batches of rows that follow one another."""
    starts = itertools.accumulate((len(batch.texts) for batch in batches), initial=0)
    return tuple(replace(batch, row=start) for batch, start in zip(batches, starts, strict=False))


class SampledCorpus:
    """The documents of a sample as a corpus; see `neardup.io.corpora.protocol.SourcedCorpus`."""

    def __init__(self, sample: Sample, *, with_values: bool, resources: Resources) -> None:
        """`with_values`: batches have their values."""
        self._sample, self._with_values, self._resources = sample, with_values, resources

    def __len__(self) -> int:
        return len(self._sample)

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:

        def read(batch: Batch) -> tuple[int, Result]:
            texts, values = batch.texts, batch.values if self._with_values else ()
            if wanted is not None:
                mask = wanted[batch.row : batch.row + len(texts)]
                texts, values = only(texts, mask), tuple(only(each, mask) for each in values)
            return batch.row, work(replace(batch, texts=texts, values=values))

        yield from in_order(read, self._sample.batches, self._resources.thread_count)

    @property
    def skips(self) -> bool | None:
        return True  # what stops a run was refused before

    def check_sources(self, sources: Sequence[str]) -> None:
        """Nothing is refused: a sample may lack a source that the corpus has."""

    def source_ranks(self, sources: Sequence[str]) -> Array | None:
        if not sources:
            return None
        ranks = [rank_of_source(name, sources) for name in self._sample.names]
        parts = [np.full(len(batch.texts), ranks[batch.shard], np.int64) for batch in self._sample.batches]
        return np.concatenate([np.empty(0, np.int64), *parts])


def _shares(shards: Iterable[Shard]) -> dict[str, float]:
    """The share of each compression in the bytes of some files."""
    found: dict[str, float] = {}
    for shard in shards:
        found[shard.compression] = found.get(shard.compression, 0) + shard.size
    total = max(1.0, sum(found.values()))
    return {name: size / total for name, size in found.items()}


def _spread(sizes: Any) -> list[int]:
    """Shards in the middles of equal parts of all bytes; all shards if there are few."""
    if len(sizes) <= MAX_SHARDS:
        return list(range(len(sizes)))
    middles = (np.arange(MAX_SHARDS) + 0.5) * sizes.sum() / MAX_SHARDS
    found: list[int] = np.unique(np.searchsorted(np.cumsum(sizes), middles)).tolist()
    return found
