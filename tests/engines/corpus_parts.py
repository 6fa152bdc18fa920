"""PARTS of a corpus that this process reads, for an engine."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.dedup import reference_columns
from neardup.engines.schemas import REFERENCE, rows_of
from neardup.engines.stages import Part
from neardup.errors import OptionError
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus
from neardup.options import DedupOptions

COLUMNS = ("text", "id", "within", "value")


class CorpusParts:
    """The rows of a corpus and of its reference, so many in each part."""

    def __init__(self, corpus: Corpus, options: DedupOptions, *, size: int, reference: Corpus | None = None) -> None:
        """The batches of the corpus have the values of `options.columns`; those of the reference only that of `within`.

        Raises:
            OptionError: the options need functions of texts, or sources.
        """
        if options.functions or options.prefer_source:
            raise OptionError(
                "An engine has columns alone: `keep` and `within` with functions, and `prefer_source`, are not taken. "
                "Add a column of their values."
            )
        self._corpus, self._reference, self._options, self._size = corpus, reference, options, size

    def __call__(self) -> Iterator[Part]:
        """All parts, from the first on."""
        yield from self._parts(self._corpus, 0, self._options.columns)
        if self._reference is not None:
            yield from self._parts(self._reference, REFERENCE, reference_columns(self._options))

    def rows(self, docs: Array) -> tuple[Array, Array]:
        """int64[n], bool[n]: the rows of documents, and whether they are those of the reference."""
        part, row = rows_of(docs)
        of_reference = part >= REFERENCE
        part = part - REFERENCE * of_reference
        return part * self._size + row, of_reference

    def _parts(self, corpus: Corpus, first: int, columns: Sequence[str]) -> Iterator[Part]:
        number, waiting, rows = first, [], 0
        for _, batch in corpus.map(partial(self._columns, columns)):
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

    def _columns(self, columns: Sequence[str], batch: Batch) -> pa.RecordBatch:
        values: dict[str, Any] = dict(zip(columns, batch.values, strict=True))
        nothing = pa.nulls(len(batch.texts), pa.large_string())
        named = {"within": self._options.grouped_by, "value": self._options.preferred_by}
        found = [batch.texts, batch.ids, *(values.get(each, nothing) if each else nothing for each in named.values())]
        return pa.record_batch([_whole(column) for column in found], names=list(COLUMNS))


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
