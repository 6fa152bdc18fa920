"""The counts of a decontamination: in all, and by benchmark."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.display import counted, html_table
from neardup.kernels.compilation import described
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.matching.contamination.readings import RULES
from neardup.progress import Progress
from neardup.survivors.contamination.decide import Contamination
from neardup.survivors.records.counting import versions
from neardup.text.html import html_versions


@dataclass(frozen=True, kw_only=True)
class BenchmarkCounts:
    """The counts of one benchmark.

    Attributes:
        benchmark: its name.
        items: its rows.
        checked: items of enough tokens.
        contaminated: items that a document of the corpus holds.
        documents: documents of the corpus that hold an item of it.
    """

    benchmark: str
    items: int
    checked: int
    contaminated: int
    documents: int


@dataclass(frozen=True, kw_only=True)
class DecontaminationSummary:
    """Counts, options and costs of a decontamination.

    Attributes:
        rows: rows read: `documents` plus `rejected`.
        documents: `clean` plus `contaminated`.
        rejected: rows that could not be read and were set aside.
        contaminated: documents that hold an item.
        shared_passages: contaminated documents whose passage stands in 10 items or more, such as an instruction.
        items: `checked_items` plus `short_items` plus `rejected_items`.
        short_items: items of fewer than `min_tokens` tokens; they are not checked.
        rejected_items: rows of benchmarks that could not be read.
        equal_items: checked items with the same tokens as an earlier one.
        contaminated_items: items that a document holds.
        benchmarks: the same by benchmark.
        seconds, read_bytes, written_bytes: by stage, and `total`.
        peak_memory_bytes: the most memory that the program has used since it started.
        passed_over: files in input folders that were not read.
    """

    rows: int
    documents: int
    rejected: int
    clean: int
    contaminated: int
    shared_passages: int
    items: int
    checked_items: int
    short_items: int
    rejected_items: int
    equal_items: int
    contaminated_items: int
    benchmarks: tuple[BenchmarkCounts, ...]
    options: dict[str, Any]
    seconds: dict[str, float]
    read_bytes: dict[str, int]
    written_bytes: dict[str, int]
    peak_memory_bytes: int
    versions: dict[str, str]
    passed_over: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def in_a_line(self) -> str:
        """One line, such as `9 documents → 8 clean, 1 contaminated by 1 of 4 items`."""
        return (
            f"{counted(self.documents, 'document')} → {self.clean:,} clean, {self.contaminated:,} contaminated "
            f"by {self.contaminated_items:,} of {counted(self.items, 'item')}"
        )

    def __repr__(self) -> str:
        return f"DecontaminationSummary({self.in_a_line()}; {self.seconds['total']:.1f} s)"

    def _repr_html_(self) -> str:
        names = [field.name for field in dataclasses.fields(BenchmarkCounts)]
        return f"<p>{self.in_a_line()}</p>" + html_table(names, map(dataclasses.astuple, self.benchmarks))


def summarize_contamination(
    found: Contamination, options: DecontaminationOptions, progress: Progress, *, html: str | None = None
) -> DecontaminationSummary:
    """Count what was found. `html`: how HTML became text, if the texts were HTML."""
    benchmarks, known = found.benchmarks, found.benchmarks.items
    of_rows = benchmarks.numbers_of(np.arange(len(known.tokens)))
    size = len(benchmarks.names)
    checked, contaminated = known.numbers >= 0, found.contaminated_items
    columns = [
        np.bincount(of_rows[mask], minlength=size).tolist() for mask in (known.tokens >= -1, checked, contaminated)
    ]
    documents = int(np.count_nonzero(found.valid))
    return DecontaminationSummary(
        rows=len(found.valid),
        documents=documents,
        rejected=len(found.valid) - documents,
        clean=documents - len(found.rows),
        contaminated=len(found.rows),
        shared_passages=found.shared_passages,
        items=len(known.tokens),
        checked_items=int(np.count_nonzero(checked)),
        short_items=int(np.count_nonzero((known.tokens >= 0) & ~checked)),
        rejected_items=int(np.count_nonzero(known.tokens < 0)),
        equal_items=int(np.count_nonzero(checked)) - len(known.firsts),
        contaminated_items=int(np.count_nonzero(contaminated)),
        benchmarks=tuple(
            BenchmarkCounts(
                benchmark=name, items=items, checked=checked, contaminated=contaminated, documents=documents
            )
            for name, items, checked, contaminated, documents in zip(
                benchmarks.names, *columns, found.by_benchmark.tolist(), strict=True
            )
        ),
        options=options.as_dict(),
        **progress.costs(),
        versions=versions() | {"kernels": described(), "contamination": str(RULES)} | html_versions(html),
    )
