"""Files as a corpus: shards one after another, rows counted over all of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup.errors import RowError
from neardup.io.batch import Batch, Columns
from neardup.io.formats import FORMATS
from neardup.io.shards import Shard

Array = np.ndarray[Any, np.dtype[Any]]

ON_ERROR = {"stop": "a row that cannot be read stops the run", "skip": "such rows are set aside, with the reason, and counted"}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that was set aside: the file's name, the row's number in that file from 0, and why."""

    file: str
    row: int
    reason: str


class FileCorpus:
    """The rows of some files; see `neardup.documents.Corpus`.

    Attributes:
        shards: the files, in order.
        starts: first row of each shard and, last, the number of all rows; known once the corpus has been read.
        rejected: rows that were set aside.
    """

    def __init__(self, shards: Sequence[Shard], columns: Columns, *, on_error: str = "stop") -> None:
        self.shards = tuple(shards)
        self.starts: list[int] | None = None
        self.rejected: list[Rejected] = []
        self._columns, self._on_error = columns, on_error

    def _reject_of(self, shard: Shard, first_pass: bool) -> Callable[[int, str], None]:
        def reject(row: int, reason: str) -> None:
            if self._on_error == "stop":
                raise RowError(shard.name, row, reason)
            if first_pass:
                self.rejected.append(Rejected(shard.name, row, reason))

        return reject

    def batches(self, wanted: Array | None = None) -> Iterator[Batch]:
        """Read all shards; the first complete pass learns where they start."""
        first_pass = self.starts is None
        starts, row = [0], 0
        for number, shard in enumerate(self.shards):
            start = row
            reject = self._reject_of(shard, first_pass)
            of_shard = None if wanted is None else wanted[start : self.starts[number + 1]] if self.starts else wanted[start:]
            for batch in FORMATS[shard.format].read(shard, self._columns, reject=reject, wanted=of_shard):
                row = start + batch.row + len(batch.texts)
                yield replace(batch, row=start + batch.row)
            if self.starts is not None and row != self.starts[number + 1]:
                raise shard.changed()
            starts.append(row)
        self.starts = starts

    def rows_of(self, number: int) -> slice:
        """The rows of a shard among all rows; the corpus must have been read."""
        if self.starts is None:
            raise RuntimeError("rows_of() needs a complete pass over the corpus first")
        return slice(self.starts[number], self.starts[number + 1])
