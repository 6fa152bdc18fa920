"""COUNT: totals over the lines of an audit, and a sample of them, in one pass over any number of lines."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.judging.reports.bands import Bands
from neardup.survivors.audit_reader import Line

LARGEST = 10
"""Number of clusters shown."""

MEMBERS = 6
"""Number of duplicates shown for each of them."""

STEPS = 100
"""Bars of equal width for similarities from 0 to 1; similarity 1 has a bar of its own."""

_TOGETHER = 1 << 14

Lines = Callable[[], Iterator[Line]]
"""Returns an audit's lines, from the first, at each call."""


@dataclass(slots=True)
class Tally:
    """Counts of an audit.

    Attributes:
        duplicates, exact: number of lines, and of those with equal texts.
        similarities: int64[STEPS + 1], lines by similarity to the survivor, without equal texts.
        unknown: lines whose similarity was not computed.
        distances: int64[bits + 1], lines by distance to the survivor, without equal texts.
        removed: bool[rows].
        sample: sampled lines by the key of their band; for every band the same however the audit is cut into files.
        of_band: number of lines in each band.
        clusters: number of clusters that lost documents.
        largest: clusters with the most duplicates: (cluster_id, duplicates), largest first.
    """

    duplicates: int
    exact: int
    similarities: Array
    unknown: int
    distances: Array
    removed: Array
    sample: dict[str, list[Line]]
    of_band: dict[str, int]
    clusters: int
    largest: list[tuple[int, int]]


@dataclass(slots=True)
class _Sampler:
    """Keeps the lines of a band whose rows come first in an arbitrary but fixed order."""

    size: int
    seen: int = 0
    kept: list[tuple[int, int, Line]] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.seen += 1
        entry = (-scattered(line["row"]), line["row"], line)
        if len(self.kept) < self.size:
            heapq.heappush(self.kept, entry)
        elif entry[0] > self.kept[0][0]:
            heapq.heapreplace(self.kept, entry)

    def lines(self) -> list[Line]:
        return [line for _, _, line in sorted(self.kept, key=lambda entry: entry[1])]


def scattered(row: int) -> int:
    """A 64-bit number that looks random (splitmix64; Steele, Lea and Flood 2014)."""
    mask = (1 << 64) - 1
    mixed = (row + 1) * 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return mixed ^ mixed >> 31


def tally(lines: Iterable[Line], bands: Bands, *, rows: int, bits: int, audit: str = "The audit") -> Tally:
    """Count the lines of an audit; keeps five bytes per row.

    Args:
        lines: the lines of an audit of documents.
        bands: the bands to sample.
        rows: number of input rows; lines name none beyond.
        bits: width of a fingerprint.
        audit: what errors call the audit.

    Raises:
        DataError: a line has an impossible row, cluster or distance.
    """
    samplers = {band.key: _Sampler(band.shown) for band in bands.table}
    removed, sizes = np.zeros(rows, np.bool_), np.zeros(rows, np.uint32)
    similarities, distances = np.zeros(STEPS + 1, np.int64), np.zeros(bits + 1, np.int64)
    duplicates = exact = unknown = 0
    for some in _chunks(lines):
        for line in some:
            samplers[bands.key_of(line)].add(line)
        places = np.array([[line["row"], line["cluster_id"], line["distance"]] for line in some], np.int64).T
        if places.min() < 0 or places[:2].max() >= rows or places[2].max() > bits:
            raise DataError(
                f"{audit} is not of this run: it has rows, clusters or distances beyond {rows:,} rows and {bits} bits. "
                "Give the audit and the summary of one run."
            )
        removed[places[0]] = True
        np.add.at(sizes, places[1], np.uint32(1))
        equal = np.array([line["exact"] for line in some], np.bool_)
        alike = np.array([np.nan if line["similarity"] is None else line["similarity"] for line in some], np.float64)
        known = ~np.isnan(alike)
        duplicates, exact = duplicates + len(some), exact + int(equal.sum())
        unknown += int((~known & ~equal).sum())
        steps = np.clip(np.floor(alike[known & ~equal] * STEPS + 1e-9), 0, STEPS).astype(np.int64)
        steps[(alike[known & ~equal] < 1) & (steps == STEPS)] = STEPS - 1
        similarities += np.bincount(steps, minlength=STEPS + 1)
        distances += np.bincount(places[2][~equal], minlength=bits + 1)
    return Tally(
        duplicates,
        exact,
        similarities,
        unknown,
        distances,
        removed,
        {key: sampler.lines() for key, sampler in samplers.items()},
        {key: sampler.seen for key, sampler in samplers.items()},
        int(np.count_nonzero(sizes)),
        _largest(sizes),
    )


def _chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    some: list[Line] = []
    for line in lines:
        some.append(line)
        if len(some) == _TOGETHER:
            yield some
            some = []
    if some:
        yield some


def _largest(sizes: Array) -> list[tuple[int, int]]:
    if not sizes.size:
        return []
    smallest = np.partition(sizes, -min(LARGEST, sizes.size))[-min(LARGEST, sizes.size)]
    clusters = np.flatnonzero(sizes >= max(1, smallest))
    order = clusters[np.argsort(sizes[clusters].astype(np.int64) * -1, kind="stable")][:LARGEST]
    return [(int(cluster), int(sizes[cluster])) for cluster in order]


def members(lines: Iterable[Line], clusters: Iterable[int]) -> dict[int, list[Line]]:
    """For each cluster, find up to MEMBERS duplicates least like their survivors, in one more pass over the audit."""
    shown: dict[int, list[tuple[float, int, Line]]] = {cluster: [] for cluster in clusters}
    for line in lines:
        kept = shown.get(line["cluster_id"])
        if kept is None:
            continue
        alike = 1.0 if line["exact"] else line["similarity"]
        entry = (line["distance"] / 1000 - 1 if alike is None else -alike, -line["row"], line)
        if len(kept) < MEMBERS:
            heapq.heappush(kept, entry)
        elif entry[:2] > kept[0][:2]:
            heapq.heapreplace(kept, entry)
    return {
        cluster: [entry[2] for entry in sorted(kept, reverse=True, key=lambda e: e[:2])]
        for cluster, kept in shown.items()
    }
