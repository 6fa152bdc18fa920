"""SETTINGS of a session that a job needs for a while, and those by which Spark divides the input."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from neardup.engines.job.plan import MOST_BYTES

BATCH_ROWS, BATCH_BYTES = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.maxBytesPerBatch"
"""What bounds an Arrow batch: it ends with the row that reaches either."""
SHOWN_FIELDS = "spark.sql.debug.maxToStringFields"
PARALLELISM = "spark.sql.leafNodeDefaultParallelism"
_WITH_DEFAULTS = (
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.openCostInBytes",
    "spark.sql.shuffle.partitions",
    "spark.sql.session.timeZone",
)
_OPTIONAL = ("spark.sql.files.minPartitionNum", "spark.sql.files.maxPartitionNum")


def dividing(session: Any) -> dict[str, str | None]:
    """What decides into which partitions Spark divides an input, and how it writes values; None where nothing is set.

    By default Spark divides files by the number of processors, which come and go; so this number is among them.
    """
    found = {PARALLELISM: session.conf.get(PARALLELISM, None) or str(session.sparkContext.defaultParallelism)}
    found |= {name: session.conf.get(name) for name in _WITH_DEFAULTS}
    return found | {name: session.conf.get(name, None) for name in _OPTIONAL}


def batches(rows: int) -> dict[str, str | None]:
    """Arrow batches of at most so many rows, and of few if these are long."""
    return {BATCH_ROWS: str(rows), BATCH_BYTES: str(MOST_BYTES)}


@contextlib.contextmanager
def taken(session: Any, wanted: Mapping[str, str | None]) -> Iterator[None]:
    """Let a session have some settings, and then those that it had."""
    before = {name: session.conf.get(name, None) for name in wanted}
    _set(session, wanted)
    try:
        yield
    finally:
        _set(session, before)


def _set(session: Any, wanted: Mapping[str, str | None]) -> None:
    for name, value in wanted.items():
        session.conf.unset(name) if value is None else session.conf.set(name, value)


@contextlib.contextmanager
def shown_as(session: Any, name: str) -> Iterator[None]:
    """Let jobs have the name of a stage in Spark's own page."""
    context = session.sparkContext
    context.setJobDescription(f"neardup: {name}")
    try:
        yield
    finally:
        context.setJobDescription(None)
