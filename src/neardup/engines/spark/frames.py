"""FRAMES: the input on Spark: what is read of each row, and in which order the rows are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engines.documents import COSTS
from neardup.engines.packing import pack_all
from neardup.engines.schemas import PLACES, REFERENCE, ROW_BITS
from neardup.engines.spark import tasks
from neardup.engines.work import Work
from neardup.errors import InputError, OptionError

PLACE = "__neardup_place"


@dataclass(frozen=True)
class Input:
    """A frame, and that of a reference.

    Attributes:
        frame: the frame.
        text, id: columns.
        order: columns by which rows are in order; none for the file and the place in it.
        reference: another frame with these columns, or None.
        within, value: the column in which documents must agree, and that which says how good they are; None if there is none.
    """

    frame: Any
    text: str
    id: str
    order: Sequence[str]
    reference: Any | None = None
    within: str | None = None
    value: str | None = None

    def readings(self, numbers: Mapping[int, int] | None = None) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The frames to read, and what tells the number of each partition. `numbers`: those in order, of partitions with rows."""
        yield self._texts(self.frame), {"is_reference": False, "first": 0, "numbers": numbers}
        if self.reference is not None:
            yield self._texts(self.reference), {"is_reference": True, "first": REFERENCE, "numbers": None}

    def _texts(self, frame: Any) -> Any:
        from pyspark.sql import functions as f

        def as_json(name: str | None) -> Any:
            if name is None or name not in frame.columns:
                return f.lit(None).cast("string")
            listed = f.to_json(f.array(f.col(name)))
            return f.when(f.col(name).isNotNull(), f.substring(listed, 2, f.length(listed) - 2))

        return frame.select(
            f.col(self.text).alias("text"),
            f.col(self.id).cast("string").alias("id"),
            as_json(self.within).alias("within"),
            as_json(self.value).alias("value"),
        )

    def places(self, work: Work, setting: tasks.Setting, kept: Callable[[Any], Any]) -> Any:
        """Packed places and ranks of all rows of the frame."""
        from pyspark.sql import functions as f

        by = [*self.order_columns(), *([f.col(self.id).alias("__id")] if self.order else [])]
        costs = self._costs(work)
        columns = [*by, *(cost.alias(f"__cost{number}") for number, cost in enumerate(costs))]
        rows = self.frame.select(*columns)
        numbered = rows.mapInArrow(_numbered, rows.withColumn(PLACE, f.lit(0).cast("long")).schema)
        names = [name for name in rows.columns if not name.startswith("__cost")]
        places = _indexed(numbered, [*names, PLACE], kept)
        if not costs:
            sign = -1 if work.options.keep == "last" else 1
            ranked = places.withColumn("rank", f.col("place") * sign)
        else:
            ascending = [f.col(f"__cost{number}").asc_nulls_last() for number in range(len(costs))]
            ranks = _indexed(numbered, [*ascending, *names, PLACE], kept).withColumnRenamed("place", "rank")
            ranked = places.join(ranks, "doc")
        return ranked.select("doc", "place", "rank").mapInArrow(partial(_packed, setting), tasks.PACKED)

    def order_columns(self) -> list[Any]:
        """The columns by which rows are in order; rows that are equal there, of files alone, are in the order of their partitions.

        Raises:
            OptionError: the frame has no order.
        """
        from pyspark.sql import functions as f

        if self.order:
            return [f.col(name) for name in self.order]
        try:
            file, block = f.col("_metadata.file_path"), f.col("_metadata.file_block_start")
            self.frame.select(file)
        except Exception:
            raise OptionError(
                "This frame has no order: give `order=`, a column or several by which the documents are in order. Only frames "
                "that are read from files, and not shuffled, have the order of their files and rows."
            ) from None
        return [file.alias("__file"), block.alias("__block")]

    def _costs(self, work: Work) -> list[Any]:
        """What makes a row less preferred, the weightiest first."""
        from pyspark.sql import functions as f

        if work.options.keep in COSTS:
            length = f.length(f.col(self.text))
            return [-length if work.options.keep == "longest" else length]
        if self.value is None:
            return []
        smallest_first = isinstance(work.options.keep, str) and work.options.keep.startswith("min:")
        return [f.col(self.value)] if smallest_first else [f.col(self.value).isNull(), -f.col(self.value)]

    def demand_ids(self) -> None:
        """Refuse ids that are null or occur twice.

        Raises:
            InputError: some are.
        """
        from pyspark.sql import functions as f

        ids = self.frame.select(f.col(self.id).alias("id"))
        if self.reference is not None:
            ids = ids.unionAll(self.reference.select(f.col(self.id).alias("id")).where("id is null"))
        several = ids.groupBy("id").count().where("count > 1 or id is null").limit(4).collect()
        missing = sum(row["count"] for row in several if row.id is None)
        if missing:
            raise InputError(
                f"{missing:,} rows have no id: column {self.id!r} is null. Give each document an id of its own."
            )
        if several:
            shown = ", ".join(repr(row.id) for row in several[:3])
            raise InputError(
                f"Some ids occur several times in column {self.id!r}, such as {shown}. Give each document an id of its own."
            )


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with their documents, in a task."""
    part = tasks.partition()
    row = 0
    for batch in batches:
        docs = (part << ROW_BITS) + np.arange(row, row + len(batch))
        row += len(batch)
        yield batch.append_column(PLACE, pa.array(docs))


def _indexed(frame: Any, by: Sequence[Any], kept: Callable[[Any], Any]) -> Any:
    """The documents of rows (`doc`), and how many come before each by some columns (`place`)."""
    ordered = kept(frame.orderBy(*by).select(PLACE))
    counts = ordered.mapInArrow(_counted, "part int, rows long").collect()
    before, first = {}, 0
    for part, rows in sorted(tuple(row) for row in counts):
        before[part] = first
        first += rows
    return ordered.mapInArrow(partial(_placed, before), "doc long, place long")


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = sum(map(len, batches))
    part = tasks.partition()
    yield pa.record_batch([pa.array([part], pa.int32()), pa.array([rows])], names=["part", "rows"])


def _placed(before: Mapping[int, int], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    place = before[tasks.partition()]
    for batch in batches:
        yield pa.record_batch([batch.column(0), pa.array(np.arange(place, place + len(batch)))], names=["doc", "place"])
        place += len(batch)


def _packed(setting: tasks.Setting, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    found = (("places", pa.Table.from_batches([batch]).cast(PLACES.schema)) for batch in batches)
    yield from tasks.as_batches(pack_all(found, {"places": PLACES}, setting.buckets))
