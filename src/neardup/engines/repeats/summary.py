"""SUMMARY: the counts of a run that cuts passages, and what its stages took."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neardup.display import counted
from neardup.engines.reading.unchanged_input import Content
from neardup.engines.repeats.flow import CutPassages
from neardup.engines.repeats.outcomes import TALLY, TOTALS
from neardup.engines.results.summary import lines_of_stages
from neardup.engines.schemas import REFERENCE
from neardup.engines.stages import Engine, Measured


@dataclass(frozen=True, kw_only=True)
class EnginePassageSummary:
    """Counts of one run, and its stages.

    Attributes:
        documents: that were given.
        changed: from which a passage was cut.
        removed: of these, which are left out, as too few of their tokens are left.
        kept_for_copies: of these, which stay with too few tokens, because passages are cut for a copy in them.
        reference_documents: those of the reference; they are not counted in `documents`.
        tokens, cut_tokens: of all documents, and those that are cut.
        cut_characters: that are cut with them.
        segments: rows of `passages`.
        stages: what each stage took; of those that an earlier run had done, what they took then.
    """

    documents: int
    changed: int
    removed: int
    kept_for_copies: int
    reference_documents: int
    tokens: int
    cut_tokens: int
    cut_characters: int
    segments: int
    stages: tuple[Measured, ...]

    @property
    def seconds(self) -> float:
        """Of all stages together."""
        return sum(each.seconds for each in self.stages)

    def in_a_line(self) -> str:
        """One line, such as `3 documents, 2 changed, 1 removed; 120 of 1,000 tokens cut, in 2 passages`."""
        return (
            f"{counted(self.documents, 'document')}, {self.changed:,} changed, {self.removed:,} removed; {self.cut_tokens:,} of "
            f"{counted(self.tokens, 'token')} cut, in {counted(self.segments, 'passage')}"
        )

    def __repr__(self) -> str:
        return f"EnginePassageSummary({self.in_a_line()}; {self.seconds:.1f} s)"

    def __str__(self) -> str:
        return "\n".join([f"{self.in_a_line()}; {self.seconds:.1f} s", *lines_of_stages(self.stages)])

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False)


def totals_of(engine: Engine, found: CutPassages) -> dict[str, int]:
    """Counts of what a run has cut, by a stage more."""
    rows = engine.collect(engine.run(TALLY, found.documents, found.outcomes, found.log)["totals"])
    return {name: sum(rows.column(name).to_pylist()) for name in TOTALS.schema.names}


def summary_of(
    totals: Mapping[str, int], seen: Mapping[int, Content], stages: tuple[Measured, ...]
) -> EnginePassageSummary:
    """The summary of a run. `seen`: what the parts of the input held."""
    own, others = (sum(each.rows for part, each in seen.items() if (part >= REFERENCE) == of) for of in (False, True))
    return EnginePassageSummary(documents=own, reference_documents=others, stages=stages, **totals)
