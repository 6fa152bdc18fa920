"""LOCAL ENGINE: the engine of one process, over files: one part and one bucket after another."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.job_options import Work
from neardup.engines.packing import Packed, pack_all, unpack
from neardup.engines.reading.unchanged_input import Content, Watched, demand_all
from neardup.engines.schemas import PLACES
from neardup.engines.stages import Engine, Found, Measured, Output, Part, Reading, Rows, Stage
from neardup.recipe.tables.keeps import By
from neardup.survivors.decisions import cost_of_values

BUCKETS = 16
COUNT_BYTES = 8


@dataclass(frozen=True)
class Files(Rows):
    """The rows of an output: a file for each bucket. `folders`: where they lie."""

    folders: tuple[Path, ...] = ()

    def bucket(self, number: int) -> pa.Table:
        """The rows of a bucket."""
        return unpack([each for folder in self.folders for each in _contents(folder / str(number))], self.output)


def _contents(path: Path) -> Iterator[bytes]:
    if not path.exists():
        return
    with path.open("rb") as file:
        while size := file.read(COUNT_BYTES):
            yield file.read(int.from_bytes(size, "little"))


class SerialEngine(Engine):
    """Runs stages in this process.

    Attributes:
        measured: what each stage took.
    """

    def __init__(self, folder: Path, parts: Callable[[], Iterable[Part]], *, buckets: int = BUCKETS) -> None:
        """Files go to a folder; `parts` gives the parts of the input, each time it is called."""
        self._folder, self._parts, self._buckets, self._runs = folder, parts, buckets, 0
        self.measured: list[Measured] = []
        self._seen: dict[int, Content] = {}

    def read(self, reading: Reading) -> dict[str, Files]:
        return self._run(reading.name, reading.outputs, self._read(reading))

    def _read(self, reading: Reading) -> Iterator[Found]:
        read: dict[int, Content] = {}
        for part in self._parts():
            watched = Watched(part)
            yield reading.work(watched.part)
            if self.measured:
                watched.check(self._seen)
            read[part.number] = watched.content
        demand_all(self._seen, read)
        self._seen = read

    def run(self, stage: Stage, *inputs: Files) -> dict[str, Files]:
        numbers = range(self._buckets if inputs[0].output.key else 1)
        found = (stage.work(*(each.bucket(number) for each in inputs)) for number in numbers)
        return self._run(stage.name, stage.outputs, found)

    def _run(self, name: str, outputs: Mapping[str, Output], found: Iterable[Found]) -> dict[str, Files]:
        begun, measured = time.monotonic(), Measured(name)
        self._runs += 1
        folder = self._folder / f"{self._runs:03d} {name}"
        rows: dict[str, int] = defaultdict(int)
        sizes: dict[str, int] = defaultdict(int)
        for each in found:
            for output, packed in pack_all(each, outputs, self._buckets):
                rows[output] += packed.rows
                sizes[output] += len(packed.content)
                _append(folder / output, packed)
        measured.seconds, measured.rows, measured.bytes = time.monotonic() - begun, dict(rows), dict(sizes)
        self.measured.append(measured)
        return {output: Files(outputs[output], rows[output], (folder / output,)) for output in outputs}

    def nothing(self, output: Output) -> Files:
        return Files(output, 0)

    def together(self, *rows: Files) -> Files:
        folders = tuple(folder for each in rows for folder in each.folders)
        return Files(rows[0].output, sum(each.count for each in rows), folders)

    def collect(self, rows: Files) -> pa.Table:
        numbers = range(self._buckets if rows.output.key else 1)
        return pa.concat_tables([rows.output.schema.empty_table(), *(rows.bucket(number) for number in numbers)])

    def orders(self, work: Work) -> bool:
        return work.options.preference.by is not By.ORDER

    def places(self, work: Work, documents: Files, compared_as: str | None) -> Files:  # noqa: ARG002
        rows = self.collect(documents)
        doc = rows.column("doc").to_numpy()
        table = pa.table([doc, doc, ranks(rows, work)], PLACES.schema)
        return self._run("order", {"places": PLACES}, [[("places", table)]])["places"]


def ranks(documents: pa.Table, work: Work) -> Array:
    """int64[n]: the ranks of documents; those of a reference are as they were."""
    doc, cost, rank = (documents.column(name).to_numpy() for name in ("doc", "cost", "rank"))
    others = np.flatnonzero(~documents.column("is_reference").to_numpy())
    costs = cost[others]
    if work.options.preferred_by is not None:
        costs = cost_of_values(documents.column("value").combine_chunks().take(others), work.options)
    order = others[np.lexsort((doc[others], costs))]
    found: Array = rank.copy()
    found[order] = np.arange(len(order))
    return found


def _append(folder: Path, packed: Packed) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / str(packed.bucket)).open("ab") as file:
        file.write(len(packed.content).to_bytes(COUNT_BYTES, "little") + packed.content)
