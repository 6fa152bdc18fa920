"""Which SimHash recipe finds near-duplicates best, and at which distance.

    python benchmarks/recipes.py [--quick] [--data FOLDER] [--output FILE]

A reference pair is two documents of a reference Jaccard of 0.8 or more; a hard one has less than 0.95; a false pair has less
than 0.5. For each recipe: the share of reference pairs within a distance (recall), and the false pairs for each true one. On the
open sets the reference is theirs (word 3-grams, character 5-grams); on other texts, which every machine has or which are the
open sets cut short, it is the package's own similarity.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from corpora import OPEN_SETS, ReferenceSet, Texts, data_folder, missing, python_installation, reference_set
from measure import arguments, environment, rounded, table, wilson, write_json
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.kernels.jaccard import similarities
from neardup.pairs import join, plan
from neardup.recipe import WEIGHTS, Recipe
from neardup.similarities import shingle_sets_of

Array = np.ndarray[Any, np.dtype[Any]]

SIMILAR, HARD, UNLIKE = 0.8, 0.95, 0.5
SHINGLES = ((1, 1), (1, 2), (2, 2), (1, 3), (2, 3))
LONGEST_DISTANCE = {64: 20, 128: 32, 256: 56}
"""Up to which distance the counts are recorded."""
TEXTBOOK = Recipe(word_shingle=3, cjk_shingle=3, weights="tf", bits=64, max_distance=3)
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
TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


@dataclass(frozen=True)
class Counts:
    """Pairs within each distance 0 … bits; the last entry is all of them.

    Attributes:
        similar, hard, unlike: int64[bits + 1].
    """

    similar: Array
    hard: Array
    unlike: Array

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.similar + other.similar, self.hard + other.hard, self.unlike + other.unlike)

    def distance_for(self, recall: float) -> int:
        """The least distance within which that share of the similar pairs is."""
        return int(np.argmax(self.similar >= recall * self.similar[-1]))

    def false_per_true(self, distance: int) -> float:
        return float(self.unlike[distance] / max(1, self.similar[distance]))

    def as_record(self, bits: int) -> dict[str, Any]:
        """The counts up to the distances that may be of use, and how many pairs there are."""
        last = LONGEST_DISTANCE[bits]
        return {
            "similar": self.similar[: last + 1].tolist(),
            "hard": self.hard[: last + 1].tolist(),
            "unlike": self.unlike[: last + 1].tolist(),
            "all_similar": int(self.similar[-1]),
            "all_hard": int(self.hard[-1]),
        }


def distances(values: Array, left: Array, right: Array) -> Array:
    """Hamming distances of pairs of rows of uint64[n, words]."""
    found: Array = np.bitwise_count(values[left] ^ values[right]).sum(axis=1, dtype=np.int64)
    return found


def all_distances(values: Array, bits: int) -> Array:
    """int64[bits + 1]: how many of all pairs of rows are at each distance."""
    counts = np.zeros(bits + 1, np.int64)
    for row in range(len(values) - 1):
        found = np.bitwise_count(values[row] ^ values[row + 1 :]).sum(axis=1, dtype=np.int64)
        counts += np.bincount(found, minlength=bits + 1)
    return counts


def count(values: Array, bits: int, references: ReferenceSet) -> Counts:
    """The pairs of one set within each distance; `references` holds every pair of 0.5 and more."""
    found = distances(values, references.left, references.right)

    def within(chosen: Array) -> Array:
        total: Array = np.bincount(found[chosen], minlength=bits + 1).cumsum()
        return total

    similar = references.jaccard >= SIMILAR
    everything = all_distances(values, bits).cumsum()
    alike = within(np.ones(len(found), np.bool_))
    return Counts(within(similar), within(similar & (references.jaccard < HARD)), everything - alike)


def own_pairs(texts: Texts) -> ReferenceSet:
    """Every pair of texts of at least 0.5 by the package's own similarity."""
    values, offsets = shingle_sets_of(texts.array)
    starts, ends = offsets[:-1], offsets[1:]
    sizes = np.diff(offsets)
    lefts, rights, jaccards = [], [], []
    for row in range(len(texts) - 1):
        others = sizes[row + 1 :]
        possible = np.minimum(others, sizes[row]) >= UNLIKE * np.maximum(others, sizes[row])
        right = row + 1 + np.flatnonzero(possible)
        out = np.empty(len(right))
        similarities(values, starts, ends, np.full(len(right), row, np.int64), right, UNLIKE, out)
        kept = out >= UNLIKE
        lefts.append(np.full(int(kept.sum()), row, np.int64))
        rights.append(right[kept])
        jaccards.append(out[kept])
    return ReferenceSet(texts, np.concatenate(lefts), np.concatenate(rights), np.concatenate(jaccards))


def cut(texts: Texts, tokens: int) -> Texts:
    """Each text up to the end of its token number `tokens`."""

    def head(text: str) -> str:
        for number, token in enumerate(TOKEN.finditer(text), 1):
            if number == tokens:
                return text[: token.end()]
        return text

    return Texts(texts.name, pa.array([head(text) for text in texts.array.to_pylist()], pa.large_string()))


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


def fingerprints_of(recipe: Recipe, texts: Texts, runs: int) -> tuple[Fingerprints, float]:
    """The fingerprints, and the seconds of the fastest run."""
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        found = fingerprint_array(texts.array, recipe)
        seconds.append(time.perf_counter() - began)
    return found, min(seconds)


def compare(recipes: Sequence[Recipe], sets: Sequence[ReferenceSet], runs: int) -> list[dict[str, Any]]:
    """Each recipe on each set, and the sets together."""
    results = []
    for recipe in recipes:
        counts, seconds = [], 0.0
        for references in sets:
            found, took = fingerprints_of(recipe, references.texts, runs)
            counts.append(count(found.values, recipe.bits, references))
            seconds += took
        speed = rounded(sum(references.texts.bytes for references in sets) / 1e6 / seconds)
        together = sum(counts[1:], counts[0])
        results.append({"recipe": recipe, "sets": counts, "together": together, "megabytes_per_second": speed})
    return results


def families(references: ReferenceSet, hit: Array) -> tuple[float, int]:
    """The mean recall of the families, which are the documents connected by similar pairs; and their number.

    Pairs of a family of licences are found or missed together: 190 pairs of 20 documents are not 190 observations.
    """
    similar = references.jaccard >= SIMILAR
    head = np.arange(len(references.texts))
    left, right, found = references.left[similar], references.right[similar], hit[similar]
    while True:
        smaller = np.minimum(head[left], head[right])
        before = head.copy()
        np.minimum.at(head, left, smaller)
        np.minimum.at(head, right, smaller)
        if (head == before).all():
            break
    _, family = np.unique(head[left], return_inverse=True)
    return float((np.bincount(family, weights=found) / np.bincount(family)).mean()), int(family.max()) + 1


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
        found.extend(_joined(f"open sets, first {tokens} tokens", parts) if parts else [])
    return found


def _joined(name: str, parts: Sequence[ReferenceSet]) -> list[ReferenceSet]:
    """One set of several, without pairs between them."""
    starts = np.cumsum([0, *(len(part.texts) for part in parts)])[:-1]
    texts = Texts(name, pa.concat_arrays([part.texts.array for part in parts]))
    left = np.concatenate([part.left + start for part, start in zip(parts, starts, strict=True)])
    right = np.concatenate([part.right + start for part, start in zip(parts, starts, strict=True)])
    return [ReferenceSet(texts, left, right, np.concatenate([part.jaccard for part in parts]))]


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
                    f"{n:.0e}": rounded(plan(n, bits=recipe.bits, max_distance=distance).seconds, 3) for n in PLANNED
                },
                "real_fingerprints": len(values),
                "real_seconds": rounded(seconds, 3),
                "real_seconds_planned": rounded(plan(len(values), bits=recipe.bits, max_distance=distance).seconds, 3),
                "real_pairs": pairs,
                "real_pairs_share": rounded(pairs / possible, 3),
            }
        )
    return {"recipe": describe(recipe), "rows": rows}


def _share(counts: Array, distance: int) -> str:
    return f"{counts[distance] / max(1, counts[-1]):.3f}"


def _interval(counts: Array, distance: int) -> str:
    low, high = wilson(int(counts[distance]), int(counts[-1]))
    return f"{counts[distance] / max(1, counts[-1]):.3f} ({low:.3f}-{high:.3f})"


def print_grid(results: Sequence[dict[str, Any]], sets: Sequence[ReferenceSet]) -> None:
    """One row a recipe, at the distances that find 97 % and 99 % of all reference pairs."""
    names = [references.texts.name for references in sets]
    head = ["recipe", "97 % at", "99 % at", "hard pairs then", "false per true", *names, "MB/s"]
    rows = []
    for result in results:
        recipe, together = result["recipe"], result["together"]
        at = int(recipe.max_distance or 0) if recipe is TEXTBOOK else together.distance_for(0.99)
        per_set = [f"{_share(part.similar, at)}, {part.false_per_true(at):.2f}" for part in result["sets"]]
        first = f"recall {_share(together.similar, at)}" if recipe is TEXTBOOK else str(together.distance_for(0.97))
        row = [describe(recipe), first, str(at), _interval(together.hard, at), f"{together.false_per_true(at):.3f}"]
        rows.append([*row, *per_set, f"{result['megabytes_per_second']:.0f}"])
    print("\nOpen sets; of each set: recall, false pairs per true pair\n")
    print(table(head, rows))


def print_distances(results: Sequence[dict[str, Any]], title: str) -> None:
    """Recall of reference pairs, of hard ones, and false pairs per true one, distance by distance."""
    for bits, chosen in DISTANCES.items():
        rows = [
            [
                describe(result["recipe"]),
                *(
                    f"{_share(counts.similar, at)} / {_share(counts.hard, at)} / {counts.false_per_true(at):.2f}"
                    for counts in [result["together"]]
                    for at in chosen
                ),
            ]
            for result in results
            if result["recipe"].bits == bits
        ]
        print(f"\n{title}, {bits} bits: recall / of hard pairs / false per true\n")
        print(table(["recipe", *(f"within {at}" for at in chosen)], rows))


def _record(results: Sequence[dict[str, Any]], sets: Sequence[ReferenceSet]) -> list[dict[str, Any]]:
    return [
        {
            "recipe": result["recipe"].as_dict(),
            "megabytes_per_second": result["megabytes_per_second"],
            "sets": {
                references.texts.name: counts.as_record(result["recipe"].bits)
                for references, counts in zip(sets, result["sets"], strict=True)
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
        contenders = [result for result in results if result["recipe"] in CONTENDERS]
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
        results = compare(CONTENDERS, [references], 1)
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
