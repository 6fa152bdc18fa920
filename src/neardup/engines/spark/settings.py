"""SETTINGS of a session that a job needs for a while, and those by which Spark divides the input."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from neardup.engines.job.plan import BYTES_PER_BATCH

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
    return {BATCH_ROWS: str(rows), BATCH_BYTES: str(BYTES_PER_BATCH)}


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


MIB = 1 << 20
MIN_OVERHEAD_BYTES = 384 * MIB
_UNITS = {"": MIB, "b": 1, "k": 1 << 10, "m": MIB, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_SIZE = re.compile(r"(\d+)\s*([bkmgtp]?)(?:i?b)?", re.IGNORECASE)
_FACTORS = {"yarn": 0.1, "k8s": 0.4}
"""Share of an executor's memory that is beside its heap by default, where a container bounds it; for Python on Kubernetes."""


def bytes_of(size: str) -> int:
    """A size as Spark writes it: `4g`, or `512` for MiB."""
    found = _SIZE.fullmatch(size.strip())
    if found is None:
        raise ValueError(size)
    return int(found[1]) * _UNITS[found[2].lower()]


def memory_of_tasks(settings: dict[str, str]) -> int | None:
    """Bytes for one worker: what is set for Python, or is beside the heap in a container. None: nothing bounds it that is known.

    Args:
        settings: those of the application.
    """
    kind = settings.get("spark.master", "").split(":")[0]
    cores = settings.get("spark.executor.cores", "1" if kind in _FACTORS else None)
    if cores is None:
        return None
    tasks = max(1, int(cores) // int(settings.get("spark.task.cpus", "1")))
    if python := settings.get("spark.executor.pyspark.memory"):
        return bytes_of(python) // tasks
    if overhead := settings.get("spark.executor.memoryOverhead"):
        return bytes_of(overhead) // tasks
    if kind not in _FACTORS:
        return None
    factor = float(settings.get("spark.executor.memoryOverheadFactor", _FACTORS[kind]))
    heap = bytes_of(settings.get("spark.executor.memory", "1g"))
    return max(MIN_OVERHEAD_BYTES, int(factor * heap)) // tasks


def settings_of(session: Any) -> dict[str, str]:
    """The settings of a session's application."""
    return dict(session.sparkContext.getConf().getAll())
