"""SCANS on Spark: the rows of partitions are counted, and texts taken of some."""

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa

from neardup.engines.job.plan import TEXTS_PER_BATCH
from neardup.engines.job.sample import Sample, first_texts, most_of_each, spread_over
from neardup.engines.job_options import Work
from neardup.engines.reading.sorted_runs import ENDS, FILE, Runs, most_runs, numbers_of_runs, runs_in
from neardup.engines.reading.text_columns import strings_in
from neardup.engines.spark import settings, tasks
from neardup.engines.spark.frames import Frame, Input
from neardup.engines.spark.plans import first_rows
from neardup.recipe.tables.keeps import By

_SCHEMA = "text string, id string, within string, value string"


def sample_of(given: Input, setting: tasks.Setting) -> Sample:
    """Count the rows of all partitions, and take texts of some, spread over them. Of each partition, a batch at most is read."""
    from pyspark.sql import functions as f

    counted, parts = [], []
    for each in given.sources:
        texts = each.texts()
        rows = each.rows.groupBy(f.spark_partition_id().alias("part")).count().collect()
        by_part = {row.part: row["count"] for row in rows}
        taken = spread_over(sorted(by_part))
        most, size = most_of_each(len(taken))
        is_taken = f.spark_partition_id().isin(taken)  # values of others need not travel
        first = first_rows(texts, most).select(*(f.when(is_taken, f.col(name)).alias(name) for name in texts.columns))
        with settings.taken(each.rows.sparkSession, settings.batches(TEXTS_PER_BATCH)):
            some = first.mapInArrow(setting.task(partial(_first, size)), _SCHEMA).toArrow()
        large = pa.schema([(name, pa.large_string()) for name in some.schema.names])
        parts.append(some.cast(large).combine_chunks().to_batches())
        counted.append(list(by_part.values()))
    return Sample(tuple(parts), tuple(rows for some in counted for rows in some), sum(map(sum, counted[1:])))


def _first(size: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The first texts of a partition, of so many bytes, but at least one.

    It reads all that it is given, as Spark ends a worker of Python that leaves something, and a new one takes a second.
    """
    is_done = False
    for batch in batches:
        if is_done:
            continue
        found = strings_in(pa.Table.from_batches([batch]), tasks.COLUMNS, "A frame", tasks.DECODE)
        some = first_texts(size, found)
        if len(some):
            yield some
            is_done = True


COMPARED = ("tinyint", "smallint", "int", "bigint", "string")
"""Types of columns whose order here is that of Spark."""


def numbers_of(given: Input, work: Work, setting: tasks.Setting) -> Sequence[Runs] | None:
    """The runs of partitions, by numbers in the order of documents; None if rows are in another order, or too many runs.

    One job for each frame reads the columns by which documents are in order. Rows that are equal there have no order but that of
    ids, so no two may be.
    """
    if work.options.preference.by is not By.ORDER:
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
    found = rows.mapInArrow(runs, ", ".join(["part int", "row long", *ends])).collect()
    return numbers_of_runs([run.asDict() for run in found], names)


def _runs(batches: Iterator[pa.RecordBatch], *, is_strict: bool, most: int) -> Iterator[pa.RecordBatch]:
    """The runs of a partition. All is read, as Spark else ends the worker."""
    yield from runs_in(tasks.partition(), batches, is_strict=is_strict, most=most)
    for _ in batches:
        pass
