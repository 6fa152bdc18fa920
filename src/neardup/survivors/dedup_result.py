"""What `deduplicate` returns of texts in memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from neardup.arrays import Array
from neardup.display import SHOWN_ROWS, counted, html_table
from neardup.errors import OptionError
from neardup.survivors.summary import Summary
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
    """What `deduplicate` returns; its Arrow tables become data frames by `.to_pandas()`, where integers stay integers.

    Attributes:
        survivors: the documents that are kept, in input order, as the kind of thing that was given.
        duplicates: Arrow table, one row for each removed document: id, row, survivor_id, survivor_row, cluster_id, similarity,
            distance, exact; with cluster="components" also matched_id and matched_similarity; with a reference also
            reference_row, the survivor's row there, null where the survivor is of the data.
        clusters: Arrow table of the documents that are not alone: id, row, cluster_id, survivor_id.
        annotations: Arrow table, one row for each row of the data: cluster_id, cluster_size, is_duplicate, duplicate_of,
            similarity, distance; cluster_size is 1 for a document that is alone.
        kept: bool[rows], whether the row survives.
        summary: counts and seconds.
    """

    survivors: Survivors
    duplicates: Any
    clusters: Any
    annotations: Any
    kept: Array
    summary: Summary

    @overload
    def of(self, data: list[Item]) -> list[Item]: ...
    @overload
    def of(self, data: tuple[Item, ...]) -> tuple[Item, ...]: ...
    @overload
    def of(self, data: Rows) -> Rows: ...  # type: ignore[overload-overlap]  # columns that are iterable, too: this one is first
    @overload
    def of(self, data: Streamed) -> "pa.Table": ...
    @overload
    def of(self, data: Iterator[Item]) -> list[Item]: ...
    @overload
    def of(self, data: Iterable[Item]) -> Sequence[Item]: ...
    def of(self, data: Any) -> Any:
        """The rows that survive of anything that has as many rows as the data: embeddings, labels, another table.

        Raises:
            OptionError: it has more rows, or fewer.
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
        shown = self.duplicates.slice(0, SHOWN_ROWS)
        return f"<p>{self.summary.in_a_line()}</p>" + html_table(
            shown.column_names,
            zip(*(column.to_pylist() for column in shown.columns), strict=True),
            self.duplicates.num_rows,
        )
