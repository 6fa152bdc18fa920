"""Read a file's format, by the table of formats, and its compression from its name."""

import os

from neardup.io.formats.table import ROWS
from neardup.io.storage.compressions import COMPRESSION_ENDINGS, ENDINGS_SAID

AUDIT_ENDING, REJECTS_ENDING, SUMMARY_ENDING = ".duplicates.jsonl", ".rejects.jsonl", ".summary.json"
PARQUET_AUDIT_ENDING = ".duplicates.parquet"
CONTAMINATION_ENDING, ITEMS_ENDING = ".contaminated.jsonl", ".items.jsonl"
PASSAGES_ENDING, SUPERSEDED_ENDING = ".passages.jsonl", ".superseded.jsonl"
"""Endings of the records that stand beside an output."""
SPLIT_SUMMARY = "split.summary.json"
"""The summary in the folder of a split."""

_ROW_OF = {ending: row for row in ROWS for ending in row.endings}
ALLOWED = (
    f"Allowed: {', '.join(row.said for row in ROWS if row.said and row.compressed)}, all {ENDINGS_SAID}; and "
    f"{', '.join(row.said for row in ROWS if row.said and not row.compressed)}"
)


def _with_compressions(endings: tuple[str, ...]) -> frozenset[str]:
    return frozenset(ending + compression for ending in endings for compression in ("", *COMPRESSION_ENDINGS))


RECORDS = (
    *_with_compressions((AUDIT_ENDING, REJECTS_ENDING, CONTAMINATION_ENDING, PASSAGES_ENDING)),
    SUPERSEDED_ENDING,
    PARQUET_AUDIT_ENDING,
)
"""Endings of records that look like documents; such files are passed over in folders."""
NAMED_ONLY = frozenset().union(*(_with_compressions(row.named_only) for row in ROWS))
"""Endings of files that are read only when named; they are passed over in folders."""
HTML = frozenset().union(*(_with_compressions(row.html) for row in ROWS))
"""Endings of HTML pages."""


def split_ending(name: str) -> tuple[str, str, str] | None:
    """Split a file's name into stem, format and compression; None if its ending is unknown."""
    stem, ending = os.path.splitext(name)
    compression = COMPRESSION_ENDINGS.get(ending.lower(), "plain")
    if compression != "plain":
        stem, ending = os.path.splitext(stem)
    row = _ROW_OF.get(ending.lower())
    if row is None or (compression != "plain" and not row.compressed):
        return None
    return stem, row.name, compression
