"""What fingerprints of vectors cost beside bare matrix products and beside a hash for each bit; how well they estimate cosines.

    python benchmarks/vectors.py [--quick] [--data FOLDER] [--output FILE]

Random vectors are normally distributed. Real ones are the counts of words in texts of the Python installation, by logarithm. All is
measured on one thread: products by several wait for one another on a machine that others use, too.
"""

import math
import os
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # read when NumPy is imported

import numpy as np
import xxhash

import neardup
from corpora import python_installation
from measure import arguments, environment, ratio, rounded, table, take_turns, write_json
from vectors_chart import draw

Array = np.ndarray[Any, np.dtype[Any]]

DENSE = ((128, 64), (384, 64), (384, 128), (768, 128), (1024, 64), (1536, 256))
"""Dimensions and bits."""
WIDTHS = (64, 128)
ROUNDS, DENSE_NUMBERS, BINS, PAIRS = 7, 1 << 24, 20, 300
WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Csr:
    """Sparse rows, as scipy.sparse has them."""

    indptr: Array
    indices: Array
    data: Array
    shape: tuple[int, int]

    def head(self, n: int) -> "Csr":
        end = self.indptr[n]
        return Csr(self.indptr[: n + 1], self.indices[:end], self.data[:end], (n, self.shape[1]))


def word_counts(size: int) -> Csr:
    """1 + log2 of how often each word occurs, a row for each text."""
    numbers: dict[str, int] = {}
    indptr, indices, data = [0], [], []
    for text in python_installation(size).array.to_pylist():
        counts = Counter(numbers.setdefault(word, len(numbers)) for word in WORD.findall(text.lower()))
        for dimension in sorted(counts):
            indices.append(dimension)
            data.append(1 + math.log2(counts[dimension]))
        indptr.append(len(indices))
    n = len(indptr) - 1
    return Csr(np.array(indptr), np.array(indices, np.int32), np.array(data, np.float32), (n, len(numbers)))


def measure_dense(dimension: int, bits: int, rounds: int, numbers: int) -> dict[str, Any]:
    """Beside X @ planes of the same type."""
    generator = np.random.default_rng(dimension)
    rows = generator.standard_normal((max(100, numbers // dimension), dimension), np.float32)
    planes = generator.standard_normal((dimension, bits), np.float32)
    contenders = {"product": lambda: rows @ planes}
    for method in ("signs", "gaussian"):
        contenders[method] = partial(neardup.fingerprint_vectors, rows, bits=bits, method=method, threads=1)
    times = take_turns(contenders, rounds)
    record: dict[str, Any] = {"dimension": dimension, "bits": bits, "rows": len(rows)}
    for name, timing in times.items():
        record[name] = timing.as_record(len(rows), "rows_per_second")
        if name != "product":
            record[name]["times_the_product"] = rounded(1 / ratio(timing, 1, times["product"], 1), 3)
    return record


def fingerprints_in_python(rows: Csr, bits: int) -> Array:
    """`bits` hash functions a dimension as one writes it at first: xxhash with a seed for each, and NumPy for the sums."""
    found = np.zeros((rows.shape[0], bits), np.bool_)
    for r in range(rows.shape[0]):
        sums = np.zeros(bits)
        for i in range(rows.indptr[r], rows.indptr[r + 1]):
            key = int(rows.indices[i]).to_bytes(8, "little")
            signs = [1 if xxhash.xxh3_64_intdigest(key, seed) >> 63 else -1 for seed in range(bits)]
            sums += float(rows.data[i]) * np.array(signs)
        found[r] = sums > 0
    return found


def measure_sparse(rows: Csr, bits: int, rounds: int) -> dict[str, Any]:
    """One thread, nanoseconds an entry: hashed dimensions beside a hash for each entry and bit, compiled and in Python."""
    few, least = rows.head(max(1, rows.shape[0] // 20)), rows.head(2)
    work = {"hashed dimensions": (rows, "signs"), "a hash for each bit": (few, "independent")}
    contenders: dict[str, Any] = {
        name: partial(neardup.fingerprint_vectors, given, bits=bits, method=method, threads=1)
        for name, (given, method) in work.items()
    }
    contenders["a hash for each bit, in Python"] = partial(fingerprints_in_python, least, bits)
    sizes = {"hashed dimensions": rows, "a hash for each bit": few, "a hash for each bit, in Python": least}
    times = take_turns(contenders, rounds)
    record: dict[str, Any] = {"bits": bits, "rows": rows.shape[0], "entries": len(rows.data)}
    ours = times["hashed dimensions"]
    for name, timing in times.items():
        size = len(sizes[name].data)
        record[name] = {
            "nanoseconds_an_entry": rounded(timing.median / size * 1e9, 3),
            "times_hashed_dimensions": rounded(ratio(ours, len(rows.data), timing, size), 3),
        }
    return record


def random_pairs(count: int) -> tuple[Array, Array, Array]:
    """Pairs of dense vectors with cosines spread evenly, and these."""
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, count, 256))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b -= (a * b).sum(axis=1, keepdims=True) * a
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    cosines = np.linspace(-0.99, 0.99, count)
    return a, cosines[:, None] * a + np.sqrt(1 - cosines[:, None] ** 2) * b, cosines


def real_pairs(rows: Csr, count: int) -> tuple[Array, Array, Array]:
    """The numbers of two rows in each pair, with cosines as evenly spread as there are such, and these."""
    n = min(1500, rows.shape[0])
    dense = np.zeros((n, rows.shape[1]), np.float32)
    for r in range(n):
        part = slice(rows.indptr[r], rows.indptr[r + 1])
        dense[r, rows.indices[part]] = rows.data[part]
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-9)
    cosines = dense @ dense.T
    left, right = np.triu_indices(n, 1)
    values = cosines[left, right].astype(np.float64)
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    generator = np.random.default_rng(1)
    chosen = np.concatenate(
        [
            generator.permutation(np.flatnonzero((bins == each) & (values > 0) & (values < 0.999)))[: count // BINS]
            for each in range(BINS)
        ]
    )
    return left[chosen], right[chosen], values[chosen]


def measure_cosines(distances: Array, cosines: Array, bits: int) -> dict[str, Any]:
    """Estimates beside the true cosines; errors in standard errors that the true angle has."""
    shares = np.arccos(cosines) / np.pi
    expected = np.pi * np.sin(np.pi * shares) * np.sqrt(shares * (1 - shares) / bits)
    estimates = np.array([neardup.estimated_cosine(int(each), bits).cosine for each in distances])
    z = (estimates - cosines) / expected
    return {
        "bits": bits,
        "pairs": len(cosines),
        "mean_error_in_standard_errors": rounded(float(z.mean()), 3),
        "rms_error_in_standard_errors": rounded(float(np.sqrt((z**2).mean())), 3),
        "share_within_2_standard_errors": rounded(float((np.abs(z) <= 2).mean()), 3),
        "true": [round(float(each), 4) for each in cosines],
        "estimated": [round(float(each), 4) for each in estimates],
    }


def distances_of(left: Array, right: Array) -> Array:
    return np.bitwise_count(left ^ right).reshape(len(left), -1).sum(axis=1)


def main() -> None:
    given = arguments(str(__doc__).splitlines()[0], "vectors")
    rounds, numbers, size = (2, 1 << 19, 400_000) if given.quick else (ROUNDS, DENSE_NUMBERS, 8_000_000)
    rows = word_counts(size)
    record: dict[str, Any] = environment(["xxhash"])
    record["dense"] = [measure_dense(dimension, bits, rounds, numbers) for dimension, bits in DENSE]
    record["sparse"] = [measure_sparse(rows, bits, rounds) for bits in WIDTHS]
    a, b, cosines = random_pairs(PAIRS)
    left, right, real = real_pairs(rows, PAIRS)
    record["cosines"] = {"random vectors": [], "word counts": []}
    for bits in WIDTHS:
        found = [neardup.fingerprint_vectors(each, bits=bits, method="gaussian") for each in (a, b)]
        record["cosines"]["random vectors"].append(measure_cosines(distances_of(*found), cosines, bits))
        prints = neardup.fingerprint_vectors(rows, bits=bits)
        record["cosines"]["word counts"].append(measure_cosines(distances_of(prints[left], prints[right]), real, bits))
    lines = [
        [
            f"{each['dimension']}",
            f"{each['bits']}",
            *(f"{each[method]['times_the_product']}" for method in ("signs", "gaussian")),
        ]
        for each in record["dense"]
    ]
    print(table(["dimension", "bits", "signs / product", "gaussian / product"], lines))
    for each in record["sparse"]:
        lines = [[name, *map(str, found.values())] for name, found in each.items() if isinstance(found, dict)]
        print(f"\n{each['bits']} bits\n\n" + table(["way", "ns an entry", "times ours"], lines))
    for name, parts in record["cosines"].items():
        for each in parts:
            print(name, {key: value for key, value in each.items() if key not in ("true", "estimated")})
    write_json(given.output, record)
    if given.output is not None:
        draw(record, given.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
