"""UNPACKED: packed rows of results as frames, for users."""

from typing import Any

from neardup.engines.packing import unsorted
from neardup.engines.spark.engine import Held


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
