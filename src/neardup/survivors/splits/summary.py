"""The counts of a split: what each side was to get, what it has, and what stood in the way."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import counted, html_table
from neardup.survivors.splits.options import SplitOptions

TOLERANCE = 0.01
"""A share that misses what was asked by more than this gets a warning."""


@dataclass(frozen=True, kw_only=True)
class SideCounts:
    """One side.

    Attributes:
        side: its name.
        share: what was asked for; `reached`: what it has of all documents but conflicts.
        documents: how many documents it has.
        largest: the most documents of it that stay together.
    """

    side: str
    share: float
    reached: float
    documents: int
    largest: int


@dataclass(frozen=True, kw_only=True)
class StratumCounts:
    """One value of the column `stratify`.

    Attributes:
        value: the value as text; None for documents without one.
        documents: how many documents have it, without conflicts.
        sides: how many each side has of them.
    """

    value: str | None
    documents: int
    sides: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class SplitSummary:
    """Counts, options and costs of a split.

    Attributes:
        rows: rows read: `documents` plus `rejected`.
        documents: what the sides have, plus `conflicts`.
        rejected: rows that could not be read and were set aside.
        conflicts: new documents that match documents of two sides of the earlier split; they are on no side.
        dealt_before: documents whose text was dealt before; they stay on their side.
        sides: the counts of each side; `strata`: of each value of the column `stratify`.
        units: what was dealt: documents that matches connect, or that share a group, count as one.
        largest: the most documents that stay together, and `largest_side`: where they are.
        warnings: what stood in the way, in words.
        short: documents with fewer than `min_tokens` tokens: they match equal ones only.
        candidates, matches: pairs of documents that were compared, and that matched.
        seconds, read_bytes, written_bytes: by stage, and `total`.
        peak_memory_bytes, peak_temporary_bytes: the most memory and temporary files.
        passed_over: files in input folders that were not read.
    """

    rows: int
    documents: int
    rejected: int
    conflicts: int
    dealt_before: int
    sides: tuple[SideCounts, ...]
    strata: tuple[StratumCounts, ...]
    units: int
    largest: int
    largest_side: str | None
    warnings: tuple[str, ...]
    short: int
    min_tokens: int
    candidates: int
    matches: int
    min_similarity: float
    options: dict[str, Any]
    recipe: dict[str, Any]
    seconds: dict[str, float]
    read_bytes: dict[str, int]
    written_bytes: dict[str, int]
    peak_memory_bytes: int
    peak_temporary_bytes: int
    versions: dict[str, str]
    passed_over: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def in_a_line(self) -> str:
        """One line, such as `10 documents → train 8, test 2`."""
        sides = ", ".join(f"{each.side} {each.documents:,}" for each in self.sides)
        more = f", {self.conflicts:,} in conflict" if self.conflicts else ""
        return f"{counted(self.documents, 'document')} → {sides}{more}"

    def __repr__(self) -> str:
        return f"SplitSummary({self.in_a_line()}; {self.seconds['total']:.1f} s)"

    def _repr_html_(self) -> str:
        names = [field.name for field in dataclasses.fields(SideCounts)]
        return f"<p>{self.in_a_line()}</p>" + html_table(names, map(dataclasses.astuple, self.sides))

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "SplitSummary":
        """Restore the summary from what `as_dict` returned, perhaps by way of JSON."""
        sides = tuple(SideCounts(**each) for each in record["sides"])
        strata = tuple(StratumCounts(**each) for each in record["strata"])
        return cls(**record | {"sides": sides, "strata": strata, "warnings": tuple(record["warnings"])})


def counts_of_sides(how: SplitOptions, sides: Array, labels: Array) -> tuple[SideCounts, ...]:
    """The counts of each side. `sides`, `labels`: int64[n], the side and the unit of each document; others have no side here."""
    total, found = int(np.count_nonzero(sides >= 0)), []
    for number, (side, share) in enumerate(zip(how.sides, how.fractions, strict=True)):
        here = labels[sides == number]
        largest = int(np.unique(here, return_counts=True)[1].max(initial=0))
        reached = len(here) / total if total else 0.0
        found.append(SideCounts(side=side, share=float(share), reached=reached, documents=len(here), largest=largest))
    return tuple(found)


def counts_of_strata(
    how: SplitOptions, sides: Array, strata: Array, values: Sequence[str | None]
) -> tuple[StratumCounts, ...]:
    """The counts of each stratum (int64[n], of each document); none without the column."""
    if how.stratify is None:
        return ()
    dealt = sides >= 0
    table = np.zeros((len(values), len(how.sides)), np.int64)
    np.add.at(table, (strata[dealt], sides[dealt]), 1)
    return tuple(
        StratumCounts(value=value, documents=sum(numbers), sides=dict(zip(how.sides, numbers, strict=True)))
        for value, numbers in zip(values, table.tolist(), strict=True)
    )


def warnings_of(sides: Sequence[SideCounts], group: str | None = None) -> tuple[str, ...]:
    """What a person has to know: sides that one unit decides, and shares that were missed by more than TOLERANCE. `group`: the
    option.
    """
    total, found = sum(each.documents for each in sides), []
    unit = (
        "set of matching documents" if group is None else f"set of documents that match, or share a value of {group!r},"
    )
    for each in sides:
        wanted = each.share * total
        if each.largest > 1 and each.largest > wanted / 2:
            found.append(
                f"{each.side}: {each.largest:,} of its {counted(each.documents, 'document')} stay together, so one {unit} "
                "decides this side"
            )
        if abs(each.reached - each.share) > TOLERANCE and abs(each.documents - wanted) >= 1:
            found.append(
                f"{each.side} has {100 * each.reached:.1f} % of the documents, and {100 * each.share:g} % were asked for: "
                "documents that stay together are not divided"
            )
    return tuple(found)
