"""The engine on Spark: packed rows are DataFrames, stages run by `mapInArrow` over partitions sorted by bucket."""

import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import pyarrow as pa

from neardup.display import size_text
from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.plan import TEXT_ROWS
from neardup.engines.job_options import Work
from neardup.engines.packing import pack_all, unpack, unsorted
from neardup.engines.reading.sorted_runs import Runs
from neardup.engines.reading.unchanged_input import SEEN, Content, contents_in, demand_all
from neardup.engines.schemas import PLACES
from neardup.engines.spark import settings, tasks
from neardup.engines.spark.failures import told
from neardup.engines.spark.files import literal
from neardup.engines.spark.frames import Input
from neardup.engines.spark.ordered import numbers_of
from neardup.engines.spark.sort import places
from neardup.engines.stages import HERE, THERE, Measured, Output, Reading, Stage
from neardup.version import __version__

SMALL = 1 << 24
"""Bytes of packed rows up to which a stage runs on the driver: of those that it gets, and of those that it gives."""
ASCENT = "order of rows"
"""The name of what looks whether rows ascend, in each run."""
PACKED_ROWS, PLACE_ROWS = 16, 1 << 14
"""Rows in an Arrow batch: of packed ones, which may be large, and of places."""
_log = logging.getLogger("neardup")


@dataclass(frozen=True)
class Held:
    """The rows of an output: on the cluster, or with the driver if they are few.

    Attributes:
        output: their columns and key.
        rows: the frame of the packed rows, by `bucket` and `content`.
        count, size: how many rows there are, and how many bytes they take.
        local: the buckets and packed rows that the driver has; None if it has none.
    """

    output: Output
    rows: Any
    count: int
    size: int
    local: list[tuple[int, bytes]] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return self.count == 0


class SparkEngine:
    """Runs stages on Spark.

    Attributes:
        session: of Spark.
        input: what is read.
        kept: the folder.
        measured: what each stage took.
        seen: what the partitions of the input held when they were read first, by part.
    """

    def __init__(
        self, session: Any, given: Input, kept: Kept, *, partitions: int, before: Sequence[Measured] = ()
    ) -> None:
        """Packed rows go to the folder of a job that has begun. `before`: what was done before the first stage."""
        self.session, self.input, self.kept, self._before = session, given, kept, tuple(before)
        self._setting, self._partitions = tasks.Setting(__version__, kept.division["buckets"]), partitions
        self._dividing: dict[str, str | None] = kept.division["settings"]
        self._frames: list[Any] = []
        self.measured: list[Measured] = []
        self.seen: dict[int, Content] | None = None
        self._numbers: Sequence[Runs] | None = None

    @property
    def stages(self) -> tuple[Measured, ...]:
        """What each stage took, and what was done before the first."""
        return (*self._before, *self.measured)

    def read(self, reading: Reading) -> dict[str, Held]:
        """See `Engine`."""
        outputs = {**reading.outputs, "seen": SEEN}

        def frame() -> Any:
            work = partial(tasks.read, self._setting.buckets, reading, self.seen)
            readings = self.input.readings(self._numbers)
            frames = [
                each.mapInArrow(self._setting.task(partial(work, where)), tasks.PACKED) for each, where in readings
            ]
            return reduce(lambda a, b: a.unionAll(b), frames)

        found = self._materialized(reading.name, frame, outputs, TEXT_ROWS)
        seen = contents_in(self.collect(found["seen"]))
        if self.seen is None:
            self.seen = seen
        demand_all(self.seen, seen)
        return found

    def run(self, stage: Stage, *inputs: Held) -> dict[str, Held]:
        """See `Engine`. Where all inputs are small, the driver does the work itself; again if a run goes on, as that is cheap.

        Few rows may have many pairs: where they give more than is small, the cluster does the work, from its beginning.
        """
        from pyspark.sql import functions as f

        is_small = sum(each.size for each in inputs) <= SMALL
        if is_small and not self.kept.has(len(self.measured), stage.name):
            held = self._run_here(stage, inputs)
            if held is not None:
                return held

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
            work = partial(tasks.run, self._setting.buckets, stage, tuple(each.output for each in inputs))
            return rows.mapInArrow(self._setting.task(work), tasks.PACKED)

        return self._materialized(stage.name, frame, stage.outputs, PACKED_ROWS)

    def _run_here(self, stage: Stage, inputs: Sequence[Held]) -> dict[str, Held] | None:
        """Run a stage on the driver; None if it gives more than is small."""
        begun, measured = time.monotonic(), Measured(stage.name, ran=HERE)
        given: dict[int, list[list[bytes]]] = {}
        for number, each in enumerate(inputs):
            for bucket, content in self._contents(each):
                given.setdefault(bucket, [[] for _ in inputs])[number].append(content)
        held: dict[str, list[tuple[int, bytes]]] = {name: [] for name in stage.outputs}
        outputs = tuple(each.output for each in inputs)
        size = 0
        for bucket in sorted(given):
            tables = (unpack(contents, output) for contents, output in zip(given[bucket], outputs, strict=True))
            for name, packed in pack_all(stage.work(*tables), stage.outputs, self._setting.buckets):
                held[name].append((packed.bucket, packed.content))
                measured.rows[name] = measured.rows.get(name, 0) + packed.rows
                measured.bytes[name] = measured.bytes.get(name, 0) + len(packed.content)
                size += len(packed.content)
                if size > SMALL:
                    return None
        measured.seconds = time.monotonic() - begun
        self._note(measured)
        return {name: self._here(output, held[name], measured, name) for name, output in stage.outputs.items()}

    def _here(self, output: Output, local: list[tuple[int, bytes]], measured: Measured, name: str) -> Held:
        frame = self.session.createDataFrame([(bucket, bytearray(content)) for bucket, content in local], tasks.HELD)
        return Held(output, frame, measured.rows.get(name, 0), measured.bytes.get(name, 0), local)

    def _contents(self, held: Held) -> list[tuple[int, bytes]]:
        """The buckets and packed rows of an output."""
        if held.local is not None:
            return held.local
        with told(self.session):
            return [(row.bucket, bytes(row.content)) for row in held.rows.collect()]

    def _materialized(
        self, name: str, frame: Callable[[], Any], outputs: Mapping[str, Output], rows: int
    ) -> dict[str, Held]:
        """Run a stage, and write what it gives to the folder, from which the next stages read it; unless it is there."""
        from pyspark.sql import functions as f

        number, begun = len(self.measured), time.monotonic()
        with settings.shown_as(self.session, name), self._settings(rows), told(self.session):
            if self.kept.has(number, name):
                path, measured = self.kept.stage(number, name)
                whole, found = self._written(path, name)
                self.kept.demand_whole(path, measured, found)
            else:
                path = self.kept.path(number, name)
                written = frame().withColumn("size", f.length("content")).write.option("compression", "none")
                written.partitionBy("output").parquet(path)
                whole, measured = self._written(path, name)
                measured.seconds = time.monotonic() - begun
                self.kept.finish(number, path, measured)
        self._note(measured)
        held = {}
        for each, output in outputs.items():
            if each in measured.rows:
                kept = whole.where(f.col("output") == each).select("bucket", "content")
                held[each] = Held(output, kept, measured.rows[each], measured.bytes[each])
            else:
                held[each] = self._here(output, [], measured, each)
        return held

    def _written(self, path: str, name: str) -> tuple[Any, Measured]:
        """The frame of what a stage has written, and how much that is."""
        from pyspark.sql import functions as f

        whole, measured = (
            self.session.read.schema(f"{tasks.PACKED}, size int").parquet(literal(path)),
            Measured(name, ran=THERE),
        )
        for output, count, size in whole.groupBy("output").agg(f.sum("rows"), f.sum("size")).collect():
            measured.rows[output], measured.bytes[output] = count, size
        return whole, measured

    def _note(self, measured: Measured) -> None:
        self.measured.append(measured)
        rows, size = sum(measured.rows.values()), sum(measured.bytes.values())
        _log.info(
            "%s (%s): %s rows, %s, %.1f s", measured.name, measured.ran, f"{rows:,}", size_text(size), measured.seconds
        )

    def _settings(self, rows: int) -> contextlib.AbstractContextManager[None]:
        """Let Arrow batches have so many rows at most, and the input the same partitions whenever it is read."""
        return settings.taken(self.session, {**self._dividing, **settings.batches(rows)})

    def nothing(self, output: Output) -> Held:
        """See `Engine`."""
        return self._here(output, [], Measured(""), "")

    def together(self, *rows: Held) -> Held:
        """See `Engine`."""
        frame = reduce(lambda a, b: a.unionAll(b), [each.rows for each in rows])
        locals_ = [each.local for each in rows]
        local = [each for some in locals_ for each in some or []] if None not in locals_ else None
        return Held(rows[0].output, frame, sum(each.count for each in rows), sum(each.size for each in rows), local)

    def collect(self, rows: Held) -> pa.Table:
        """See `Engine`."""
        return unsorted([content for _, content in self._contents(rows)], rows.output)

    def orders(self, work: Work) -> bool:
        """See `Engine`: the rows of a frame have no order of their own, but those of files may ascend."""
        begun, measured = time.monotonic(), Measured(ASCENT, ran=THERE)
        with settings.shown_as(self.session, ASCENT), self._settings(PLACE_ROWS), told(self.session):
            self._numbers = numbers_of(self.input, work, self._setting)
        measured.seconds = time.monotonic() - begun
        self._note(measured)
        return self._numbers is None

    def places(self, work: Work, documents: Held) -> Held:  # noqa: ARG002
        """See `Engine`."""

        def frame() -> Any:
            return places(self.input, work, self._setting, self._persisted)

        return self._materialized("order", frame, {"places": PLACES}, PLACE_ROWS)["places"]

    def _persisted(self, frame: Any) -> Any:
        """Keep a frame on the executors' disks until the engine is closed."""
        from pyspark import StorageLevel

        self._frames.append(frame.persist(StorageLevel.DISK_ONLY))
        return self._frames[-1]

    def close(self) -> None:
        """Let go of what the executors keep."""
        for frame in self._frames:
            frame.unpersist()
