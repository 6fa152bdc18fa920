"""COUNT what both runs removed and what one of them did, in one pass over their audits; with a sample, and a list if asked for."""

import heapq
import json
import zlib
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from neardup.arrays import Array
from neardup.display import threshold_text
from neardup.judging.reports.tally import scattered
from neardup.judging.runs.recorded import RecordedRun
from neardup.judging.runs.walk import Key, key_of, survivor_of, walk
from neardup.survivors.records.audit_reader import Line

Kind = Literal["only_a", "only_b", "other_survivor"]
KINDS: tuple[Kind, ...] = ("only_a", "only_b", "other_survivor")
STEPS = 20
"""Bands of similarities from 0 to 1; equal texts, and similarity 1, have one of their own."""
_DECISION = (
    *("survivor_id", "survivor_row", "survivor_unit", "cluster_id", "similarity", "distance", "exact", "only_digits"),
    *("matched_id", "matched_similarity", "reference", "reference_row"),
)
EQUAL, ONE = "equal text", "1 (not equal)"


@dataclass(frozen=True, slots=True)
class Differing:
    """What the runs decided differently.

    Attributes:
        kind: which of them removed it, or that both did, for other survivors.
        a, b: the lines of their audits.
    """

    kind: Kind
    a: Line | None
    b: Line | None

    @property
    def line(self) -> Line:
        """The line of the run that removed it; of both, the first."""
        found = self.a or self.b
        assert found is not None
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values: the document, who removed it, and how each run decided."""
        line = self.line
        named = {name: line[name] for name in ("id", "row", "unit") if name in line}
        by = {"only_a": "a", "only_b": "b", "other_survivor": "both"}[self.kind]
        return named | {"removed_by": by, "a": _decision(self.a), "b": _decision(self.b)}

    def in_a_line(self) -> str:
        """A line of the list."""
        return json.dumps(self.as_dict(), ensure_ascii=False) + "\n"


def _decision(line: Line | None) -> dict[str, Any] | None:
    return None if line is None else {name: line[name] for name in _DECISION if name in line}


@dataclass(slots=True)
class Counts:
    """Counts over two audits.

    Attributes:
        both: removed by both runs; `other_survivor`, `other_cluster`: of these, for another document, and with others.
        of_kind: how many of each kind.
        bands: of what one run removed alone, how many are in which band of similarity to the survivor, of each run.
        samples: some of each kind, those of the first rows first.
    """

    both: int
    other_cluster: int
    of_kind: dict[Kind, int]
    bands: dict[str, tuple[int, int]]
    samples: dict[Kind, list[Differing]]


def count(
    a: RecordedRun, b: RecordedRun, *, samples: int, seed: int, listed: Callable[[str], object] | None = None
) -> Counts:
    """Walk both audits; keeps 40 bytes for each removal.

    `samples`: how many of each kind are kept; `seed`: another one chooses others. `listed`: takes the line of each that differs.
    """
    clusters = (_Clusters(), _Clusters())
    common = (array("q"), array("q"))
    kept = {kind: _Sampler(samples, seed) for kind in KINDS}
    bands = (Counter[str](), Counter[str]())
    of_kind: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    both = 0
    for key, mine, yours in walk(a, b):
        for known, line in zip(clusters, (mine, yours), strict=True):
            if line is not None:
                known.add(line)
        kind: Kind = "only_a" if yours is None else "only_b"
        if mine is not None and yours is not None:
            both += 1
            for places, known in zip(common, clusters, strict=True):
                places.append(len(known.cluster) - 1)
            if survivor_of(mine) == survivor_of(yours):
                continue
            kind = "other_survivor"
        found = Differing(kind, mine, yours)
        of_kind[kind] += 1
        kept[kind].add(key, found)
        if kind != "other_survivor":
            bands[kind == "only_b"][_band(found.line)] += 1
        if listed is not None:
            listed(found.in_a_line())
    return Counts(
        both,
        _apart(clusters, common),
        of_kind,
        {band: (bands[0][band], bands[1][band]) for band in sorted({*bands[0], *bands[1]}, key=_order)},
        {kind: sampler.found() for kind, sampler in kept.items()},
    )


def _band(line: Line) -> str:
    if line["exact"]:
        return EQUAL
    similarity = line.get("matched_similarity") if line["survivor_id"] is None else line["similarity"]
    if similarity is None:
        return "similarity not computed" if line["distance"] is None else f"distance {line['distance']}"
    if similarity >= 1:
        return ONE
    step = int(similarity * STEPS + 1e-9)
    step = min(step, STEPS - 1)
    return f"{threshold_text(step / STEPS)} to {threshold_text((step + 1) / STEPS)}"


def _order(band: str) -> tuple[int, float]:
    """Equal texts first, then the most similar ones; distances last, the smallest first."""
    if band in (EQUAL, ONE):
        return (EQUAL, ONE).index(band), 0.0
    first, _, second = band.partition(" ")
    return (3, float(second)) if first == "distance" else (4, 0.0) if first == "similarity" else (2, -float(first))


@dataclass(slots=True)
class _Sampler:
    """Keeps those whose keys come first in an order that is arbitrary, but always the same for one seed."""

    most: int
    seed: int
    kept: list[tuple[int, Key, Differing]] = field(default_factory=list)

    def add(self, key: Key, found: Differing) -> None:
        if not self.most:
            return
        row, unit = key
        entry = (-scattered(scattered(row) ^ scattered(unit) ^ scattered(self.seed)), key, found)
        if len(self.kept) < self.most:
            heapq.heappush(self.kept, entry)
        elif entry[0] > self.kept[0][0]:
            heapq.heapreplace(self.kept, entry)

    def found(self) -> list[Differing]:
        return [found for _, _, found in sorted(self.kept, key=lambda entry: entry[1])]


@dataclass(slots=True)
class _Clusters:
    """The clusters of a run, as its audit names their members."""

    cluster: "array[int]" = field(default_factory=lambda: array("q"))
    member: "array[int]" = field(default_factory=lambda: array("q"))
    survivor: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, line: Line) -> None:
        row, unit = key_of(line)
        self.cluster.append(line["cluster_id"])
        self.member.append(_packed(row, unit))
        found = survivor_of(line)
        if found is None:
            self.survivor.append(-1)
        else:
            where, row, unit = found  # type: ignore[assignment]
            self.survivor.append(_packed(row, unit + zlib.crc32(str(where).encode("utf-8", "surrogatepass"))))

    def signatures(self) -> Array:
        """uint64[n]: for each member, a number that members of equal clusters have, whatever which of them stays."""
        cluster, at = np.unique(np.frombuffer(self.cluster, np.int64), return_inverse=True)
        found = np.zeros(len(cluster), np.uint64)
        np.add.at(found, at, _scattered(np.frombuffer(self.member, np.int64)))
        survivor = np.zeros(len(cluster), np.int64)
        survivor[at] = np.frombuffer(self.survivor, np.int64)
        found += np.where(survivor < 0, np.uint64(0), _scattered(survivor))
        return found[at]


def _packed(row: int, unit: int) -> int:
    """One number of 63 bits for a row and a number in it; of different ones, all but surely another."""
    return (row + scattered(unit) if unit else row) & ((1 << 63) - 1)


def _scattered(values: Array) -> Array:
    """`scattered` of many."""
    mixed = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    found: Array = mixed ^ mixed >> np.uint64(31)
    return found


def _apart(clusters: tuple[_Clusters, _Clusters], common: "tuple[array[int], array[int]]") -> int:
    """Of what both removed, how many are in clusters that have other members in the other run."""
    if not common[0]:
        return 0
    here, there = (each.signatures()[np.frombuffer(at, np.int64)] for each, at in zip(clusters, common, strict=True))
    return int(np.count_nonzero(here != there))
