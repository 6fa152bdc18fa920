"""Build the page of a decontamination: benchmarks, the items that were found, and the matched texts."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from neardup.judging.reports.page import page_environment, style
from neardup.judging.reports.run_facts import size_in_words, value_in_words

ITEMS, MATCHES = 200, 200
"""So many items and so many matched texts are shown; the files have all."""


def contamination_page(
    summary: dict[str, Any], items: Iterable[dict[str, Any]], lines: Iterable[dict[str, Any]]
) -> bytes:
    """Return the page as UTF-8.

    Args:
        summary: the run's summary, with its files.
        items: the records of all items.
        lines: the lines of the audit, parsed.
    """
    found = [each for each in items if each["is_contaminated"]]
    found.sort(key=lambda each: (-each["documents"], -each["item_share"]))
    shown = (
        page_environment()
        .get_template("contamination.html")
        .render(
            style=style(),
            summary=summary,
            options=[(name, value_in_words(value)) for name, value in summary["options"].items()],
            items=found[:ITEMS],
            all_items=len(found),
            matches=list(islice(lines, MATCHES)),
            memory=size_in_words(summary["peak_memory_bytes"]),
        )
    )
    return shown.encode("utf-8", "replace")
