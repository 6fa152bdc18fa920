"""The rows of inputs as documents of a store: texts, and where they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from neardup.arrays import Array
from neardup.io.batch import Batch
from neardup.io.corpus import FileCorpus
from neardup.io.number_files import refuse_numbers
from neardup.io.reading import Reading
from neardup.io.shard import Shard
from neardup.progress import Progress
from neardup.resources.resources import Resources

TOGETHER = 1 << 12
"""Documents that are decided, and made durable, at a time; the answers do not depend on it."""

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class StoreRows:
    """Some documents: the ids that reading gives, Arrow large_string[n] of JSON values; the texts; where they are."""

    tokens: Any
    texts: list[str]
    shard: Shard
    rows: Array

    @property
    def ids(self) -> list[int | str]:
        """The ids that reading gives."""
        return [_decode(token) for token in self.tokens.to_pylist()]


def corpus_of(
    shards: Sequence[Shard], reading: Reading, on_error: str, resources: Resources, progress: Progress
) -> FileCorpus:
    """Files of texts as a corpus.

    Raises:
        InputError: a column is missing, or the rows are fingerprints of another program.
    """
    corpus = FileCorpus(
        shards,
        reading.columns(),
        on_error=on_error,
        progress=progress,
        resources=resources,
        refine=refuse_numbers,
    )
    corpus.check()
    return corpus


def documents_of(corpus: FileCorpus) -> Iterator[StoreRows]:
    """The documents of a corpus in their order, up to `TOGETHER` at a time."""

    def read(batch: Batch) -> StoreRows:
        present = batch.texts.is_valid()
        rows = batch.row + np.flatnonzero(present.to_numpy(zero_copy_only=False))
        return StoreRows(
            batch.ids.filter(present), batch.texts.filter(present).to_pylist(), corpus.shards[batch.shard], rows
        )

    for _, found in corpus.map(read):
        for first in range(0, len(found.texts), TOGETHER):
            some = slice(first, first + TOGETHER)
            yield StoreRows(found.tokens[some], found.texts[some], found.shard, found.rows[some])
