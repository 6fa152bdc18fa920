"""The counts of a run: of whole documents, or of one that removes lines or paragraphs."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from neardup.display import counted, html_table


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Counts, options and costs of one run.

    Attributes:
        rows: rows read: `documents` plus `rejected`.
        documents: `survivors` plus `duplicates`.
        rejected: rows that could not be read and were set aside.
        exact_duplicates: duplicates whose normalized text equals their survivor's.
        reference_documents: documents of the reference; they are not counted in `rows`.
        against_reference: duplicates whose survivor is in the reference. Others may match it, too, but are more similar to a kept
            input.
        matching_reference: documents that match one of the reference, whatever else they match; the leaks into a test set.
            `match(texts, reference)` lists them.
        clusters: groups of two or more documents with at least one of the inputs.
        short: documents with fewer than `min_tokens` tokens, which the method needs: they have exact duplicates only.
        repeated_ids: documents whose id occurs on an earlier document.
        method: the method used; `reason`: why the program chose it, if the choice was left to it.
        max_distance: the distance used; None for `exact`.
        join: the work of finding candidates: postings, passes …
        candidates: pairs of documents that were compared.
        matches: pairs that matched.
        seconds: by stage, and `total`.
        read_bytes: by stage, and `total`: bytes of the input files as stored on disk; nothing for texts in memory.
        written_bytes: by stage, and `total`: bytes of the outputs, without standard output.
        peak_memory_bytes: the most memory that the program has used since it started.
        peak_temporary_bytes: the most space that temporary files of the run took; `temporary_limit_bytes`: what they may take.
        only_digits: duplicates whose normalized text differs from their survivor's in digits only; None if that is known of none.
        digits_unknown: duplicates of which it is not known: of one of the two there are only fingerprints.
        much_longer: duplicates with more than twice as many tokens as their survivor.
        passed_over: files in input folders that were not read, because their format is unknown or is read only when named.
        memory: `budget`, the bytes of the option memory, and `shares`: for each use, the `bytes` that it may have at a time and
            the most that it `used`; see `neardup.resources.shares.SHARES`. What would take more lies in temporary files.
        similarity_of: `normalized texts` if the recipe has normalizers besides the default one; older versions ignored them, and
            left this out.
        recipe_decides: what the recipe decides, if that may surprise; left out for the default recipe.
        rejected_for: for each reason, the rows that could not be read; left out if all could.
        unnamed: documents without an id where others have one, or without one in the named column; their ids are FILE:ROW. Left out
            if there are none.
        compared_as: how the values that `keep` names were compared: as numbers, dates or text; left out if there are none.
        superseded: documents of the reference that do not stay, of a run that orders it together with the inputs (`prefer`); left
            out for others. `matching_reference` is then 0: it is not counted.
        shared_ids: kept documents of the inputs whose id a document of the reference has that stays, too, of such a run; left out
            if there are none.
        unfit_values: values that do not fit `keep_as`, and counted as missing; left out if there are none.
    """

    rows: int
    documents: int
    rejected: int
    reference_documents: int
    survivors: int
    duplicates: int
    exact_duplicates: int
    against_reference: int
    matching_reference: int = 0
    clusters: int
    short: int
    min_tokens: int
    repeated_ids: int
    method: str
    reason: str | None
    max_distance: int | None
    min_similarity: float
    candidates: int
    matches: int
    join: dict[str, Any]
    options: dict[str, Any]
    recipe: dict[str, Any]
    seconds: dict[str, float]
    read_bytes: dict[str, int]
    written_bytes: dict[str, int]
    peak_memory_bytes: int
    peak_temporary_bytes: int
    temporary_limit_bytes: int = 0
    versions: dict[str, str]
    passed_over: int = 0
    only_digits: int | None = None
    digits_unknown: int = 0
    much_longer: int = 0
    memory: dict[str, Any] = field(default_factory=dict)
    similarity_of: str | None = None
    recipe_decides: str | None = None
    compared_as: str | None = None
    unfit_values: int = 0
    rejected_for: dict[str, int] = field(default_factory=dict)
    unnamed: int = 0
    superseded: int | None = None
    shared_ids: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = dataclasses.asdict(self)
        for name in (
            "similarity_of",
            "recipe_decides",
            "compared_as",
            "unfit_values",
            "rejected_for",
            "unnamed",
            "shared_ids",
        ):
            if not values[name]:
                del values[name]
        if self.superseded is None:
            del values["superseded"]
        return values

    def in_a_line(self) -> str:
        """One line, such as `3 documents → 2 survivors, 1 duplicate (0 exact) in 1 cluster`."""
        return (
            f"{counted(self.documents, 'document')} → {counted(self.survivors, 'survivor')}, "
            f"{counted(self.duplicates, 'duplicate')} ({self.exact_duplicates:,} exact) "
            f"in {counted(self.clusters, 'cluster')}"
        )

    def __repr__(self) -> str:
        return f"Summary({self.in_a_line()}; method={self.method}, {self.seconds['total']:.1f} s)"

    def _repr_html_(self) -> str:
        rows = [(name, value) for name, value in self.as_dict().items() if not isinstance(value, dict)]
        rows += [(f"seconds, {stage}", taken) for stage, taken in self.seconds.items()]
        return html_table(("", ""), rows)


_OF_DOCUMENTS = (
    *("rows", "documents", "rejected", "survivors", "duplicates"),
    *("reference_documents", "against_reference", "matching_reference"),
)
"""Counts of a `Summary` that a `UnitSummary` counts in documents, has under another name, or lacks."""


@dataclass(frozen=True, kw_only=True)
class UnitSummary:
    """Counts, options and costs of a run that removes lines or paragraphs.

    Attributes:
        unit: `line` or `paragraph`.
        rows: rows read: `documents` plus `rejected`.
        survivors: documents written: all except the emptied ones.
        changed_documents: survivors that lost units.
        emptied_documents: documents that lost their last unit; they are in no output.
        units: units that have a token, in all documents; units without one are never removed.
        removed_units: how many of `units` were removed.
        text_bytes: the size of all texts read.
        removed_bytes: the size of the removed units, without the separators.
        found: for units, the values that `neardup.survivors.records.summary.Summary` has for documents: exact duplicates, clusters,
            short units, method, costs …
    """

    unit: str
    rows: int
    documents: int
    rejected: int
    survivors: int
    changed_documents: int
    emptied_documents: int
    units: int
    removed_units: int
    text_bytes: int
    removed_bytes: int
    found: Summary

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the values of `found` stand beside the others."""
        return self.of_documents() | {
            name: value for name, value in self.found.as_dict().items() if name not in _OF_DOCUMENTS
        }

    def of_documents(self) -> dict[str, Any]:
        """All values except `found`."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "found"}
