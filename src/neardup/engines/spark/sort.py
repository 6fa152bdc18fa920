"""SORT of documents on Spark: rows are sorted, where their partitions do not tell their order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engines.job_options import Work
from neardup.engines.packing import pack_all
from neardup.engines.reading.text_columns import tokens_in
from neardup.engines.schemas import BEFORE_ALL, PLACES, ROW_BITS
from neardup.engines.spark import tasks
from neardup.engines.spark.frames import Frame, Input, column
from neardup.recipe.tables.keeps import By
from neardup.text.preference import sort_keys

DOC, LENGTH, VALUE = "doc_of_row", "length_of_row", "value_of_row"
"""Columns beside those of the order."""
Kept = Callable[[Any], Any]


def places(given: Input, work: Work, compared_as: str, setting: tasks.Setting, kept: Kept) -> Any:
    """Packed places and ranks of all rows.

    `compared_as`: how the values are compared that say how good documents are, if there are any; `kept`: keeps a frame on the
    executors that is computed and read again.
    """
    found = [_places(frame, work, compared_as, setting, kept) for frame in given.sources]
    rows = reduce(lambda a, b: a.unionAll(b), found)
    return rows.select("doc", "place", "rank").mapInArrow(setting.task(partial(_packed, setting.buckets)), tasks.PACKED)


def _places(given: Frame, work: Work, compared_as: str, setting: tasks.Setting, kept: Kept) -> Any:
    """The documents of a frame, their places and ranks."""
    from pyspark.sql import functions as f

    by = [each.alias(f"order{number}") for number, each in enumerate(given.order_columns())]
    cost = None if given.is_reference else _cost(given, work)
    rows = given.rows.select(*by, *([] if cost is None else [cost]))
    told = rows.withColumn(VALUE, f.lit(None).cast("string")) if VALUE in rows.columns else rows
    numbered = rows.mapInArrow(
        setting.task(partial(_numbered, given.first, compared_as)), told.withColumn(DOC, f.lit(0).cast("long")).schema
    )
    names = [*(f"order{number}" for number in range(len(by))), DOC]
    found = _indexed(numbered, names, setting, kept)
    if given.is_reference:
        found = found.withColumn("rank", f.col("place") - BEFORE_ALL)
        return found.withColumn("place", f.col("place") + (given.first << ROW_BITS))
    if cost is None:
        return found.withColumn("rank", f.col("place") * (-1 if work.options.preference.greatest_first else 1))
    ranks = _indexed(numbered, [_preferred(work), *names], setting, kept).withColumnRenamed("place", "rank")
    return found.join(ranks, "doc")


def _cost(given: Frame, work: Work) -> Any | None:
    """The column that tells how much a row is preferred: LENGTH, or VALUE."""
    from pyspark.sql import functions as f

    if work.options.preference.by is By.LENGTH:
        return f.length(column(given.text)).cast("long").alias(LENGTH)
    return None if given.value is None else column(given.value).alias(VALUE)


def _preferred(work: Work) -> Any:
    """The order of preference by that."""
    from pyspark.sql import functions as f

    cost = f.col(LENGTH if work.options.preference.by is By.LENGTH else VALUE)
    is_descending = work.options.preference.greatest_first
    return cost.desc_nulls_last() if is_descending else cost.asc_nulls_last()


def _numbered(first: int, compared_as: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with their documents, and values as what sorts them, in a task."""
    part = first + tasks.partition()
    row = 0
    for batch in batches:
        docs = (part << ROW_BITS) + np.arange(row, row + len(batch))
        row += len(batch)
        at = batch.schema.get_field_index(VALUE)
        if at >= 0:
            keys = sort_keys(tokens_in(batch.column(at), "value", tasks.DECODE), compared_as)
            batch = batch.set_column(at, VALUE, keys.cast(pa.string()))
        yield batch.append_column(DOC, pa.array(docs))


def _indexed(frame: Any, by: Sequence[Any], setting: tasks.Setting, kept: Kept) -> Any:
    """The documents of rows (`doc`), and how many come before each by some columns (`place`)."""
    from pyspark.sql import functions as f

    ordered = kept(frame.orderBy(*by).select(DOC, f.spark_partition_id().alias("part")))
    counts = ordered.mapInArrow(setting.task(_counted), "part int, rows long").collect()
    before, first = {}, 0
    for part, rows in sorted(tuple(row) for row in counts):
        before[part] = first
        first += rows
    return ordered.mapInArrow(setting.task(partial(_placed, before)), "doc long, place long")


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows, part = 0, None
    for batch in batches:
        rows += len(batch)
        part = batch.column(1).slice(0, 1)
    if part is not None:
        yield pa.record_batch([part, pa.array([rows])], names=["part", "rows"])


def _placed(before: Mapping[int, int], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of a partition, whose number they have: as part of several frames, it has another."""
    place: int | None = None
    for batch in batches:
        place = before[batch.column(1)[0].as_py()] if place is None else place
        yield pa.record_batch([batch.column(0), pa.array(np.arange(place, place + len(batch)))], names=["doc", "place"])
        place += len(batch)


def _packed(buckets: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    found = (("places", pa.Table.from_batches([batch]).cast(PLACES.schema)) for batch in batches)
    yield from tasks.as_batches(pack_all(found, {"places": PLACES}, buckets))
