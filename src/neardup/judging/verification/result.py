"""The result of a verification: its checks, each with a count and the first failures."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.display import counted, threshold_text

SHOWN_FAILURES = 5
"""Failures of a check that are listed; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Check:
    """One property of a run.

    Attributes:
        name: a word for the property.
        claim: the property, as a sentence.
        checked: how many things it was checked on.
        failures: on how many of them it does not hold.
        first: the first failures, in words; at most SHOWN_FAILURES.
    """

    name: str
    claim: str
    checked: int
    failures: int = 0
    first: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, claim: str, checked: int, failures: Sequence[str] | Iterable[str]) -> "Check":
        """The check with all its failures in words; only the first are kept."""
        every = list(failures)
        return cls(name, claim, checked, len(every), tuple(every[:SHOWN_FAILURES]))


@dataclass(frozen=True, slots=True)
class Missed:
    """Pairs of survivors that are as similar as the threshold, but that the method of the run does not promise to find.

    Attributes:
        pairs: how many there are.
        matches: pairs that matched in the run; None if that is unknown.
        miss_probability: the probability that the method misses a pair exactly at the threshold; None if none is known.
        why: how the method misses pairs.
        first: the first of the pairs, in words; at most SHOWN_FAILURES.
    """

    pairs: int
    matches: int | None
    miss_probability: float | None
    why: str
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify_files` found.

    Attributes:
        output, audit: as they were named; the audit is None if the run was judged by its inputs and output alone.
        method: the method of the run; None if it is unknown.
        promise: why survivors do not match one another: by theorem, by distance, or with a probability.
        similarity, min_similarity: the similarity and the threshold of the run.
        documents, survivors, removed: counts; `documents` is their sum where the run is right.
        checks: the properties, in the order in which they were checked.
        missed: pairs of survivors that the method may leave; None where it may leave none.
        seconds: by stage, and `total`.
        passages: for a run that cut repeated passages, what is proven of them, as the end of a sentence. Its `method` is None, and
            `similarity` and `min_similarity` say nothing.
    """

    output: str
    audit: str | None
    method: str | None
    promise: str
    similarity: str
    min_similarity: float
    documents: int
    survivors: int
    removed: int
    checks: tuple[Check, ...]
    missed: Missed | None
    seconds: dict[str, float]
    passages: str | None = None

    @property
    def proven(self) -> bool:
        """Whether no check has a failure."""
        return not any(check.failures for check in self.checks)

    @property
    def failures(self) -> int:
        """The number of failures of all checks."""
        return sum(check.failures for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"proven": self.proven, "failures": self.failures} | dataclasses.asdict(self)

    def to_json(self) -> bytes:
        """The result as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"

    def __repr__(self) -> str:
        return f"Verification({self._verdict()})"

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        numbers = max(len(f"{check.checked:,}") for check in self.checks)
        lines = []
        for check in self.checks:
            verdict = "ok    " if not check.failures else "FAILED"
            lines.append(f"{verdict}  {check.name:<{width}}  {check.checked:>{numbers},}  {check.claim}")
            lines += [f"        {each}" for each in check.first]
            if check.failures > len(check.first):
                lines.append(f"        … and {counted(check.failures - len(check.first), 'more failure')}")
        if self.missed is not None and self.missed.pairs:
            lines += self._of_missed(self.missed)
        return "\n".join([*lines, self._verdict()])

    def _of_missed(self, missed: Missed) -> list[str]:
        among = "" if missed.matches is None else f", beside {counted(missed.matches, 'pair')} that matched in the run"
        lines = [
            f"note: {counted(missed.pairs, 'pair')} of survivors reach {threshold_text(self.min_similarity)}{among}: {missed.why}"
        ]
        lines += [f"        {each}" for each in missed.first]
        if missed.pairs > len(missed.first):
            lines.append(f"        … and {counted(missed.pairs - len(missed.first), 'more pair')}")
        return lines

    def _verdict(self) -> str:
        counts = (
            f"{counted(self.documents, 'document')}, {counted(self.survivors, 'survivor')}, {self.removed:,} removed"
        )
        if not self.proven:
            return f"not proven: {counted(self.failures, 'failure')} ({counts})"
        if self.passages is not None:
            return f"proven: {counts}; {self.passages}"
        return f"proven: {counts}; survivors do not match {self.promise}"
