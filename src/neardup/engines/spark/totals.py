"""TOTALS of results on Spark, which counts packed rows without another stage."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from neardup.engines.packing import unsorted
from neardup.engines.results.summary import Totals, tallied
from neardup.engines.schemas import RESULTS


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
