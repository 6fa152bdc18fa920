"""MEMORY that the Python worker of a task may have on an executor, where the settings of Spark tell."""

import re
from typing import Any

MIB = 1 << 20
LEAST_OVERHEAD = 384 * MIB
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
    return max(LEAST_OVERHEAD, int(factor * heap)) // tasks


def settings_of(session: Any) -> dict[str, str]:
    """The settings of a session's application."""
    return dict(session.sparkContext.getConf().getAll())
