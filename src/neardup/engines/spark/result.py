"""RESULT: what a run on Spark has decided, as frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from neardup.engines.packing import unsorted
from neardup.engines.results.summary import EngineSummary, Totals, summary_of, tallied
from neardup.engines.schemas import RESULTS
from neardup.engines.spark.engine import Held, SparkEngine
from neardup.engines.spark.failures import translated_errors
from neardup.engines.stages import Measured


def unpacked(rows: Held, schema: str) -> Any:
    """Packed rows as a frame of some of their columns."""
    output, names = rows.output, [column.split()[0] for column in schema.split(", ")]

    def read(batches: Any) -> Any:
        for batch in batches:
            for content in batch.column(0).to_pylist():
                yield from unsorted([content], output).select(names).to_batches()

    return rows.rows.select("content").mapInArrow(read, schema)


def known(name: str) -> Any:
    """A column with null where it is not a number."""
    from pyspark.sql import functions as f

    return f.when(~f.isnan(name), f.col(name)).alias(name)


def duplicates_of(results: Held, kind: Any) -> Any:
    """The results, unpacked, as a frame."""
    from pyspark.sql import functions as f

    schema = "id string, survivor_id string, cluster_id string, exact boolean, similarity double, distance long"
    frame = unpacked(results, schema)
    ids = [f.col(name).cast(kind).alias(name) for name in ("id", "survivor_id", "cluster_id")]
    return frame.select(*ids, "exact", known("similarity"), "distance")


def totals(results: Any) -> Totals:
    """Count the results of a run, as the engine holds them."""
    from pyspark.sql import functions as f

    by_cluster = results.rows.select("content").mapInArrow(
        _tallied, "cluster long, rows long, exact long, against long"
    )
    counted = by_cluster.groupBy("cluster").agg(*(f.sum(name).alias(name) for name in ("rows", "exact", "against")))
    found = counted.agg(
        f.count("cluster"), *(f.coalesce(f.sum(name), f.lit(0)) for name in ("rows", "exact", "against"))
    )
    return Totals(*found.first())


def _tallied(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from tallied(unsorted(batch.column(0).to_pylist(), RESULTS)).to_batches()


@dataclass(frozen=True)
class SparkResult:
    """What a run on Spark has decided. Frames are lazy: the input must stay as it is until they are written.

    Attributes:
        survivors: the rows of the input that stay, with all their columns.
        duplicates: a row for each document that is removed: id, survivor_id, cluster_id, exact, similarity, distance.
        stages: what each stage took.
        engine, results: what made the frames, and the duplicates as it holds them.
    """

    survivors: Any
    duplicates: Any
    stages: tuple[Measured, ...]
    engine: SparkEngine
    results: Held

    @cached_property
    def summary(self) -> EngineSummary:
        """The counts of the run, and what its stages took. Spark counts when it is asked for first."""
        with translated_errors(self.engine.session):
            return summary_of(totals(self.results), self.engine.seen or {}, self.stages)

    def __str__(self) -> str:
        return str(self.summary)

    def close(self) -> None:
        """Let go of what the executors keep on their disks for the frames."""
        self.engine.close()
