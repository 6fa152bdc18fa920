"""The engine on Spark: packed rows are DataFrames, stages run by `mapInArrow` over partitions sorted by bucket."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.cluster_engine import ASCENT, ClusterEngine, Contents, HeldRows
from neardup.engines.job.plan import TEXTS_PER_BATCH
from neardup.engines.job_options import Work
from neardup.engines.reading.sorted_runs import Runs
from neardup.engines.schemas import PLACES
from neardup.engines.spark import settings, tasks
from neardup.engines.spark.failures import translated_errors
from neardup.engines.spark.folder import literal
from neardup.engines.spark.frames import Input
from neardup.engines.spark.scans import numbers_of
from neardup.engines.spark.sort import places
from neardup.engines.stages import Measured, Output, Reading, Stage
from neardup.version import __version__

PACKED_ROWS, PLACE_ROWS = 16, 1 << 14
"""Rows in an Arrow batch: of packed ones, which may be large, and of places."""


@dataclass(frozen=True)
class Held(HeldRows):
    """The rows of an output: on the cluster, or with the driver if they are few.

    Attributes:
        rows: the frame of the packed rows, by `bucket` and `content`.
        local: the buckets and packed rows that the driver has; None if it has none.
    """

    rows: Any = None
    local: Contents | None = None


class SparkEngine(ClusterEngine[Held]):
    """Runs stages on Spark.

    Attributes:
        session: of Spark.
        input: what is read.
    """

    def __init__(
        self, session: Any, given: Input, kept: Kept, *, partitions: int, before: Sequence[Measured] = ()
    ) -> None:
        """Packed rows go to the folder of a job that has begun. `before`: what was done before the first stage."""
        super().__init__(kept, before)
        self.session, self.input = session, given
        self._setting, self._partitions = tasks.Setting(__version__, self.buckets), partitions
        self._dividing: dict[str, str | None] = kept.division["settings"]
        self._frames: list[Any] = []
        self._numbers: Sequence[Runs] | None = None

    def _read(self, reading: Reading, path: str) -> tuple[Any, Measured]:
        work = partial(tasks.read, self.buckets, reading, self.seen)

        def frame() -> Any:
            readings = self.input.readings(self._numbers)
            frames = [
                each.mapInArrow(self._setting.task(partial(work, where)), tasks.PACKED) for each, where in readings
            ]
            return reduce(lambda a, b: a.unionAll(b), frames)

        return self._write(frame, TEXTS_PER_BATCH, path)

    def _run(self, stage: Stage, inputs: Sequence[Held], path: str) -> tuple[Any, Measured]:
        from pyspark.sql import functions as f

        def frame() -> Any:
            sent = [
                each.rows.select(f.lit(number).alias("input"), "bucket", "content")
                for number, each in enumerate(inputs)
            ]
            partitions = self._partitions if inputs[0].output.key else 1
            rows = (
                reduce(lambda a, b: a.unionAll(b), sent)
                .repartition(partitions, "bucket")
                .sortWithinPartitions("bucket")
            )
            work = partial(tasks.run, self.buckets, stage, tuple(each.output for each in inputs))
            return rows.mapInArrow(self._setting.task(work), tasks.PACKED)

        return self._write(frame, PACKED_ROWS, path)

    def _write(self, frame: Callable[[], Any], rows: int, path: str) -> tuple[Any, Measured]:
        """Write a frame of packed rows, made of Arrow batches of at most so many rows."""
        from pyspark.sql import functions as f

        with settings.taken(self.session, settings.batches(rows)):
            written = frame().withColumn("size", f.length("content")).write.option("compression", "none")
            written.partitionBy("output").parquet(path)
        return self._written(path)

    def _written(self, path: str) -> tuple[Any, Measured]:
        from pyspark.sql import functions as f

        whole, measured = self.session.read.schema(f"{tasks.PACKED}, size int").parquet(literal(path)), Measured("")
        for output, count, size in whole.groupBy("output").agg(f.sum("rows"), f.sum("size")).collect():
            measured.rows[output], measured.bytes[output] = count, size
        return whole, measured

    @contextlib.contextmanager
    def _running(self, name: str) -> Iterator[None]:
        """The input has the same partitions whenever it is read."""
        with (
            settings.shown_as(self.session, name),
            settings.taken(self.session, self._dividing),
            translated_errors(self.session),
        ):
            yield

    def _held(self, output: Output, name: str, written: Any, measured: Measured) -> Held:
        from pyspark.sql import functions as f

        if name not in measured.rows:
            return self.nothing(output)
        frame = written.where(f.col("output") == name).select("bucket", "content")
        return Held(output, measured.rows[name], measured.bytes[name], frame)

    def _here(self, output: Output, rows: Contents, count: int) -> Held:
        frame = self.session.createDataFrame([(bucket, bytearray(content)) for bucket, content in rows], tasks.HELD)
        return Held(output, count, sum(len(content) for _, content in rows), frame, rows)

    def _contents(self, held: Held) -> Contents:
        if held.local is not None:
            return held.local
        with translated_errors(self.session):
            return [(row.bucket, bytes(row.content)) for row in held.rows.collect()]

    def together(self, *rows: Held) -> Held:
        frame = reduce(lambda a, b: a.unionAll(b), [each.rows for each in rows])
        locals_ = [each.local for each in rows]
        local = [each for some in locals_ for each in some or []] if None not in locals_ else None
        return Held(rows[0].output, sum(each.count for each in rows), sum(each.size for each in rows), frame, local)

    def orders(self, work: Work) -> bool:
        """The rows of a frame have no order of their own, but those of files may ascend."""
        with self._looking(), self._running(ASCENT), settings.taken(self.session, settings.batches(PLACE_ROWS)):
            self._numbers = numbers_of(self.input, work, self._setting)
        return self._numbers is None

    def places(self, work: Work, documents: Held, compared_as: str | None) -> Held:  # noqa: ARG002

        def run(path: str) -> tuple[Any, Measured]:
            order = partial(places, self.input, work, compared_as or "", self._setting, self._persisted)
            return self._write(order, PLACE_ROWS, path)

        return self._materialized("order", run, {"places": PLACES})["places"]

    def _persisted(self, frame: Any) -> Any:
        """Keep a frame on the executors' disks until the engine is closed."""
        from pyspark import StorageLevel

        self._frames.append(frame.persist(StorageLevel.DISK_ONLY))
        return self._frames[-1]

    def close(self) -> None:
        self.let_go()
        super().close()

    def let_go(self) -> None:
        """Let go of what the executors keep, which nobody reads again."""
        with contextlib.suppress(Exception):  # the session may be gone
            for frame in self._frames:
                frame.unpersist()
