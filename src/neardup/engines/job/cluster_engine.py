"""CLUSTER ENGINE: what engines on clusters have in common. Small stages run on the driver; what others give stays in a folder.

An engine on another cluster is a subclass that has the methods which are abstract here; see "A third engine" in
`docs/architecture.md`.
"""

import contextlib
import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import pyarrow as pa

from neardup.display import size_text
from neardup.engines.job.checkpoint import Kept
from neardup.engines.job.own_folder import OwnFolder
from neardup.engines.packing import pack_all, unpack, unsorted
from neardup.engines.reading.unchanged_input import SEEN, Content, contents_in, demand_all
from neardup.engines.stages import HERE, THERE, Engine, Measured, Output, Reading, Rows, Stage

SMALL_BYTES = 1 << 24
"""Bytes of packed rows up to which a stage runs on the driver: of those that it gets, and of those that it gives."""
ASCENT = "order of rows"
"""The name of what looks whether rows ascend, in each run."""
Contents = Sequence[tuple[int, bytes]]
"""Buckets, and packed rows of them."""
_log = logging.getLogger("neardup")


@dataclass(frozen=True)
class HeldRows(Rows):
    """The rows of an output. `size`: how many bytes they take."""

    size: int


Held = TypeVar("Held", bound=HeldRows)


class ClusterEngine(Engine, Generic[Held]):
    """Runs stages on a cluster.

    Attributes:
        kept: the folder.
        buckets: into how many rows are divided.
        measured: what each stage took.
        seen: what the parts of the input held when they were read first, by part.
        own_folder: that of the job, if it does not stay.
    """

    own_folder: OwnFolder | None = None

    def __init__(self, kept: Kept, before: Sequence[Measured] = ()) -> None:
        """Packed rows go to the folder of a job that has begun. `before`: what was done before the first stage."""
        self.kept, self._before = kept, tuple(before)
        self.buckets: int = kept.division["buckets"]
        self.measured: list[Measured] = []
        self.seen: dict[int, Content] | None = None

    @abstractmethod
    def _read(self, reading: Reading, path: str) -> tuple[Any, Measured]:
        """Run a reading on all parts of the input, which are `Watched`, and write what it gives. Returns what `_written` does.

        Each part gives rows of `seen` besides (SEEN).
        """

    @abstractmethod
    def _run(self, stage: Stage, inputs: Sequence[Held], path: str) -> tuple[Any, Measured]:
        """Run a stage on all buckets of its inputs, and write what it gives. Returns what `_written` does."""

    @abstractmethod
    def _written(self, path: str) -> tuple[Any, Measured]:
        """What a stage has written to a path, and how many rows and bytes of each output that is."""

    @abstractmethod
    def _held(self, output: Output, name: str, written: Any, measured: Measured) -> Held:
        """An output, by its name, of what a stage has written."""

    @abstractmethod
    def _here(self, output: Output, rows: Contents, count: int) -> Held:
        """Rows that the driver has."""

    @abstractmethod
    def _contents(self, held: Held) -> Contents:
        """Rows, brought to the driver."""

    @contextlib.contextmanager
    def _running(self, name: str) -> Iterator[None]:  # noqa: ARG002
        """While a stage runs; by default, nothing is done."""
        yield

    @property
    def stages(self) -> tuple[Measured, ...]:
        """What each stage took, and what was done before the first."""
        return (*self._before, *self.measured)

    def read(self, reading: Reading) -> dict[str, Held]:
        outputs = {**reading.outputs, "seen": SEEN}
        found = self._materialized(reading.name, partial(self._read, reading), outputs)
        seen = contents_in(self.collect(found["seen"]))
        if self.seen is None:
            self.seen = seen
        demand_all(self.seen, seen)
        return found

    def run(self, stage: Stage, *inputs: Held) -> dict[str, Held]:
        """Where all inputs are small, the driver does the work itself; again if a run goes on, as that is cheap.

        Few rows may have many pairs: where they give more than is small, the cluster does the work, from its beginning.
        """
        is_small = sum(each.size for each in inputs) <= SMALL_BYTES
        if is_small and not self.kept.has(len(self.measured), stage.name):
            held = self._run_here(stage, inputs)
            if held is not None:
                return held
        return self._materialized(stage.name, partial(self._run, stage, inputs), stage.outputs)

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
            for name, packed in pack_all(stage.work(*tables), stage.outputs, self.buckets):
                held[name].append((packed.bucket, packed.content))
                measured.rows[name] = measured.rows.get(name, 0) + packed.rows
                measured.bytes[name] = measured.bytes.get(name, 0) + len(packed.content)
                size += len(packed.content)
                if size > SMALL_BYTES:
                    return None
        measured.seconds = time.monotonic() - begun
        self._note(measured)
        return {
            name: self._here(output, held[name], measured.rows.get(name, 0)) for name, output in stage.outputs.items()
        }

    def _materialized(
        self, name: str, run: Callable[[str], tuple[Any, Measured]], outputs: Mapping[str, Output]
    ) -> dict[str, Held]:
        """Run a stage, which writes what it gives to the folder, from which the next stages read it; unless it is there."""
        number, begun = len(self.measured), time.monotonic()
        with self._running(name):
            if self.kept.has(number, name):
                path, measured = self.kept.stage(number, name)
                written, now = self._written(path)
                self.kept.demand_whole(path, measured, now)
            else:
                path = self.kept.path(number, name)
                written, now = run(path)
                measured = Measured(name, time.monotonic() - begun, now.rows, now.bytes, THERE)
                self.kept.finish(number, path, measured)
        self._note(measured)
        return {each: self._held(output, each, written, measured) for each, output in outputs.items()}

    @contextlib.contextmanager
    def _looking(self) -> Iterator[None]:
        """Look whether rows ascend, which is measured as a stage is."""
        begun = time.monotonic()
        yield
        self._note(Measured(ASCENT, time.monotonic() - begun, ran=THERE))

    def _note(self, measured: Measured) -> None:
        self.measured.append(measured)
        rows, size = sum(measured.rows.values()), sum(measured.bytes.values())
        _log.info(
            "%s (%s): %s rows, %s, %.1f s", measured.name, measured.ran, f"{rows:,}", size_text(size), measured.seconds
        )

    def close(self) -> None:
        """Let go of what the cluster keeps for the engine, and of its own folder."""
        if self.own_folder is not None:
            self.own_folder.remove()

    def nothing(self, output: Output) -> Held:
        return self._here(output, (), 0)

    def collect(self, rows: Held) -> pa.Table:
        return unsorted([content for _, content in self._contents(rows)], rows.output)
