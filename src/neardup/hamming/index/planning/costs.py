"""The cost model of Hamming search: the memory and time of each method, from documents, bits, distance and a machine's constants.

docs/planner.md explains it. In a table of n rows keyed by b bits, each of the 2^b buckets has n / 2^b rows. More tables allow
longer keys, and so fewer candidates per query (Manku, Jain and Das Sarma 2007, section 3).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from neardup.hamming.index.keyed_tables import (
    ROWS_PER_BUCKET,
    KeyPlan,
    bucket_bits_for,
    moves_of,
    table_bytes,
)
from neardup.hamming.index.planning.machine import Machine

LABEL_BYTES = 12
"""Bytes per document in addition to its fingerprint: its number, and its id if that is an integer."""
VECTORS_FROM = 48
"""Number of rows from which a bucket is compared as vectors."""


@dataclass(frozen=True)
class Cost:
    """The cost of a method.

    Attributes:
        tables: number of copies of the fingerprints.
        key_bits: bits of the shortest key; 0 without keys.
        nbytes: bytes of the tables, numbers and integer ids of all documents.
        buckets: number of buckets that a query visits; 0 without keys.
        candidates: number of fingerprints compared with a query.
        seconds_a_query: seconds per query on one thread, in a batch of thousands.
        build_seconds: seconds to build for all documents, on one thread.
    """

    tables: int
    key_bits: int
    nbytes: int
    buckets: int
    candidates: float
    seconds_a_query: float
    build_seconds: float

    def seconds_a_document(self, rows: int) -> float:
        """Seconds to insert one document and look one up; the planner minimizes them."""
        return self.seconds_a_query + self.build_seconds / max(1, rows)


Options = Mapping[str, int]
"""The options of a method, by name."""

Skew = Callable[[KeyPlan, int], float]
"""Maps keys and a number of documents to how many of these are in the buckets that a query visits."""


@dataclass(frozen=True)
class Setting:
    """The search to plan for, and the machine.

    Attributes:
        rows: number of documents with different fingerprints.
        bits, max_distance: those of the index.
        machine: constants of the machine.
        skew: how real fingerprints share buckets; None for uniform fingerprints.
    """

    rows: int
    bits: int
    max_distance: int
    machine: Machine
    skew: Skew | None = None

    @property
    def words(self) -> int:
        """64-bit words of a fingerprint."""
        return self.bits // 64

    @property
    def width(self) -> float:
        """Relative cost of a fingerprint for work that depends half on its number and half on its words; 1 at 64 bits."""
        return (1 + self.words) / 2

    def seconds(self, step: str, size: float | None = None) -> float:
        """Seconds of a step at a size; by default, the number of rows."""
        return self.machine.seconds(step, self.rows if size is None else size)

    def sorting(self) -> float:
        """Seconds to group equal fingerprints."""
        return self.rows * self.width * self.seconds("collapse")


def probes_of(plan: KeyPlan) -> list[int]:
    """The number of buckets that a query visits in each table."""
    return [
        sum(math.comb(min(64, len(key)), r) for r in range(radius + 1))
        for key, radius in zip(plan.chosen, plan.radii, strict=True)
    ]


def uniform_candidates(plan: KeyPlan, rows: int) -> float:
    """Rows in the buckets that a query visits: n / 2^b each, where b is the bits of the key or, if shorter, of its hash."""
    buckets = bucket_bits_for(plan, rows)
    each = zip(plan.chosen, probes_of(plan), strict=True)
    return math.fsum(probes * math.ldexp(rows, -min(buckets, len(key))) for key, probes in each)


def table_cost(plan: KeyPlan, setting: Setting) -> Cost:
    """The cost of tables with these keys."""
    n, probes = setting.rows, probes_of(plan)
    buckets = 1 << bucket_bits_for(plan, n)
    tables = len(plan.chosen)
    candidates = (setting.skew or uniform_candidates)(plan, n)
    # A query waits for memory once per bucket if the tables exceed the caches. The first bucket of each table is prefetched.
    footprint, first_lines = tables * n * setting.width, tables * buckets * ROWS_PER_BUCKET * setting.width
    asked = math.fsum(
        setting.seconds("probe", footprint) + (count - 1) * setting.seconds("step", first_lines) for count in probes
    )
    full = candidates / sum(probes) >= VECTORS_FROM
    row = setting.seconds("stretch" if full else "row", footprint) * setting.words
    moves = sum(len(moves_of(key, setting.bits)) - 1 for key in plan.chosen)
    placed = n * (tables * setting.width * setting.seconds("place", buckets) + moves * setting.seconds("move"))
    return Cost(
        tables,
        min(len(key) for key in plan.chosen),
        table_bytes(plan, n) + LABEL_BYTES * n,
        sum(probes),
        candidates,
        asked + candidates * row,
        setting.sorting() + placed,
    )
