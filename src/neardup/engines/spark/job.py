"""JOB: begin a job on Spark, or go on with one that failed: its plan, its folder, and the engine that runs it."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from neardup.engines.candidates.table import METHODS
from neardup.engines.job.checkpoint import Kept, job_of
from neardup.engines.job.plan import Plan, Remedies, plan_of
from neardup.engines.job.sample import stages_of
from neardup.engines.job_options import Work
from neardup.engines.spark import settings
from neardup.engines.spark.copy_input import INPUT, REFERENCE, copied_first, steady
from neardup.engines.spark.described import demand_unchanged, described
from neardup.engines.spark.engine import SparkEngine
from neardup.engines.spark.failures import told
from neardup.engines.spark.folder import Folder
from neardup.engines.spark.frames import Input
from neardup.engines.spark.memory import memory_of_tasks, settings_of
from neardup.engines.spark.scans import sample_of
from neardup.engines.spark.tasks import Setting
from neardup.engines.stages import THERE, Measured
from neardup.version import __version__

REMEDIES = Remedies(
    limit="an executor",
    more_memory="Raise `spark.executor.memoryOverhead` (or `spark.executor.pyspark.memory`, where it is set), or lower "
    "`spark.executor.cores`.",
    fewer_buckets="Give executors more memory for a task, use fewer shuffle partitions",
    smaller_parts="Read the input in smaller partitions (`spark.sql.files.maxPartitionBytes`), or write it to more files.",
)
_log = logging.getLogger("neardup")


def planned(session: Any, given: Input, work: Work) -> Plan:
    """Plan a job: counts the rows of the input, reads some texts, and runs the first stages on these."""
    with told(session), settings.taken(session, settings.dividing(session)):
        sample = sample_of(given, Setting(__version__, 1))
    found = stages_of(sample, work)
    limit = memory_of_tasks(settings_of(session))
    whole = replace(work, documents=sum(sample.rows))
    has_one_key = METHODS[work.options.method].has_one_key(whole)
    return plan_of(
        sample, found, REMEDIES, least_buckets=_partitions(session), limit_bytes=limit, has_one_key=has_one_key
    )


def started(session: Any, given: Input, work: Work, folder: str, *, kind: str = "deduplicate") -> SparkEngine:
    """The engine of a job, which goes on with what a run that failed left in the folder. `kind`: what the job is.

    Raises:
        RecipeMismatch: the folder is that of another job.
        InputError: it is none of a job, and not empty; or ids are null or occur twice.
        OptionError: the job cannot finish.
    """
    before: list[Measured] = []
    with told(session):
        kept = Kept(Folder(session, folder), _description(given, work, kind))
        if copied_first(given):
            with _timed(before, "copy", session):
                given = steady(session, given, kept)
    if kept.division:
        _log.info("going on with the job in %s", kept.folder)
    else:
        with told(session), _timed(before, "look at ids", session):
            given.demand_ids()
        with _timed(before, "plan", session):
            plan = planned(session, given, work)
        _log.info("%s", plan)
        plan.demand()
        with told(session):
            kept.begin({"buckets": plan.buckets, "settings": settings.dividing(session)})
    return SparkEngine(session, given, kept, partitions=_partitions(session), before=before)


def finished(engine: SparkEngine) -> None:
    """Look, when all has been decided, whether the files of the input are still those that the job began with.

    Raises:
        DataError: they are not.
    """
    with told(engine.session):
        for name, each in zip((INPUT, REFERENCE), engine.input.frames, strict=False):
            demand_unchanged(name, each.frame, engine.kept.job[name])


@contextmanager
def _timed(told: list[Measured], name: str, session: Any) -> Iterator[None]:
    """Note how long something takes that is no stage."""
    begun = time.monotonic()
    with settings.shown_as(session, name):
        yield
    told.append(Measured(name, time.monotonic() - begun, ran=THERE))


def _partitions(session: Any) -> int:
    return int(session.conf.get("spark.sql.shuffle.partitions"))


def _description(given: Input, work: Work, kind: str) -> dict[str, Any]:
    """All that decides what stages give, as plain values."""
    documents = given.documents
    frames = zip((INPUT, REFERENCE), given.frames, strict=False)
    found = job_of(work, kind, text=documents.text, id=documents.id, order=documents.order)
    return found | {name: described(each.frame) for name, each in frames}
