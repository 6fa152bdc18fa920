"""COUNT: what the lines of an audit come to, and a sample of them; one pass, however many lines there are."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.judging.reports.bands import Bands
from neardup.survivors.audit_reader import Line

LARGEST = 10
"""Clusters that are shown."""

MEMBERS = 6
"""Duplicates of such a cluster that are shown."""

STEPS = 100
"""Bars of equal width that similarities from 0 to 1 are counted in; those of 1 have a bar more."""

_TOGETHER = 1 << 14

Lines = Callable[[], Iterator[Line]]
"""The lines of an audit, from the first, as often as it is called."""


@dataclass(slots=True)
class Tally:
    """Counts of an audit.

    Attributes:
        duplicates, exact: lines, and those of equal texts among them.
        similarities: int64[STEPS + 1], lines by similarity to the survivor, those of equal texts apart.
        unknown: lines whose similarity was not computed.
        distances: int64[bits + 1], lines by distance to the survivor, those of equal texts apart.
        removed: bool[rows].
        sample: by the key of a band, lines of it; of every band the same however the audit is cut into files.
        of_band: lines of each band.
        clusters: that lost documents.
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
    """The lines of a band whose rows come first in an order that is arbitrary, but always the same."""

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


def tally(lines: Iterable[Line], bands: Bands, *, rows: int, bits: int) -> Tally:
    """Count the lines of an audit; five bytes are kept for each row.

    Args:
        lines: of an audit of documents.
        bands: that are sampled.
        rows: of all inputs; lines name none beyond.
        bits: of a fingerprint.

    Raises:
        DataError: a line names a row or has a distance that cannot be.
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
                f"The audit is not of this run: it has rows, clusters or distances beyond {rows:,} rows and {bits} bits. "
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
    """Of some clusters the duplicates that are least like their survivors, at most MEMBERS; one more pass over the audit."""
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
