"""JOB: begin a job on Spark, or go on with one that failed: its plan, its folder, and the engine that runs it."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from neardup.engines.candidates.table import METHODS
from neardup.engines.spark import settings
from neardup.engines.spark.copied import INPUT, REFERENCE, steady
from neardup.engines.spark.engine import SparkEngine
from neardup.engines.spark.failures import told
from neardup.engines.spark.files import literal
from neardup.engines.spark.frames import Input
from neardup.engines.spark.kept import Kept
from neardup.engines.spark.memory import memory_of_tasks, settings_of
from neardup.engines.spark.plan import Plan, plan_of
from neardup.engines.spark.plans import is_steady, steps_of
from neardup.engines.spark.sample import sample_of, stages_of
from neardup.engines.spark.tasks import Setting
from neardup.engines.work import Work
from neardup.version import __version__

_WITHOUT_EFFECT = ("threads", "memory", "temp_dir")
_log = logging.getLogger("neardup")


def planned(session: Any, given: Input, work: Work) -> Plan:
    """Plan a job: counts the rows of the input, reads some texts, and runs the first stages on these."""
    with told(session), settings.taken(session, settings.dividing(session)):
        sample = sample_of(given, Setting(__version__, 1))
    found = stages_of(sample, work)
    limit = memory_of_tasks(settings_of(session))
    whole = replace(work, documents=sum(sample.rows))
    has_one_key = METHODS[work.options.method].has_one_key(whole)
    return plan_of(sample, found, least_buckets=_partitions(session), limit_bytes=limit, has_one_key=has_one_key)


def started(session: Any, given: Input, work: Work, folder: str, *, kind: str = "deduplicate") -> SparkEngine:
    """The engine of a job, which goes on with what a run that failed left in the folder. `kind`: what the job is.

    Raises:
        RecipeMismatch: the folder is that of another job.
        InputError: it is none of a job, and not empty; or ids are null or occur twice.
        OptionError: the job cannot finish.
    """
    with told(session):
        kept = Kept(session, folder.rstrip("/"), _description(given, work, kind))
        given = steady(session, given, kept)
    if kept.division:
        _log.info("going on with the job in %s", kept.folder)
    else:
        with told(session):
            given.demand_ids()
        plan = planned(session, given, work)
        _log.info("%s", plan)
        plan.demand()
        with told(session):
            kept.begin({"buckets": plan.buckets, "settings": settings.dividing(session)})
    return SparkEngine(session, given, kept, partitions=_partitions(session))


def _partitions(session: Any) -> int:
    return int(session.conf.get("spark.sql.shuffle.partitions"))


def _description(given: Input, work: Work, kind: str) -> dict[str, Any]:
    """All that decides what stages give, as plain values."""
    options = {name: value for name, value in work.options.as_dict().items() if name not in _WITHOUT_EFFECT}
    documents = given.documents
    described = {
        "kind": kind,
        "neardup": __version__,
        "recipe": work.recipe.digest(),
        "options": options,
        "columns": {"text": documents.text, "id": documents.id, "order": list(documents.order)},
    }
    frames = zip((INPUT, REFERENCE), given.frames, strict=False)
    return described | {name: _frame(each.frame) for name, each in frames}


def _frame(frame: Any) -> Mapping[str, Any]:
    """What Spark tells of a frame without reading it: its columns, what is done to make it, and its files, if it has such."""
    with settings.taken(frame.sparkSession, {settings.SHOWN_FIELDS: str(1 << 30)}):
        steps = steps_of(frame)
    columns = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    found: dict[str, Any] = {"columns": columns, "steps in Spark": steps}
    if is_steady(frame):
        files = _files(frame, sorted(frame.inputFiles()))
        lines = "\n".join(" ".join(map(str, each)) for each in files)
        found["files"] = len(files)
        found["files' names, sizes and times"] = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        found["files' bytes"] = sum(each[1] for each in files)
    return found


def _files(frame: Any, names: list[str]) -> list[tuple[str, int, str]]:
    """The names, sizes and times of change of files; Spark lists them, and reads none."""
    if not names:
        return []
    paths = [literal(unquote(name)) for name in names]  # which Spark tells as URLs
    files = frame.sparkSession.read.format("binaryFile").load(paths)
    return sorted((row.path, row.length, row.changed) for row in files.selectExpr(
        "path", "length", "cast(unix_micros(modificationTime) as string) changed").collect())  # fmt: skip
