"""Texts in memory as a corpus: lists, Arrow tables, pandas and polars data frames; in as they are, out as they came."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.errors import DataError, InputError, OptionError
from neardup.io.batch import Batch
from neardup.io.json_values import only
from neardup.io.pages import text_of_pages
from neardup.io.reading import Reading
from neardup.survivors import Decisions
from neardup.text.columns import as_text_arrays, in_chunks
from neardup.text.html import extractor
from neardup.threads import in_order

Array = np.ndarray[Any, np.dtype[Any]]
Result = TypeVar("Result")


def _pick(names: list[str], text: str, id: str | None) -> list[str]:  # noqa: A002
    """The columns to read: that of the texts and, if there is one, that of the ids."""
    chosen = id or ("id" if "id" in names else None)
    for name, what in ((text, "texts"), (chosen, "ids")):
        if name is not None and names.count(name) != 1:
            problem = "is no column" if name not in names else f"are {names.count(name)} columns"
            raise InputError(f"There {problem} {name!r} for the {what}. The columns are {', '.join(names)}.")
    return [text] if chosen is None else [text, chosen]


def _columns(data: Any, text: str, id: str | None) -> list[Any]:  # noqa: A002
    """The column of the texts and, if there is one, that of the ids; what else the data holds is not looked at."""
    if isinstance(data, str | bytes | Mapping):
        raise OptionError(
            f"data is one {type(data).__name__}; give a list of texts or of dicts, an Arrow table, "
            "or a pandas or polars data frame."
        )
    if isinstance(data, pa.Table | pa.RecordBatch):
        return [data.column(name) for name in _pick(data.schema.names, text, id)]
    if hasattr(data, "columns") and hasattr(data, "__arrow_c_stream__"):
        table = pa.table(data[_pick([str(name) for name in data.columns], text, id)])
        return [table.column(number) for number in range(table.num_columns)]
    if isinstance(data, list | tuple) and data and isinstance(data[0], Mapping):
        names = _pick(list(data[0]), text, id)
        for row, item in enumerate(data):
            if not isinstance(item, Mapping) or any(name not in item for name in names):
                raise InputError(f"Row {row} is no dict with {' and '.join(map(repr, names))}, as the first one is.")
        return [[item[name] for item in data] for name in names]
    return [data]


class TableCorpus:
    """A corpus of rows in memory.

    Attributes:
        ids: Arrow array, the documents' ids; their row numbers if they have none.
    """

    def __init__(self, data: Any, *, text: str = "text", id: str | None = None, html: str | None = None) -> None:  # noqa: A002
        how = Reading(text=text, id=id, html=html)
        self._extract = None if how.html is None else extractor(how.html)
        self._data = data
        texts, *names = _columns(data, text, id)
        self._texts = as_text_arrays(texts)
        rows = sum(len(array) for array in self._texts)
        try:
            ids: Any = pa.array(np.arange(rows)) if not names else names[0]
            ids = pa.array(ids) if isinstance(ids, list) else ids
        except pa.ArrowInvalid as problem:
            raise DataError(f"The ids are not all of one kind: {problem}. Make them all strings.") from None
        self.ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids

    @property
    def repeated_ids(self) -> int:
        """Documents whose id an earlier document has."""
        return len(self.ids) - len(self.ids.unique())

    def map(
        self,
        work: Callable[[Batch], Result],
        *,
        threads: int,
        wanted: Array | None = None,
        name: str = "",  # noqa: ARG002 - nothing is saved of data in memory
        state: Array | None = None,  # noqa: ARG002
    ) -> Iterator[tuple[int, Result]]:
        """See `neardup.documents.Corpus`."""

        def read(batch: Batch) -> tuple[int, Result]:
            return batch.row, work(batch if self._extract is None else text_of_pages(batch, self._extract))

        yield from in_order(read, self._batches(wanted), threads)

    def _batches(self, wanted: Array | None) -> Iterator[Batch]:
        row = 0
        for array in self._texts:
            for texts in in_chunks(array):
                n = len(texts)
                present = texts if wanted is None else only(texts, wanted[row : row + n])
                yield Batch(row, present, pa.nulls(n, pa.large_string()))
                row += n

    def once(self, name: str, compute: Callable[[], Result]) -> Result:  # noqa: ARG002
        """See `neardup.documents.Corpus`."""
        return compute()

    def check_sources(self, sources: Sequence[str]) -> None:
        """See `neardup.documents.SourcedCorpus`: rows in memory have no sources."""
        if sources:
            raise OptionError(
                f"prefer_source={tuple(sources)!r}: data in memory has no files. Prefer by a column: keep='max:COLUMN'."
            )

    def source_ranks(self, sources: Sequence[str]) -> Array | None:  # noqa: ARG002
        """See `neardup.documents.SourcedCorpus`."""
        return None

    def keep(self, kept: Array) -> Any:
        """The rows where `kept` (bool[rows]) holds, as the kind of thing that was given."""
        data = self._data
        if isinstance(data, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
            return data.filter(pa.array(kept))
        if type(data).__module__.startswith("polars"):
            return data.filter(kept)
        if type(data).__module__.startswith("pandas") or isinstance(data, np.ndarray):
            return data[kept]
        stay = (item for item, stays in zip(data, kept.tolist(), strict=True) if stays)
        return tuple(stay) if isinstance(data, tuple) else list(stay)

    def duplicates_table(self, decisions: Decisions, with_matched: bool) -> Any:
        """One row for each duplicate, with the columns of the audit."""
        rows = decisions.duplicates
        columns = {
            "id": self.ids.take(pa.array(rows)),
            "row": rows,
            "survivor_id": self.ids.take(pa.array(decisions.survivor[rows])),
            "survivor_row": decisions.survivor[rows],
            "cluster_id": decisions.cluster[rows],
            "similarity": pa.array(decisions.similarity[rows], from_pandas=True),
            "distance": decisions.distance[rows],
            "exact": decisions.exact[rows],
        }
        if with_matched:
            columns["matched_id"] = self.ids.take(pa.array(decisions.matched[rows]))
            columns["matched_similarity"] = pa.array(decisions.matched_similarity[rows], from_pandas=True)
        return pa.table(columns)

    def clusters_table(self, decisions: Decisions) -> Any:
        """One row for each document that is not alone."""
        rows = np.flatnonzero(decisions.cluster >= 0)
        return pa.table(
            {
                "id": self.ids.take(pa.array(rows)),
                "row": rows,
                "cluster_id": decisions.cluster[rows],
                "survivor_id": self.ids.take(pa.array(decisions.survivor[rows])),
            }
        )
