"""FUNCTIONS for frames of Spark, and what they return: those of `neardup.spark`."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Unpack

import pyarrow as pa

from neardup.engines.flow import Decided
from neardup.engines.frontend import Given, WithinOptions
from neardup.engines.job.plan import Plan
from neardup.engines.packing import unsorted
from neardup.engines.repeats.flow import CutPassages
from neardup.engines.repeats.outcomes import LOG_COLUMNS
from neardup.engines.repeats.summary import EnginePassageSummary
from neardup.engines.repeats.summary import summary_of as passage_summary
from neardup.engines.repeats.summary import totals_of as totals_of_passages
from neardup.engines.repeats.work import LOGGED
from neardup.engines.results.summary import EngineSummary, summary_of
from neardup.engines.schemas import REFERENCE, ROW_BITS
from neardup.engines.spark import tasks
from neardup.engines.spark.engine import Held, SparkEngine
from neardup.engines.spark.failures import translated_errors
from neardup.engines.spark.frames import column
from neardup.engines.spark.frontend import FRONTEND
from neardup.engines.spark.tasks import with_fingerprints
from neardup.engines.spark.told_frames import told
from neardup.engines.stages import Measured
from neardup.errors import OptionError
from neardup.options import DedupOptionsDict, refuse_unknown
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.survivors.repeats.options import PassageOptionsDict
from neardup.version import __version__

_TYPES = {pa.int64(): "long", pa.bool_(): "boolean", pa.large_string(): "string"}
"""What Spark calls types of the log."""


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

    schema = (
        "id string, survivor_id string, cluster_id string, exact boolean, similarity double, distance long, "
        "only_digits boolean"
    )
    frame = unpacked(results, schema)
    ids = [f.col(name).cast(kind).alias(name) for name in ("id", "survivor_id", "cluster_id")]
    return frame.select(*ids, "exact", known("similarity"), "distance", "only_digits")


@dataclass(frozen=True)
class SparkResult:
    """What a run on Spark has decided. Frames are lazy: the input must stay as it is until they are written.

    Attributes:
        survivors: the rows of the input that stay, with all their columns.
        duplicates: a row for each document that is removed: id, survivor_id, cluster_id, exact, similarity, distance, only_digits.
        stages: what each stage took.
        engine, decided: what made the frames.
    """

    survivors: Any
    duplicates: Any
    stages: tuple[Measured, ...]
    engine: SparkEngine
    decided: Decided

    @cached_property
    def summary(self) -> EngineSummary:
        """The counts of the run, and what its stages took. Spark counts when it is asked for first."""
        with translated_errors(self.engine.session):
            return summary_of(self.engine, self.decided)

    def __str__(self) -> str:
        return str(self.summary)

    def close(self) -> None:
        """Let go of what the executors keep on their disks for the frames, and of the folder of a job without `work=`.

        Nothing can be read of the frames afterwards if the job had no `work=`.
        """
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
        df: the DataFrame. It is read several times: from its files, if all that is done to them is to choose or compute columns
            and to filter rows. Any other, such as one that is shuffled, sorted, cached or made in the session, is copied to `work`
            first, with all its columns, and the survivors are rows of the copy. A partition that has changed is refused.
        text: the column of the texts.
        id: the column of the ids, strings or integers, each of which occurs once; in `against`, they may be any.
        order: the columns by which the documents are in order, which says which comes first; equal ones are ordered by id. Without
            it, the order is that of files and rows, and a frame that would be copied is refused.
        against: a DataFrame with the same columns: documents near one of its documents are removed. It is in
            order by the same columns.
        work: a folder, empty or not there, that all executors can read and write, for what goes from stage to stage. By default,
            one in the checkpoint folder of the session, or in the system's temporary folder if the session is of one machine.
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
    todo = FRONTEND.work_of(text, recipe, options, deduplicate)
    engine, decided = FRONTEND.decided(todo, Given(df, text, id, order, against, work))
    from pyspark.sql import functions as f

    with translated_errors():
        documents = engine.input.documents.rows
        duplicates = duplicates_of(decided.results, df.schema[id].dataType)
        gone = f"neardup_gone_{secrets.token_hex(8)}"  # which is no other column
        survivors = documents.join(duplicates.select(f.col("id").alias(gone)), column(id) == f.col(gone), "left_anti")
    return SparkResult(told(survivors), told(duplicates), engine.stages, engine, decided)


@dataclass(frozen=True)
class SparkPassages:
    """What a run on Spark has cut. Frames are lazy: the input must stay as it is until they are written.

    Attributes:
        documents: the rows of the input with all their columns; passages are cut from their texts, and documents of which too
            little is left are not there.
        passages: a row for each passage that is cut: id, start, end (characters of the text as it was), tokens; copy_id,
            copy_start, copy_end, copy_is_cut, copy_in_reference: of the copy that it repeats; separator, which was put in its
            place, if one was; document_removed.
        stages: what each stage took.
        engine, found: what made the frames, and the passages as it holds them.
    """

    documents: Any
    passages: Any
    stages: tuple[Measured, ...]
    engine: SparkEngine
    found: CutPassages

    @cached_property
    def summary(self) -> EnginePassageSummary:
        """The counts of the run, and what its stages took. Spark counts when it is asked for first."""
        with translated_errors(self.engine.session):
            return passage_summary(totals_of_passages(self.engine, self.found), self.engine.seen or {}, self.stages)

    def __str__(self) -> str:
        return str(self.summary)

    def close(self) -> None:
        """Let go of what the executors keep on their disks for the frames, and of the folder of a job without `work=`.

        Nothing can be read of the frames afterwards if the job had no `work=`.
        """
        self.engine.close()


def passages(
    df: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the same name as elsewhere
    order: str | Sequence[str] = (),
    against: Any = None,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[PassageOptionsDict],
) -> SparkPassages:
    """Cut passages that stood earlier, in another document or the same one. What is cut is what `neardup passages` cuts.

    Args:
        df: the DataFrame, as in `deduplicate`.
        text, id: the columns of the texts and of the ids.
        order: the columns by which the documents are in order, as in `deduplicate`: the first copy of a passage stays.
        against: a DataFrame with the same columns, whose passages all stay: passages of `df` that stand in it are cut.
        work: a folder, as in `deduplicate`.
        recipe: as in `neardup.deduplicate`; its normalizers say which texts are equal.
        **options: min_tokens (50), scope, align, min_left, similarity, keep, keep_as and within of `neardup.passages`.

    Raises:
        OptionError, InputError, RecipeMismatch, DataError, OSError, MemoryError: as in `deduplicate`.
    """
    todo = FRONTEND.passage_work_of(text, recipe, options, passages)
    engine, found = FRONTEND.cut(todo, Given(df, text, id, order, against, work))
    from pyspark.sql import functions as f

    with translated_errors():
        kind, documents, name = df.schema[id].dataType, engine.input.documents.rows, secrets.token_hex(8)
        key, new, removed = (
            f"neardup_{each}_{name}" for each in ("id", "text", "removed")
        )  # which are no other columns
        edited = unpacked(found.outcomes, "id string, text string, is_removed boolean").select(
            f.col("id").cast(kind).alias(key), f.col("text").alias(new), f.col("is_removed").alias(removed)
        )
        joined = documents.join(edited, column(id) == f.col(key), "left").where(f"not coalesce({removed}, false)")
        cut = f.coalesce(f.col(new), column(text)).cast(df.schema[text].dataType).alias(text)
        rows = joined.select(*(cut if each == text else column(each) for each in df.columns))
        listed = unpacked(
            found.log, ", ".join(f"{name} {_TYPES[LOGGED.schema.field(name).type]}" for name in LOG_COLUMNS)
        )
        ids = {each: f.col(each).cast(kind).alias(each) for each in ("id", "copy_id")}
        log = listed.select(*(ids.get(each, f.col(each)) for each in LOG_COLUMNS))
    return SparkPassages(told(rows), told(log), engine.stages, engine, found)


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
    todo = FRONTEND.work_of(text, recipe, options, plan)
    return FRONTEND.plan(todo, Given(df, text, id, order, against))


def filter_new(
    df: Any,
    reference: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    order: str | Sequence[str] = (),
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[WithinOptions],
) -> SparkResult:
    """Keep the rows that are near no document of a reference, and near no row before them that is kept.

    It is `deduplicate` with `against=reference`, `keep="first"` and `cluster="star"`: what `neardup dedup --against` and `neardup
    filter --store` decide.

    Args:
        df: the DataFrame, as in `deduplicate`.
        reference: a DataFrame of known documents, with the same columns.
        text, id, order, work, recipe: as in `deduplicate`.
        **options: method (by default exact), min_similarity, similarity, max_distance, guard, within of `deduplicate`.

    Raises:
        OptionError, InputError, DataError: as in `deduplicate`; the reference is missing.
    """
    if reference is None:
        raise OptionError("`reference=None`: give a frame of known documents, or use `deduplicate`.")
    refuse_unknown(options, filter_new)
    return deduplicate(df, text=text, id=id, order=order, against=reference, work=work, recipe=recipe, **options)


def clusters(
    df: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    order: str | Sequence[str] = (),
    against: Any = None,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[DedupOptionsDict],
) -> Any:
    """The clusters, as `clusters` of what `neardup.deduplicate` returns: a row for each document in a cluster of two or more.

    Returns a DataFrame of id, cluster_id (of the first document of the cluster), survivor_id. Documents of a reference are no
    rows, but may be survivors. Its rows lie in the folder of `work`: delete that when you have written them. Arguments and errors
    are those of `deduplicate`.
    """
    todo = FRONTEND.work_of(text, recipe, options, clusters)
    engine, decided = FRONTEND.decided(todo, Given(df, text, id, order, against, work))
    engine.let_go()
    from pyspark.sql import functions as f

    found = unpacked(decided.results, "id string, cluster_id string, survivor_id string, survivor long")
    survivors = found.where(f.col("survivor") < REFERENCE << ROW_BITS).select(
        f.col("survivor_id").alias("id"), "cluster_id", "survivor_id"
    )
    both = found.drop("survivor").unionAll(survivors.distinct())
    kind = df.schema[id].dataType
    return told(both.select(*(f.col(name).cast(kind).alias(name) for name in both.columns)))


def pairs(
    df: Any,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    order: str | Sequence[str] = (),
    against: Any = None,
    distinct: bool = False,
    work: str | None = None,
    recipe: RecipeLike | None = None,
    **options: Unpack[WithinOptions],
) -> Any:
    """Every pair of near-duplicates, as `neardup pairs` and `neardup.match` list them.

    Pairs are many by nature: n documents that are all alike have n (n - 1) / 2, and equal ones as well. No task holds all pairs
    of a class of equal ones. `deduplicate` and `clusters` need no list of pairs. Of equal texts without any word, each is listed
    with the first of them only.

    Args:
        df: the DataFrame, as in `deduplicate`.
        text, id, order, work, recipe: as in `deduplicate`.
        against: a DataFrame with the same columns. Then each pair has a document of `df`, on the left, and one of this.
        distinct: of documents with equal normalized texts, list pairs only for the first one in `df`, and in `against`.
        **options: method (by default exact), min_similarity, similarity, max_distance, guard, within of `neardup.match`.

    Returns a DataFrame of left_id, right_id, distance (of the fingerprints) and similarity (null if distances decide alone), in no
    order; of each pair, the left document is the earlier one. Its rows lie in the folder of `work`: delete that when you have
    written them.

    Raises:
        OptionError, InputError, DataError: as in `deduplicate`.
    """
    todo = FRONTEND.work_of(text, recipe, options, pairs)
    engine, found = FRONTEND.listed(todo, Given(df, text, id, order, against, work), distinct=distinct)
    engine.let_go()
    from pyspark.sql import functions as f

    rows = unpacked(found, "left_id string, right_id string, distance long, similarity double")
    ids = [f.col(name).cast(df.schema[id].dataType).alias(name) for name in ("left_id", "right_id")]
    return told(rows.select(*ids, "distance", known("similarity")))


def fingerprint(df: Any, *, text: str = "text", recipe: RecipeLike | None = None) -> Any:
    """The frame with a column `fingerprint` more: the SimHash of each text, that of `neardup.fingerprint`. It is lazy.

    Fingerprints of up to 64 bits are signed 64-bit integers (long) with the same bits, as Spark has no others: 2^63 and more are
    negative, and the Hamming distance of two is `bit_count(a ^ b)`. Wider ones are binary, the highest byte first, 8 bytes for
    each 64 bits. As in `neardup.fingerprint`, a null text is refused: by the task that meets it, when the frame is computed.

    Args:
        df: the DataFrame.
        text: the column of the texts.
        recipe: as in `neardup.fingerprint`.

    Raises:
        InputError: a column is missing, or the frame has a column `fingerprint`.
    """
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    with translated_errors():
        FRONTEND.demand_texts(df, text, tasks.FINGERPRINT)
    made = recipe_of(recipe)
    added = StructField(tasks.FINGERPRINT, LongType() if made.words == 1 else BinaryType(), nullable=False)
    work = tasks.Setting(__version__, 1).task(partial(with_fingerprints, made, text))
    return told(df.mapInArrow(work, StructType([*df.schema.fields, added])))
