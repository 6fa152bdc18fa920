"""The result of `deduplicate` for texts in memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from neardup.arrays import Array
from neardup.display import SHOWN_ROWS, counted, html_table, similarity_text
from neardup.errors import OptionError
from neardup.survivors.excerpts import Excerpts
from neardup.survivors.records.summary import Summary
from neardup.survivors.side_by_side import STYLE, clusters_html
from neardup.text.frame_types import Item, Rows, Streamed
from neardup.text.frames import frame_of

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import TypeVar as TypeVarWithDefault

    Survivors = TypeVarWithDefault("Survivors", covariant=True, default=Any)
else:
    Survivors = TypeVar("Survivors", covariant=True)


@dataclass(frozen=True)
class DedupResult(Generic[Survivors]):
    """The result of `deduplicate`. Call `.to_pandas()` on its Arrow tables for data frames; integers stay integers.

    Attributes:
        survivors: the documents that are kept, in input order and of the same type as the input.
        duplicates: Arrow table with one row for each removed document: id, row, survivor_id, survivor_row, cluster_id,
            similarity, distance, exact. With cluster="components" it also has matched_id and matched_similarity. With a reference
            it also has reference_row, the survivor's row in the reference; it is null if the survivor is in the data.
        clusters: Arrow table with one row for each document in a cluster of two or more: id, row, cluster_id, survivor_id.
        annotations: Arrow table with one row for each row of the data: cluster_id, cluster_size, is_duplicate, duplicate_of,
            similarity, distance. A document without matches is a cluster by itself: its cluster_id is its row, its cluster_size 1.
        kept: bool[rows], whether each row survives.
        summary: the counts and seconds of the run.
        superseded: with prefer="best", an Arrow table with one row for each document of the reference that does not stay, with the
            columns of `duplicates`; `row` is its row in the reference. Else None.
    """

    survivors: Survivors
    duplicates: Any
    clusters: Any
    annotations: Any
    kept: Array
    summary: Summary
    superseded: Any = None
    _excerpts: Excerpts = field(default=Excerpts(), repr=False, compare=False, kw_only=True)

    @overload
    def of(self, data: list[Item]) -> list[Item]: ...
    @overload
    def of(self, data: tuple[Item, ...]) -> tuple[Item, ...]: ...
    @overload
    def of(self, data: Rows) -> Rows: ...  # type: ignore[overload-overlap]  # columns are iterable, too: this overload comes first
    @overload
    def of(self, data: Streamed) -> "pa.Table": ...
    @overload
    def of(self, data: Iterator[Item]) -> list[Item]: ...
    @overload
    def of(self, data: Iterable[Item]) -> Sequence[Item]: ...
    def of(self, data: Any) -> Any:
        """Select the surviving rows of anything with as many rows as the data: embeddings, labels, another table.

        Raises:
            OptionError: the number of rows differs.
        """
        frame = frame_of(data)
        if frame.rows != len(self.kept):
            raise OptionError(
                f"data has {counted(frame.rows, 'row')}, but {counted(len(self.kept), 'row')} were de-duplicated. Give as many."
            )
        return frame.keep(self.kept)

    def __repr__(self) -> str:
        return f"DedupResult({self.summary.in_a_line()})"

    def _repr_html_(self) -> str:
        line = f"<div class='neardup'>{STYLE}<p><strong>{self.summary.in_a_line()}</strong></p>"
        if not self.duplicates.num_rows:
            return f"{line}</div>"
        shown = self.duplicates.slice(0, SHOWN_ROWS)
        table = html_table(
            shown.column_names,
            zip(*(self._shown(name, shown[name].to_pylist()) for name in shown.column_names), strict=True),
            self.duplicates.num_rows,
            kind="neardup-all",
        )
        clusters = clusters_html(self._excerpts, self.summary.min_similarity)
        if clusters:
            table = f"{clusters}<details><summary>All duplicates as a table</summary>{table}</details>"
        return f"{line}{table}</div>"

    def _shown(self, name: str, values: list[Any]) -> list[Any]:
        """A column of the table of duplicates as it is shown."""
        if not name.endswith("similarity"):
            return values
        least = self.summary.min_similarity
        return [None if value is None else similarity_text(value, least) for value in values]
