"""The lines of audits: one JSON line per removal, which names what stays and says how similar the two are."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from neardup.arrays import Int64s
from neardup.survivors.decisions import Decisions
from neardup.survivors.outcomes import DocumentNames, FilterOutcomes, Locate, Outcomes
from neardup.survivors.records.audit_schema import (
    BY_INDEX,
    BY_STORE,
    DOCUMENTS,
    REPLACING,
    Column,
    Source,
    columns_of,
    columns_of_filter,
)

CHUNK_ROWS = 1 << 14
"""Lines made in one block."""

AuditChunk = tuple[Any, list[str]]
"""Rows that lost something (int64[n], ascending), and the line of each; a row that lost several things occurs once for each."""


def lines_of(columns: Sequence[Column[Source]], outcomes: Source) -> list[str]:
    """One JSON line per outcome."""
    line = "{" + ", ".join(f'"{column.name}": %s' for column in columns) + "}\n"
    tokens = [column.type.tokens(column.value(outcomes)) for column in columns]
    return [line % values for values in zip(*tokens, strict=True)]


def audit_lines(
    decisions: Decisions,
    ids: Any,
    *,
    with_matched: bool,
    locate: Locate | None = None,
    within: Sequence[slice] | None = None,
) -> Iterator[AuditChunk]:
    """The lines of the audit of documents, by row.

    `decisions`: for the rows of the inputs. `ids`: Arrow large_string[rows], each a JSON value; includes a reference. `locate`:
    for a run against a reference; each line then says where the survivor is in it. `within`: only these rows.
    """
    names = DocumentNames(ids, len(decisions.survivor))
    columns = columns_of(DOCUMENTS, with_matched=with_matched, with_reference=locate is not None)
    duplicates = decisions.duplicates if within is None else _within(decisions.duplicates, within)
    for first in range(0, len(duplicates), CHUNK_ROWS):
        rows = duplicates[first : first + CHUNK_ROWS]
        yield rows, lines_of(columns, Outcomes(decisions, rows, names, locate))


def _within(rows: Int64s, within: Sequence[slice]) -> Int64s:
    """The ascending rows that lie in the slices, which do not overlap; ascending."""
    ordered = sorted(within, key=lambda part: int(part.start))
    ends = [np.searchsorted(rows, [part.start, part.stop]) for part in ordered]
    return np.concatenate([rows[:0], *(rows[first:last] for first, last in ends)])


def filter_lines(outcomes: FilterOutcomes) -> list[str]:
    """The lines of the audit of `neardup filter`, by an index or, if there are similarities, by a store."""
    return lines_of(columns_of_filter(BY_INDEX if outcomes.similarities is None else BY_STORE), outcomes)


def replacement_lines(outcomes: FilterOutcomes) -> list[str]:
    """The lines of the audit of `neardup filter --store` about documents that were passed on, and replaced others."""
    return lines_of(columns_of_filter(REPLACING), outcomes)


def reject_lines(rejected: Iterable[Any]) -> Iterator[str]:
    """One JSON line per row that was set aside."""
    for row in rejected:
        yield json.dumps({"file": row.file, "row": row.row, "reason": row.reason}, ensure_ascii=False) + "\n"
