"""The probabilities behind fingerprints, prefix tables and the width of a fingerprint, in closed form.

docs/theory.md shows each beside a simulation. The S-curve of MinHash bands is in `neardup.matching.band_plan`.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from neardup.errors import OptionError, is_integer


def _check(**values: float) -> None:
    """Refuse counts that are not integers or too small, and shares outside of their range."""
    for name, value in values.items():
        if name in ("cosine", "probability"):
            least = -1 if name == "cosine" else 0
            if not least <= value <= 1:
                raise OptionError(f"`{name}={value!r}`: give a number from {least} to 1.")
        else:
            least = 0 if name in ("distance", "max_distance", "documents") else 1
            if not is_integer(value) or value < least:
                raise OptionError(f"`{name}={value!r}`: give an integer from {least} up.")


def bit_differs(cosine: float) -> float:
    """The probability that one bit of two fingerprints differs: angle / π (Charikar 2002, section 3).

    This is exact for random hyperplanes, and nearly so for the hashes of many features. The cosine is of the vectors of weights.

    >>> bit_differs(1.0), bit_differs(0.0)
    (0.0, 0.5)
    """
    _check(cosine=cosine)
    return math.acos(cosine) / math.pi


def within_distance(cosine: float, *, bits: int, max_distance: int) -> float:
    """P(distance <= max_distance). The bits differ independently, so the distance is binomial with angle / π.

    >>> round(within_distance(0.95, bits=128, max_distance=18), 4)
    0.9428
    """
    _check(bits=bits, max_distance=max_distance)
    return _distance_in(range(max_distance + 1), cosine, bits)


def sieve_miss(cosine: float, *, max_distance: int, bits: int = 128) -> float:
    """P(distance > max_distance): the share of the pairs of this cosine that a sieve of fingerprints loses.

    The sum starts at the large distances, so that small probabilities are precise, too.

    >>> sieve_miss(0.98, max_distance=28) < 1e-6
    True
    """
    _check(bits=bits, max_distance=max_distance)
    return _distance_in(range(max_distance + 1, bits + 1), cosine, bits)


def _distance_in(distances: range, cosine: float, bits: int) -> float:
    """P(the distance is one of these)."""
    p = bit_differs(cosine)
    if p in (0, 1) or len(distances) > bits:  # certain
        return float(bits * p in distances or len(distances) > bits)
    terms = (
        math.log(math.comb(bits, d)) + d * math.log(p) + (bits - d) * math.log1p(-p) for d in distances if d <= bits
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def estimated_cosine(distance: int, *, bits: int) -> float:
    """The cosine that a distance indicates: cos(π · distance / bits).

    >>> round(estimated_cosine(13, bits=128), 4)
    0.9495
    """
    _check(distance=distance, bits=bits)
    if distance > bits:
        raise OptionError(f"`distance={distance}`: give an integer from 0 to {bits}, the bits.")
    return math.cos(math.pi * distance / bits)


@dataclass(frozen=True, slots=True)
class PrefixHit:
    """P(two fingerprints share the first bits under at least one of several random orders of the bits), computed in three ways.

    Attributes:
        exact: 1 - (1 - C(N - K, P) / C(N, P))^T.
        by_distance: 1 - (1 - (1 - K/N)^P)^T, as if prefix bits were drawn with repetition; too high.
        by_prefix: 1 - (1 - (1 - P/N)^K)^T, as if differing bits were drawn with repetition; too high as well.
    """

    exact: float
    by_distance: float
    by_prefix: float


def prefix_hit(distance: int, *, bits: int, prefix: int, tables: int) -> PrefixHit:
    """The probability that prefix tables find a pair at distance K, with N bits, prefixes of P bits and T tables.

    >>> hit = prefix_hit(6, bits=64, prefix=16, tables=8)
    >>> round(hit.exact, 4), round(hit.by_distance, 4), round(hit.by_prefix, 6)
    (0.7607, 0.8436, 0.79152)
    """
    _check(distance=distance, bits=bits, prefix=prefix, tables=tables)
    if distance > bits or prefix > bits:
        raise OptionError(f"`distance={distance}`, `prefix={prefix}`: neither can be more than `bits={bits}`.")
    one_table = (
        math.comb(bits - distance, prefix) / math.comb(bits, prefix),
        (1 - distance / bits) ** prefix,
        (1 - prefix / bits) ** distance,
    )
    return PrefixHit(*(1 - (1 - hit) ** tables for hit in one_table))


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """A row of `prefix_table`: the distance K, the bits P of a prefix, the number T of tables, and the probability of a hit."""

    distance: int
    prefix: int
    tables: int
    hit: PrefixHit


def prefix_table(
    distances: Sequence[int], *, bits: int, prefixes: Sequence[int], tables: Sequence[int]
) -> tuple[PrefixRow, ...]:
    """`prefix_hit` of every combination, in the order of the distances, then of the prefixes, then of the numbers of tables.

    Raises:
        OptionError: a list is empty, or a value is not allowed; `prefix_hit` says which are.

    >>> [(row.tables, round(row.hit.exact, 4)) for row in prefix_table([6], bits=64, prefixes=[16], tables=[8, 20])]
    [(8, 0.7607), (20, 0.972)]
    """
    for name, values in (("distances", distances), ("prefixes", prefixes), ("tables", tables)):
        if not values:
            raise OptionError(f"`{name}={values!r}`: give at least one number.")
    return tuple(
        PrefixRow(k, p, t, prefix_hit(k, bits=bits, prefix=p, tables=t))
        for k, p, t in itertools.product(distances, prefixes, tables)
    )


def lookups_within(max_distance: int, *, bits: int) -> int:
    """The number of fingerprints within a distance of a fingerprint, itself included: the lookups needed to find all of them.

    >>> lookups_within(3, bits=64)
    43745
    """
    _check(bits=bits, max_distance=max_distance)
    return sum(math.comb(bits, d) for d in range(min(max_distance, bits) + 1))


def bucket_size(documents: int, *, key_bits: int) -> float:
    """How many uniform fingerprints are expected to share a key of `key_bits` bits with a query.

    >>> 4 * bucket_size(2**26, key_bits=16)
    4096.0
    """
    _check(documents=documents, key_bits=key_bits)
    return math.ldexp(documents, -key_bits)


def least_bits(documents: int) -> int:
    """The fewest bits that have a code for each document. To avoid collisions, see `bits_without_collision`.

    >>> least_bits(10**6), least_bits(10**9)
    (20, 30)
    """
    _check(documents=documents)
    return max(0, documents - 1).bit_length()


def equal_pairs(documents: int, *, bits: int) -> float:
    """The expected number of pairs of uniform fingerprints that are equal by chance: C(n, 2) / 2^bits.

    >>> f"{equal_pairs(2**26, bits=64):.1e}"
    '1.2e-04'
    """
    _check(documents=documents, bits=bits)
    return math.ldexp(documents * (documents - 1) / 2, -bits)


def collision(documents: int, *, bits: int) -> float:
    """P(at least two uniform fingerprints are equal) = 1 - product of (1 - i / 2^bits): the birthday problem.

    For many documents, the sum of the logarithms is computed by its series, to 9 digits.

    >>> round(collision(23, bits=8), 4)
    0.6389
    """
    _check(documents=documents, bits=bits)
    codes = 1 << bits
    if documents > codes:
        return 1.0
    if documents <= 1 << 12:
        return -math.expm1(math.fsum(math.log1p(-i / codes) for i in range(documents)))
    n, pairs = documents, equal_pairs(documents, bits=bits)
    if pairs > 40:  # 1 - e^-40 is 1
        return 1.0
    squares, cubes = (n - 1) * n * (2 * n - 1) / 6, (n * (n - 1) / 2) ** 2
    return -math.expm1(-pairs - squares / 2 / codes**2 - cubes / 3 / codes**3)


def bits_without_collision(documents: int, *, probability: float = 0.5) -> int:
    """The fewest bits at which the uniform fingerprints of `documents` documents collide with at most this probability.

    >>> bits_without_collision(10**6), bits_without_collision(10**9)
    (40, 60)
    """
    _check(documents=documents, probability=probability)
    if probability == 0:
        raise OptionError("`probability=0`: no number of bits excludes a collision; give a number above 0.")
    bits = max(1, least_bits(documents))
    while collision(documents, bits=bits) > probability:
        bits += 1
    return bits
