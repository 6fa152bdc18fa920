"""INPUTS: where the removed documents come from, and how long the documents were."""

import statistics
from typing import Any

from neardup.judging.reports.charts import length_label, spread
from neardup.judging.reports.sources import Source, Sources
from neardup.judging.reports.texts import Texts

SHOWN = 10


def shown_sources(sources: Sources) -> dict[str, Any] | None:
    """The sources that lost the most documents, the others summed as one, and how their shares spread; None if there are none."""
    if not sources.counts:
        return None
    ordered = sorted(sources.counts, key=lambda each: -each.removed)
    shown, rest = ordered[:SHOWN], ordered[SHOWN:]
    kind = "file" if sources.column is None else "value"
    others = None
    if rest:
        label = f"{len(rest):,} other {kind}{'s' if len(rest) > 1 else ''}"
        others = Source(label, sum(each.documents for each in rest), sum(each.removed for each in rest))
    shares = sorted(each.removed / each.documents for each in ordered) if len(ordered) > 1 else []
    return {
        "column": sources.column,
        "kind": kind,
        "number": len(ordered),
        "shown": shown,
        "others": [each for each in (others, sources.later) if each is not None],
        "least": shares[0] if shares else None,
        "most": shares[-1] if shares else None,
        "median": statistics.median(shares) if shares else None,
    }


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
