"""SAMPLE of an input: how its rows are divided, some of its texts, and what the stages of an engine make of these here."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engines.flow import deduplicate
from neardup.engines.job.local_engine import Files, SerialEngine
from neardup.engines.job_options import Work
from neardup.engines.repeats.flow import WINDOWS, find_all_windows
from neardup.engines.repeats.work import PassageWork
from neardup.engines.schemas import PLACES
from neardup.engines.stages import Found, Output, Part, Stage
from neardup.recipe.tables.keeps import By

SAMPLED_PARTS, SAMPLED_DOCUMENTS, SAMPLED_BYTES = 32, 2000, 1 << 24
"""Partitions of which texts are taken, and how many texts and bytes at most."""
ORDERING = ("order", "rank")
"""The stages that put documents in order."""
PAIRS = "pairs"
"""The first stage of which a sample does not tell what it gives: pairs grow as the sample's share squared, or not at all."""


@dataclass(frozen=True)
class Sample:
    """Texts of an input.

    Attributes:
        parts: of the frame, and of the reference.
        rows: of each partition of the frame, then of the reference.
        reference_rows: all those of the reference.
    """

    parts: tuple[list[pa.RecordBatch], ...]
    rows: tuple[int, ...]
    reference_rows: int = 0


@dataclass
class StageOfSample:
    """What a stage made of a sample.

    Attributes:
        name: of the stage.
        packed: bytes of its outputs.
        unpacked: bytes of the rows that it got, as one task has them that gets all.
        unless: when the engine does not run it; empty if it does in any case.
    """

    name: str
    packed: int = 0
    unpacked: int = 0
    unless: str = ""


@dataclass
class Stages:
    """What stages made of a sample, up to the pairs; and what pairs there were.

    Attributes:
        documents: of the sample.
        text_bytes, longest_bytes: of all its texts, and of the longest.
        stages: in their order.
    """

    documents: int
    text_bytes: int
    longest_bytes: int
    stages: list[StageOfSample] = field(default_factory=list)


def spread_over(parts: Sequence[int]) -> list[int]:
    """Some of these, spread over them."""
    if not len(parts):
        return []
    return [parts[at] for at in np.unique(np.linspace(0, len(parts) - 1, SAMPLED_PARTS).astype(int))]


def most_of_each(parts: int) -> tuple[int, int]:
    """How many texts, and how many bytes of them, are taken from each of so many parts at most."""
    most, size = (max(1, -(-number // max(1, parts))) for number in (SAMPLED_DOCUMENTS, SAMPLED_BYTES))
    return most, size


def first_texts(size: int, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The first texts of a batch, of so many bytes, but at least one, if there is any; a null text is left to the first stage."""
    some = batch.filter(batch.column("text").is_valid())
    ends = np.cumsum([len(text.as_buffer()) for text in some.column("text")])
    return some.slice(0, max(1, int(np.searchsorted(ends, size, "right"))))


def stages_of(sample: Sample, work: Work) -> Stages:
    """Run the engine's stages on a sample, in this process."""
    texts = [batch.column("text") for part in sample.parts for batch in part]
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(_offsets(column)) for column in texts)])
    found = Stages(len(sizes), int(sizes.sum()), int(sizes.max(initial=0)))
    if found.documents:
        with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
            engine = SampleEngine(Path(folder), lambda: _parts(sample))
            if isinstance(work, PassageWork):
                find_all_windows(engine, work)
            else:
                deduplicate(engine, work)
        found.stages = engine.stages
        for stage in found.stages:
            if stage.name in ORDERING and work.options.preference.by is By.ORDER:
                stage.unless = "rows ascend"
            if stage.name in WINDOWS:
                stage.unless = "few of the tokens are repeated"
    return found


def _parts(sample: Sample) -> Iterator[Part]:
    for number, batches in enumerate(sample.parts):
        yield Part(number, iter(batches), number > 0)


def _offsets(column: pa.Array) -> Any:
    return np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]


class SampleEngine(SerialEngine):
    """A serial engine that orders documents as those of many processes do, with one bucket for each stage, and measures these.

    Attributes:
        stages: those before pairs.
    """

    def __init__(self, folder: Path, parts: Any) -> None:
        super().__init__(folder, parts, buckets=1)
        self.stages: list[StageOfSample] = []
        self._given: int = 0
        self._knows = True

    def orders(self, work: Work) -> bool:  # noqa: ARG002
        """Unless rows ascend."""
        return True

    def places(self, work: Work, documents: Files, compared_as: str | None) -> Files:  # noqa: ARG002
        """Any order takes as much."""
        doc = np.sort(self.collect(documents).column("doc").to_numpy())
        return self._run("order", {"places": PLACES}, [[("places", pa.table([doc, doc, doc], PLACES.schema))]])[
            "places"
        ]

    def run(self, stage: Stage, *inputs: Files) -> dict[str, Files]:
        self._given = sum(each.bucket(0).nbytes for each in inputs) if self._knows else 0
        return super().run(stage, *inputs)

    def _run(self, name: str, outputs: Mapping[str, Output], found: Iterable[Found]) -> dict[str, Files]:
        given, self._given = self._given, 0
        done = super()._run(name, outputs, found)
        if self._knows:
            self._knows = name != PAIRS
            packed = sum(self.measured[-1].bytes.values()) if self._knows else 0
            self.stages.append(StageOfSample(name, packed, given))
        return done
