"""SUMMARY: the counts of a run on an engine, and what its stages took."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.display import counted, html_table, size_text
from neardup.engines.reading.unchanged_input import Content
from neardup.engines.schemas import INT, REFERENCE, rows_of
from neardup.engines.stages import Engine, Found, Measured, Output, Stage


@dataclass(frozen=True, kw_only=True)
class EngineSummary:
    """Counts of one run, as `neardup dedup` prints them, and its stages.

    Attributes:
        documents: `survivors` plus `duplicates`.
        exact_duplicates: duplicates whose normalized text equals their survivor's.
        reference_documents: those of the reference; they are not counted in `documents`.
        against_reference: duplicates whose survivor is in the reference.
        clusters: groups of two or more documents.
        stages: what each stage took; of those that an earlier run had done, what they took then.
    """

    documents: int
    survivors: int
    duplicates: int
    exact_duplicates: int
    reference_documents: int
    against_reference: int
    clusters: int
    stages: tuple[Measured, ...]

    @property
    def seconds(self) -> float:
        """Of all stages together."""
        return sum(each.seconds for each in self.stages)

    @property
    def shuffled_bytes(self) -> int:
        """Packed, of all stages together."""
        return sum(sum(each.bytes.values()) for each in self.stages)

    def in_a_line(self) -> str:
        """One line, such as `3 documents → 2 survivors, 1 duplicate (0 exact) in 1 cluster`."""
        return (
            f"{counted(self.documents, 'document')} → {counted(self.survivors, 'survivor')}, "
            f"{counted(self.duplicates, 'duplicate')} ({self.exact_duplicates:,} exact) in {counted(self.clusters, 'cluster')}"
        )

    def __repr__(self) -> str:
        return f"EngineSummary({self.in_a_line()}; {self.seconds:.1f} s)"

    def __str__(self) -> str:
        lines = [f"{self.in_a_line()}; {self.seconds:.1f} s"]
        if self.reference_documents:
            lines.append(
                f"{counted(self.against_reference, 'duplicate')} of the reference, which has "
                f"{counted(self.reference_documents, 'document')}; {self.duplicates - self.against_reference:,} of the input"
            )
        lines.append(f"{'stage':<20}{'on':<9}{'seconds':>9}{'rows':>16}{'bytes':>12}")
        lines += [_line(name, ran, seconds, rows, size) for name, ran, seconds, rows, size in map(_of, self.stages)]
        rows = sum(sum(each.rows.values()) for each in self.stages)
        return "\n".join([*lines, _line("all", "", self.seconds, rows, self.shuffled_bytes)])

    def _repr_html_(self) -> str:
        return f"<p>{self.in_a_line()}</p>" + html_table(
            ("stage", "on", "seconds", "rows", "bytes"), map(_of, self.stages)
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


def _of(stage: Measured) -> tuple[str, str, float, int, int]:
    return stage.name, stage.ran, stage.seconds, sum(stage.rows.values()), sum(stage.bytes.values())


def _line(name: str, ran: str, seconds: float, rows: int, size: int) -> str:
    return f"{name:<20}{ran:<9}{seconds:>9.1f}{rows:>16,}{size_text(size):>12}"


class Totals(NamedTuple):
    """Counts of the rows of results: duplicates, exact ones, those of a reference, and clusters."""

    clusters: int
    duplicates: int
    exact: int
    against: int


def summary_of(totals: Totals, seen: Mapping[int, Content], stages: tuple[Measured, ...]) -> EngineSummary:
    """The summary of a run. `seen`: what the parts of the input held."""
    documents = sum(content.rows for part, content in seen.items() if part < REFERENCE)
    return EngineSummary(
        documents=documents,
        survivors=documents - totals.duplicates,
        duplicates=totals.duplicates,
        exact_duplicates=totals.exact,
        reference_documents=sum(content.rows for part, content in seen.items() if part >= REFERENCE),
        against_reference=totals.against,
        clusters=totals.clusters,
        stages=stages,
    )


def _tally(results: pa.Table) -> Found:
    """By cluster: duplicates, exact ones, and those of the reference."""
    if not len(results):
        return
    cluster, at = np.unique(results.column("cluster").to_numpy(), return_inverse=True)
    part, _ = rows_of(results.column("survivor").to_numpy())
    flags = (np.ones(len(results)), results.column("exact").to_numpy(), part >= REFERENCE)
    counts = [np.bincount(at, each.astype(np.float64), len(cluster)).astype(np.int64) for each in flags]
    yield "tallied", pa.table([cluster, *counts], TALLIED.schema)


def _total(rows: pa.Table) -> Found:
    if len(rows):
        counts = (rows.column(name).to_numpy().sum() for name in ("rows", "exact", "against"))
        clusters = len(np.unique(rows.column("cluster").to_numpy()))
        yield "totals", pa.table([[clusters], *([int(each)] for each in counts)], TOTALS.schema)


def totals_of(engine: Engine, results: Any) -> Totals:
    """Count the results of a run by two stages more."""
    found = engine.run(TALLY, results)["tallied"]
    rows = engine.collect(engine.run(TOTAL, found)["totals"])
    return Totals(*(sum(rows.column(name).to_pylist()) for name in TOTALS.schema.names))


TALLIED = Output(pa.schema({"cluster": INT, "rows": INT, "exact": INT, "against": INT}), ("cluster",), is_sorted=False)
TOTALS = Output(pa.schema({"clusters": INT, "duplicates": INT, "exact": INT, "against": INT}))
TALLY = Stage("clusters counted", _tally, {"tallied": TALLIED})
TOTAL = Stage("all counted", _total, {"totals": TOTALS})
