"""The audit: one JSON line for each removed document, naming its survivor and how similar the two are."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.io.formats.json_values import quote
from neardup.survivors.decisions import Decisions

COLUMNS = ("id", "row", "survivor_id", "survivor_row", "cluster_id", "similarity", "distance", "exact")
"""In every line; `matched_id` and `matched_similarity` follow where clusters are connected components."""

REFERENCE_COLUMNS = ("reference", "reference_row")
"""In every line of a run against a reference: the file that has the survivor, and its row there; null if it is of the inputs."""

CHUNK_ROWS = 1 << 14
"""Lines that are made at a time."""


def _tokens(ids: Any, rows: Any) -> list[str]:
    found: list[str] = ids.take(pa.array(rows)).to_pylist()
    return found


Locate = Callable[[Any], tuple[list[str], Any]]
"""From rows of a reference (int64[n], counted in it from 0) to the names of their files, and their rows there (int64[n])."""


def _places(rows: Any, locate: Locate) -> tuple[list[str], list[str]]:
    files, numbers = ["null"] * len(rows), ["null"] * len(rows)
    inside = np.flatnonzero(rows >= 0)
    for i, file, row in zip(inside.tolist(), *locate(rows[inside]), strict=True):
        files[i], numbers[i] = quote(file), str(row)
    return files, numbers


def _numbers(values: Any) -> list[str]:
    return ["null" if value != value else repr(value) for value in values.tolist()]


AuditChunk = tuple[Any, list[str]]
"""Some rows that lost something, int64[n], ascending, and the line of each; a row that lost several things is there as often."""


def audit_lines(
    decisions: Decisions,
    ids: Any,
    *,
    with_matched: bool,
    locate: Locate | None = None,
    within: Sequence[slice] | None = None,
) -> Iterator[AuditChunk]:
    """The lines of the audit, by row.

    `decisions`: of the rows of the inputs. `ids`: Arrow large_string[rows], each a JSON value; of a reference, too. `locate`: for a
    run against a reference; then each line says where in it the survivor is. `within`: only of these rows.
    """
    inputs = len(decisions.survivor)
    duplicates = decisions.duplicates
    if within is not None:
        ordered = sorted(within, key=lambda rows: int(rows.start))
        ends = [np.searchsorted(duplicates, [rows.start, rows.stop]) for rows in ordered]
        duplicates = np.concatenate([duplicates[:0], *(duplicates[first:last] for first, last in ends)])
    for first in range(0, len(duplicates), CHUNK_ROWS):
        rows = duplicates[first : first + CHUNK_ROWS]
        survivors = decisions.survivor[rows]
        values: tuple[list[Any], ...] = (
            _tokens(ids, rows),
            rows.tolist(),
            _tokens(ids, survivors),
            ["null" if survivor >= inputs else survivor for survivor in survivors.tolist()],
            decisions.cluster[rows].tolist(),
            _numbers(decisions.similarity[rows]),
            decisions.distance[rows].tolist(),
            np.where(decisions.exact[rows], "true", "false").tolist(),
        )
        names: tuple[str, ...] = COLUMNS
        if with_matched:
            values += (_tokens(ids, decisions.matched[rows]), _numbers(decisions.matched_similarity[rows]))
            names += ("matched_id", "matched_similarity")
        if locate is not None:
            values += _places(survivors - inputs, locate)
            names += REFERENCE_COLUMNS
        yield rows, list(map(("{{" + ", ".join(f'"{name}": {{}}' for name in names) + "}}\n").format, *values))


def reject_lines(rejected: Iterable[Any]) -> Iterator[str]:
    """One JSON line for each row that was set aside."""
    for row in rejected:
        yield json.dumps({"file": row.file, "row": row.row, "reason": row.reason}, ensure_ascii=False) + "\n"
