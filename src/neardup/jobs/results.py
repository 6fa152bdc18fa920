"""The results of jobs that write survivors: a summary and the paths of the files, also as text and as JSON."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.display import counted, printable
from neardup.survivors.summary import Summary
from neardup.survivors.unit_summary import UnitSummary

if TYPE_CHECKING:
    from neardup.judging.estimate import CostEstimate


@dataclass(frozen=True)
class FileResult:
    """The result of a job on whole documents.

    Attributes:
        summary: the counts and seconds of the run.
        files: the paths of inputs, output, audit, summary and rejects, by these names; None for files that were not written.
        estimate: the cost that a dry run estimated; None for other runs.
    """

    summary: Summary
    files: dict[str, Any]
    estimate: "CostEstimate | None" = None

    def __repr__(self) -> str:
        return f"FileResult({self.summary.in_a_line()}, output={self.files['output']!r})"

    def __str__(self) -> str:
        counts = self.summary
        lines = [
            f"{counted(counts.documents, 'document')}: {counted(counts.survivors, 'survivor')}, "
            f"{counted(counts.duplicates, 'duplicate')} ({counts.exact_duplicates:,} exact) "
            f"in {counted(counts.clusters, 'cluster')}; {counts.seconds['total']:.1f} s"
        ]
        if counts.reference_documents:
            lines.append(
                f"{counted(counts.against_reference, 'duplicate')} of the reference, "
                f"which has {counted(counts.reference_documents, 'document')}; "
                f"{counts.duplicates - counts.against_reference:,} of other inputs"
            )
        alike = counts.options["similarity"]
        measure = alike["measure"] if isinstance(alike, dict) else alike
        if counts.much_longer and measure == "containment":
            lines.append(
                f"warning: {counted(counts.much_longer, 'duplicate')} with more than twice as many tokens as the survivor: "
                "containment also removes what holds a shorter text"
            )
        if counts.short:
            lines.append(
                f"{counted(counts.short, 'short document')} (under {counted(counts.min_tokens, 'token')}): "
                "only equal ones were removed"
            )
        return "\n".join([*lines, *_remarks(counts, counts.rejected, self.files), *places_of(self.files)])

    def to_json(self, indent: int | None = None) -> bytes:
        """The summary and the files as one JSON object; bytes of file names that are not UTF-8 become lone surrogates."""
        known = self.summary.as_dict() | {"files": self.files}
        if self.estimate is not None:
            known["estimate"] = self.estimate.as_dict()
        return json_of(known, indent)

    def record(self) -> dict[str, Any]:
        """The part of the result that the folder of a resumable run stores."""
        return {"summary": self.summary.as_dict(), "files": self.files}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "FileResult":
        """Restore the result from what `record` returned."""
        return cls(Summary(**record["summary"]), record["files"])


@dataclass(frozen=True)
class UnitResult:
    """The result of a job on lines or paragraphs.

    Attributes:
        summary: the counts and seconds of the run.
        files: the paths of inputs, output, audit, summary and rejects, by these names; None for files that were not written.
    """

    summary: UnitSummary
    files: dict[str, Any]

    def __repr__(self) -> str:
        return f"UnitResult({str(self).splitlines()[0]}, output={self.files['output']!r})"

    def __str__(self) -> str:
        counts = self.summary
        lines = [
            f"{counted(counts.units, counts.unit)} of {counted(counts.documents, 'document')}: {counts.removed_units:,} removed "
            f"({counts.found.exact_duplicates:,} exact), {counts.removed_bytes:,} of {counts.text_bytes:,} bytes; "
            f"{counts.found.seconds['total']:.1f} s",
            f"{counted(counts.changed_documents, 'document')} changed, {counts.emptied_documents:,} left empty and removed",
        ]
        return "\n".join([*lines, *_remarks(counts.found, counts.rejected, self.files), *places_of(self.files)])

    def to_json(self, indent: int | None = None) -> bytes:
        """The summary and the files as one JSON object; bytes of file names that are not UTF-8 become lone surrogates."""
        return json_of(self.summary.as_dict() | {"files": self.files}, indent)

    def record(self) -> dict[str, Any]:
        """The part of the result that the folder of a resumable run stores."""
        return {"summary": self.summary.of_documents(), "found": self.summary.found.as_dict(), "files": self.files}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "UnitResult":
        """Restore the result from what `record` returned."""
        return cls(UnitSummary(**record["summary"], found=Summary(**record["found"])), record["files"])


def _remarks(counts: Summary, rejected: int, files: dict[str, Any]) -> Iterator[str]:
    """Warnings about repeated ids, rejected rows and files that were passed over."""
    if counts.repeated_ids:
        yield f"warning: {counted(counts.repeated_ids, 'repeated id')}; the audit tells such documents apart by row"
    if rejected:
        yield f"{counted(rejected, 'row')} could not be read: {files['rejects'] or 'not written'}"
    if counts.passed_over:
        yield f"{counted(counts.passed_over, 'file')} in folders passed over, of no known format or read only if named"


def places_of(files: dict[str, Any], names: Iterable[str] = ("output", "audit", "summary", "report")) -> Iterator[str]:
    """Where the files with these names are, in a line each."""
    for name in names:
        if place := files.get(name):
            yield f"{name}: {'standard output' if place == '-' else printable(place)}"


def json_of(known: dict[str, Any], indent: int | None) -> bytes:
    """Plain values as JSON; bytes of file names that are not UTF-8 become lone surrogates."""
    return json.dumps(known, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace") + b"\n"
