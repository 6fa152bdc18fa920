"""The engine on Ray: stages run as tasks, whose packed rows lie in files of a folder that all nodes share."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pyarrow as pa

from neardup.display import size_text
from neardup.engines.job.bucket_files import Segments, Written, as_table, contents, in_table, of_buckets
from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.folder import Folder
from neardup.engines.job_options import Work
from neardup.engines.packing import pack_all, unpack, unsorted
from neardup.engines.ray import tasks
from neardup.engines.ray.calls import Calls
from neardup.engines.ray.sort_columns import Columns, ascents, batches_in_order, reading
from neardup.engines.ray.sources import Input, Source
from neardup.engines.reading.sort import in_place, ranked_places, sorted_rows
from neardup.engines.reading.sorted_runs import Runs, most_runs, numbered_part, numbers_of_runs
from neardup.engines.reading.unchanged_input import SEEN, Content, contents_in, demand_all
from neardup.engines.schemas import REFERENCE
from neardup.engines.stages import HERE, THERE, Measured, Output, Reading, Stage

SMALL = 1 << 24
"""Bytes of packed rows up to which a stage runs on the driver: of those that it gets, and of those that it gives."""
TASK_BYTES = 1 << 25
"""Packed rows that a task gets, about, if all processors have one."""
FILE_BYTES = 1 << 27
"""Of files that one task reads, if all processors have some."""
ASCENT = "order of rows"
"""The name of what looks whether rows ascend, in each run."""
INDEX = "index.arrow"
"""The file that tells where the rows of a stage are."""
Files = Sequence[Sequence[tuple[int, tasks.Batches]]]
"""The files of each source: their bytes, and what gives their rows."""
Each = TypeVar("Each")
_log = logging.getLogger("neardup")


@dataclass(frozen=True)
class Held:
    """The rows of an output: in files, or with the driver if they are few.

    Attributes:
        output: their columns and key.
        segments: where they lie.
        count, size: how many rows there are, and how many bytes they take.
        local: the buckets and packed rows that the driver has.
    """

    output: Output
    segments: Segments
    count: int
    size: int
    local: Sequence[tuple[int, bytes]] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return self.count == 0

    def sent(self, first: int, last: int) -> tasks.Sent:
        """What a task gets that has the buckets from `first` up to, and without, `last`."""
        local = [(bucket, content) for bucket, content in self.local if first <= bucket < last]
        return tasks.Sent(self.output, of_buckets(self.segments, first, last), local)


class RayEngine:
    """Runs stages on Ray.

    Attributes:
        input: what is read.
        kept: the folder.
        measured: what each stage took.
        seen: what the files of the input held when they were read first, by part.
    """

    def __init__(self, given: Input, kept: Kept, folder: Folder, calls: Calls, before: Sequence[Measured] = ()) -> None:
        """Packed rows go to the folder of a job that has begun. `before`: what was done before the first stage."""
        self.input, self.kept, self.folder, self.calls, self._before = given, kept, folder, calls, tuple(before)
        self.measured: list[Measured] = []
        self.seen: dict[int, Content] | None = None
        self._numbers: Sequence[Runs | None] = [None] * len(given.sources)

    @property
    def stages(self) -> tuple[Measured, ...]:
        """What each stage took, and what was done before the first."""
        return (*self._before, *self.measured)

    def read(self, stage: Reading) -> dict[str, Held]:
        """See `Engine`."""
        files = [
            [(file.size, partial(tasks.texts_of, file.read, source.columns, file.path)) for file in source.texts]
            for source in self.input.sources
        ]
        seen = self.seen

        def written(path: str) -> Iterator[Written]:
            shared = (self.folder, path, self.calls.setting.buckets, stage)
            calls = ((_of(seen, some), some) for some in self._groups(files))
            yield from self.calls.run(stage.name, tasks.read, calls, *shared)

        found = self._materialized(stage.name, written, {**stage.outputs, "seen": SEEN})
        now = contents_in(self.collect(found["seen"]))
        self.seen = now if seen is None else seen
        demand_all(self.seen, now)
        return found

    def _read_other(self, stage: Reading, files: Files) -> dict[str, Held]:
        """Run a stage that reads other columns than texts and what belongs to them."""

        def written(path: str) -> Iterator[Written]:
            shared = (self.folder, path, self.calls.setting.buckets, stage)
            yield from self.calls.run(stage.name, tasks.read_other, ((some,) for some in self._groups(files)), *shared)

        return self._materialized(stage.name, written, stage.outputs)

    def _groups(self, files: Files) -> Iterator[list[tasks.Given]]:
        """What each task reads."""
        for at, some in enumerate(files):
            yield from grouped(list(zip((size for size, _ in some), self.numbered(some, at), strict=True)))

    def numbered(self, files: Sequence[tuple[int, tasks.Batches]], at: int) -> list[tasks.Given]:
        """Files as tasks read them. `files`: of a source, their bytes and what gives their rows; `at`: which source it is."""
        source, numbers = self.input.sources[at], self._numbers[at]
        return [
            tasks.Given(number, source.first, source.is_reference, batches, numbers)
            for number, (_, batches) in enumerate(files)
        ]

    def run(self, stage: Stage, *inputs: Held) -> dict[str, Held]:
        """See `Engine`. Where all inputs are small, the driver does the work itself; again if a run goes on, as that is cheap.

        Few rows may have many pairs: where they give more than is small, the cluster does the work, from its beginning.
        """
        size = sum(each.size for each in inputs)
        if size <= SMALL and not self.kept.has(len(self.measured), stage.name):
            held = self._run_here(stage, inputs)
            if held is not None:
                return held

        def written(path: str) -> Iterator[Written]:
            buckets = self.calls.setting.buckets if inputs[0].output.key else 1
            many = min(buckets, max(2 * slots(), math.ceil(size / TASK_BYTES)))
            edges = np.unique(np.linspace(0, buckets, many + 1).astype(int)).tolist()
            spans = pairwise(edges)
            calls = (([each.sent(*span) for each in inputs],) for span in spans)
            shared = (self.folder, path, self.calls.setting.buckets, stage)
            yield from self.calls.run(stage.name, tasks.run, calls, *shared)

        return self._materialized(stage.name, written, stage.outputs)

    def _run_here(self, stage: Stage, inputs: Sequence[Held]) -> dict[str, Held] | None:
        """Run a stage on the driver; None if it gives more than is small."""
        begun, measured = time.monotonic(), Measured(stage.name, ran=HERE)
        last = self.calls.setting.buckets
        given = [each.sent(0, last) for each in inputs]
        held: dict[str, list[tuple[int, bytes]]] = {name: [] for name in stage.outputs}
        size = 0
        for bucket in sorted(set().union(*(each.buckets for each in given))):
            tables = (unpack(each.rows(self.folder, bucket), each.output) for each in given)
            for name, packed in pack_all(stage.work(*tables), stage.outputs, last):
                held[name].append((packed.bucket, packed.content))
                measured.rows[name] = measured.rows.get(name, 0) + packed.rows
                measured.bytes[name] = measured.bytes.get(name, 0) + len(packed.content)
                size += len(packed.content)
                if size > SMALL:
                    return None
        measured.seconds = time.monotonic() - begun
        self._note(measured)
        return {
            name: Held(output, (), measured.rows.get(name, 0), measured.bytes.get(name, 0), held[name])
            for name, output in stage.outputs.items()
        }

    def _materialized(
        self, name: str, written: Callable[[str], Iterator[Written]], outputs: Mapping[str, Output]
    ) -> dict[str, Held]:
        """Run a stage as tasks, whose rows come to the folder; unless they are there."""
        number, begun = len(self.measured), time.monotonic()
        if self.kept.has(number, name):
            path, measured = self.kept.stage(number, name)
            found = in_table(pa.ipc.open_file(self.folder.read(_below(self.kept, path, INDEX))).read_all())
        else:
            path = self.kept.path(number, name)
            self.folder.make(_below(self.kept, path))
            found, measured = list(written(_below(self.kept, path))), Measured(name, ran=THERE)
            table = as_table(found)
            with self.folder.writing(_below(self.kept, path, INDEX)) as file, pa.ipc.new_file(file, table.schema) as to:
                to.write_table(table)
            measured.rows, measured.bytes = _sums(found, "rows"), _sums(found, "size")
            measured.seconds = time.monotonic() - begun
            self.kept.finish(number, path, measured)
        self._note(measured)
        return {
            each: Held(
                output,
                [(some.file, some.segments[each]) for some in found if each in some.segments],
                measured.rows.get(each, 0),
                measured.bytes.get(each, 0),
            )
            for each, output in outputs.items()
        }

    def _note(self, measured: Measured) -> None:
        self.measured.append(measured)
        rows, size = sum(measured.rows.values()), sum(measured.bytes.values())
        _log.info(
            "%s (%s): %s rows, %s, %.1f s", measured.name, measured.ran, f"{rows:,}", size_text(size), measured.seconds
        )

    def nothing(self, output: Output) -> Held:
        """See `Engine`."""
        return Held(output, (), 0, 0)

    def together(self, *rows: Held) -> Held:
        """See `Engine`."""
        segments = [some for each in rows for some in each.segments]
        local = [some for each in rows for some in each.local]
        count, size = sum(each.count for each in rows), sum(each.size for each in rows)
        return Held(rows[0].output, segments, count, size, local)

    def collect(self, rows: Held) -> pa.Table:
        """See `Engine`."""
        return unsorted([*contents(self.folder, rows.segments), *(content for _, content in rows.local)], rows.output)

    def orders(self, work: Work) -> bool:
        """See `Engine`: files may be in order by their paths, or their rows may ascend."""
        if not self.input.documents.order:
            return work.options.keep not in ("first", "last")
        if work.options.keep not in ("first", "last"):
            return True
        begun, measured = time.monotonic(), Measured(ASCENT, ran=THERE)
        found = [self._numbers_of(source) for source in self.input.sources]
        measured.seconds = time.monotonic() - begun
        self._note(measured)
        if None in found:
            return True
        self._numbers = found
        self.seen = {self._renumbered(part): content for part, content in (self.seen or {}).items()}
        return False

    def _renumbered(self, part: int) -> int:
        """The number that a part has by its runs, which had that of its file before."""
        at = int(part >= REFERENCE)
        first = self.input.sources[at].first
        return numbered_part(part - first, first, self._numbers[at])[0]

    def _numbers_of(self, source: Source) -> Runs | None:
        """The runs of the rows of a source, by numbers in their order; None if they have none."""
        columns, files = self._columns, source.orders
        if not columns.can_be_compared:
            return None
        calls = ((number, file.read, file.path) for number, file in enumerate(files))
        tables = list(self.calls.run(ASCENT, ascents, calls, columns, most_runs(len(files))))
        runs = [run for table in tables for run in table.to_pylist()]
        return numbers_of_runs(runs, [name for name in columns.sort.schema.names if name.startswith("c")])

    @property
    def _columns(self) -> Columns:
        documents = self.input.documents
        return Columns([*documents.order, documents.id], documents.schema)

    def places(self, work: Work, documents: Held) -> Held:
        """See `Engine`."""
        ranges = 4 * self.calls.setting.buckets
        if self.input.documents.order:
            columns = self._columns
            files = [
                [(file.size, partial(batches_in_order, file.read, columns, file.path)) for file in source.orders]
                for source in self.input.sources
            ]
            keys = self._read_other(reading(columns), files)["keys"]
            placed = sorted_rows(self, keys, columns.sort, ranges=ranges)
        else:
            placed = in_place(documents, self)
        found: Held = ranked_places(self, work, documents, placed, ranges=ranges)
        return found


def slots() -> int:
    """Tasks that run at a time."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def grouped(files: Sequence[tuple[int, Each]]) -> Iterator[list[Each]]:
    """Files that one task reads, which are some small ones, or one. `files`: each with its bytes."""
    most = min(FILE_BYTES, sum(size for size, _ in files) / (4 * slots()))
    waiting: list[Each] = []
    total = 0
    for size, file in files:
        if waiting and total + size > most:
            yield waiting
            waiting, total = [], 0
        waiting.append(file)
        total += size
    if waiting:
        yield waiting


def _of(seen: Mapping[int, Content] | None, files: Sequence[tasks.Given]) -> dict[int, Content] | None:
    """What some files held."""
    if seen is None:
        return None
    return {part: seen[part] for part in (file.number_of_part[0] for file in files) if part in seen}


def _sums(written: Sequence[Written], field: str) -> dict[str, int]:
    """By output."""
    found: dict[str, int] = {}
    for each in written:
        for name, segments in each.segments.items():
            found[name] = found.get(name, 0) + int(segments[field].sum())
    return found


def _below(kept: Kept, path: str, name: str = "") -> str:
    """A path in the folder, as its names are."""
    return path[len(kept.folder) + 1 :] + (f"/{name}" if name else "")
