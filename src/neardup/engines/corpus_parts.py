"""PARTS of a corpus that this process reads, for an engine."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.schemas import rows_of
from neardup.engines.stage import Part
from neardup.io.batch import Batch
from neardup.io.corpora import Corpus
from neardup.options import DedupOptions

REFERENCE = 1 << 27
"""Parts of a reference have numbers from this one on."""
COLUMNS = ("text", "id", "within", "value")


class CorpusParts:
    """The rows of a corpus and of its reference, so many in each part."""

    def __init__(self, corpus: Corpus, options: DedupOptions, *, size: int, reference: Corpus | None = None) -> None:
        self._corpus, self._reference, self._options, self._size = corpus, reference, options, size

    def __call__(self) -> Iterator[Part]:
        """All parts, from the first on."""
        yield from self._parts(self._corpus, 0)
        if self._reference is not None:
            yield from self._parts(self._reference, REFERENCE)

    def rows(self, docs: Array) -> tuple[Array, Array]:
        """int64[n], bool[n]: the rows of documents, and whether they are those of the reference."""
        part, row = rows_of(docs)
        of_reference = part >= REFERENCE
        part = part - REFERENCE * of_reference
        return part * self._size + row, of_reference

    def _parts(self, corpus: Corpus, first: int) -> Iterator[Part]:
        number, waiting, rows = first, [], 0
        for _, batch in corpus.map(self._columns):
            at = 0
            while at < len(batch):
                some = batch.slice(at, min(len(batch) - at, self._size - rows))
                waiting.append(some)
                rows, at = rows + len(some), at + len(some)
                if rows == self._size:
                    yield Part(number, iter(waiting), first > 0)
                    number, waiting, rows = number + 1, [], 0
        if waiting:
            yield Part(number, iter(waiting), first > 0)

    def _columns(self, batch: Batch) -> pa.RecordBatch:
        values: dict[str, Any] = dict(zip(self._options.columns, batch.values, strict=False))
        nothing = pa.nulls(len(batch.texts), pa.large_string())
        named = {"within": self._options.grouped_by, "value": self._options.preferred_by}
        columns = [batch.texts, batch.ids, *(values.get(each, nothing) if each else nothing for each in named.values())]
        return pa.record_batch([_whole(column) for column in columns], names=list(COLUMNS))


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
