"""The cost model of Hamming search: what each method takes for so many documents, from bits, distance and a machine's constants.

docs/planner.md explains it. A table of n rows keyed by b bits shares each of its 2^b buckets among n / 2^b rows: more tables allow
longer keys, and so fewer candidates a query (Manku, Jain and Das Sarma 2007, section 3).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from neardup.hamming.index.keyed_tables import (
    ROWS_A_BUCKET,
    KeyPlan,
    bucket_bits_for,
    moves_of,
    table_bytes,
)
from neardup.hamming.index.machine import Machine

LABEL_BYTES = 12
"""Of a document: its number by fingerprint, and its id, if that is an integer."""
VECTORS_FROM = 48
"""Rows of a bucket, from which they are compared in vectors."""


@dataclass(frozen=True)
class Cost:
    """What a method takes.

    Attributes:
        tables: copies of the fingerprints.
        key_bits: of the shortest key; 0 without keys.
        nbytes: tables, numbers and integer ids of all documents.
        buckets: that a query looks at; 0 without keys.
        candidates: fingerprints that a query is compared with.
        seconds_a_query: of one thread, in a batch of thousands.
        build_seconds: of one thread, for all documents.
    """

    tables: int
    key_bits: int
    nbytes: int
    buckets: int
    candidates: float
    seconds_a_query: float
    build_seconds: float

    def seconds_a_document(self, rows: int) -> float:
        """To put one in and look one up: what the planner makes least."""
        return self.seconds_a_query + self.build_seconds / max(1, rows)


Options = Mapping[str, int]
"""Of a method, by name."""

Skew = Callable[[KeyPlan, int], float]
"""From keys and the number of documents, how many of these share a bucket that a query looks at, over all its buckets."""


@dataclass(frozen=True)
class Setting:
    """What is searched, and on what.

    Attributes:
        rows: documents of different fingerprints.
        bits, max_distance: as of the index.
        machine: the constants.
        skew: how real fingerprints meet in buckets; None: they are uniform.
    """

    rows: int
    bits: int
    max_distance: int
    machine: Machine
    skew: Skew | None = None

    @property
    def words(self) -> int:
        """Of a fingerprint."""
        return self.bits // 64

    @property
    def width(self) -> float:
        """Of a fingerprint, for work of which half is on its number and half on its words."""
        return (1 + self.words) / 2

    def seconds(self, step: str, size: float | None = None) -> float:
        """Of a step, at a size: that of all rows' first words, if not given."""
        return self.machine.seconds(step, self.rows if size is None else size)

    def sorting(self) -> float:
        """Seconds to put equal fingerprints together."""
        return self.rows * self.width * self.seconds("collapse")


def probes_of(plan: KeyPlan) -> list[int]:
    """Buckets that a query looks at, in each table."""
    return [
        sum(math.comb(min(64, len(key)), r) for r in range(radius + 1))
        for key, radius in zip(plan.chosen, plan.radii, strict=True)
    ]


def uniform_candidates(plan: KeyPlan, rows: int) -> float:
    """Rows in the buckets that a query looks at: n / 2^b each, b being the bits of the key, or of its hash if that is shorter."""
    buckets = bucket_bits_for(plan, rows)
    each = zip(plan.chosen, probes_of(plan), strict=True)
    return math.fsum(probes * math.ldexp(rows, -min(buckets, len(key))) for key, probes in each)


def table_cost(plan: KeyPlan, setting: Setting) -> Cost:
    """Of tables with these keys."""
    n, probes = setting.rows, probes_of(plan)
    buckets = 1 << bucket_bits_for(plan, n)
    tables = len(plan.chosen)
    candidates = (setting.skew or uniform_candidates)(plan, n)
    # A table beyond the caches, which all share, is waited for once a bucket; the first of each is asked for before it is needed.
    footprint, first_lines = tables * n * setting.width, tables * buckets * ROWS_A_BUCKET * setting.width
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
