"""The cosine of two vectors, estimated from the Hamming distance of their fingerprints."""

import math
from dataclasses import dataclass

from neardup.errors import OptionError, is_integer


@dataclass(frozen=True, slots=True)
class EstimatedCosine:
    """The estimated cosine of two vectors.

    Attributes:
        cosine: cos(π distance / bits).
        standard_error: its standard error, by the delta method; 0 at the distances 0 and `bits`, where the method gives no other.
    """

    cosine: float
    standard_error: float


def estimated_cosine(distance: int, bits: int) -> EstimatedCosine:
    """The cosine of two vectors whose fingerprints of `bits` bits differ in `distance` bits.

    Each bit differs with the probability p = angle / π (Goemans and Williamson 1995; Charikar 2002). The share of differing bits
    therefore has the standard error √(p (1 - p) / bits), and the cosine has that error times π sin(π p).

    Raises:
        OptionError: `bits` is not an integer of at least 1, or `distance` is not an integer from 0 to `bits`.

    >>> estimated_cosine(16, 64)
    EstimatedCosine(cosine=0.7071067811865476, standard_error=0.12023904657767474)
    """
    for name, value, low, high in (("bits", bits, 1, None), ("distance", distance, 0, bits)):
        if not is_integer(value) or value < low or (high is not None and value > high):
            allowed = "of at least 1" if high is None else f"from 0 to `bits={high}`"
            raise OptionError(f"`{name}={value!r}`: give an integer {allowed}.")
    share = int(distance) / int(bits)
    error = math.pi * math.sin(math.pi * share) * math.sqrt(share * (1 - share) / int(bits))
    return EstimatedCosine(math.cos(math.pi * share), error)
