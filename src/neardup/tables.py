"""Texts in memory as a corpus: lists, Arrow tables, pandas and polars data frames; in as they are, out as they came."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, OptionError
from neardup.io.batch import Batch
from neardup.io.json_values import only
from neardup.survivors import Decisions
from neardup.text.columns import as_text_arrays, in_chunks
from neardup.threads import in_order

Array = np.ndarray[Any, np.dtype[Any]]
Result = TypeVar("Result")


def _column(table: Any, name: str, what: str) -> Any:
    if name not in table.column_names:
        raise InputError(
            f"There is no column {name!r} for the {what}. The columns are {', '.join(table.column_names)}."
        )
    return table.column(name)


def _as_table(data: Any) -> Any | None:
    """The data as an Arrow table; None if they are texts without columns."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, list) and data and all(isinstance(item, Mapping) for item in data):
        return pa.Table.from_pylist([dict(item) for item in data])
    if hasattr(data, "columns") and hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    return None


class TableCorpus:
    """A corpus of rows in memory.

    Attributes:
        ids: Arrow array, the documents' ids; their row numbers if they have none.
    """

    def __init__(self, data: Any, *, text: str = "text", id: str | None = None) -> None:  # noqa: A002
        self._data = data
        if isinstance(data, str | bytes):
            raise OptionError(f"data is one {type(data).__name__}, not many documents: give a list.")
        table = _as_table(data)
        if table is None:
            self._texts, names = as_text_arrays(data), None
        else:
            self._texts = as_text_arrays(_column(table, text, "texts"))
            named = id or ("id" if "id" in table.column_names else None)
            names = _column(table, named, "ids") if named else None
        rows = sum(len(array) for array in self._texts)
        self.ids = pa.array(np.arange(rows)) if names is None else pa.chunked_array(names).combine_chunks()

    @property
    def repeated_ids(self) -> int:
        """Documents whose id an earlier document has."""
        return len(self.ids) - len(self.ids.unique())

    def map(
        self, work: Callable[[Batch], Result], *, threads: int, wanted: Array | None = None
    ) -> Iterator[tuple[int, Result]]:
        """See `neardup.documents.Corpus`."""

        def read(batch: Batch) -> tuple[int, Result]:
            return batch.row, work(batch)

        yield from in_order(read, self._batches(wanted), threads)

    def _batches(self, wanted: Array | None) -> Iterator[Batch]:
        row = 0
        for array in self._texts:
            for texts in in_chunks(array):
                n = len(texts)
                present = texts if wanted is None else only(texts, wanted[row : row + n])
                yield Batch(row, present, pa.nulls(n, pa.large_string()))
                row += n

    def keep(self, kept: Array) -> Any:
        """The rows where `kept` (bool[rows]) holds, as the kind of thing that was given."""
        data = self._data
        if isinstance(data, list | tuple):
            return type(data)(item for item, stays in zip(data, kept.tolist(), strict=True) if stays)
        if isinstance(data, pa.Table):
            return data.filter(pa.array(kept))
        if type(data).__module__.startswith("polars"):
            return data.filter(kept)
        if type(data).__module__.startswith("pandas"):
            return data[kept]
        return pa.chunked_array(self._texts).filter(pa.array(kept))

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
