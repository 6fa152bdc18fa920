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
