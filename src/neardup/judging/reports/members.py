"""MEMBERS of the largest clusters, in one more pass over an audit: those least like their survivors, and where all come from."""

import heapq
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from neardup.survivors.records.audit_reader import Line

MEMBERS = 24
"""Duplicates of a cluster whose texts are read; those with equal texts are shown as one."""

LOCATED = 100_000
"""Duplicates of a cluster whose sources are counted."""


@dataclass(slots=True)
class Members:
    """The duplicates of a cluster.

    Attributes:
        lines: up to MEMBERS lines, those least like the survivor first.
        duplicates, exact: number of all lines, and of those with the survivor's text.
        rows: the rows of the first LOCATED lines.
        most: the highest similarity to the survivor among texts that are not equal; 0 if none is known.
    """

    lines: list[Line]
    duplicates: int = 0
    exact: int = 0
    rows: "array[int]" = field(default_factory=lambda: array("q"))
    most: float = 0.0


def members(lines: Iterable[Line], clusters: Iterable[int]) -> dict[int, Members]:
    """The duplicates of some clusters."""
    found = {cluster: Members([]) for cluster in clusters}
    kept: dict[int, list[tuple[float, int, Line]]] = {cluster: [] for cluster in found}
    for line in lines:
        cluster = line["cluster_id"]
        if cluster not in found:
            continue
        here = found[cluster]
        here.duplicates, here.exact = here.duplicates + 1, here.exact + line["exact"]
        if len(here.rows) < LOCATED:
            here.rows.append(line["row"])
        alike = 1.0 if line["exact"] else line["similarity"]
        if not line["exact"] and alike is not None:
            here.most = max(here.most, alike)
        entry = (line["distance"] / 1000 - 1 if alike is None else -alike, -line["row"], line)
        if len(kept[cluster]) < MEMBERS:
            heapq.heappush(kept[cluster], entry)
        elif entry[:2] > kept[cluster][0][:2]:
            heapq.heapreplace(kept[cluster], entry)
    for cluster, entries in kept.items():
        found[cluster].lines = [entry[2] for entry in sorted(entries, reverse=True, key=lambda entry: entry[:2])]
    return found
