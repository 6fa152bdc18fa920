"""Write the tables of docs/theory.md, and draw docs/theory.svg: closed forms beside simulations with fixed seeds."""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from neardup.fingerprints.minhash import signatures
from neardup.fingerprints.simhash import fingerprint
from neardup.hamming.probabilities import collision, equal_pairs, prefix_hit, sieve_miss, within_distance
from neardup.matching.band_plan import Bands, hit_probability
from neardup.recipe.recipe import Recipe

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))
from chart_style import PALE, TEAL, new_figure, save  # noqa: E402 - lies there

Array = np.ndarray[Any, np.dtype[Any]]

PAGE = ROOT / "docs/theory.md"
CHART = PAGE.with_suffix(".svg")

PAIRS = 2000
"""Simulated pairs for each point: a share of 0.5 is then known to 0.022, of 0.01 to 0.004 (95 %)."""
WORDS = 401
"""Of a text. An odd number: of equal weights none then cancel to 0, which would be bit 0 on both sides."""


def words(count: int, pair: int) -> list[str]:
    """Made-up words, no two alike, and others for each pair; what is random about them is their hashes."""
    return [f"w{number}" for number in range(pair * 4 * WORDS, pair * 4 * WORDS + count)]


def possible_cosine(cosine: float) -> float:
    """The nearest that two texts of WORDS words can have: what theory is asked for beside a simulation."""
    return round(cosine * WORDS) / WORDS


def shared_shingles(similarity: float) -> int:
    """How many of WORDS shingles two texts share to be about so similar."""
    return round(2 * WORDS * similarity / (1 + similarity))


def possible_similarity(similarity: float) -> float:
    """The nearest that two texts of WORDS shingles can have."""
    shared = shared_shingles(similarity)
    return shared / (2 * WORDS - shared)


@cache
def distances(cosine: float, bits: int) -> Array:
    """Distances of the fingerprints of pairs of texts of WORDS distinct words that share as many as the cosine says."""
    shared = round(cosine * WORDS)
    texts = []
    for pair in range(PAIRS):
        found = words(2 * WORDS - shared, pair)
        texts += [" ".join(found[:WORDS]), " ".join(found[WORDS - shared :])]
    rows = fingerprint(texts, recipe=Recipe(weights="uniform", bits=bits)).reshape(len(texts), -1)
    counted: Array = np.bitwise_count(rows[::2] ^ rows[1::2]).sum(axis=1)
    return counted


@cache
def agreeing(similarity: float, bands: Bands) -> float:
    """The share of pairs of texts of that Jaccard whose signatures agree in a band."""
    common = shared_shingles(similarity)
    texts = []
    for pair in range(PAIRS):
        found = words(2 * (WORDS + 2) - common, pair)
        texts += [" ".join(found[: WORDS + 2]), " ".join(found[WORDS - common :][: WORDS + 2])]
    values = signatures(texts, values=bands.values).values.reshape(len(texts), bands.bands, bands.rows)
    return float((values[::2] == values[1::2]).all(axis=2).any(axis=1).mean())


@cache
def prefixes_hit(distance: int, *, bits: int, prefix: int, tables: int) -> float:
    """The share of trials in which random orders of the bits put no differing bit into one of the prefixes."""
    chance = random.Random(f"prefixes {distance} {bits} {prefix} {tables}")
    differing = set(range(distance))
    hits = sum(
        any(differing.isdisjoint(chance.sample(range(bits), prefix)) for _ in range(tables)) for _ in range(PAIRS)
    )
    return hits / PAIRS


def collided(documents: int, bits: int) -> tuple[float, float]:
    """The share of trials in which random codes collide, and the mean number of equal pairs."""
    chance = random.Random(f"collisions {documents} {bits}")
    trials, equal, with_any = 200, 0, 0
    for _ in range(trials):
        counts: dict[int, int] = {}
        for _ in range(documents):
            code = chance.getrandbits(bits)
            counts[code] = counts.get(code, 0) + 1
        pairs = sum(count * (count - 1) // 2 for count in counts.values())
        equal, with_any = equal + pairs, with_any + (pairs > 0)
    return with_any / trials, equal / trials


def table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---:"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def beside(theory: float, simulated: float) -> str:
    """Both, theory first."""
    return f"{theory:.3f} / {simulated:.3f}"


def distance_table() -> str:
    """P(distance <= k | cosine)."""

    def rows() -> Iterator[Sequence[str]]:
        for cosine in (0.8, 0.9, 0.95, 0.98):
            found = {bits: distances(cosine, bits) for bits in (64, 128)}
            cells = [
                beside(
                    within_distance(possible_cosine(cosine), bits=bits, max_distance=k),
                    float((found[bits] <= k).mean()),
                )
                for bits, k in ((64, 3), (64, 10), (128, 12), (128, 18), (128, 24))
            ]
            yield [f"{cosine}", *cells]

    return table(["cosine", "64 bits, k = 3", "64, 10", "128, 12", "128, 18", "128, 24"], rows())


def band_table() -> str:
    """P(candidate | J, b, r)."""
    choices = [Bands(bands=20, rows=5), Bands(bands=18, rows=5), Bands(bands=32, rows=4), Bands(bands=16, rows=8)]

    def rows() -> Iterator[Sequence[str]]:
        for similarity in (0.2, 0.4, 0.5, 0.6, 0.7, 0.8):
            cells = [
                beside(hit_probability(possible_similarity(similarity), bands), agreeing(similarity, bands))
                for bands in choices
            ]
            yield [f"{similarity}", *cells]

    return table(["Jaccard", *(f"b = {bands.bands}, r = {bands.rows}" for bands in choices)], rows())


def sieve_table() -> str:
    """P(distance > k | cosine), at 128 bits."""
    limits = (18, 24, 30, 38)

    def rows() -> Iterator[Sequence[str]]:
        for cosine in (0.7, 0.8, 0.85, 0.9, 0.95):
            found = distances(cosine, 128)
            yield [
                f"{cosine}",
                *(
                    beside(sieve_miss(possible_cosine(cosine), max_distance=k), float((found > k).mean()))
                    for k in limits
                ),
            ]

    return table(["cosine", *(f"k = {k}" for k in limits)], rows())


def prefix_table() -> str:
    """P(hit) of prefix tables."""

    def rows() -> Iterator[Sequence[str]]:
        for distance, prefix, tables in ((3, 16, 4), (6, 16, 8), (6, 16, 20), (12, 16, 20)):
            hit = prefix_hit(distance, bits=64, prefix=prefix, tables=tables)
            simulated = prefixes_hit(distance, bits=64, prefix=prefix, tables=tables)
            values = (hit.exact, simulated, hit.by_distance, hit.by_prefix)
            yield [f"{distance}", f"{prefix}", f"{tables}", *(f"{value:.4f}" for value in values)]

    return table(["K", "P", "T", "exact", "simulated", "1-(1-(1-K/N)^P)^T", "1-(1-(1-P/N)^K)^T"], rows())


def capacity_table() -> str:
    """Collisions of a thousand random codes."""

    def rows() -> Iterator[Sequence[str]]:
        for bits in (10, 16, 18, 20, 24):
            share, pairs = collided(1000, bits)
            equal = f"{equal_pairs(1000, bits=bits):.2f} / {pairs:.2f}"
            yield [f"{bits}", beside(collision(1000, bits=bits), share), equal]

    return table(["bits", "P(any two equal)", "equal pairs"], rows())


TABLES: dict[str, Callable[[], str]] = {
    "distances": distance_table,
    "bands": band_table,
    "sieve": sieve_table,
    "prefixes": prefix_table,
    "capacity": capacity_table,
}


def page() -> str:
    """The page with its tables made anew, each between `<!-- simulated NAME -->` and `<!-- end -->`."""
    text = PAGE.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        begin, end = f"<!-- simulated {name} -->\n", "<!-- end -->"
        before, found, after = text.partition(begin)
        if not found or end not in after:
            raise SystemExit(f"{PAGE} has no place for the table {name!r}: mark it with {begin.strip()} and {end}")
        text = before + begin + "\n" + make() + "\n\n" + after[after.index(end) :]
    return text


def draw() -> None:
    """Lines for the closed forms, dots for the simulations."""
    figure = new_figure("theory", 10, 6.6)
    (distance, sieve), (band, prefix) = figure.subplots(2, 2)

    for cosine in (0.8, 0.9, 0.95, 0.98):
        limits = list(range(0, 49, 2))
        [line] = distance.plot(
            limits, [within_distance(cosine, bits=128, max_distance=k) for k in limits], label=f"cosine {cosine}"
        )
        found = distances(cosine, 128)
        distance.plot(limits, [(found <= k).mean() for k in limits], ".", color=line.get_color())
    distance.set(title="P(distance ≤ k), 128 bits", xlabel="k")

    cosines = [0.5 + 0.025 * step for step in range(20)]
    for k in (18, 24, 30, 38):
        [line] = sieve.plot(cosines, [sieve_miss(c, max_distance=k) for c in cosines], label=f"k = {k}")
        at = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
        sieve.plot(at, [(distances(c, 128) > k).mean() for c in at], ".", color=line.get_color())
    sieve.set(title="Lost by a sieve of 128 bits at distance k", xlabel="cosine")

    x = [0.02 * step for step in range(51)]
    for bands in (Bands(bands=20, rows=5), Bands(bands=32, rows=4), Bands(bands=16, rows=8)):
        label = f"b = {bands.bands}, r = {bands.rows}"
        [line] = band.plot(x, [hit_probability(s, bands) for s in x], label=label)
        at = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8)
        band.plot(at, [agreeing(s, bands) for s in at], ".", color=line.get_color())
    band.set(title="P(candidate), MinHash bands", xlabel="Jaccard")

    spans = list(range(25))
    styles = {"exact": "-", "by_distance": "--", "by_prefix": ":"}
    for name, style in styles.items():
        values = [getattr(prefix_hit(k, bits=64, prefix=16, tables=8), name) for k in spans]
        prefix.plot(spans, values, style, label=name.replace("_", " "), color=TEAL if name == "exact" else PALE)
    at_spans = (2, 4, 6, 8, 12, 16)
    prefix.plot(at_spans, [prefixes_hit(k, bits=64, prefix=16, tables=8) for k in at_spans], ".", color=TEAL)
    prefix.set(title="P(hit), prefix tables: N = 64, P = 16, T = 8", xlabel="Hamming distance")
    for axes in (distance, sieve, band, prefix):
        axes.grid()
        axes.legend(fontsize=8)
    figure.suptitle(f"Closed forms (lines) and simulations of {PAIRS:,} pairs (dots)")
    save(figure, CHART)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
