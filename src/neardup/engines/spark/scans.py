"""SAMPLED on Spark: the rows of partitions are counted, and texts taken of some."""

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from neardup.engines.job.plan import TEXT_ROWS
from neardup.engines.job.sample import Sample, first_texts, most_of_each, spread_over
from neardup.engines.reading.text_columns import demand_utf8
from neardup.engines.spark import settings, tasks
from neardup.engines.spark.frames import Input
from neardup.engines.spark.plans import first_rows

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
        with settings.taken(each.rows.sparkSession, settings.batches(TEXT_ROWS)):
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
        demand_utf8(batch, batch.schema.names, tasks.DECODE)
        some = first_texts(size, batch)
        if len(some):
            yield some
            is_done = True
