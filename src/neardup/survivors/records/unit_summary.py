"""The counts of a run that removes lines or paragraphs."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from neardup.survivors.records.summary import Summary

_OF_DOCUMENTS = ("rows", "documents", "rejected", "survivors", "duplicates", "reference_documents", "against_reference")
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
