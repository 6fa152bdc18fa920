"""How evenly and how independently the bits of hashes fall, and what comes of it for SimHash; for `hashes.py`."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from measure import rounded

Array = np.ndarray[Any, np.dtype[Any]]

CONFIDENCE = 0.99
Rows = Callable[[Sequence[bytes], int], Array]
"""Features and a width to uint64[n, words], as `hash_features` gives them."""


def joined(features: Iterable[bytes]) -> tuple[Array, Array]:
    """Features as joined buffers: uint8[], int64[n + 1]."""
    parts = list(features)
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum([0, *map(len, parts)])


def bits_of(rows: Array, bits: int) -> Array:
    """bool[n, bits], the most significant first, of uint64[n, words]."""
    octets = rows.astype(">u8").view(np.uint8).reshape(len(rows), 8 * rows.shape[1])
    return np.unpackbits(octets, axis=1)[:, 64 * rows.shape[1] - bits :].astype(bool)


def chance(trials: int) -> float:
    """What the largest |z| of so many independent normal variables stays below, 99 times in 100."""
    return NormalDist().inv_cdf((1 + CONFIDENCE ** (1 / trials)) / 2)


def deviations(z: Array, **more: Any) -> dict[str, Any]:
    """The largest of z-scores beside what chance gives, and how many are larger than that."""
    sizes = np.abs(z)
    limit = chance(sizes.size)
    return {
        "largest_z": rounded(float(sizes.max()), 3),
        "chance": rounded(limit, 3),
        "above_chance": int((sizes > limit).sum()),
        "of": int(sizes.size),
        **more,
    }


def evenness(found: Array) -> dict[str, Any]:
    """How far each bit's share of ones is from a half, in standard errors of the binomial distribution. bool[n, bits]."""
    n = len(found)
    z = (2 * found.sum(axis=0) - n) / math.sqrt(n)
    worst = int(np.abs(z).argmax())
    share = rounded(float(found[:, worst].mean()))
    return deviations(z, bit=found.shape[1] - 1 - worst, share_of_ones=share)


def independence(found: Array) -> dict[str, Any]:
    """How large the correlations of any two bits are, in standard errors 1/√n. bool[n, bits]."""
    n = len(found)
    signs = found.astype(np.float32) * 2 - 1
    signs -= signs.mean(axis=0)
    products = signs.T @ signs
    spreads = np.sqrt(np.diag(products))
    correlations = (products / np.outer(spreads, spreads))[np.triu_indices(found.shape[1], 1)]
    return deviations(correlations * math.sqrt(n), correlation=rounded(float(np.abs(correlations).max()), 3))


def avalanche(before: Array, after: Array) -> dict[str, Any]:
    """How often each bit differs after a change of the feature: a half is best. bool[n, bits] twice."""
    shares = (before ^ after).mean(axis=0)
    return {
        "mean": rounded(float(shares.mean()), 3),
        "lowest": rounded(float(shares.min()), 3),
        "highest": rounded(float(shares.max()), 3),
        "bits_outside_0.45_to_0.55": int((np.abs(shares - 0.5) > 0.05).sum()),
        "bits_that_never_change": int((shares == 0).sum()),
        "of": int(shares.size),
        "by_bit_from_the_lowest": [rounded(float(share), 3) for share in shares[::-1]] if shares.size <= 64 else None,
    }


@dataclass(frozen=True)
class Documents:
    """Documents as weighted features, and pairs of them.

    Attributes:
        name: what they are.
        features: the distinct features of all of them.
        columns, weights: int64[] and float64[] of each document.
        pairs: int64[p, 2].
        angles: float64[p], of the pairs, in degrees.
    """

    name: str
    features: list[bytes]
    columns: list[Array]
    weights: list[Array]
    pairs: Array
    angles: Array

    def as_record(self) -> dict[str, Any]:
        """What a result file says of them."""
        return {
            "name": self.name,
            "documents": len(self.columns),
            "distinct_features": len(self.features),
            "median_features_of_a_document": int(np.median([len(each) for each in self.columns])),
            "pairs": len(self.pairs),
            "median_angle": rounded(float(np.median(self.angles)), 3),
        }


def weighted_documents(name: str, texts: Sequence[Sequence[bytes]], pairs: Array) -> Documents:
    """Documents from their features; a feature's weight is 1 + floor(log2 count), as in the default recipe."""
    column: dict[bytes, int] = {}
    columns, weights, rows = [], [], []
    for text in texts:
        row = {column.setdefault(feature, len(column)): count.bit_length() for feature, count in Counter(text).items()}
        rows.append(row)
        columns.append(np.array(list(row), np.int64))
        weights.append(np.array(list(row.values()), np.float64))
    norms = [math.sqrt(float(each @ each)) for each in weights]
    cosines = [
        sum(weight * rows[b].get(i, 0) for i, weight in rows[a].items()) / (norms[a] * norms[b])
        for a, b in pairs.tolist()
    ]
    angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    return Documents(name, list(column), columns, weights, pairs, angles)


def angle_errors(documents: Documents, found: Array) -> Array:
    """By pair, 180° distance / bits less the true angle. bool[features, bits] are the hashes."""
    signs = found.astype(np.float64) * 2 - 1
    codes = np.array(
        [weights @ signs[columns] > 0 for columns, weights in zip(documents.columns, documents.weights, strict=True)]
    )
    left, right = documents.pairs.T
    return 180 * (codes[left] ^ codes[right]).mean(axis=1) - documents.angles


def _summary(errors: Sequence[Array]) -> dict[str, Any]:
    """Of several draws: the root mean square error, over draws and its range from draw to draw, and the mean error."""
    by_draw = [math.sqrt(float(np.mean(each**2))) for each in errors]
    return {
        "rms_degrees": rounded(math.sqrt(float(np.mean(np.square(errors)))), 3),
        "from": rounded(min(by_draw), 3),
        "to": rounded(max(by_draw), 3),
        "mean_degrees": rounded(float(np.mean(errors)), 2),
    }


def salts(draws: int) -> list[bytes]:
    """Different bytes to put before every feature: another hash of the same kind each."""
    return [f"{number:02d}|".encode() for number in range(draws)]


def simhash_error(documents: Documents, rows: Rows, bits: int, draws: int) -> dict[str, Any]:
    """The error of the angle that distances tell: by the hash as it is, and by `draws` others of its kind."""
    as_it_is = angle_errors(documents, bits_of(rows(documents.features, bits), bits))
    others = [
        angle_errors(documents, bits_of(rows([salt + each for each in documents.features], bits), bits))
        for salt in salts(draws)
    ]
    return {"as_it_is": rounded(math.sqrt(float(np.mean(as_it_is**2))), 3), **_summary(others)}


def random_error(documents: Documents, bits: int, draws: int) -> dict[str, Any]:
    """The same by random bits instead of a hash: as good as can be."""
    generator = np.random.default_rng(0)
    return _summary(
        [
            angle_errors(documents, generator.integers(0, 2, (len(documents.features), bits), dtype=np.uint8) == 1)
            for _ in range(draws)
        ]
    )
