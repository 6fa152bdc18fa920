"""The difference of two runs: counts, options and samples, also as text and as JSON."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neardup.display import ToldLine, counted, labeled, printable, share_text, shortened
from neardup.io.storage.places import Place
from neardup.judging.reports.run_facts import value_in_words
from neardup.judging.runs.options import OptionDifference
from neardup.judging.runs.samples import DiffSample

_VALUE = 60
"""Characters of the value of an option in a line."""


@dataclass(frozen=True, slots=True)
class RunDiff:
    """What two runs on the same inputs removed differently.

    Attributes:
        a, b: the runs, as they were named.
        inputs: their inputs in words.
        unit: what was removed: `document`, `line` or `paragraph`.
        options: the options, fields of recipes, and versions that differ.
        documents: the documents of each run, or the lines or paragraphs with a token.
        removed: how many each run removed.
        removed_by_both, only_a, only_b: how many of them both removed, or only one.
        kept_by_both: how many both kept; None if the runs read other texts, and could not read some.
        other_survivor: of those that both removed, how many were removed for another document.
        other_cluster: of those, how many are in a cluster that has other members in the other run, as far as audits name these.
        bands: of those that only one removed, how many have which similarity to their survivor, of each run.
        samples: some of those that differ.
        without_texts: why samples have no texts; empty if they have.
        report, list: the files that were written; None for none.
    """

    a: str
    b: str
    inputs: str
    unit: str
    options: tuple[OptionDifference, ...]
    documents: tuple[int, int]
    removed: tuple[int, int]
    removed_by_both: int
    only_a: int
    only_b: int
    kept_by_both: int | None
    other_survivor: int
    other_cluster: int
    bands: dict[str, tuple[int, int]]
    samples: tuple[DiffSample, ...]
    without_texts: str = ""
    report: Place | None = None
    list: Place | None = None

    @property
    def same(self) -> bool:
        """Whether both removed the same, for the same documents."""
        return not (self.only_a or self.only_b or self.other_survivor)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; samples without their texts."""
        names = (
            "a",
            "b",
            "inputs",
            "unit",
            "documents",
            "removed",
            "removed_by_both",
            "only_a",
            "only_b",
            "kept_by_both",
        )
        values = {name: getattr(self, name) for name in (*names, "other_survivor", "other_cluster")}
        return {"same": self.same} | values | {
            "options": [{"name": each.name, "a": each.a, "b": each.b} for each in self.options],
            "bands": [{"similarity": band, "only_a": a, "only_b": b} for band, (a, b) in self.bands.items()],
            "samples": [each.as_dict() for each in self.samples],
            "report": None if self.report is None else str(self.report),
            "list": None if self.list is None else str(self.list),
        }  # fmt: skip

    def to_json(self) -> bytes:
        """The result as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"

    def in_a_line(self) -> str:
        """One line, such as `5 removed by both, 0 only by A, 2 only by B`."""
        return f"{self.removed_by_both:,} removed by both, {self.only_a:,} only by A, {self.only_b:,} only by B"

    def __repr__(self) -> str:
        return f"RunDiff({self.in_a_line()})"

    def __str__(self) -> str:
        return labeled(self.lines())

    def lines(self) -> Iterator[ToldLine]:
        """What a person is told of it."""
        for name, run, of_run, removed in zip("AB", (self.a, self.b), self.documents, self.removed, strict=True):
            part = counted(removed, self.unit)
            yield name, f"{printable(run)}: removed {part} of {of_run:,}{share_text(removed, of_run)}"
        label = "options"
        for each in self.options:
            here, there = (shortened(printable(value_in_words(value)), _VALUE) for value in (each.a, each.b))
            yield label, f"{printable(each.name)}: {here} in A, {there} in B"
            label = ""
        if not self.options:
            yield label, "the same in both"
        others = f"; {self.other_survivor:,} for another kept {self.unit}" if self.other_survivor else ""
        others += f"; {self.other_cluster:,} in clusters with other members" if self.other_cluster else ""
        yield "both", f"removed {counted(self.removed_by_both, self.unit)}{others}"
        for name, number, side in (("only A", self.only_a, 0), ("only B", self.only_b, 1)):
            bands = ", ".join(f"{pair[side]:,} {_band(band)}" for band, pair in self.bands.items() if pair[side])
            yield name, f"removed {counted(number, self.unit)}" + (f": {bands}" if bands else "")
        if self.kept_by_both is not None:
            yield "kept", f"{counted(self.kept_by_both, self.unit)} by both"
        if self.without_texts:
            yield "note", f"no texts are shown: {self.without_texts}"
        if self.list is not None:
            yield "list", printable(str(self.list))
        if self.report is not None:
            yield "report", printable(str(self.report))


def _band(band: str) -> str:
    return f"at {band}" if band[:1].isdigit() else f"of {band}" if band.startswith("equal") else f"at {band}"
