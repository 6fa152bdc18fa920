"""JOB: begin a job on Ray, or go on with one that failed: its plan, its folder, and the engine that runs it."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from neardup.engines.candidates.table import METHODS
from neardup.engines.job.checkpoint import Kept, job_of
from neardup.engines.job.folder import Folder
from neardup.engines.job.plan import Plan, Remedies, plan_of
from neardup.engines.job.sample import stages_of
from neardup.engines.job_options import Work
from neardup.engines.ray.calls import Calls
from neardup.engines.ray.copy_input import INPUT, REFERENCE, copied_first, steady
from neardup.engines.ray.described import demand_unchanged, described
from neardup.engines.ray.engine import RayEngine
from neardup.engines.ray.failures import told
from neardup.engines.ray.nodes import Nodes, nodes
from neardup.engines.ray.sampled import sample_of
from neardup.engines.ray.sources import Input
from neardup.engines.reading.unique_ids import demand_ids
from neardup.engines.setting import Setting
from neardup.engines.stages import THERE, Measured
from neardup.version import __version__

REMEDIES = Remedies(
    limit="the node with the most memory",
    more_memory="Give nodes more memory (`ray start --memory`), or write long texts to files of their own.",
    fewer_buckets="Give nodes more memory for each CPU",
    smaller_parts="Write the input to more files.",
)
PLACE = "A worker"
_log = logging.getLogger("neardup")


def planned(given: Input, work: Work, found: Nodes) -> Plan:
    """Plan a job: counts the rows of the input, reads some texts, and runs the first stages on these."""
    calls = Calls(Setting(__version__, 1, PLACE))
    sample = sample_of(given, calls)
    whole = replace(work, documents=sum(sample.rows))
    return plan_of(
        sample,
        stages_of(sample, work),
        REMEDIES,
        least_buckets=4 * found.slots,
        limit_bytes=found.most_bytes,
        wanted_bytes=found.bytes_each,
        has_one_key=METHODS[work.options.method].has_one_key(whole),
    )


def started(given: Input, work: Work, path: str, *, kind: str = "deduplicate") -> RayEngine:
    """The engine of a job, which goes on with what a run that failed left in the folder. `kind`: what the job is.

    Raises:
        RecipeMismatch: the folder is that of another job.
        InputError: it is none of a job, and not empty; or ids are null or occur twice.
        OptionError: the job cannot finish.
    """
    before: list[Measured] = []
    with told():
        folder, cluster = Folder(path), nodes()
        kept = Kept(folder, _description(given, work, kind))
        if copied_first(given):
            with _timed(before, "copy"):
                given = steady(given, kept, folder, Setting(__version__, 1, PLACE))
        if kept.division:
            _log.info("going on with the job in %s", kept.folder)
        else:
            with _timed(before, "plan"):
                plan = planned(given, work, cluster)
            _log.info("%s", plan)
            plan.demand()
            folder.make("")
            kept.begin({"buckets": plan.buckets, "memory": plan.task_bytes})
        calls = Calls(Setting(__version__, kept.division["buckets"], PLACE), cluster.reserved(kept.division["memory"]))
        engine = RayEngine(given, kept, folder, calls, before)
        demand_ids(engine, given.documents.id)
    return engine


def finished(engine: RayEngine) -> None:
    """Look, when all has been decided, whether the files of the input are still those that the job began with.

    Raises:
        DataError: they are not.
    """
    for name, each in zip((INPUT, REFERENCE), engine.input.sources, strict=False):
        demand_unchanged(name, each, engine.kept.job[name])


@contextmanager
def _timed(told: list[Measured], name: str) -> Iterator[None]:
    """Note how long something takes that is no stage."""
    begun = time.monotonic()
    yield
    told.append(Measured(name, time.monotonic() - begun, ran=THERE))


def _description(given: Input, work: Work, kind: str) -> dict[str, Any]:
    """All that decides what stages give, as plain values."""
    documents = given.documents
    sources = zip((INPUT, REFERENCE), given.sources, strict=False)
    found = job_of(work, kind, text=documents.text, id=documents.id, order=documents.order)
    return found | {name: described(each) for name, each in sources}
