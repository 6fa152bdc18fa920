"""ORDERED input on Spark: partitions whose rows ascend, one after another, as those of files that were written in order.

Then a document is its place: no row need be sorted, and none sent to where its place is known.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.spark import tasks
from neardup.engines.spark.frames import Frame, Input, Numbers
from neardup.engines.work import Work

COMPARED = ("tinyint", "smallint", "int", "bigint", "date", "string")
"""Types of columns whose order here is that of Spark."""


def numbers_of(given: Input, work: Work) -> Numbers | None:
    """The numbers of partitions in the order of documents; None if the rows of some do not ascend, or others come between them.

    One job for each frame reads the columns by which documents are in order. Rows that are equal there have no order but that of
    ids, so no two may be.
    """
    if work.options.keep not in ("first", "last"):
        return None
    found = [_numbers(each) for each in given.frames]
    return None if None in found else tuple(each for each in found if each is not None)


def _numbers(given: Frame) -> Mapping[int, int] | None:
    from pyspark.sql import functions as f

    by = given.order_columns()
    names = [f"c{number}" for number in range(len(by))]
    rows = given.frame.select(*(column.alias(name) for column, name in zip(by, names, strict=True)))
    # As local times, those of the hour that clocks repeat would have the order of none.
    instants = [name for name in names if rows.schema[name].dataType.simpleString() == "timestamp"]
    rows = rows.withColumns({name: f.unix_micros(name) for name in instants})
    kinds = [rows.schema[name].dataType.simpleString() for name in names]
    if any(kind not in COMPARED for kind in kinds):
        return None
    ends = [(f"{name}_{end} {kind}") for end in ("first", "last") for name, kind in zip(names, kinds, strict=True)]
    told = rows.mapInArrow(
        partial(_ends, bool(given.order)), ", ".join(["part int", "ascends boolean", *ends])
    ).collect()
    if not all(row.ascends for row in told):
        return None
    spans = sorted(
        (*(tuple(row[f"{name}_{end}"] for name in names) for end in ("first", "last")), row.part) for row in told
    )
    if any(before[1] >= after[0] for before, after in pairwise(spans)):
        return None
    return {part: number for number, (_, _, part) in enumerate(spans)}


def _ends(is_strict: bool, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The first and the last row of a partition, and whether its rows ascend."""
    first = last = None
    ascends = True
    for batch in batches:
        if not len(batch):
            continue
        columns = batch.columns
        if last is not None:
            columns = [pa.concat_arrays([before, column]) for before, column in zip(last, columns, strict=True)]
        ascends = ascends and not any(column.null_count for column in columns) and _ascend(columns, is_strict=is_strict)
        first = first or [column.slice(0, 1) for column in columns]
        last = [column.slice(len(column) - 1) for column in columns]
    if first is not None and last is not None:
        names = ["part", "ascends", *(f"c{number}_{end}" for end in ("first", "last") for number in range(len(first)))]
        yield pa.record_batch(
            [pa.array([tasks.partition()], pa.int32()), pa.array([ascends]), *first, *last], names=names
        )


def _ascend(columns: Sequence[pa.Array], *, is_strict: bool) -> bool:
    """Whether each row comes after the one before; or may equal it, if that is not strict."""
    pairs = [(column.slice(0, len(column) - 1), column.slice(1)) for column in columns]
    found = pa.array(np.full(len(columns[0]) - 1, not is_strict))
    for one, other in reversed(pairs):
        found = pc.or_(pc.less(one, other), pc.and_(pc.equal(one, other), found))
    return bool(pc.all(found, min_count=0).as_py())
