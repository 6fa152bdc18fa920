"""The time of each step of Hamming search on a machine: the constants of the cost model, which `machine_timing` measures.

Steps that access more memory at random take longer. So each constant is a curve: seconds at some sizes, interpolated between
them, and extrapolated beyond them with the last slope.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

Curve = tuple[tuple[float, float], ...]
"""(log2 of a size, seconds), ascending."""


@dataclass(frozen=True)
class Machine:
    """Seconds of one thread for each step. Sizes are log2 of the rows of all tables together, at 64 bits.

    Attributes:
        source: where the constants come from, in words.
        compare: seconds to compare a row in a scan with many queries.
        stretch: to compare a row of a bucket long enough for vectors; by rows.
        row: to compare a row of a short bucket, one by one.
        probe: to reach the bucket of a key, with the buckets of many queries requested together; by rows.
        step: to reach the bucket of a code near the key, one after another; by rows of tables with 4 rows per bucket.
        place: to put a row into its bucket of a table; by the table's buckets.
        move: to gather a further run of bits of a row's key.
        collapse: to sort a row together with equal rows; by rows.
        add: to add up 64 rows of the list of one bit.
        slice: to put a row on the list of one bit.
        order: to put a row in its place in a sorted order; by rows.
        around: to look up a query in a sorted order, without the beam; by rows.
    """

    source: str
    compare: Curve
    stretch: Curve
    row: Curve
    probe: Curve
    step: Curve
    place: Curve
    move: Curve
    collapse: Curve
    add: Curve
    slice: Curve
    order: Curve
    around: Curve

    def seconds(self, step: str, size: float) -> float:
        """Seconds of a step, at a size (not its logarithm)."""
        return at(getattr(self, step), math.log2(max(1.0, size)))

    def source_for(self, rows: int) -> str:
        """Where the constants come from, and whether they are extrapolated to so many rows, in words."""
        measured = self.measured_rows
        return self.source if rows <= measured else f"{self.source}; extrapolated from {measured:,} documents"

    @property
    def measured_rows(self) -> int:
        """The largest number of rows that was measured."""
        return round(2 ** self.step[-1][0])


def at(curve: Curve, x: float) -> float:
    """The value of a curve. It is constant before the first point, and never falls beyond the last."""
    if x <= curve[0][0] or len(curve) == 1:
        return curve[0][1]
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return y1 + max(0.0, y1 - y0) / (x1 - x0) * (x - x1)


TYPICAL = Machine(
    source="the machine of the benchmarks (AMD EPYC with AVX-512, two processors)",
    compare=((14, 4e-11), (17, 4e-11), (20, 4.2e-11), (22, 4.7e-11)),
    stretch=((14, 4.5e-11), (17, 4.9e-11), (20, 2.9e-10), (22, 4.1e-10)),
    row=((14, 3.5e-10),),
    probe=((15, 1.9e-08), (18, 4.2e-08), (21, 9.1e-08), (23, 9.6e-08)),
    step=((14, 1.9e-08), (17, 2.2e-08), (20, 3.1e-08), (22, 1.2e-07)),
    place=((12, 8.5e-09), (15, 9.1e-09), (18, 1.2e-08), (20, 3.2e-08)),
    move=((14, 1.3e-09),),
    collapse=((14, 6e-08), (17, 2.3e-08), (20, 1.7e-08), (22, 1.7e-08)),
    add=((14, 3.4e-09), (17, 4.3e-09), (20, 4.3e-09), (22, 4.3e-09)),
    slice=((14, 3.4e-10), (17, 3.6e-10), (20, 6.7e-10), (22, 6.7e-10)),
    order=((14, 8.4e-08), (17, 9.7e-08), (20, 1.1e-07), (22, 1.5e-07)),
    around=((14, 1.1e-07), (17, 1.5e-07), (20, 6.3e-07), (22, 1.3e-06)),
)
"""Medians of five runs of `neardup.hamming.index.planning.machine_timing.measure_machine`, on a machine shared with other users."""
