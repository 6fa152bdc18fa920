"""JOB on Spark, see `neardup.engines.job.cluster_job`."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.cluster_job import ClusterJob, Words
from neardup.engines.job.plan import Plan, Remedies
from neardup.engines.job.sample import Sample
from neardup.engines.job_options import Work
from neardup.engines.spark import settings
from neardup.engines.spark.engine import SparkEngine
from neardup.engines.spark.failures import translated_errors
from neardup.engines.spark.folder import Folder, literal
from neardup.engines.spark.frames import Frame, Input, column
from neardup.engines.spark.plans import files_of, is_steady, steps_of
from neardup.engines.spark.scans import sample_of
from neardup.engines.spark.settings import memory_of_tasks, settings_of
from neardup.engines.spark.tasks import Setting
from neardup.engines.stages import Measured
from neardup.version import __version__

REMEDIES = Remedies(
    limit="an executor",
    more_memory="Raise `spark.executor.memoryOverhead` (or `spark.executor.pyspark.memory`, where it is set), or lower "
    "`spark.executor.cores`.",
    fewer_buckets="Give executors more memory for a task, use fewer shuffle partitions",
    smaller_parts="Read the input in smaller partitions (`spark.sql.files.maxPartitionBytes`), or write it to more files.",
)
NOT_TAKEN = {
    "prefer": "Join the reference and the documents to one, and take the `duplicates` of that: they name what loses of either.",
    "keep_most": "Take `clusters`, and keep the first rows of each `cluster_id`.",
    "drop_matched": 'Take `clusters` with `cluster="components"`, and keep the rows that are in none.',
    "max_cluster": "Count the rows of each `cluster_id` of `clusters`.",
    "elements": "Only texts are compared there; `neardup.deduplicate` takes lists.",
    "html": "Take the texts out of the pages first, and give a column of these.",
    "source": "It is for `prefer_source`, which is not taken. Give the frame a column that says how good a source is, and `keep`.",
    "progress": "Spark shows what runs on its own page, where jobs have the names of the stages.",
    "threads": "The cores of the executors say how many tasks run at a time, see `spark.executor.cores`.",
    "memory": "The memory of the executors is that of `spark.executor.memory` and `spark.executor.memoryOverhead`.",
    "temp_dir": "What goes from stage to stage lies in `work=`; Spark's own files, where `spark.local.dir` says.",
    "temp_limit": "What goes from stage to stage lies in `work=`, and takes what the stages need.",
    "unit": "Only whole documents are removed there; `neardup.deduplicate_units` removes lines and paragraphs.",
}
"""What `neardup.deduplicate` takes and Spark does not, with what to do instead."""
WORDS = Words(
    engine="Spark",
    rows="frame",
    argument="df",
    join="Join several with `concat_ws('\\n', …)` of Spark, and name it.",
    not_taken=NOT_TAKEN,
    unsteady="`dropDuplicates` or `limit`",
    remedies=REMEDIES,
)


class SparkJob(ClusterJob[Frame, SparkEngine]):
    """A job on Spark.

    Attributes:
        session: of Spark.
    """

    words = WORDS
    given: Input

    def __init__(self, given: Input, work: Work) -> None:
        super().__init__(given, work)
        self.session = given.documents.rows.sparkSession

    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        return translated_errors(self.session)

    def is_steady(self, documents: Frame) -> bool:
        return is_steady(documents.rows)

    def _shown_as(self, name: str) -> contextlib.AbstractContextManager[None]:
        return settings.shown_as(self.session, name)

    def _described(self, documents: Frame) -> dict[str, Any]:
        with settings.taken(self.session, {settings.SHOWN_FIELDS: str(1 << 30)}):
            steps = steps_of(documents.rows)
        columns = {field.name: field.dataType.simpleString() for field in documents.rows.schema.fields}
        return {"columns": columns, "steps in Spark": steps}

    def _files(self, documents: Frame) -> Sequence[tuple[str, int, str]]:
        return files_of(documents.rows)

    def _sample(self) -> Sample:
        with settings.taken(self.session, settings.dividing(self.session)):
            return sample_of(self.given, Setting(__version__, 1))

    def _limits(self) -> dict[str, Any]:
        return {"least_buckets": self._partitions, "limit_bytes": memory_of_tasks(settings_of(self.session))}

    @property
    def _partitions(self) -> int:
        return int(self.session.conf.get("spark.sql.shuffle.partitions"))

    def _store(self, path: str) -> Folder:
        return Folder(self.session, path)

    def _look(self, before: list[Measured]) -> None:
        with self._timed(before, "look at ids"):
            self.given.demand_ids()

    def _division(self, plan: Plan) -> dict[str, Any]:
        return {"buckets": plan.buckets, "settings": settings.dividing(self.session)}

    def _engine(self, kept: Kept, before: Sequence[Measured]) -> SparkEngine:
        return SparkEngine(self.session, self.given, kept, partitions=self._partitions, before=before)

    def _copy(self, documents: Frame, path: str) -> dict[str, Any]:
        documents.rows.write.option("compression", "zstd").parquet(path)
        return _content(self._copied(documents, path, {}))

    def _content(self, documents: Frame) -> dict[str, Any]:
        return _content(documents.rows)

    def _copied(self, documents: Frame, path: str, known: Mapping[str, Any]) -> Any:  # noqa: ARG002
        return self.session.read.schema(documents.rows.schema).parquet(literal(path))


def _content(frame: Any) -> dict[str, Any]:
    """Rows, and a sum over those of the columns that Spark can hash."""
    from pyspark.sql import functions as f

    kinds = ((field.name, field.dataType.simpleString()) for field in frame.schema.fields)
    hashed = f.xxhash64(*(column(name) for name, kind in kinds if "map<" not in kind and "variant" not in kind))
    found = frame.agg(f.count("*").alias("rows"), f.sum(hashed.cast("decimal(20,0)")).alias("sum")).first()
    return {"rows": found.rows, "sum": str(found.sum or 0)}
