"""The definition of splits, slow and obvious, without anything of the package."""

from collections import Counter
from fractions import Fraction
from hashlib import blake2b


def together(n, linked):
    """For each of n documents, the first that links lead to; `linked(p, q)`: whether two stay together."""
    of = list(range(n))
    for p in range(n):
        for q in range(p):
            if of[p] != of[q] and linked(q, p):
                low, high = sorted((of[p], of[q]))
                of = [low if each == high else each for each in of]
    return of


def key(seed, digest, within=None):
    """The key of a text: `digest` is the two 64-bit words of its normalized text."""
    content = b"".join(word.to_bytes(8, "little") for word in digest)
    content += b"" if within is None else b"=" + within.encode()
    return int.from_bytes(blake2b(content, digest_size=8, key=str(seed).encode()).digest(), "little")


def deal(units, strata, keys, shares, dealt=None):
    """The side of each unit: units[i] is the unit of document i, strata[i] its stratum; dealt: the sides of units dealt before."""
    side = dict(dealt or {})
    members = {unit: [i for i, each in enumerate(units) if each == unit] for unit in sorted(set(units))}
    vector = {unit: Counter(strata[i] for i in rows) for unit, rows in members.items()}
    alike = {}
    for unit in sorted(members, key=keys.__getitem__):
        if unit not in side:
            alike.setdefault(tuple(sorted(vector[unit].items())), []).append(unit)

    def lack(number, stratum):
        wanted = shares[number] * sum(stratum is None or each == stratum for each in strata)
        has = [unit for unit, one in side.items() if one == number]
        return wanted - sum(len(members[unit]) if stratum is None else vector[unit][stratum] for unit in has)

    for kind, ordered in sorted(alike.items(), key=lambda item: (-sum(n for _, n in item[0]), keys[item[1][0]])):
        parts = [(None, sum(n for _, n in kind)), *kind]
        counts = [0] * len(shares)
        given = [{part: lack(number, part) for part, _ in parts} for number in range(len(shares))]
        for _ in ordered:
            score = [
                sum(2 * n * lacks[part] - n * n for part, n in parts) / share
                for lacks, share in zip(given, shares, strict=True)
            ]
            best = score.index(max(score))
            counts[best] += 1
            for part, n in parts:
                given[best][part] -= n
        left = iter(ordered)
        for number, count in enumerate(counts):
            side |= {next(left): number for _ in range(count)}
    return side


def fractions(shares):
    """Shares that add up to 1, as they are written."""
    found = [Fraction(repr(float(share))) for share in shares]
    return [each / sum(found) for each in found]
