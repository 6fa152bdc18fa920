"""The rows of inputs as documents of a store: texts, and ids that differ from those of all other rows without one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.io.batch import Batch
from neardup.io.corpus import FileCorpus
from neardup.io.formats.json_values import default_ids
from neardup.io.formats.table import FILES
from neardup.io.number_files import refuse_numbers
from neardup.io.reading import Reading
from neardup.io.shard import Shard
from neardup.progress import Progress
from neardup.resources.resources import Resources

ROWS_WITHOUT_ID = "rows_without_id"
"""The key in `Store.state` of the number of rows without an id that were added so far."""
TOGETHER = 1 << 12
"""Documents that are decided, and made durable, at a time; the answers do not depend on it."""

_decode = msgspec.json.Decoder().decode


class RowIds:
    """Ids under which a store keeps rows: their own, or `row:N` for the rows without one.

    The default ids of rows, `FILE:ROW`, begin again in every run, and a store would take the second one for an update of the
    first. So N counts the rows without an id of all runs; the count is saved with the documents.
    """

    def __init__(self, state: dict[str, Any] | None) -> None:
        self._count = (state or {}).get(ROWS_WITHOUT_ID, 0)

    def of(self, tokens: Any, shard: Shard, rows: Array) -> list[int | str]:
        """The ids of some rows of a shard (int64[n]); `tokens`: Arrow large_string[n], their ids as JSON values."""
        ids = [_decode(token) for token in tokens.to_pylist()]
        if shard.format not in FILES:
            for i in np.flatnonzero(pc.equal(tokens, default_ids(shard.name, rows))).tolist():
                ids[i] = f"row:{self._count}"
                self._count += 1
        return ids

    def state(self) -> dict[str, int]:
        """What is saved with the documents."""
        return {ROWS_WITHOUT_ID: self._count} if self._count else {}


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
