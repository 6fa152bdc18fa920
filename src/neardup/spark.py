"""De-duplicate data frames of Spark, with the answer of `neardup dedup`. Needs the extra `neardup[spark]`, and Java 17."""

import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

from neardup.engines.flow import deduplicate as _deduplicate
from neardup.engines.packing import unsorted
from neardup.engines.spark.engine import Held, SparkEngine
from neardup.engines.spark.failures import told
from neardup.engines.spark.frames import Input
from neardup.engines.spark.job import planned, started
from neardup.engines.spark.plan import Plan
from neardup.engines.spark.summary import SparkSummary, summary_of
from neardup.engines.stage import Measured
from neardup.engines.work import Work
from neardup.errors import InputError, OptionError
from neardup.options import DedupOptions, DedupOptionsDict, options_of
from neardup.recipe.presets import RecipeLike, recipe_of


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
    def summary(self) -> SparkSummary:
        """The counts of the run, and what its stages took. Spark counts when it is asked for first."""
        with told(self.engine.session):
            return summary_of(self.results, self.engine.seen or {}, self.stages)

    def __str__(self) -> str:
        return str(self.summary)

    def close(self) -> None:
        """Let go of what the executors keep on their disks for the frames."""
        self.engine.close()


def deduplicate(
    df: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the same name as elsewhere
    order: str | Sequence[str] = (),
    against: Any = None,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[DedupOptionsDict],
) -> SparkResult:
    """Remove near-duplicates from a DataFrame of Spark. Survivors and the audit are those of `neardup dedup`.

    Args:
        df: the DataFrame. It is read several times, and must have the same rows in the same partitions each time, as those of files
            have; a partition that has changed is refused.
        text: the column of the texts.
        id: the column of the ids, strings or integers, each of which occurs once.
        order: the columns by which the documents are in order, which says which comes first; equal ones are ordered by id. Without
            it, the order is that of files and rows, and a frame that is not read from files is refused.
        against: a DataFrame with the same columns: documents near one of its documents are removed.
        work: a folder that all executors can read and write, for what goes from stage to stage: empty or not there, or that of a
            run of the same job which failed, and then its finished stages are not run again. By default, a new one in the
            checkpoint folder of the session, or in the system's temporary folder if the session is of one machine.
        recipe: as in `neardup.deduplicate`.
        **options: those of `neardup.deduplicate`: method (by default exact), min_similarity, keep, cluster …

    Raises:
        OptionError: an option has a value that is not allowed, or cannot be had on Spark; or the job cannot finish, see `plan`.
        InputError: a column is missing, an id is null or occurs twice, or the folder is not empty and none of a job.
        RecipeMismatch: the folder has the work of another job.
        DataError: a text is null, the input changes, or rows in the folder are missing.
        OSError: a disk of the cluster is full, or no task runs any more.
        MemoryError: executors were killed several times.
    """
    from pyspark.sql import functions as f

    given, todo = _given(df, text, id, order, against, recipe, options_of({"method": "exact", **options}, deduplicate))
    session = df.sparkSession
    with told(session):
        given.demand_ids()
    engine = started(session, given, todo, work or _folder(session))
    decided = _deduplicate(engine, todo)
    duplicates = _duplicates(decided.results, df.schema[id].dataType)
    survivors = df.join(duplicates.select(f.col("id").alias(id)), id, "left_anti").select(*df.columns)
    return SparkResult(survivors, duplicates, tuple(engine.measured), engine, decided.results)


def plan(
    df: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the same name as elsewhere
    order: str | Sequence[str] = (),
    against: Any = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[DedupOptionsDict],
) -> Plan:
    """Estimate what `deduplicate` takes: it counts the rows, reads some texts, and runs the first stages on these in this process.

    `deduplicate` makes the same plan, logs it by the logger `neardup`, and refuses a job that cannot finish (`Plan.problems`).

    Args:
        df, text, id, order, against, recipe, **options: as in `deduplicate`.

    Raises:
        OptionError, InputError: as in `deduplicate`.
    """
    given, todo = _given(df, text, id, order, against, recipe, options_of({"method": "exact", **options}, deduplicate))
    return planned(df.sparkSession, given, todo)


def _given(
    df: Any,
    text: str,
    id: str,  # noqa: A002
    order: str | Sequence[str],
    against: Any,
    recipe: RecipeLike | None,
    chosen: DedupOptions,
) -> tuple[Input, Work]:
    """The input and what is to be done with it, if that can be."""
    todo = Work.of(recipe_of(recipe), chosen)
    _demand_possible(todo)
    names = (order,) if isinstance(order, str) else tuple(order)
    for frame, wanted in ((df, [text, id, *names, *chosen.columns]), (against, [text, id])):
        missing = [name for name in wanted if frame is not None and name not in frame.columns]
        if missing:
            raise InputError(f"The frame has no column {missing[0]!r}; it has {', '.join(map(repr, frame.columns))}.")
        for name in (text,) if frame is not None else ():
            kind = frame.schema[name].dataType.simpleString()
            if kind != "string":
                raise InputError(
                    f"The column {name!r} holds {kind}, not strings. Name the column of the texts, or cast it."
                )
    return Input(df, text, id, names, against, chosen.grouped_by, chosen.preferred_by), todo


def _folder(session: Any) -> str:
    """A new folder for what goes from stage to stage.

    Raises:
        OptionError: no folder is known that all executors share.
    """
    context = session.sparkContext
    shared = context._jsc.sc().getCheckpointDir()
    if shared.isDefined():
        return f"{shared.get()}/neardup-{secrets.token_hex(8)}"
    if context.master.startswith("local"):
        return f"{tempfile.gettempdir()}/neardup-{secrets.token_hex(8)}"
    raise OptionError(
        "This session has no folder that its executors share. Give `work=`, or call `spark.sparkContext.setCheckpointDir`."
    )


def _demand_possible(work: Work) -> None:
    if work.options.functions:
        raise OptionError(
            "On Spark, `keep` and `within` name columns: functions are not taken. Add a column of their values."
        )
    if work.options.prefer_source:
        raise OptionError(
            "On Spark, `prefer_source` is not taken. Give the frame a column that says how good a source is, and `keep`."
        )


def _duplicates(results: Held, kind: Any) -> Any:
    """The results, unpacked, as a frame."""
    from pyspark.sql import functions as f

    output = results.output
    names = ("id", "survivor_id", "cluster_id", "exact", "similarity", "distance")

    def unpacked(batches: Any) -> Any:
        for batch in batches:
            for content in batch.column(0).to_pylist():
                yield from unsorted([content], output).select(names).to_batches()

    schema = "id string, survivor_id string, cluster_id string, exact boolean, similarity double, distance long"
    frame = results.rows.select("content").mapInArrow(unpacked, schema)
    ids = [f.col(name).cast(kind).alias(name) for name in names[:3]]
    return frame.select(
        *ids, "exact", f.when(~f.isnan("similarity"), f.col("similarity")).alias("similarity"), "distance"
    )
