"""Which SimHash recipe finds near-duplicates best, and at which distance.

    python benchmarks/recipes.py [--quick] [--data FOLDER] [--output FILE]

A reference pair is two documents of a reference Jaccard of 0.8 or more; a hard one has less than 0.95; a false pair has less
than 0.5. For each recipe: the share of reference pairs within a distance (recall), and the false pairs for each true one. On the
open sets the reference is theirs (word 3-grams, character 5-grams); on other texts, which every machine has or which are the
open sets cut short, it is the package's own similarity.

Pairs of one family of documents are found or missed together, by the luck of the hash function: the intervals of single pairs
would be too narrow. So each recipe is drawn several times: the words of its 512-bit fingerprint are eight draws of 64 bits, four
of 128, two of 256. Figures are means over the draws, with the least of them where it is said.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corpora import OPEN_SETS, ReferenceSet, data_folder, missing, python_installation, reference_set
from measure import arguments, environment, rounded, table, wilson, write_json
from neardup.fingerprints.simhash import fingerprint_array
from neardup.hamming.block_plan import plan_join
from neardup.hamming.pairs import join
from neardup.kernels.matching.jaccard import similarities
from neardup.matching.similarities.table import shingle_sets_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.parts import WEIGHTS
from recall import LONGEST_DISTANCE, SIMILAR, Counts, count, cut, distances, families, join_sets, own_pairs, total

Array = np.ndarray[Any, np.dtype[Any]]

SHINGLES = ((1, 1), (1, 2), (2, 2), (1, 3), (2, 3))
TEXTBOOK = Recipe(word_shingle=3, cjk_shingle=3, weights="tf", bits=64, max_distance=None)
TEXTBOOK_DISTANCE = 3
CONTENDERS = [
    Recipe(word_shingle=words, cjk_shingle=2, weights=weights, bits=bits, max_distance=None)
    for bits, words, weights in (
        (128, 1, "log"),
        (128, 1, "sqrt"),
        (128, 2, "log"),
        (128, 2, "uniform"),
        (64, 1, "log"),
        (64, 1, "sqrt"),
        (64, 2, "sqrt"),
    )
]
"""The recipes that are compared on other texts too."""
DISTANCES = {64: (8, 9, 10, 11, 12), 128: (14, 16, 18, 20, 22, 24)}
CHOSEN = [
    Recipe(),
    Recipe(word_shingle=2, cjk_shingle=2, weights="uniform", max_distance=None),
    Recipe(bits=64, max_distance=None),
]
"""The recipes that are looked at most closely."""
CUTS = (50, 100, 200, 400, 800)
"""Tokens that are left of each document, to see how recipes do on shorter texts."""
PLANNED = (10**5, 10**6, 10**7, 10**8)


def describe(recipe: Recipe) -> str:
    return f"({recipe.word_shingle}, {recipe.cjk_shingle}) {recipe.weights} {recipe.bits}"


def grid(quick: bool) -> list[Recipe]:
    """The recipes that are compared on the open sets."""
    if quick:
        return [*CONTENDERS, TEXTBOOK]
    recipes = [
        Recipe(word_shingle=words, cjk_shingle=cjk, weights=weights, bits=bits, max_distance=None)
        for words, cjk in SHINGLES
        for weights in WEIGHTS
        for bits in (64, 128, 256)
    ]
    return [*recipes, TEXTBOOK]


@dataclass(frozen=True)
class Result:
    """One recipe on several sets.

    Attributes:
        recipe: the recipe.
        counts: for each draw, for each set.
        speed: MB/s of one thread for the recipe itself; 0 if not measured.
    """

    recipe: Recipe
    counts: list[list[Counts]]
    speed: float

    @property
    def together(self) -> Counts:
        """All sets and draws."""
        return total([total(sets) for sets in self.counts])

    def of_set(self, number: int) -> Counts:
        return total([sets[number] for sets in self.counts])

    def least(self, distance: int) -> float:
        """The recall of the draw that finds least, all sets together."""
        draws = [total(sets) for sets in self.counts]
        return min(float(draw.similar[distance] / max(1, draw.pairs)) for draw in draws)


class Draws:
    """512-bit fingerprints of some sets, kept by features and weights."""

    def __init__(self, sets: Sequence[ReferenceSet]) -> None:
        self._sets = sets
        self._values: dict[Recipe, list[Array]] = {}

    def of(self, recipe: Recipe) -> list[list[Array]]:
        """For each draw of the recipe, for each set: uint64[n, words]."""
        wide = replace(recipe, bits=512, max_distance=None)
        if wide not in self._values:
            self._values[wide] = [fingerprint_array(references.texts.array, wide).values for references in self._sets]
        words = recipe.bits // 64
        return [[values[:, first : first + words] for values in self._values[wide]] for first in range(0, 8, words)]


def speed(recipe: Recipe, sets: Sequence[ReferenceSet], runs: int) -> float:
    """MB/s of one thread, the best of some runs."""
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        for references in sets:
            fingerprint_array(references.texts.array, recipe)
        seconds.append(time.perf_counter() - began)
    return sum(references.texts.bytes for references in sets) / 1e6 / min(seconds)


def compare(recipes: Sequence[Recipe], sets: Sequence[ReferenceSet], runs: int) -> list[Result]:
    """Each recipe on each set."""
    draws = Draws(sets)
    results = []
    for recipe in recipes:
        counts = [
            [count(values, recipe.bits, references) for values, references in zip(draw, sets, strict=True)]
            for draw in draws.of(recipe)
        ]
        results.append(Result(recipe, counts, speed(recipe, sets, runs) if runs else 0.0))
    return results


def end_to_end(recipe: Recipe, distance: int, sets: Sequence[ReferenceSet]) -> dict[str, Any]:
    """The share of the reference pairs that `dedup` would verify as matches: within the distance and similar by our measure too."""
    matched, near, total, shares, number = 0, 0, 0, [], 0
    for references in sets:
        found = fingerprint_array(references.texts.array, recipe)
        values, offsets = shingle_sets_of(references.texts.array)
        similarity = np.empty(len(references.left))
        similarities(values, offsets[:-1], offsets[1:], references.left, references.right, 0.0, similarity)
        long_enough = found.tokens >= recipe.min_tokens
        within = distances(found.values, references.left, references.right) <= distance
        within &= long_enough[references.left] & long_enough[references.right]
        equal = (found.digests[references.left] == found.digests[references.right]).all(axis=1)
        hit = equal | (within & (similarity >= SIMILAR))
        similar = references.jaccard >= SIMILAR
        near += int((similar & (within | equal)).sum())
        matched += int((similar & hit).sum())
        total += int(similar.sum())
        share, some = families(references, hit)
        shares.append(share * some)
        number += some
    return {
        "distance": distance,
        "reference_pairs": total,
        "within_distance": near,
        "matched": matched,
        "share": rounded(matched / total),
        "interval_95": [rounded(limit) for limit in wilson(matched, total)],
        "families": number,
        "share_mean_of_families": rounded(sum(shares) / number),
    }


def other_texts(sets: Sequence[ReferenceSet], quick: bool) -> list[ReferenceSet]:
    """Pieces of the Python installation, and the open sets cut short, with all pairs by the package's own similarity."""
    pieces = python_installation(10_000_000 if quick else 60_000_000)
    found = [own_pairs(pieces)]
    for tokens in CUTS[1:3] if quick else CUTS:
        parts = [own_pairs(cut(references.texts, tokens)) for references in sets]
        found.extend(join_sets(f"open sets, first {tokens} tokens", parts) if parts else [])
    return found


def joins(recipe: Recipe, quick: bool) -> dict[str, Any]:
    """What the exact join costs by the planner's estimate, and on real fingerprints of pieces of 1,000 characters."""
    pieces = python_installation(10_000_000 if quick else 250_000_000, piece=1000)
    values = np.unique(fingerprint_array(pieces.array, recipe).values, axis=0)
    rows = []
    for distance in DISTANCES[recipe.bits]:
        join(values[:1000].copy(), max_distance=distance)  # kernels are loaded
        began = time.perf_counter()
        pairs = len(join(values, max_distance=distance))
        seconds = time.perf_counter() - began
        possible = len(values) * (len(values) - 1) / 2
        rows.append(
            {
                "distance": distance,
                "planned_seconds": {
                    f"{n:.0e}": rounded(plan_join(n, bits=recipe.bits, max_distance=distance).seconds, 3)
                    for n in PLANNED
                },
                "real_fingerprints": len(values),
                "real_seconds": rounded(seconds, 3),
                "real_seconds_planned": rounded(
                    plan_join(len(values), bits=recipe.bits, max_distance=distance).seconds, 3
                ),
                "real_pairs": pairs,
                "real_pairs_share": rounded(pairs / possible, 3),
            }
        )
    return {"recipe": describe(recipe), "rows": rows}


def _share(counts: Array, distance: int) -> str:
    return f"{counts[distance] / max(1, counts[-1]):.3f}"


def print_grid(results: Sequence[Result], sets: Sequence[ReferenceSet]) -> None:
    """One row a recipe, at the distances that find 97 % and 99 % of all reference pairs."""
    names = [references.texts.name for references in sets]
    head = ["recipe", "97 % at", "99 % at", "least draw then", "hard pairs", "false per true", *names, "MB/s"]
    rows = []
    for result in results:
        together = result.together
        at = TEXTBOOK_DISTANCE if result.recipe == TEXTBOOK else together.distance_for(0.99)
        per_set = [result.of_set(number) for number in range(len(sets))]
        first = f"(recall {_share(together.similar, at)})" if result.recipe == TEXTBOOK else together.distance_for(0.97)
        rows.append(
            [
                *(describe(result.recipe), str(first), str(at), f"{result.least(at):.3f}", _share(together.hard, at)),
                f"{together.false_per_true(at):.3f}",
                *(f"{_share(part.similar, at)}, {part.false_per_true(at):.2f}" for part in per_set),
                f"{result.speed:.0f}",
            ]
        )
    print("\nOpen sets; of each set: recall, false pairs per true pair\n")
    print(table(head, rows))


def print_distances(results: Sequence[Result], title: str) -> None:
    """Recall of reference pairs, and of the draw that finds least, and false pairs per true one, distance by distance."""
    for bits, chosen in DISTANCES.items():
        rows = [
            [
                describe(result.recipe),
                *(
                    f"{_share(counts.similar, at)} / {result.least(at):.3f} / {counts.false_per_true(at):.2f}"
                    for counts in [result.together]
                    for at in chosen
                ),
            ]
            for result in results
            if result.recipe.bits == bits
        ]
        print(f"\n{title}, {bits} bits: recall / of the least draw / false per true\n")
        print(table(["recipe", *(f"within {at}" for at in chosen)], rows))


def _record(results: Sequence[Result], sets: Sequence[ReferenceSet]) -> list[dict[str, Any]]:
    return [
        {
            "recipe": result.recipe.as_dict(),
            "megabytes_per_second": rounded(result.speed),
            "draws": len(result.counts),
            "least_recall": [rounded(result.least(at)) for at in range(LONGEST_DISTANCE[result.recipe.bits] + 1)],
            "sets": {
                references.texts.name: result.of_set(number).as_record(result.recipe.bits)
                for number, references in enumerate(sets)
            },
        }
        for result in results
    ]


def main() -> None:
    """Measure, print the tables, write the results."""
    given = arguments(__doc__.splitlines()[0], "recipes")
    folder = data_folder(given.data)
    skipped = [reason for name in OPEN_SETS if (reason := missing(folder, name))]
    present = [name for name in OPEN_SETS if missing(folder, name) is None]
    sets = [reference_set(folder, name) for name in present] if folder else []
    record: dict[str, Any] = {"environment": environment(), "open_sets": [part.texts.as_record() for part in sets]}
    if sets:
        results = compare(grid(given.quick), sets, 1 if given.quick else 3)
        print_grid(results, sets)
        contenders = [result for result in results if result.recipe in CONTENDERS]
        print_distances(contenders, "Open sets")
        record["recipes"] = _record(results, sets)
        record["end_to_end"] = {
            describe(recipe): [end_to_end(recipe, at, sets) for at in DISTANCES[recipe.bits]] for recipe in CHOSEN
        }
        for name, shares in record["end_to_end"].items():
            print(f"\n{name}: reference pairs within the distance and of similarity 0.8 by the package's own measure\n")
            rows = [
                [
                    str(row["distance"]),
                    f"{row['matched']} of {row['reference_pairs']}",
                    f"{row['share']:.3f} ({row['interval_95'][0]:.3f}-{row['interval_95'][1]:.3f})",
                    f"{row['share_mean_of_families']:.3f} of {row['families']}",
                ]
                for row in shares
            ]
            print(table(["within", "pairs", "share", "mean of families"], rows))
    record["other_texts"] = {}
    for references in other_texts(sets, given.quick):
        results = compare(CONTENDERS, [references], 0)
        print_distances(results, references.texts.name)
        record["other_texts"][references.texts.name] = {
            "texts": references.texts.as_record(),
            "recipes": _record(results, [references]),
        }
    record["joins"] = [joins(recipe, given.quick) for recipe in CHOSEN]
    for costs in record["joins"]:
        print(f"\n{costs['recipe']}: seconds of the exact join\n")
        head = [
            "within",
            *(f"{n:,} (planned)" for n in PLANNED),
            f"{costs['rows'][0]['real_fingerprints']:,} (real)",
            "pairs",
        ]
        rows = [
            [
                str(row["distance"]),
                *(f"{seconds:.3g}" for seconds in row["planned_seconds"].values()),
                f"{row['real_seconds']:.3g} (planned {row['real_seconds_planned']:.3g})",
                f"{row['real_pairs']:,}, {row['real_pairs_share']:.1e} of all",
            ]
            for row in costs["rows"]
        ]
        print(table(head, rows))
    for reason in skipped:
        print(f"skipped: {reason}")
    write_json(given.output, record | {"skipped": skipped})


if __name__ == "__main__":
    main()
