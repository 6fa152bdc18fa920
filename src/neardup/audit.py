"""The audit: one JSON line for each removed document, naming its survivor and how similar the two are."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from neardup.survivors import Decisions

COLUMNS = ("id", "row", "survivor_id", "survivor_row", "cluster_id", "similarity", "distance", "exact")
"""In every line; `matched_id` and `matched_similarity` follow where clusters are connected components."""


def _number(value: float) -> str:
    return "null" if math.isnan(value) else repr(value)


def audit_lines(decisions: Decisions, ids: Any, *, with_matched: bool) -> Iterator[str]:
    """The lines of the audit, by row. `ids`: Arrow large_string[rows], each a JSON value."""
    for row in decisions.duplicates.tolist():
        survivor = int(decisions.survivor[row])
        line = (
            f'{{"id": {ids[row].as_py()}, "row": {row}, "survivor_id": {ids[survivor].as_py()}, "survivor_row": {survivor}, '
            f'"cluster_id": {decisions.cluster[row]}, "similarity": {_number(float(decisions.similarity[row]))}, '
            f'"distance": {decisions.distance[row]}, "exact": {"true" if decisions.exact[row] else "false"}'
        )
        if with_matched:
            matched = ids[int(decisions.matched[row])].as_py()
            line += (
                f', "matched_id": {matched}, "matched_similarity": {_number(float(decisions.matched_similarity[row]))}'
            )
        yield line + "}\n"


def reject_lines(rejected: Iterable[Any]) -> Iterator[str]:
    """One JSON line for each row that was set aside."""
    for row in rejected:
        yield json.dumps({"file": row.file, "row": row.row, "reason": row.reason}, ensure_ascii=False) + "\n"
