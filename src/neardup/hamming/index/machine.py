"""How long the steps of Hamming search take on a machine: the constants of the cost model; `machine_timing` measures them.

A step's time depends on how much memory it walks over at random, so each constant is a curve: seconds at some sizes, interpolated
between, and drawn on with its last slope beyond.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

Curve = tuple[tuple[float, float], ...]
"""(log2 of a size, seconds), ascending."""


@dataclass(frozen=True)
class Machine:
    """Seconds of one thread, by step; sizes are log2 of rows, of all tables together, at 64 bits.

    Attributes:
        source: in words, where these come from.
        compare: a row of a scan of many queries.
        stretch: a row of a bucket that is long enough for vectors; by rows.
        row: a row of a short bucket, compared one by one.
        probe: the bucket of a key, when many queries' are asked for together; by rows.
        step: the bucket of a code near the key, one after the other; by rows of tables with 4 rows a bucket.
        place: a row is put into its bucket of a table; by the table's buckets.
        move: a further run of bits of a row's key.
        collapse: a row is sorted, equal ones together; by rows.
        add: 64 rows of a list of one bit are added up.
        slice: a row is put on the list of one bit.
        order: a row is put in its place in a sorted order; by rows.
        around: a query is looked up in a sorted order, beam not counted; by rows.
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
        """Of a step, at a size (not its logarithm)."""
        return at(getattr(self, step), math.log2(max(1.0, size)))

    @property
    def measured_rows(self) -> int:
        """Up to how many rows it was measured."""
        return round(2 ** self.step[-1][0])


def at(curve: Curve, x: float) -> float:
    """The value of a curve; level before its first point, and never falling beyond its last."""
    if x <= curve[0][0] or len(curve) == 1:
        return curve[0][1]
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return y1 + max(0.0, y1 - y0) / (x1 - x0) * (x - x1)
