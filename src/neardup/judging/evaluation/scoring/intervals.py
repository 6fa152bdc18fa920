"""Shares with their 95 % confidence intervals.

The interval is Wilson's score interval (Wilson 1927; Brown, Cai and DasGupta 2001). Its coverage averages near 95 % even for
shares close to 1, where recall lies; it never leaves [0, 1]; and it has a closed form. Clopper and Pearson's interval never
covers less than 95 %, so it is wider than it claims.
"""

import math
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array

Z = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share and its 95 % interval; all None where nothing was counted.

    Attributes:
        value, low, high: from 0 to 1.
        count, of: the counts behind the share, which is count / of.
    """

    value: float | None
    low: float | None
    high: float | None
    count: int
    of: int

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "–"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def _interval(share: float, n: float) -> tuple[float, float]:
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    low = 0.0 if share == 0 else max(0.0, middle - half)
    return low, 1.0 if share == 1 else min(1.0, middle + half)


UNKNOWN = Share(None, None, None, 0, 0)


def wilson(count: int, of: int) -> Share:
    """The share count / of, by Wilson's score interval.

    >>> print(wilson(99, 100))
    0.990 [0.946, 0.998]
    >>> print(wilson(0, 0))
    –
    """
    if of == 0:
        return UNKNOWN
    return Share(count / of, *_interval(count / of, of), int(count), int(of))


def clustered(counts: Array, totals: Array, sampled_share: float) -> Share:
    """A share of pairs found by sampling documents: sum(counts) / sum(totals), one entry per document.

    Pairs of one document are not independent. The interval is therefore that of the number of independent pairs that would vary
    as much (Korn and Graubard 1998), computed from the variance of a ratio of sums over documents. If that variance is 0, each
    document that has a pair counts once.

    Args:
        counts, totals: int64[documents].
        sampled_share: share of the population that was sampled; a pair of two sampled documents is counted twice.
    """
    x, y = int(counts.sum()), int(totals.sum())
    if y == 0:
        return UNKNOWN
    once = 1 - sampled_share / 2
    share, having = x / y, int(np.count_nonzero(totals))
    squares = float(((counts - share * totals) ** 2).sum())
    independent = float(having)
    if squares > 0 and having > 1:
        independent = share * (1 - share) * y * y / squares * (having - 1) / having
    independent = max(1.0, min(independent, float(y)) * once)
    return Share(share, *_interval(share, independent), round(x * once), round(y * once))


def f1_of(share: Share) -> Share:
    """The F1 score, 2 true / (2 true + false + missed), from the share true / (true + false + missed), with which it grows."""
    if share.value is None or share.low is None or share.high is None:
        return share
    value, low, high = (2 * part / (1 + part) for part in (share.value, share.low, share.high))
    return Share(value, low, high, share.count, share.of)
