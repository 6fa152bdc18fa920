"""Compare the cost model's predictions with the measured cost of building and searching a sample."""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.hamming.index.keyed_tables import Tables
from neardup.hamming.index.planning.costs import Setting
from neardup.hamming.index.planning.machine_timing import SEED, run_once, time_queries
from neardup.hamming.index.planning.planner import Choice, best_of
from neardup.hamming.index.planning.skew import counted_candidates, observed_skew
from neardup.hamming.index.segment import Segment, build_segment
from neardup.hamming.unique import collapse

SAMPLE_ROWS = 1 << 20
MAX_QUERIES = 1 << 13
COUNTED_QUERIES = 256
COUNTED_BUCKETS = 1 << 19
"""Number of buckets visited to count candidates."""
QUERY_SECONDS = 1.0
"""Approximate time for the queries of one method."""
WITHIN = {"bytes": 1.3, "candidates": 1.3, "seconds a query": 2.0, "build seconds": 2.0}
"""Factor by which a prediction may be off, by quantity."""


@dataclass(frozen=True)
class Checked:
    """A prediction beside the measurement.

    Attributes:
        method, options, documents: the method, its options, and the size of the sample.
        quantity: `bytes`, `candidates` (a query), `seconds a query`, `build seconds`.
        predicted, measured: the two values.
        factor: the larger value divided by the smaller, from 1 up.
        agrees: whether they agree, within 30 % for counts and bytes, and within a factor of 2 for times.
    """

    method: str
    options: dict[str, int]
    documents: int
    quantity: str
    predicted: float
    measured: float
    factor: float
    agrees: bool


def check_plan(
    choices: Iterable[Choice],
    setting: Setting,
    fingerprints: Array | None,
    *,
    sample_rows: int = SAMPLE_ROWS,
    query_seconds: float = QUERY_SECONDS,
) -> tuple[Checked, ...]:
    """Build each method with its best options for the sample, and look up queries that are not in the sample.

    The sample has uniform fingerprints, or some of `fingerprints`. Queries are drawn like the documents.

    Raises:
        OptionError: there are too few fingerprints.
    """
    sample, queries = _sample(setting, fingerprints, sample_rows)
    small = dataclasses.replace(setting, rows=len(sample), skew=None if fingerprints is None else observed_skew(sample))
    found: list[Checked] = []
    for choice in choices:
        here = best_of(choice.method, small)
        found += _compare(here, small, sample, queries, query_seconds)
    return tuple(found)


def _sample(setting: Setting, fingerprints: Array | None, most: int) -> tuple[Array, Array]:
    random = np.random.default_rng(SEED)
    if fingerprints is None:
        rows = min(setting.rows, most)
        values = random.integers(0, 2**64, (rows + MAX_QUERIES, setting.words), np.uint64)
        return values[:rows], values[rows:]
    values = random.permutation(collapse(fingerprints).values)
    if len(values) < 4:
        raise OptionError(
            f"{len(values)} different fingerprints are too few for a check. Give more, or leave out `check`."
        )
    kept = min(MAX_QUERIES, max(1, len(values) // 16))
    return values[kept : kept + most], values[:kept]


def _compare(
    choice: Choice, setting: Setting, sample: Array, queries: Array, query_seconds: float
) -> Iterator[Checked]:
    cost = choice.cost
    made: list[Segment] = []
    labels = np.arange(len(sample))

    def build() -> None:
        made[:] = [build_segment(sample, labels, choice.method, setting.max_distance, choice.options)]

    spent = min(run_once(build) for _ in range(2))
    segment = made[0]
    wanted = int(query_seconds / max(1e-9, cost.seconds_a_query))
    some = queries[: max(4, min(len(queries), wanted))]

    def look_up(part: Array) -> None:
        segment.look_up(part, 0, len(part), setting.max_distance, 0)

    look_up(some[:1])
    seconds = time_queries(look_up, some)
    candidates = cost.candidates
    if isinstance(segment.searcher, Tables):
        few = max(4, min(COUNTED_QUERIES, COUNTED_BUCKETS // cost.buckets))
        candidates = counted_candidates(segment.searcher.plan, segment.searcher.starts, queries[:few])
    measured = {
        "bytes": (cost.nbytes, segment.nbytes),
        "candidates": (cost.candidates, candidates),
        "seconds a query": (cost.seconds_a_query, seconds),
        "build seconds": (cost.build_seconds, spent),
    }
    for quantity, (predicted, really) in measured.items():
        factor = max(predicted, really) / max(min(predicted, really), 1e-12)
        yield Checked(
            choice.method,
            choice.options,
            len(sample),
            quantity,
            float(predicted),
            float(really),
            factor,
            factor <= WITHIN[quantity],
        )
