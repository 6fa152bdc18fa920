"""The counts of leaks: how many test documents are in the training set, at each strength."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from neardup.display import counted, html_table

STRENGTHS = {
    "exact": "a copy: the normalized texts are equal",
    "near": "a near-duplicate: at least as similar as asked",
    "contained": "a passage of a training document has it, or a long part of it",
}
"""How strongly a test document is in the training set, the strongest first."""


@dataclass(frozen=True, kw_only=True)
class StrengthCounts:
    """One strength.

    Attributes:
        strength: its name, a key of STRENGTHS.
        documents: test documents of which it is the strongest; no document counts twice.
        found: all test documents of which it holds, also if a stronger one does.
        share: `documents` of all test documents.
    """

    strength: str
    documents: int
    found: int
    share: float


@dataclass(frozen=True, kw_only=True)
class TestCounts:
    """One file of the test set.

    Attributes:
        test: its name.
        documents: its documents; `leaked`: those in the training set.
        exact, near, contained: the leaked documents by their strongest finding.
    """

    __test__ = False  # for pytest, which collects what is called so

    test: str
    documents: int
    leaked: int
    exact: int
    near: int
    contained: int


@dataclass(frozen=True, kw_only=True)
class LeakSummary:
    """Counts, options and costs of a search for leaks.

    Attributes:
        train_documents, test_documents: what was read; `rejected`: rows of either that could not be.
        leaked: test documents that are in the training set, at any strength; `share`: of all test documents.
        strengths: the same by strength; `tests`: by file of the test set.
        checked: test documents with enough tokens for a search for passages; `short` have fewer.
        options: the options of the search.
        seconds, read_bytes, written_bytes: by stage, and `total`.
        peak_memory_bytes, peak_temporary_bytes: the most memory and temporary files.
        passed_over: files in input folders that were not read.
    """

    train_documents: int
    test_documents: int
    rejected: int
    leaked: int
    share: float
    strengths: tuple[StrengthCounts, ...]
    tests: tuple[TestCounts, ...]
    checked: int
    short: int
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
        """One line, such as `3 of 10 test documents are in the training set: 1 exact, 1 near, 1 contained`."""
        by = ", ".join(f"{each.documents:,} {each.strength}" for each in self.strengths)
        verb = "is" if self.leaked == 1 else "are"
        return f"{self.leaked:,} of {counted(self.test_documents, 'test document')} {verb} in the training set: {by}"

    def __repr__(self) -> str:
        return f"LeakSummary({self.in_a_line()}; {self.seconds['total']:.1f} s)"

    def _repr_html_(self) -> str:
        names = [field.name for field in dataclasses.fields(StrengthCounts)]
        return f"<p>{self.in_a_line()}</p>" + html_table(names, map(dataclasses.astuple, self.strengths))


def share_of(part: int, whole: int) -> float:
    """A part of a whole; 0 of nothing."""
    return part / whole if whole else 0.0


def counts_by_strength(found: Sequence[int], strongest: Sequence[int], documents: int) -> tuple[StrengthCounts, ...]:
    """The counts of all strengths, in their order."""
    return tuple(
        StrengthCounts(strength=name, documents=own, found=every, share=share_of(own, documents))
        for name, own, every in zip(STRENGTHS, strongest, found, strict=True)
    )
