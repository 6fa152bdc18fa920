"""SAMPLES of what two runs decided differently: both texts of the pair that decided, and what the other run says."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.errors import NeardupError
from neardup.judging.compared_texts import Side, texts_of
from neardup.judging.reports.run_inputs import RunInputs
from neardup.judging.runs.counts import Differing, Kind
from neardup.judging.runs.recorded import RecordedRun
from neardup.judging.runs.says import OtherRun
from neardup.judging.runs.walk import Key, key_of
from neardup.survivors.records.audit_files import read_audit
from neardup.survivors.records.audit_reader import Line
from neardup.text.units import split

Texts = dict[tuple[Side, int], str]
"""Texts by document, and by the number of the line or paragraph in it."""


@dataclass(frozen=True, slots=True)
class SamplePair:
    """A removed document beside the one that stayed in its place.

    Attributes:
        run: `a` or `b`, the run that removed it.
        line: its line in the audit of that run.
        texts: of the survivor and of the removed one; None if they cannot be read.
    """

    run: str
    line: Line
    texts: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class DiffSample:
    """A document that two runs decided differently.

    Attributes:
        kind: `only_a`, `only_b`, or `other_survivor`: both removed it, for different documents.
        found: the lines of the audits.
        pairs: how each run decided that removed it.
        says: what the other run says, as the end of a sentence; empty if both removed it.
    """

    kind: Kind
    found: Differing
    pairs: tuple[SamplePair, ...]
    says: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values, without texts."""
        return {"kind": self.kind} | self.found.as_dict() | {"says": self.says}


def make_samples(
    runs: Sequence[RecordedRun], inputs: Sequence[RunInputs], found: Iterable[Differing]
) -> tuple[tuple[DiffSample, ...], str]:
    """The samples with their texts, and why there are none, if they cannot be read.

    Args:
        runs: both runs.
        inputs: the inputs of each. If both were read alike, those of one are enough.
        found: what was sampled.
    """
    chosen = list(found)
    lines = [[line for each in chosen if (line := getattr(each, name)) is not None] for name in ("a", "b")]
    texts, reason = _texts(runs, inputs, lines)
    # of each survivor of one run, the line of the other run that removed it
    gone = [_lines_of(run, map(_survivor_key, others)) for run, others in zip(runs, reversed(lines), strict=True)]
    others = [OtherRun.of(run, other) for run, other in zip(runs, reversed(runs), strict=True)]
    made = []
    for each in chosen:
        pairs = tuple(
            SamplePair(name, line, _pair(texts[number], line))
            for number, name in enumerate(("a", "b"))
            if (line := getattr(each, name)) is not None
        )
        says = ""
        if each.kind != "other_survivor":
            other = 1 if each.kind == "only_a" else 0
            says = others[other].says(each.line, pairs[0].texts, gone[other].get(_survivor_key(each.line)))
        made.append(DiffSample(each.kind, each, pairs, says))
    return tuple(made), reason


def _survivor_key(line: Line) -> Key | None:
    return None if line["survivor_row"] is None else (line["survivor_row"], line.get("survivor_unit", 0))


def _lines_of(run: RecordedRun, keys: Iterable[Key | None]) -> dict[Key | None, Line]:
    """The lines of an audit about some documents."""
    wanted = {key for key in keys if key is not None}
    return {key_of(line): line for line in read_audit(run.audit) if key_of(line) in wanted} if wanted else {}


def _sides(line: Line) -> Iterator[tuple[Side, int]]:
    """The survivor and the removed document, each with the number of the line or paragraph."""
    if line["survivor_id"] is not None and line["survivor_row"] is not None:
        yield Side(line["survivor_id"], line["survivor_row"]), line.get("survivor_unit", 0)
    elif line.get("reference") is not None:
        yield Side(line["survivor_id"], line["reference_row"], line["reference"]), 0
    yield Side(line["id"], line["row"]), line.get("unit", 0)


def _pair(texts: Texts, line: Line) -> tuple[str, str] | None:
    found = [texts.get(each) for each in _sides(line)]
    return (found[0], found[1]) if len(found) == 2 and None not in found else None  # type: ignore[return-value]


def _texts(
    runs: Sequence[RecordedRun], inputs: Sequence[RunInputs], lines: Sequence[list[Line]]
) -> tuple[list[Texts], str]:
    """The texts of the lines of each run, and why some are missing."""
    found, reasons = list[Texts](), list[str]()
    is_same = runs[0].reading == runs[1].reading
    for number, (run, some) in enumerate(zip(runs, lines, strict=True)):
        mine, other = inputs[number], inputs[1 - number]
        corpus = other.corpus if mine.corpus is None and is_same else mine.corpus
        texts: Texts = {}
        if some and corpus is None:
            reasons.append(mine.reason)
        elif some and corpus is not None:
            try:
                texts = dict(_read(run, RunInputs(mine.rows, None, corpus, mine.reference), some))
            except NeardupError as problem:
                reasons.append(str(problem))
        found.append(texts)
    return found, next(iter(reasons), "")


def _read(run: RecordedRun, inputs: RunInputs, lines: Iterable[Line]) -> Iterator[tuple[tuple[Side, int], str]]:
    wanted = {each for line in lines for each in _sides(line)}
    assert inputs.corpus is not None
    texts = texts_of(inputs.corpus, list({side for side, _ in wanted if side.reference is None}))
    for shard in () if inputs.reference is None else inputs.reference.shards:
        here = list({side for side, _ in wanted if side.reference == shard.name})
        texts |= texts_of(inputs.reference.part([shard]), here) if here and inputs.reference is not None else {}
    units: dict[Side, list[str]] = {}
    for side, number in (each for each in wanted if each[0] in texts):
        if run.unit == "document":
            yield (side, number), texts[side]
            continue
        if side not in units:
            units[side] = _units(texts[side], run.unit)
        if number < len(units[side]):
            yield (side, number), units[side][number]


def _units(text: str, unit: str) -> list[str]:
    """The lines or paragraphs of a text."""
    found = split(pa.array([text], pa.large_string()), unit)
    data = found.data.tobytes()
    return [data[start:end].decode() for start, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]
