"""COUNT: totals over the lines of an audit, and a sample of them, in one pass over any number of lines; then MEMBERS of the largest
clusters, in one more: those least like their survivors, and where all come from.
"""

import heapq
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.judging.reports.bands import Bands
from neardup.survivors.records.audit_reader import Line

LARGEST_CLUSTERS, LARGEST_EQUAL_CLUSTERS = 8, 5
"""Number of clusters shown: of those with different texts, and of those with equal ones only."""

SAMPLED_LINES = 40
"""Lines sampled from each band; the page shows the first of them, and further ones that differ only in figures."""

STEPS = 100
"""Bars of equal width for similarities from 0 to 1; similarity 1 has a bar of its own."""

LINES_PER_BATCH = 1 << 14

Lines = Callable[[], Iterator[Line]]
"""Returns an audit's lines, from the first, at each call."""


@dataclass(frozen=True, slots=True)
class NearRemovals:
    """The lines of an audit whose texts are not equal.

    Attributes:
        row: int64[n], the removed document.
        survivor: int64[n], the row of its survivor, -1 if that is in a reference.
        cluster: int64[n].
        strength: float64[n], the similarity of the match that removed it, NaN if that was not computed.
        distance: int64[n], of the fingerprints.
    """

    row: Array
    survivor: Array
    cluster: Array
    strength: Array
    distance: Array

    def __len__(self) -> int:
        return len(self.row)

    @property
    def compared(self) -> Array:
        """int64, ascending: the rows of all documents here, survivors among them."""
        rows: Array = np.unique(np.concatenate([self.row, self.survivor]))
        return rows[rows >= 0]


@dataclass(slots=True)
class Tally:
    """Counts of an audit.

    Attributes:
        duplicates, exact: number of lines, and of those with equal texts.
        similarities: int64[STEPS + 1], lines by similarity to the survivor, without equal texts.
        unknown: lines whose similarity was not computed.
        distances: int64[bits + 1], lines by distance to the survivor, without equal texts.
        removed: bool[rows].
        near: the lines whose texts are not equal.
        sample: sampled lines by the key of their band, in an order by chance that is always the same; for every band the same
            however the audit is cut into files.
        of_band: number of lines in each band.
        clusters: number of clusters that lost documents.
        largest: clusters with the most duplicates, some of which are not equal to the survivor: (cluster_id, duplicates).
        equal: the same of clusters in which all texts are equal.
    """

    duplicates: int
    exact: int
    similarities: Array
    unknown: int
    distances: Array
    removed: Array
    near: NearRemovals
    sample: dict[str, list[Line]]
    of_band: dict[str, int]
    clusters: int
    largest: list[tuple[int, int]]
    equal: list[tuple[int, int]]


@dataclass(slots=True)
class _Sampler:
    """Keeps the lines of a band whose rows come first in an arbitrary but fixed order."""

    seen: int = 0
    kept: list[tuple[int, int, Line]] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.seen += 1
        entry = (-scattered(line["row"]), line["row"], line)
        if len(self.kept) < SAMPLED_LINES:
            heapq.heappush(self.kept, entry)
        elif entry[0] > self.kept[0][0]:
            heapq.heapreplace(self.kept, entry)

    def lines(self) -> list[Line]:
        return [line for _, _, line in sorted(self.kept, key=lambda entry: entry[:2], reverse=True)]


def scattered(row: int) -> int:
    """A 64-bit number that looks random (splitmix64; Steele, Lea and Flood 2014)."""
    mask = (1 << 64) - 1
    mixed = (row + 1) * 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return mixed ^ mixed >> 31


def tally(lines: Iterable[Line], bands: Bands, *, rows: int, bits: int, audit: str = "The audit") -> Tally:
    """Count the lines of an audit; keeps nine bytes per row, and 40 per line whose texts are not equal.

    Args:
        lines: the lines of an audit of documents.
        bands: the bands to sample.
        rows: number of input rows; lines name none beyond.
        bits: width of a fingerprint.
        audit: what errors call the audit.

    Raises:
        DataError: a line has an impossible row, cluster or distance.
    """
    samplers = {band.key: _Sampler() for band in bands.table}
    removed, sizes, unequal = np.zeros(rows, np.bool_), np.zeros(rows, np.uint32), np.zeros(rows, np.uint32)
    similarities, distances = np.zeros(STEPS + 1, np.int64), np.zeros(bits + 1, np.int64)
    duplicates = exact = unknown = 0
    near = [_near([])]
    every = iter(lines)
    while some := list(itertools.islice(every, LINES_PER_BATCH)):
        for line in some:
            samplers[bands.key_of(line)].add(line)
        places = np.array([[line["row"], line["cluster_id"], line["distance"]] for line in some], np.int64).T
        if places.min() < 0 or places[:2].max() >= rows or places[2].max() > bits:
            raise DataError(
                f"{audit} is not of this run: it has rows, clusters or distances beyond {rows:,} rows and {bits} bits. "
                "Give the audit and the summary of one run."
            )
        removed[places[0]] = True
        near.append(_near([line for line in some if not line["exact"]]))
        np.add.at(sizes, places[1], np.uint32(1))
        np.add.at(unequal, near[-1].cluster, np.uint32(1))
        equal = np.array([line["exact"] for line in some], np.bool_)
        alike = np.array([np.nan if line["similarity"] is None else line["similarity"] for line in some], np.float64)
        known = ~np.isnan(alike)
        duplicates, exact = duplicates + len(some), exact + int(equal.sum())
        unknown += int((~known & ~equal).sum())
        steps = np.clip(np.floor(alike[known & ~equal] * STEPS + 1e-9), 0, STEPS).astype(np.int64)
        steps[(alike[known & ~equal] < 1) & (steps == STEPS)] = STEPS - 1
        similarities += np.bincount(steps, minlength=STEPS + 1)
        distances += np.bincount(places[2][~equal], minlength=bits + 1)
    found = NearRemovals(*(np.concatenate([getattr(part, name) for part in near]) for name in NearRemovals.__slots__))
    if found.survivor.max(initial=-1) >= rows:
        raise DataError(
            f"{audit} is not of this run: it has survivors beyond {rows:,} rows. Give the audit and the summary of one run."
        )
    return Tally(
        duplicates,
        exact,
        similarities,
        unknown,
        distances,
        removed,
        found,
        {key: sampler.lines() for key, sampler in samplers.items()},
        {key: sampler.seen for key, sampler in samplers.items()},
        int(np.count_nonzero(sizes)),
        _largest(np.where(unequal > 0, sizes, np.uint32(0)), LARGEST_CLUSTERS),
        _largest(np.where(unequal > 0, np.uint32(0), sizes), LARGEST_EQUAL_CLUSTERS),
    )


def _near(lines: Sequence[Line]) -> NearRemovals:
    def integers(name: str) -> Array:
        return np.array([-1 if line[name] is None else line[name] for line in lines], np.int64)

    matched = [line.get("matched_similarity", line["similarity"]) for line in lines]
    strength = np.array([np.nan if value is None else value for value in matched], np.float64)
    return NearRemovals(
        integers("row"), integers("survivor_row"), integers("cluster_id"), strength, integers("distance")
    )


_SPREAD = np.uint32(2_654_435_769)


def _largest(sizes: Array, most: int) -> list[tuple[int, int]]:
    """Clusters with the most duplicates. Of those with as many, from all over the corpus: neighbors are often of one template."""
    if not sizes.size:
        return []
    smallest = np.partition(sizes, -min(most, sizes.size))[-min(most, sizes.size)]
    clusters = np.flatnonzero(sizes >= max(1, smallest))
    scattered = clusters.astype(np.uint32) * _SPREAD  # modulo 2^32: no two become the same
    order = clusters[np.lexsort((scattered, -sizes[clusters].astype(np.int64)))][:most]
    return [(int(cluster), int(sizes[cluster])) for cluster in order]


SHOWN_MEMBERS = 24
"""Duplicates of a cluster whose texts are read; those with equal texts are shown as one."""

LOCATED_MEMBERS = 100_000
"""Duplicates of a cluster whose sources are counted."""


@dataclass(slots=True)
class Members:
    """The duplicates of a cluster.

    Attributes:
        lines: up to SHOWN_MEMBERS lines, those least like the survivor first.
        duplicates, exact: number of all lines, and of those with the survivor's text.
        rows: the rows of the first LOCATED_MEMBERS lines.
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
        if len(here.rows) < LOCATED_MEMBERS:
            here.rows.append(line["row"])
        alike = 1.0 if line["exact"] else line["similarity"]
        if not line["exact"] and alike is not None:
            here.most = max(here.most, alike)
        entry = (line["distance"] / 1000 - 1 if alike is None else -alike, -line["row"], line)
        if len(kept[cluster]) < SHOWN_MEMBERS:
            heapq.heappush(kept[cluster], entry)
        elif entry[:2] > kept[cluster][0][:2]:
            heapq.heapreplace(kept[cluster], entry)
    for cluster, entries in kept.items():
        found[cluster].lines = [entry[2] for entry in sorted(entries, reverse=True, key=lambda entry: entry[:2])]
    return found
