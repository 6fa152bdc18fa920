"""The engine on Spark: packed rows are DataFrames, stages run by `mapInArrow` over partitions sorted by bucket."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import pyarrow as pa

from neardup import errors
from neardup.engines.packing import pack_all, unpack, unsorted
from neardup.engines.schemas import PLACES
from neardup.engines.seen import SEEN, Content, contents_in, demand_all
from neardup.engines.spark import tasks
from neardup.engines.spark.frames import Input
from neardup.engines.stage import Measured, Output, Reading, Stage
from neardup.engines.work import Work
from neardup.errors import InputError
from neardup.version import __version__

SMALL = 1 << 24
"""Bytes of packed inputs up to which a stage runs on the driver."""
BATCHES = "spark.sql.execution.arrow.maxRecordsPerBatch"
PARALLELISM = "spark.sql.leafNodeDefaultParallelism"
PACKED_ROWS, TEXT_ROWS = 16, 1024
"""Rows in an Arrow batch: of packed ones, which may be large, and of texts."""


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
        measured: what each stage took.
    """

    def __init__(
        self, session: Any, given: Input, folder: str, *, buckets: int, partitions: int, small: int | None = None
    ) -> None:
        """Packed rows go to a folder. `small`: bytes of inputs up to which a stage runs on the driver."""
        self._session, self._input, self._folder = session, given, folder
        self._setting, self._partitions = tasks.Setting(__version__, buckets), partitions
        self._seen: dict[int, Content] | None = None
        self._frames: list[Any] = []
        given_parallelism = session.conf.get(PARALLELISM, None)
        self._parallelism = int(given_parallelism or session.sparkContext.defaultParallelism)
        self._small = SMALL if small is None else small
        self.measured: list[Measured] = []

    def read(self, reading: Reading) -> dict[str, Held]:
        """See `Engine`."""
        outputs = {**reading.outputs, "seen": SEEN}
        frames = [
            frame.mapInArrow(partial(tasks.read, self._setting, reading, self._seen, where), tasks.PACKED)
            for frame, where in self._input.readings()
        ]
        found = self._materialized(reading.name, reduce(lambda a, b: a.unionAll(b), frames), outputs, TEXT_ROWS)
        seen = contents_in(self.collect(found["seen"]))
        if self._seen is None:
            self._seen = seen
        demand_all(self._seen, seen)
        return found

    def run(self, stage: Stage, *inputs: Held) -> dict[str, Held]:
        """See `Engine`. Where all inputs are small, the driver does the work itself."""
        from pyspark.sql import functions as f

        if sum(each.size for each in inputs) <= self._small:
            return self._run_here(stage, inputs)
        sent = [
            each.rows.select(f.lit(number).alias("input"), "bucket", "content") for number, each in enumerate(inputs)
        ]
        partitions = self._partitions if inputs[0].output.key else 1
        frame = (
            reduce(lambda a, b: a.unionAll(b), sent).repartition(partitions, "bucket").sortWithinPartitions("bucket")
        )
        work = partial(tasks.run, self._setting, stage, tuple(each.output for each in inputs))
        return self._materialized(stage.name, frame.mapInArrow(work, tasks.PACKED), stage.outputs, PACKED_ROWS)

    def _run_here(self, stage: Stage, inputs: Sequence[Held]) -> dict[str, Held]:
        """Run a stage on the driver."""
        begun, measured = time.monotonic(), Measured(stage.name)
        given: dict[int, list[list[bytes]]] = {}
        for number, each in enumerate(inputs):
            for bucket, content in self._contents(each):
                given.setdefault(bucket, [[] for _ in inputs])[number].append(content)
        held: dict[str, list[tuple[int, bytes]]] = {name: [] for name in stage.outputs}
        outputs = tuple(each.output for each in inputs)
        for bucket in sorted(given):
            tables = (unpack(contents, output) for contents, output in zip(given[bucket], outputs, strict=True))
            for name, packed in pack_all(stage.work(*tables), stage.outputs, self._setting.buckets):
                held[name].append((packed.bucket, packed.content))
                measured.rows[name] = measured.rows.get(name, 0) + packed.rows
                measured.bytes[name] = measured.bytes.get(name, 0) + len(packed.content)
        measured.seconds = time.monotonic() - begun
        self.measured.append(measured)
        return {name: self._here(output, held[name], measured, name) for name, output in stage.outputs.items()}

    def _here(self, output: Output, local: list[tuple[int, bytes]], measured: Measured, name: str) -> Held:
        frame = self._session.createDataFrame([(bucket, bytearray(content)) for bucket, content in local], tasks.HELD)
        return Held(output, frame, measured.rows.get(name, 0), measured.bytes.get(name, 0), local)

    def _contents(self, held: Held) -> list[tuple[int, bytes]]:
        """The buckets and packed rows of an output."""
        if held.local is not None:
            return held.local
        with told():
            return [(row.bucket, bytes(row.content)) for row in held.rows.collect()]

    def _materialized(self, name: str, frame: Any, outputs: Any, rows: int) -> dict[str, Held]:
        """Run a stage, and write what it gives to the folder, from which the next stages read it."""
        from pyspark.sql import functions as f

        begun, measured = time.monotonic(), Measured(name)
        path = f"{self._folder}/{len(self.measured):03d}-{name.replace(' ', '-')}"
        with self._described(name), self._settings(rows), told():
            written = frame.withColumn("size", f.length("content")).write.mode("overwrite")
            written.option("compression", "none").partitionBy("output").parquet(path)
            whole = self._session.read.schema(f"{tasks.PACKED}, size int").parquet(path)
            for output, count, size in whole.groupBy("output").agg(f.sum("rows"), f.sum("size")).collect():
                measured.rows[output], measured.bytes[output] = count, size
        measured.seconds = time.monotonic() - begun
        self.measured.append(measured)
        held = {}
        for each, output in outputs.items():
            if each in measured.rows:
                frame = whole.where(f.col("output") == each).select("bucket", "content")
                held[each] = Held(output, frame, measured.rows[each], measured.bytes[each])
            else:
                held[each] = self._here(output, [], measured, each)
        return held

    @contextlib.contextmanager
    def _settings(self, rows: int) -> Iterator[None]:
        """Let Arrow batches have so many rows, and the input the same partitions whenever it is read: Spark cuts files by the
        number of processors, and these come and go.
        """
        wanted = {BATCHES: str(rows), PARALLELISM: str(self._parallelism)}
        before = {name: self._session.conf.get(name, None) for name in wanted}
        for name, value in wanted.items():
            self._session.conf.set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                self._session.conf.unset(name) if value is None else self._session.conf.set(name, value)

    @contextlib.contextmanager
    def _described(self, name: str) -> Iterator[None]:
        """Show the name of the stage in Spark's own page."""
        context = getattr(self._session, "sparkContext", None)
        if context is not None:
            context.setJobDescription(f"neardup: {name}")
        try:
            yield
        finally:
            if context is not None:
                context.setJobDescription(None)

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

    def orders(self, work: Work) -> bool:  # noqa: ARG002
        """See `Engine`: the rows of a frame have no order of their own."""
        return True

    def places(self, work: Work, documents: Held) -> Held:  # noqa: ARG002
        """See `Engine`."""
        with self._settings(TEXT_ROWS), told():
            frame = self._input.places(work, self._setting, self._kept)
        return self._materialized("order", frame, {"places": PLACES}, PACKED_ROWS)["places"]

    def _kept(self, frame: Any) -> Any:
        """Keep a frame on the executors' disks until the engine is closed."""
        from pyspark import StorageLevel

        self._frames.append(frame.persist(StorageLevel.DISK_ONLY))
        return self._frames[-1]

    def close(self) -> None:
        """Let go of what the executors keep."""
        for frame in self._frames:
            frame.unpersist()


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Errors of tasks as errors of the driver, in our words."""
    try:
        yield
    except errors.NeardupError:
        raise
    except Exception as problem:
        text = str(problem)
        at = text.find(tasks.TOLD)
        if at >= 0:
            found, _ = json.JSONDecoder().raw_decode(text[at + len(tasks.TOLD) :])
            kind = getattr(errors, found["kind"], InputError)
            raise (kind if issubclass(kind, (errors.DataError, errors.OptionError)) else InputError)(
                found["message"]
            ) from None
        if "No module named 'neardup'" in text:
            raise InputError(
                "An executor has no neardup. Ship the environment of the driver to the executors, or install the package there."
            ) from None
        raise
