"""ORDERED input on Spark: partitions of few runs whose rows ascend, one run after another, as files that were written in order.

Spark puts small files together in any order, so a partition may have many. A document then is its place: no row need be sorted,
and none sent to where its place is known.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.engines.spark import tasks
from neardup.engines.spark.frames import Frame, Input, Runs
from neardup.engines.work import Work

MOST_RUNS, MOST_OF_ALL = 256, 1 << 16
"""Of a partition: 128 MB, which is what Spark reads by default, are then files of half a megabyte or more; and of many together."""
COMPARED = ("tinyint", "smallint", "int", "bigint", "string")
"""Types of columns whose order here is that of Spark."""
FILE = "file"
"""The column that differs between files: rows of others may come between those of two."""
_ENDS = ("first", "last")


def numbers_of(given: Input, work: Work, setting: tasks.Setting) -> Sequence[Runs] | None:
    """The runs of partitions, by numbers in the order of documents; None if rows are in another order, or too many runs.

    One job for each frame reads the columns by which documents are in order. Rows that are equal there have no order but that of
    ids, so no two may be.
    """
    if work.options.keep not in ("first", "last"):
        return None
    found = [_numbers(each, setting) for each in given.frames]
    return None if None in found else [each for each in found if each is not None]


def _numbers(given: Frame, setting: tasks.Setting) -> Runs | None:
    from pyspark.sql import functions as f

    by = given.order_columns()
    names = [f"c{number}" for number in range(len(by))]
    rows = given.frame.select(*(column.alias(name) for column, name in zip(by, names, strict=True)))
    # As local times, those of the hour that clocks repeat would have the order of none.
    instants = [name for name in names if rows.schema[name].dataType.simpleString() == "timestamp"]
    rows = rows.withColumns({name: f.unix_micros(name) for name in instants})
    # As dates of Python, those before the year 1 or after 9999 would be none.
    dates = [name for name in names if rows.schema[name].dataType.simpleString() == "date"]
    rows = rows.withColumns({name: f.unix_date(name) for name in dates})
    kinds = [rows.schema[name].dataType.simpleString() for name in names]
    rows = rows.withColumn(FILE, f.xxhash64(f.input_file_name()))
    if any(kind not in COMPARED for kind in kinds):
        return None
    ends = [f"{name}_{end} {kind}" for end in _ENDS for name, kind in zip(names, kinds, strict=True)]
    most = max(1, min(MOST_RUNS, MOST_OF_ALL // max(1, rows.rdd.getNumPartitions())))
    runs = setting.task(partial(_runs, is_strict=bool(given.order), most=most))
    told = rows.mapInArrow(runs, ", ".join(["part int", "row long", *ends])).collect()
    if any(run.row is None for run in told):
        return None
    spans = sorted(
        (*(tuple(run[f"{name}_{end}"] for name in names) for end in _ENDS), run.part, run.row) for run in told
    )
    if any(before[1] >= after[0] for before, after in pairwise(spans)):
        return None
    found: dict[int, list[tuple[int, int]]] = {}
    for number, (_, _, part, row) in enumerate(spans):
        found.setdefault(part, []).append((row, number))
    return {part: sorted(runs) for part, runs in found.items()}


def _runs(batches: Iterator[pa.RecordBatch], *, is_strict: bool, most: int) -> Iterator[pa.RecordBatch]:
    """The runs of a partition, each of one file: where it begins, its first row and its last.

    One row without, if a value is null or there are more runs than that. All is read, as Spark else ends the worker.
    """
    yield from runs_in(batches, is_strict=is_strict, most=most)
    for _ in batches:
        pass


def runs_in(batches: Iterator[pa.RecordBatch], *, is_strict: bool, most: int) -> Iterator[pa.RecordBatch]:
    """See `_runs`."""
    first: list[pa.RecordBatch] = []
    last: list[pa.RecordBatch] = []
    begins: list[int] = []
    before, row = None, 0
    for batch in batches:
        if not len(batch):
            continue
        both = batch if before is None else pa.concat_batches([before, batch])
        file = both.column(FILE).to_numpy()
        goes_on = (file[1:] == file[:-1]) & _ascends(both.drop_columns(FILE).columns, is_strict=is_strict)
        starts = 1 + np.flatnonzero(~goes_on)
        last.append(both.take(pa.array(starts - 1)))
        if before is None:
            starts = np.append(0, starts)
        first.append(both.take(pa.array(starts)))
        begins += (row + len(batch) - len(both) + starts).tolist()
        if len(begins) > most or any(column.null_count for column in batch.columns):
            nothing = pa.RecordBatch.from_arrays([pa.nulls(1, kind) for kind in batch.schema.types], batch.schema.names)
            yield _told([None], [nothing], [nothing])
            return
        before, row = batch.slice(len(batch) - 1), row + len(batch)
    if before is not None:
        yield _told(begins, first, [*last, before])


def _told(begins: Sequence[int | None], *ends: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Where runs begin, and their first and last rows."""
    columns = {"part": pa.array([tasks.partition()] * len(begins), pa.int32()), "row": pa.array(begins, pa.int64())}
    for end, rows in zip(_ENDS, map(pa.concat_batches, ends), strict=True):
        columns |= {f"{name}_{end}": rows.column(name) for name in rows.schema.names if name != FILE}
    return pa.RecordBatch.from_pydict(columns)


def _ascends(columns: Sequence[pa.Array], *, is_strict: bool) -> Array:
    """bool[n - 1]: whether each row but the first comes after the one before; or may equal it, if that is not strict."""
    pairs = [(column.slice(0, len(column) - 1), column.slice(1)) for column in columns]
    found = pa.array(np.full(len(columns[0]) - 1, not is_strict))
    for one, other in reversed(pairs):
        found = pc.or_(pc.less(one, other), pc.and_(pc.equal(one, other), found))
    ascends: Array = found.fill_null(False).to_numpy(zero_copy_only=False)
    return ascends
