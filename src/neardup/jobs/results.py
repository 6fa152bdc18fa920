"""What a job that writes survivors returns: a summary, where all of it lies, and both as text and JSON."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neardup.display import counted
from neardup.judging.estimate import CostEstimate
from neardup.survivors.summary import Summary
from neardup.survivors.unit_summary import UnitSummary


@dataclass(frozen=True)
class FileResult:
    """What was done, and where it lies: inputs, output, audit, summary and rejects; those not written are None.

    `estimate`: what had been expected, of a dry run.
    """

    summary: Summary
    files: dict[str, Any]
    estimate: CostEstimate | None = None

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
                f"which has {counted(counts.reference_documents, 'document')}"
            )
        if counts.short:
            lines.append(
                f"{counted(counts.short, 'short document')} (under {counted(counts.min_tokens, 'token')}): "
                "only equal ones were removed"
            )
        return "\n".join([*lines, *_remarks(counts, counts.rejected, self.files), *_places(self.files)])

    def to_json(self, indent: int | None = None) -> bytes:
        """The summary and the files as one JSON object; a file name that is not UTF-8 keeps its bytes, as half surrogates."""
        known = self.summary.as_dict() | {"files": self.files}
        if self.estimate is not None:
            known["estimate"] = self.estimate.as_dict()
        return _json(known, indent)

    def record(self) -> dict[str, Any]:
        """What a run to be resumed keeps of it."""
        return {"summary": self.summary.as_dict(), "files": self.files}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "FileResult":
        """The result of which `record` gave this."""
        return cls(Summary(**record["summary"]), record["files"])


@dataclass(frozen=True)
class UnitResult:
    """What was done, and where it lies: inputs, output, audit, summary and rejects; those not written are None."""

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
        return "\n".join([*lines, *_remarks(counts.found, counts.rejected, self.files), *_places(self.files)])

    def to_json(self, indent: int | None = None) -> bytes:
        """The summary and the files as one JSON object; a file name that is not UTF-8 keeps its bytes, as half surrogates."""
        return _json(self.summary.as_dict() | {"files": self.files}, indent)

    def record(self) -> dict[str, Any]:
        """What a run to be resumed keeps of it."""
        return {"summary": self.summary.of_documents(), "found": self.summary.found.as_dict(), "files": self.files}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "UnitResult":
        """The result of which `record` gave this."""
        return cls(UnitSummary(**record["summary"], found=Summary(**record["found"])), record["files"])


def _remarks(counts: Summary, rejected: int, files: dict[str, Any]) -> Iterator[str]:
    """What somebody should know who reads nothing else."""
    if counts.repeated_ids:
        yield f"warning: {counted(counts.repeated_ids, 'repeated id')}; the audit tells such documents apart by row"
    if rejected:
        yield f"{counted(rejected, 'row')} could not be read: {files['rejects'] or 'not written'}"
    if counts.passed_over:
        yield f"{counted(counts.passed_over, 'file')} in folders passed over, of no known format or read only if named"


def _places(files: dict[str, Any]) -> Iterator[str]:
    for name in ("output", "audit", "summary", "report"):
        if place := files.get(name):
            yield f"{name}: {'standard output' if place == '-' else place}"


def _json(known: dict[str, Any], indent: int | None) -> bytes:
    return json.dumps(known, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace") + b"\n"
