"""What a run that removed lines or paragraphs did, in numbers."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from neardup.survivors.summary import Summary

_OF_DOCUMENTS = ("rows", "documents", "rejected", "survivors", "duplicates", "reference_documents", "against_reference")
"""Counts of a `Summary` that a `UnitSummary` has of documents, or under another name, or not at all."""


@dataclass(frozen=True, kw_only=True)
class UnitSummary:
    """Counts, options and costs of a run that removed lines or paragraphs.

    Attributes:
        unit: `line` or `paragraph`.
        rows: rows read, `documents` and `rejected` together.
        survivors: documents that were written: all but those emptied.
        changed_documents: among them, those that lost units.
        emptied_documents: documents that lost their last unit; they are in no output.
        units: that have a token, in all documents; the others are never removed.
        removed_units: among them.
        text_bytes: of the texts that came.
        removed_bytes: of the removed units, without what separates them.
        found: of units what `neardup.survivors.summary.Summary` has of documents: exact duplicates, clusters, short ones,
            method, costs …
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
        """Plain values, ready for JSON; those of `found` beside the others."""
        return self.of_documents() | {
            name: value for name, value in self.found.as_dict().items() if name not in _OF_DOCUMENTS
        }

    def of_documents(self) -> dict[str, Any]:
        """All but `found`."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "found"}
