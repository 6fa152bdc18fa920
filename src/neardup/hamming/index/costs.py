"""The cost model of Hamming search: what each method takes for so many documents, from bits, distance and a machine's constants.

docs/planner.md explains it. A table of n rows keyed by b bits shares each of its 2^b buckets among n / 2^b rows: more tables allow
longer keys, and so fewer candidates a query (Manku, Jain and Das Sarma 2007, section 3).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from neardup.hamming.index.machine import Machine
from neardup.hamming.index.tables import (
    ROWS_A_BUCKET,
    KeyPlan,
    block_keys,
    bucket_bits_for,
    moves_of,
    multi_index_keys,
    neighbor_keys,
    prefix_keys,
    table_bytes,
)

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


def scan_cost(setting: Setting) -> Cost:
    """Of comparing with all."""
    n = setting.rows
    seconds = n * setting.seconds("compare") * setting.words
    return Cost(1, 0, (8 * setting.words + LABEL_BYTES) * n, 0, float(n), seconds, setting.sorting())


def list_cost(setting: Setting) -> Cost:
    """Of adding up the lists of all bits."""
    n, blocks = setting.rows, -(-setting.rows // 64)
    seconds = blocks * setting.bits * setting.seconds("add")
    built = setting.sorting() + n * setting.bits * setting.seconds("slice")
    return Cost(1, 0, 8 * setting.bits * blocks + LABEL_BYTES * n, 0, float(n), seconds, built)


def beam_cost(permutations: int, beam: int, setting: Setting) -> Cost:
    """Of looking around in sorted orders."""
    n, size = setting.rows, permutations * setting.rows * setting.width
    looked = setting.seconds("around", size) + 2 * beam * setting.seconds("row") * setting.words
    built = setting.sorting() + permutations * n * setting.words * setting.seconds("order")
    return Cost(
        permutations,
        0,
        permutations * ((8 * setting.words + 4) * n + 8 * setting.bits) + LABEL_BYTES * n,
        0,
        float(permutations * min(n, 2 * beam)),
        permutations * looked,
        built,
    )


Options = Mapping[str, int]

PLANS: dict[str, Callable[[int, int, Options], KeyPlan]] = {
    "block-tables": lambda bits, distance, options: block_keys(bits, distance, options["blocks"]),
    "multi-index": lambda bits, distance, options: multi_index_keys(bits, distance, options["blocks"]),
    "neighbours": lambda bits, distance, _: neighbor_keys(bits, distance),
    "prefix-tables": lambda bits, _, options: prefix_keys(bits, options["prefix"], options["tables"], options["seed"]),
}
"""The keys of each method that has tables, from the bits, the distance and the options."""


def cost_of(method: str, options: Options, setting: Setting) -> Cost:
    """What a method takes with these options.

    Raises:
        OptionError: it cannot be used for these bits and this distance.
    """
    if method == "scan":
        return scan_cost(setting)
    if method == "bit-lists":
        return list_cost(setting)
    if method == "sorted-beam":
        return beam_cost(options["permutations"], options["beam"], setting)
    return table_cost(PLANS[method](setting.bits, setting.max_distance, options), setting)
