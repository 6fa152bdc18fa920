"""ORDERED input on Spark: partitions of few runs whose rows ascend, one run after another, as files that were written in order.

Spark puts small files together in any order, so a partition may have many.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa

from neardup.engines.job_options import Work
from neardup.engines.reading.sorted_runs import ENDS, FILE, Runs, most_runs, numbers_of_runs, runs_in
from neardup.engines.spark import tasks
from neardup.engines.spark.frames import Frame, Input

COMPARED = ("tinyint", "smallint", "int", "bigint", "string")
"""Types of columns whose order here is that of Spark."""


def numbers_of(given: Input, work: Work, setting: tasks.Setting) -> Sequence[Runs] | None:
    """The runs of partitions, by numbers in the order of documents; None if rows are in another order, or too many runs.

    One job for each frame reads the columns by which documents are in order. Rows that are equal there have no order but that of
    ids, so no two may be.
    """
    if work.options.keep not in ("first", "last"):
        return None
    found = [_numbers(each, setting) for each in given.sources]
    return None if None in found else [each for each in found if each is not None]


def _numbers(given: Frame, setting: tasks.Setting) -> Runs | None:
    from pyspark.sql import functions as f

    by = given.order_columns()
    names = [f"c{number}" for number in range(len(by))]
    rows = given.rows.select(*(column.alias(name) for column, name in zip(by, names, strict=True)))
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
    ends = [f"{name}_{end} {kind}" for end in ENDS for name, kind in zip(names, kinds, strict=True)]
    most = most_runs(rows.rdd.getNumPartitions())
    runs = setting.task(partial(_runs, is_strict=bool(given.order), most=most))
    told = rows.mapInArrow(runs, ", ".join(["part int", "row long", *ends])).collect()
    return numbers_of_runs([run.asDict() for run in told], names)


def _runs(batches: Iterator[pa.RecordBatch], *, is_strict: bool, most: int) -> Iterator[pa.RecordBatch]:
    """The runs of a partition. All is read, as Spark else ends the worker."""
    yield from runs_in(tasks.partition(), batches, is_strict=is_strict, most=most)
    for _ in batches:
        pass
