"""PLANS of Spark: whether a frame has the same rows in the same places whenever it is read, and what Spark will do to make it."""

import hashlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from neardup.engines.spark.folder import literal
from neardup.errors import OptionError

_STEADY = ("FileSourceScanExec", "ProjectExec", "FilterExec", "UnionExec")
"""Steps that leave rows where files have them, whatever columns are asked for."""
_NUMBERED = re.compile(r"#\d+L?\b")
"""After names, other numbers whenever a frame is made."""


def is_steady(frame: Any) -> bool:
    """Whether the rows of a frame are those of files, in their order, and the same whichever columns are read.

    Those that Spark sends from task to task come in any order, and others come where other columns are read; what a driver or
    executors hold is not there any more when a job goes on.
    """
    query = frame._jdf.queryExecution()
    plan = query.sparkPlan()
    steady = all(node.getClass().getSimpleName() in _STEADY for node in _nodes(plan))
    return (
        steady
        and query.optimizedPlan().deterministic()
        and plan.subqueriesAll().isEmpty()
        and not any(scan.bucketedScan() or _mode(scan) == "DROPMALFORMED" for scan in _scans(plan))
    )


def demand_files(frame: Any) -> None:
    """Refuse a frame whose rows are not those of files, in their order.

    Raises:
        OptionError: it is another.
    """
    from pyspark.errors import AnalysisException

    tells_files = is_steady(frame)
    try:
        frame.select("_metadata.file_path")
    except AnalysisException:  # of a union, or a view
        tells_files = False
    if not tells_files:
        raise OptionError(
            "This frame has no order: give `order=`, a column or several by which the documents are in order. Only frames that "
            "are read from files, and not shuffled, sorted, cached, united or read by a view, have that of their files and rows."
        )


def steps_of(frame: Any) -> str:
    """A digest of what Spark does to make a frame, and of the options by which it reads files; not of what the files hold."""
    query = frame._jdf.queryExecution()
    options = [
        f"{entry._1()}={entry._2()}"
        for scan in _scans(query.sparkPlan())
        for entry in _listed(scan.relation().options().toSeq())
        if "path" not in entry._1().lower()
    ]
    steps = [_NUMBERED.sub("", query.analyzed().toString()), *sorted(options)]
    return hashlib.sha256("\n".join(steps).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def files_of(frame: Any) -> list[tuple[str, int, str]]:
    """The names, sizes and times of change of the files of a frame; Spark lists them, and reads none."""
    names = sorted(frame.inputFiles())
    if not names:
        return []
    paths = [literal(unquote(name)) for name in names]  # which Spark tells as URLs
    files = frame.sparkSession.read.format("binaryFile").load(paths)
    return sorted((row.path, row.length, row.changed) for row in files.selectExpr(
        "path", "length", "cast(unix_micros(modificationTime) as string) changed").collect())  # fmt: skip


def first_rows(frame: Any, most: int) -> Any:
    """The first rows of each partition, so many of each at most: `limit` of a frame puts all into one partition."""
    session, jvm = frame.sparkSession, frame.sparkSession._jvm.org.apache.spark.sql
    many = getattr(jvm.catalyst.expressions, "Literal$").__getattr__("MODULE$").apply(most)
    plan = jvm.catalyst.plans.logical.LocalLimit(many, frame._jdf.queryExecution().analyzed())
    limited = getattr(jvm.classic, "Dataset$").__getattr__("MODULE$").ofRows(session._jsparkSession, plan)
    return type(frame)(limited, session)


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for child in _listed(plan.children()):
        yield from _nodes(child)


def _scans(plan: Any) -> Iterator[Any]:
    return (node for node in _nodes(plan) if node.getClass().getSimpleName() == "FileSourceScanExec")


def _mode(scan: Any) -> str:
    found = scan.relation().options().get("mode")
    return str(found.get()).upper() if found.isDefined() else ""


def _listed(values: Any) -> Iterator[Any]:
    return (values.apply(at) for at in range(values.size()))
