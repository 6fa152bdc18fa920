"""The engine on Spark: packed rows are DataFrames, stages run by `mapInArrow` over partitions sorted by bucket."""

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import pyarrow as pa

from neardup import errors
from neardup.engines.packing import unsorted
from neardup.engines.schemas import PLACES
from neardup.engines.seen import SEEN, Content, contents_in
from neardup.engines.spark import tasks
from neardup.engines.spark.frames import Input
from neardup.engines.stage import Measured, Output, Reading, Stage
from neardup.engines.work import Work
from neardup.errors import InputError
from neardup.version import __version__

BATCHES = "spark.sql.execution.arrow.maxRecordsPerBatch"
PACKED_ROWS, TEXT_ROWS = 16, 1024
"""Rows in an Arrow batch: of packed ones, which may be large, and of texts."""


@dataclass(frozen=True)
class Held:
    """The rows of an output.

    Attributes:
        output: their columns and key.
        rows: the frame of the packed rows.
        count: how many rows there are.
    """

    output: Output
    rows: Any
    count: int

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return self.count == 0


class SparkEngine:
    """Runs stages on Spark.

    Attributes:
        measured: what each stage took.
    """

    def __init__(self, session: Any, given: Input, folder: str, *, buckets: int, partitions: int) -> None:
        self._session, self._input, self._folder = session, given, folder
        self._setting, self._partitions = tasks.Setting(__version__, buckets), partitions
        self._seen: dict[int, Content] | None = None
        self._frames: list[Any] = []
        self.measured: list[Measured] = []

    def read(self, reading: Reading) -> dict[str, Held]:
        """See `Engine`."""
        outputs = {**reading.outputs, **({"seen": SEEN} if self._seen is None else {})}
        frames = [
            frame.mapInArrow(partial(tasks.read, self._setting, reading, self._seen, where), tasks.PACKED)
            for frame, where in self._input.readings()
        ]
        found = self._materialized(reading.name, reduce(lambda a, b: a.unionAll(b), frames), outputs, TEXT_ROWS)
        if self._seen is None:
            self._seen = contents_in(self.collect(found["seen"]))
        return found

    def run(self, stage: Stage, *inputs: Held) -> dict[str, Held]:
        """See `Engine`."""
        from pyspark.sql import functions as f

        sent = [
            each.rows.select(f.lit(number).alias("input"), "bucket", "content") for number, each in enumerate(inputs)
        ]
        partitions = self._partitions if inputs[0].output.key else 1
        frame = (
            reduce(lambda a, b: a.unionAll(b), sent).repartition(partitions, "bucket").sortWithinPartitions("bucket")
        )
        work = partial(tasks.run, self._setting, stage, tuple(each.output for each in inputs))
        return self._materialized(stage.name, frame.mapInArrow(work, tasks.PACKED), stage.outputs, PACKED_ROWS)

    def _materialized(self, name: str, frame: Any, outputs: Any, rows: int) -> dict[str, Held]:
        """Run a stage, and write what it gives to the folder, from which the next stages read it."""
        from pyspark.sql import functions as f

        begun, measured = time.monotonic(), Measured(name)
        path = f"{self._folder}/{len(self.measured):03d}-{name.replace(' ', '-')}"
        with self._described(name), self._batches_of(rows), told():
            written = frame.withColumn("size", f.length("content")).write.mode("overwrite")
            written.option("compression", "none").partitionBy("output").parquet(path)
            whole = self._session.read.schema(f"{tasks.PACKED}, size int").parquet(path)
            for output, count, size in whole.groupBy("output").agg(f.sum("rows"), f.sum("size")).collect():
                measured.rows[output], measured.bytes[output] = count, size
        measured.seconds = time.monotonic() - begun
        self.measured.append(measured)
        nothing = self._session.createDataFrame([], whole.schema)
        held = {each: whole.where(f.col("output") == each) if each in measured.rows else nothing for each in outputs}
        rows = {each: frame.select("bucket", "content") for each, frame in held.items()}
        return {each: Held(output, rows[each], measured.rows.get(each, 0)) for each, output in outputs.items()}

    @contextlib.contextmanager
    def _batches_of(self, rows: int) -> Iterator[None]:
        """Let Arrow batches have so many rows."""
        before = self._session.conf.get(BATCHES)
        self._session.conf.set(BATCHES, str(rows))
        try:
            yield
        finally:
            self._session.conf.set(BATCHES, before)

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

    def together(self, *rows: Held) -> Held:
        """See `Engine`."""
        frame = reduce(lambda a, b: a.unionAll(b), [each.rows for each in rows])
        return Held(rows[0].output, frame, sum(each.count for each in rows))

    def collect(self, rows: Held) -> pa.Table:
        """See `Engine`."""
        with told():
            contents = [bytes(row.content) for row in rows.rows.select("content").collect()]
        return unsorted(contents, rows.output)

    def orders(self, work: Work) -> bool:  # noqa: ARG002
        """See `Engine`: the rows of a frame have no order of their own."""
        return True

    def places(self, work: Work, documents: Held) -> Held:  # noqa: ARG002
        """See `Engine`."""
        frame = self._input.places(work, self._setting, self._kept)
        return self._materialized("order", frame, {"places": PLACES}, PACKED_ROWS)["places"]

    def _kept(self, frame: Any) -> Any:
        """Keep a frame on the executors' disks until the engine is closed."""
        from pyspark import StorageLevel

        self._frames.append(frame.persist(StorageLevel.DISK_ONLY))
        return self._frames[-1]

    @property
    def seen(self) -> dict[int, Content] | None:
        """What the parts of the input held when they were read first."""
        return self._seen

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
