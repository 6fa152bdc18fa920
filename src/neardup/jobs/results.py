"""The results of jobs that write survivors: a summary and the paths of the files, also as text and as JSON.

What a person is told has one shape, here and in every command: what was read, what was kept, what was removed and why, what to
know about it, and where it lies.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.display import (
    ToldLine,
    allowed_text,
    counted,
    duration,
    labeled,
    printable,
    reasons_text,
    share_text,
    shortened,
    size_text,
    threshold_text,
)
from neardup.survivors.records.summary import Summary, UnitSummary

_NAMES = 100
"""Characters of the names of files in a line."""

if TYPE_CHECKING:
    from neardup.judging.run_cost import CostEstimate


class JobResult(ABC):
    """What the results of jobs have in common: a summary, the paths of the files, and how both are told."""

    summary: Any
    files: dict[str, Any]

    def __str__(self) -> str:
        return labeled(self.lines())

    @abstractmethod
    def lines(self) -> Iterator[ToldLine]:
        """The lines for the terminal."""

    @abstractmethod
    def details(self) -> Iterator[ToldLine]:
        """How the work was done: what `--verbose` adds."""

    def to_json(self, indent: int | None = None) -> bytes:
        """The summary and the files as one JSON object; bytes of file names that are not UTF-8 become lone surrogates."""
        known = self.summary.as_dict() | {"files": self.files} | self._further()
        return json.dumps(known, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace") + b"\n"

    def _further(self) -> dict[str, Any]:
        """What else is in the JSON object."""
        return {}

    def record(self) -> dict[str, Any]:
        """The part of the result that the folder of a resumable run stores."""
        return {"summary": self.summary.as_dict(), "files": self.files}


@dataclass(frozen=True)
class FileResult(JobResult):
    """The result of a job on whole documents.

    Attributes:
        summary: the counts and seconds of the run.
        files: the paths of inputs, output, audit, summary and rejects, by these names; None for files that were not written.
        estimate: the cost that a dry run estimated; None for other runs.
        shards: the files of the texts, if only their fingerprints were read.
        annotated: whether all rows were written, with the decisions in columns.
    """

    summary: Summary
    files: dict[str, Any]
    estimate: "CostEstimate | None" = None
    shards: tuple[str, ...] = ()
    annotated: bool = False

    def __repr__(self) -> str:
        return f"FileResult({self.summary.in_a_line()}, output={self.files['output']!r})"

    def lines(self) -> Iterator[ToldLine]:
        """What a person is told of the run."""
        counts = self.summary
        yield "read", counted(counts.documents, "document")
        yield from told_of_reference(self.files)
        most = counts.options.get("keep_most")
        several = f": up to {most:,} of each cluster" if most else ""
        yield "kept", counted(counts.survivors, "document") + share_text(counts.survivors, counts.documents) + several
        removed = counted(counts.duplicates, "document") + share_text(counts.duplicates, counts.documents)
        yield "marked" if self.annotated else "removed", removed + _why(counts, counts.duplicates)
        if counts.reference_documents and counts.superseded is None and not counts.options.get("drop_matched"):
            yield (
                "",
                f"{counts.against_reference:,} by the reference of {counted(counts.reference_documents, 'document')}, "
                f"{counts.duplicates - counts.against_reference:,} by other inputs",
            )
            yield (
                "",
                f"{counted(counts.matching_reference, 'document')} in all match the reference, whatever else they match",
            )
        if counts.superseded is not None:
            yield from _superseded(counts, self.files)
        if counts.much_longer and _measure(counts) == "containment":
            yield (
                "warning",
                f"{counted(counts.much_longer, 'duplicate')} with more than twice as many tokens as the survivor: "
                "containment also removes what holds a shorter text",
            )
        yield from _remarks(counts, counts.rejected, self.files, "document")
        yield from places_of(self.files)

    def details(self) -> Iterator[ToldLine]:
        """How the work was done: what `--verbose` adds."""
        return _details(self.summary, self.files)

    def _further(self) -> dict[str, Any]:
        return {} if self.estimate is None else {"estimate": self.estimate.as_dict()}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "FileResult":
        """Restore the result from what `record` returned."""
        return cls(Summary(**record["summary"]), record["files"])


@dataclass(frozen=True)
class UnitResult(JobResult):
    """The result of a job on lines or paragraphs.

    Attributes:
        summary: the counts and seconds of the run.
        files: the paths of inputs, output, audit, summary and rejects, by these names; None for files that were not written.
    """

    summary: UnitSummary
    files: dict[str, Any]

    def __repr__(self) -> str:
        _, read = next(self.lines())
        return f"UnitResult({read}: {self.summary.removed_units:,} removed, output={self.files['output']!r})"

    def lines(self) -> Iterator[ToldLine]:
        """What a person is told of the run."""
        counts = self.summary
        kept = counts.units - counts.removed_units
        yield "read", f"{counted(counts.units, counts.unit)} of {counted(counts.documents, 'document')}"
        yield "kept", counted(kept, counts.unit) + share_text(kept, counts.units)
        removed = counted(counts.removed_units, counts.unit) + share_text(counts.removed_units, counts.units)
        yield "removed", removed + _why(counts.found, counts.removed_units)
        yield (
            "",
            f"{counts.removed_bytes:,} of {counts.text_bytes:,} bytes; {counted(counts.changed_documents, 'document')} changed, "
            f"{counts.emptied_documents:,} left empty and removed",
        )
        yield from _remarks(counts.found, counts.rejected, self.files, counts.unit)
        yield from places_of(self.files)

    def details(self) -> Iterator[ToldLine]:
        """How the work was done: what `--verbose` adds."""
        return _details(self.summary.found, self.files)

    def record(self) -> dict[str, Any]:
        """The part of the result that the folder of a resumable run stores."""
        return {"summary": self.summary.of_documents(), "found": self.summary.found.as_dict(), "files": self.files}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> "UnitResult":
        """Restore the result from what `record` returned."""
        return cls(UnitSummary(**record["summary"], found=Summary(**record["found"])), record["files"])


def _superseded(counts: Summary, files: dict[str, Any]) -> Iterator[ToldLine]:
    """What becomes of a reference whose documents were ordered together with the inputs."""
    others = counts.duplicates - counts.against_reference
    if not counts.options.get("drop_matched"):
        yield "", f"{counts.against_reference:,} by the reference, {others:,} by other inputs"
    share = share_text(counts.superseded or 0, counts.reference_documents)
    yield (
        "replaced",
        f"{counts.superseded:,} of {counted(counts.reference_documents, 'document')} of the reference{share}",
    )
    if place := files.get("superseded"):
        yield "", f"delete them there: {printable(place)}" if counts.superseded else f"listed in {printable(place)}"
    if counts.shared_ids:
        found = (
            f"{counted(counts.shared_ids, 'kept document')} with the id of a document of the reference that stays, too"
        )
        may_match = counts.options.get("within") or (counts.options.get("keep_most") or 1) > 1
        yield "warning", found if may_match else f"{found}: their texts do not match"


def _why(counts: Summary, removed: int) -> str:
    """Of what was removed, how many are exact duplicates, and how many are near ones, by which measure."""
    if not removed:
        return ""
    near, dropped = removed - counts.exact_duplicates, counts.options.get("drop_matched")
    rule = f"{_measure(counts)} >= {threshold_text(counts.min_similarity)}"
    if not counts.min_similarity:
        rule = f"distance <= {counts.max_distance}"
    if dropped:
        return f": each matches another ({rule}), and none of them stays"
    found = f": {counts.exact_duplicates:,} exact, {near:,} near"
    return found + (f" ({rule}){_of_digits(counts)}" if near else "")


def _of_digits(counts: Summary) -> str:
    """Of the near duplicates, how many differ in digits only, as far as that is known."""
    return told_of_digits(counts.only_digits or 0)


def told_of_digits(only_digits: int) -> str:
    """The end of a line on duplicates: how many differ in digits only, of those of which that is known."""
    return f"; {only_digits:,} differ{'s' if only_digits == 1 else ''} in digits only" if only_digits else ""


def advice_on_digits(only_digits: int | None, guard: str | None = None) -> Iterator[ToldLine]:
    """What keeps documents that differ in digits only, in a line, if some were removed (digits of other scripts may be equal)."""
    if only_digits and guard is None:
        yield "note", "guard same-numbers keeps documents that differ in digits only"


def _measure(counts: Summary) -> str:
    """The name of the similarity by which documents matched."""
    similarity = counts.options["similarity"]
    return str(similarity["measure"] if isinstance(similarity, dict) else similarity)


def _remarks(counts: Summary, rejected: int, files: dict[str, Any], noun: str) -> Iterator[ToldLine]:
    """Warnings about repeated ids and rejected rows, and notes about short texts and files that were passed over."""
    if counts.repeated_ids:
        yield "warning", f"{counted(counts.repeated_ids, 'repeated id')}; the audit tells such documents apart by row"
    if counts.unnamed:
        yield "note", f"{counted(counts.unnamed, 'document')} without an id: FILE:ROW stands for it"
    if rejected:
        yield "skipped", f"{counted(rejected, 'row')} could not be read: {files['rejects'] or 'not written'}"
        if counts.rejected_for:
            yield "", reasons_text(counts.rejected_for)
    if counts.compared_as is not None:
        yield "note", f"keep {counts.options['keep']} compares {counts.compared_as}{told_of_unfit(counts.unfit_values)}"
    yield from advice_on_digits(counts.only_digits, counts.options.get("guard"))
    if files["output"] is None:
        yield "note", "a dry run: nothing was written"
    yield from passed_over(counts.passed_over)
    if counts.short:
        few = "without features" if counts.min_tokens <= 1 else f"of fewer than {counts.min_tokens:,} tokens"
        yield "note", f"{counted(counts.short, noun)} {few}: only equal ones were removed"


def told_of_reference(files: dict[str, Any]) -> Iterator[ToldLine]:
    """Which of several files are inputs, and which the reference: in `--against a b`, the second is an input."""
    if files.get("against") and len(files["inputs"]) > 1:
        inputs, reference = (", ".join(map(printable, files[name])) for name in ("inputs", "against"))
        yield "", f"of {shortened(inputs, _NAMES)}; the reference is {shortened(reference, _NAMES)}"


def told_of_unfit(unfit: int) -> str:
    """The end of a note on how values were compared: how many could not be."""
    return (
        f"; {counted(unfit, 'value')} that {'does' if unfit == 1 else 'do'} not fit counted as missing" if unfit else ""
    )


def passed_over(files: int) -> Iterator[ToldLine]:
    """Of files in folders that were not read, a line; of none, nothing."""
    if files:
        yield "skipped", f"{counted(files, 'file')} in folders, of no known format or read only if named"


def _details(counts: Summary, files: dict[str, Any]) -> Iterator[ToldLine]:
    yield "method", counts.method + (f": {counts.reason}" if counts.reason else "")
    yield (
        "compared",
        f"{counted(counts.candidates, 'pair')}, of which {counts.matches:,} match, in {counted(counts.clusters, 'cluster')}",
    )
    yield took(counts)
    yield "allowed", allowed_text(counts.memory["budget"], counts.temporary_limit_bytes)
    yield from places_of(files, ("summary",))


def took(summary: Any) -> ToldLine:
    """How long a run took, and the most memory and temporary files that it had."""
    memory, temporary = size_text(summary.peak_memory_bytes), size_text(summary.peak_temporary_bytes)
    return "took", f"{seconds_text(summary.seconds['total'])}, {memory} of memory, {temporary} of temporary files"


def seconds_text(seconds: float) -> str:
    """The time that a run took."""
    return f"{seconds:.1f} s" if seconds < 120 else duration(seconds)


def places_of(files: dict[str, Any], names: Iterable[str] = ("output", "audit", "report")) -> Iterator[ToldLine]:
    """Where the files with these names are, in a line each."""
    for name in names:
        if place := files.get(name):
            yield name, "standard output" if place == "-" else printable(place)
