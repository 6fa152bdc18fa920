"""INPUTS: which files the removed documents come from, and how long the documents were."""

from typing import Any

from neardup.judging.reports.charts import length_label, spread
from neardup.judging.reports.texts import FileCounts, Texts

FILES_SHOWN = 20


def files_of(texts: Texts) -> dict[str, Any] | None:
    """The files that lost the most documents, the others summed as one; None if nothing could be read again."""
    if texts.read is None or not texts.read.files:
        return None
    ordered = sorted(texts.read.files, key=lambda each: -each.removed)
    shown, rest = ordered[:FILES_SHOWN], ordered[FILES_SHOWN:]
    others = None
    if rest:
        others = FileCounts(
            f"{len(rest):,} other files", sum(each.documents for each in rest), sum(each.removed for each in rest)
        )
    return {"shown": shown, "others": others, "most": max(each.documents for each in shown)}


def lengths_of(texts: Texts) -> list[dict[str, Any]]:
    """Kept and removed documents by length, in powers of two of characters."""
    if texts.read is None:
        return []
    table = texts.read.lengths
    most = int(table.sum(axis=1).max(initial=1))
    return [
        {"label": length_label(power), "kept": int(table[power, 0]), "removed": int(table[power, 1]), "most": most}
        for power in spread(table)
    ]
