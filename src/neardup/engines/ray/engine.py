"""The engine on Ray: stages run as tasks, whose packed rows lie in files of a folder that all nodes share."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from neardup.engines.job.bucket_files import Written
from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.cluster_engine import ASCENT
from neardup.engines.job.folder import Folder
from neardup.engines.job.folder_engine import FolderEngine, Given, Held, read_other
from neardup.engines.job.inputs import Input
from neardup.engines.job_options import Work
from neardup.engines.ray import tasks
from neardup.engines.ray.calls import Calls
from neardup.engines.ray.sort_columns import Columns, ascents, batches_in_order, reading
from neardup.engines.ray.sources import Source
from neardup.engines.reading.sort import in_place, ranked_places, sorted_rows
from neardup.engines.reading.sorted_runs import Runs, most_runs, numbered_part, numbers_of_runs
from neardup.engines.schemas import REFERENCE
from neardup.engines.stages import Measured, Reading
from neardup.recipe.tables.keeps import By

FILE_BYTES = 1 << 27
"""Of files that one task reads, if all processors have some."""
Files = Sequence[Sequence[tuple[int, tasks.Batches]]]
"""The files of each source: their bytes, and what gives their rows."""
Each = TypeVar("Each")


class RayEngine(FolderEngine):
    """Runs stages on Ray.

    Attributes:
        input: what is read.
        calls: what runs tasks.
    """

    def __init__(
        self, given: Input[Source], kept: Kept, folder: Folder, calls: Calls, before: Sequence[Measured] = ()
    ) -> None:
        """Packed rows go to the folder of a job that has begun. `before`: what was done before the first stage."""
        super().__init__(kept, folder, before)
        self.input, self.calls = given, calls
        self._numbers: Sequence[Runs | None] = [None] * len(given.sources)

    @property
    def slots(self) -> int:
        """Tasks that run at a time."""
        return slots()

    def _tasks(self, name: str, work: Any, calls: Iterable[tuple[Any, ...]], *shared: Any) -> Iterator[Written]:
        return self.calls.run(name, work, calls, *shared)

    def _files(self) -> Iterator[Sequence[Given]]:
        return self._groups(
            [
                [(file.size, partial(tasks.texts_of, file.read, source.columns, file.path)) for file in source.texts]
                for source in self.input.sources
            ]
        )

    def _read_other(self, stage: Reading, files: Files) -> dict[str, Held]:
        """Run a stage that reads other columns than texts and what belongs to them."""

        def run(path: str) -> tuple[Any, Measured]:
            return self._in_tasks(stage.name, path, read_other, ((some,) for some in self._groups(files)), stage)

        return self._materialized(stage.name, run, stage.outputs)

    def _groups(self, files: Files) -> Iterator[list[Given]]:
        """What each task reads."""
        for at, some in enumerate(files):
            yield from grouped(list(zip((size for size, _ in some), self.numbered(some, at), strict=True)))

    def numbered(self, files: Sequence[tuple[int, tasks.Batches]], at: int) -> list[Given]:
        """Files as tasks read them. `files`: of a source, their bytes and what gives their rows; `at`: which source it is."""
        source, numbers = self.input.sources[at], self._numbers[at]
        return [
            Given(number, source.first, source.is_reference, batches, numbers)
            for number, (_, batches) in enumerate(files)
        ]

    def orders(self, work: Work) -> bool:
        """Files may be in order by their paths, or their rows may ascend."""
        if not self.input.documents.order:
            return work.options.preference.by is not By.ORDER
        if work.options.preference.by is not By.ORDER:
            return True
        with self._looking():
            found = [self._numbers_of(source) for source in self.input.sources]
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

    def places(self, work: Work, documents: Held, compared_as: str | None) -> Held:
        ranges = 4 * self.buckets
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
        found: Held = ranked_places(self, work, documents, placed, compared_as, ranges=ranges)
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
