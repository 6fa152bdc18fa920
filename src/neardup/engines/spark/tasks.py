"""TASKS: what runs on the executors: readings of partitions, and stages of buckets; packed rows in and out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines import stages
from neardup.engines.packing import Packed, pack_all, unpack
from neardup.engines.reading.sorted_runs import Runs, numbered_part
from neardup.engines.reading.text_columns import as_column, demand_texts, demand_utf8, texts_in
from neardup.engines.reading.unchanged_input import SEEN, Content, watched_reading
from neardup.engines.stages import Output, Part, Reading, Stage
from neardup.fingerprints.simhash import fingerprint_array
from neardup.recipe.recipe import Recipe

PACKED = "output string, bucket int, rows long, content binary"
"""What travels between stages, as Spark declares it."""
HELD = "bucket int, content binary"
"""What is held of an output."""
FINGERPRINT = "fingerprint"
"""The column that `neardup.spark.fingerprint` adds."""
_SCHEMA = pa.schema({"output": pa.string(), "bucket": pa.int32(), "rows": pa.int64(), "content": pa.binary()})
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What runs on the batches of a partition."""
PACKED_BYTES_PER_BATCH = 1 << 24
"""Bytes of packed rows in a record batch."""
COLUMNS = {name: name for name in ("text", "id", "within", "value")}
"""What a reading needs, and the columns that it is in."""
DECODE = "Decode the input by its encoding when it is read, as by Spark's option `encoding`, or leave such rows out."
"""What to do about strings that are no UTF-8."""


class Setting(stages.Setting):
    """What tasks know of the driver."""

    def task(self, work: Task) -> Task:
        """A function of batches as a task, which looks at the version first."""
        return partial(_task, self, work)


def _task(known: Setting, work: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    known.check()
    yield from work(batches)


def partition() -> int:
    """The number of the partition of this task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    number: int = context.partitionId()
    return number


def part_of(
    batches: Iterator[pa.RecordBatch], *, is_reference: bool, first: int, before: int, numbers: Runs | None
) -> Part:
    """The partition that this task reads.

    Args:
        batches: its rows.
        is_reference, first: of its frame.
        before: how many partitions of other frames come before those of this one.
        numbers: those that the runs of partitions with rows have instead of the partition's own.
    """
    number, runs = numbered_part(partition() - before, first, numbers)
    some = (pa.Table.from_batches([batch]) for batch in batches if len(batch))
    return Part(number, (texts_in(each, COLUMNS, "A frame", DECODE) for each in some), is_reference, runs)


def read(
    buckets: int,
    reading: Reading,
    seen: Mapping[int, Content] | None,
    where: Mapping[str, Any],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Run a reading on a partition. `seen`: what the partitions held when they were read first; None for the first reading."""
    found = watched_reading(reading, part_of(batches, **where), seen)
    yield from as_batches(pack_all(found, {**reading.outputs, "seen": SEEN}, buckets))


def run(
    buckets: int, stage: Stage, inputs: tuple[Output, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run a stage on the buckets of a partition, whose rows ascend by bucket."""
    for _, sent in groupby(_sent(batches), lambda row: row[1]):
        contents: list[list[bytes]] = [[] for _ in inputs]
        for number, _, content in sent:
            contents[number].append(content)
        tables = [unpack(each, output) for each, output in zip(contents, inputs, strict=True)]
        del contents
        yield from as_batches(pack_all(stage.work(*tables), stage.outputs, buckets))


def _sent(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, bytes]]:
    for batch in batches:
        for number, bucket, content in zip(*batch.columns, strict=True):
            yield number.as_py(), bucket.as_py(), content.as_py()


def as_batches(rows: Iterable[tuple[str, Packed]]) -> Iterator[pa.RecordBatch]:
    """Packed rows as record batches of PACKED."""
    waiting: list[tuple[str, int, int, bytes]] = []
    size = 0
    for name, packed in rows:
        waiting.append((name, *packed))
        size += len(packed.content)
        if size >= PACKED_BYTES_PER_BATCH:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(rows: list[tuple[str, int, int, bytes]]) -> pa.RecordBatch:
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), _SCHEMA, strict=True)],
        schema=_SCHEMA,
    )


def with_fingerprints(recipe: Recipe, text: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with a column more: the fingerprints of their texts.

    Raises:
        DataError: a text is null, or no UTF-8.
    """
    for batch in batches:
        texts = pc.cast(batch.column(text), pa.large_string())
        demand_utf8(texts, "text", DECODE)
        demand_texts(texts, text)
        yield batch.append_column(FINGERPRINT, as_column(fingerprint_array(texts, recipe).values))
