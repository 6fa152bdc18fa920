"""SUMMARY: the counts of a run on an engine, and what its stages took."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.display import counted, html_table, size_text
from neardup.engines.flow import Decided
from neardup.engines.job.cluster_engine import ClusterEngine
from neardup.engines.schemas import INT, REFERENCE, rows_of
from neardup.engines.stages import Found, Measured, Output, Stage

GUARDED = " (guard same-numbers keeps such documents)"


@dataclass(frozen=True, kw_only=True)
class EngineSummary:
    """Counts of one run, as `neardup dedup` prints them, and its stages.

    Attributes:
        documents: `survivors` plus `duplicates`.
        exact_duplicates: duplicates whose normalized text equals their survivor's.
        only_digits: duplicates whose normalized text differs from their survivor's in digits only.
        reference_documents: those of the reference; they are not counted in `documents`.
        against_reference: duplicates whose survivor is in the reference.
        matching_reference: documents that match one of the reference, whatever else they match; the leaks into a test set.
        clusters: groups of two or more documents.
        compared_as: how the values that `keep` names were compared: as numbers, dates or text; None if there are none.
        stages: what each stage took; of those that an earlier run had done, what they took then.
    """

    documents: int
    survivors: int
    duplicates: int
    exact_duplicates: int
    only_digits: int
    reference_documents: int
    against_reference: int
    matching_reference: int
    clusters: int
    compared_as: str | None
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
            lines.append(
                f"{counted(self.matching_reference, 'document')} in all match the reference, whatever else they match"
            )
        if self.only_digits:
            differ = "differs" if self.only_digits == 1 else "differ"
            lines.append(
                f"{counted(self.only_digits, 'duplicate')} {differ} from the kept document in digits only{GUARDED}"
            )
        if self.compared_as is not None:
            lines.append(f"keep compares {self.compared_as}")
        return "\n".join([*lines, *lines_of_stages(self.stages)])

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


def lines_of_stages(stages: Sequence[Measured]) -> list[str]:
    """A table of what stages took."""
    shown = [_of(each) for each in stages]
    seconds, rows, size = (sum(column) for column in list(zip(*shown, strict=True))[2:]) if shown else (0.0, 0, 0)
    head = f"{'stage':<20}{'on':<9}{'seconds':>9}{'rows':>16}{'bytes':>12}"
    return [head, *(_line(*each) for each in shown), _line("all", "", seconds, rows, size)]


def _of(stage: Measured) -> tuple[str, str, float, int, int]:
    return stage.name, stage.ran, stage.seconds, sum(stage.rows.values()), sum(stage.bytes.values())


def _line(name: str, ran: str, seconds: float, rows: int, size: int) -> str:
    return f"{name:<20}{ran:<9}{seconds:>9.1f}{rows:>16,}{size_text(size):>12}"


def summary_of(engine: ClusterEngine[Any], decided: Decided) -> EngineSummary:
    """The summary of a run, whose results two stages more count."""
    seen, stages = engine.seen or {}, engine.stages
    tallied = engine.run(TALLY, decided.results)["tallied"]
    rows = engine.collect(engine.run(TOTAL, tallied)["totals"])
    counts = {name: sum(rows.column(name).to_pylist()) for name in TOTALS.schema.names}
    documents = sum(content.rows for part, content in seen.items() if part < REFERENCE)
    reference = sum(content.rows for part, content in seen.items() if part >= REFERENCE)
    return EngineSummary(
        documents=documents,
        survivors=documents - counts["duplicates"],
        reference_documents=reference,
        matching_reference=decided.matching_reference() if reference else 0,
        compared_as=decided.compared_as,
        stages=stages,
        **counts,
    )


_COUNTS = ("duplicates", "exact_duplicates", "only_digits", "against_reference")
_COUNTED = dict.fromkeys(_COUNTS, INT)
TALLIED = Output(pa.schema({"cluster": INT, **_COUNTED}), ("cluster",), is_sorted=False)
TOTALS = Output(pa.schema({"clusters": INT, **_COUNTED}))


def _tally(results: pa.Table) -> Found:
    """The duplicates of each cluster, and of which kinds they are."""
    if not len(results):
        return
    cluster, at = np.unique(results.column("cluster").to_numpy(), return_inverse=True)
    part, _ = rows_of(results.column("survivor").to_numpy())
    flags = (
        np.ones(len(results)),
        *(results.column(name).to_numpy() for name in ("exact", "only_digits")),
        part >= REFERENCE,
    )
    counts = [np.bincount(at, each.astype(np.float64), len(cluster)).astype(np.int64) for each in flags]
    yield "tallied", pa.table([cluster, *counts], TALLIED.schema)


def _total(rows: pa.Table) -> Found:
    if len(rows):
        clusters = len(np.unique(rows.column("cluster").to_numpy()))
        yield (
            "totals",
            pa.table([[clusters], *([int(rows.column(name).to_numpy().sum())] for name in _COUNTS)], TOTALS.schema),
        )


TALLY = Stage("clusters counted", _tally, {"tallied": TALLIED})
TOTAL = Stage("all counted", _total, {"totals": TOTALS})
