"""Up to which Hamming distance are documents similar that are called duplicates by it alone? On the open sets.

    python benchmarks/safe_distances.py [--quick] [--data FOLDER] [--output FILE]

`neardup filter --index` removes a document if a kept one is near, and compares no texts. For each recipe and distance: how many
documents it removes, and how many of them have a Jaccard similarity of shingles to the kept document below 0.8, and below 0.5.
Safe is the largest distance up to which at least 99 of 100 removals reach 0.8 in each set; null where even equal fingerprints do
not. Beside it stands how many of the documents that `dedup` removes at 0.8 the distance removes, too.

Each set is taken as it is given, reversed, and in an order by chance. Pairs of one family of documents are removed or not by the
luck of the hash function. So recipes of the package's own features are drawn several times: the words of their 512-bit fingerprint
are eight draws of 64 bits, four of 128, two of 256. Those of other tools have one draw.
"""

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import measure
import neardup as nd
from corpora import OPEN_SETS, Texts, data_folder, missing, open_texts
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.recipe.recipe import Recipe
from neardup.recipe.safe_distances import MEASURED
from neardup.survivors.distance_stream import DistanceStream

SIMILAR, UNLIKE, SHARE = 0.8, 0.5, 0.99
DRAWN_BITS = 512
DRAWN = ("default", "default-64", "all-scripts", "all-scripts-64", "unmarked", "default-256", "textbook")
FURTHEST = {"default-256": 32, "default-512": 48}
"""Distances to try, of recipes that have none of their own."""
QUICK_DOCUMENTS, QUICK_RECIPES = 150, ("default", "default-64")

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Corpus:
    """A set, what its documents are to one another, and what `dedup` removes of it."""

    texts: Texts
    similarities: dict[tuple[int, int], float] = field(default_factory=dict)

    @cached_property
    def strings(self) -> list[str]:
        """The texts."""
        found: list[str] = self.texts.array.to_pylist()
        return found

    @cached_property
    def orders(self) -> list[Array]:
        """Permutations of the rows."""
        rows = np.arange(len(self.texts))
        by_chance = random.Random(1).sample(rows.tolist(), len(rows))
        return [rows, rows[::-1].copy(), np.array(by_chance)]

    @cached_property
    def removed(self) -> list[set[int]]:
        """In each order, the rows that `dedup` removes."""
        return [
            {
                int(rows[place])
                for place in nd.deduplicate([self.strings[row] for row in rows], method="exact", min_similarity=SIMILAR)
                .duplicates["row"]
                .to_pylist()
            }
            for rows in self.orders
        ]

    def similarity(self, left: int, right: int) -> float:
        """Of two documents."""
        pair = (min(left, right), max(left, right))
        if pair not in self.similarities:
            self.similarities[pair] = nd.similarity(*(self.strings[row] for row in pair))
        return self.similarities[pair]


@dataclass
class Counts:
    """Of one recipe, set and distance, over all draws and orders."""

    removed: int = 0
    equal: int = 0
    dissimilar: int = 0
    unlike: int = 0
    duplicates: int = 0
    found: int = 0

    @property
    def is_safe(self) -> bool:
        """Whether enough of what is removed is similar to what is kept."""
        return self.dissimilar <= (1 - SHARE) * self.removed


def draws(name: str, array: Any) -> Iterator[tuple[Recipe, Fingerprints]]:
    """The fingerprints of a set by a recipe, and those that it might have had as well."""
    recipe = replace(MEASURED[name], max_distance=None)
    if name not in DRAWN:
        yield recipe, fingerprint_array(array, recipe)
        return
    wide = fingerprint_array(array, replace(recipe, bits=DRAWN_BITS))
    for first in range(0, DRAWN_BITS // 64, recipe.words):
        values = np.ascontiguousarray(wide.values[:, first : first + recipe.words])
        yield recipe, Fingerprints(values, wide.digests, wide.tokens)


def count(corpus: Corpus, name: str, distances: range) -> list[Counts]:
    """One recipe on one set, at each of the distances."""
    found = [Counts() for _ in distances]
    for recipe, prints in draws(name, corpus.texts.array):
        for rows, removed in zip(corpus.orders, corpus.removed, strict=True):
            ordered = Fingerprints(prints.values[rows], prints.digests[rows], prints.tokens[rows])
            for distance, counts in zip(distances, found, strict=True):
                with tempfile.TemporaryDirectory() as folder:  # nothing is written there
                    stream = DistanceStream(Path(folder), recipe=recipe, max_distance=distance)
                    matches = stream.add_fingerprints(rows, ordered)
                counts.duplicates += len(removed)
                for row, match in zip(rows.tolist(), matches.matched, strict=True):
                    if match is not None:
                        alike = corpus.similarity(row, match)
                        counts.removed += 1
                        counts.equal += bool((prints.digests[row] == prints.digests[match]).all())
                        counts.dissimilar += alike < SIMILAR
                        counts.unlike += alike < UNLIKE
                        counts.found += row in removed
    return found


def measured(corpora: list[Corpus], name: str) -> dict[str, Any]:
    """One recipe on all sets, at the distances up to its own."""
    recipe = MEASURED[name]
    last = FURTHEST.get(name, recipe.max_distance)
    assert last is not None
    counts = [count(corpus, name, range(last + 1)) for corpus in corpora]
    safe = [all(each.is_safe for each in at) for at in zip(*counts, strict=True)]
    largest = (safe.index(False) if False in safe else len(safe)) - 1
    return {
        "bits": recipe.bits,
        "draws": DRAWN_BITS // (64 * recipe.words) if name in DRAWN else 1,
        "safe": largest if largest >= 0 else None,
        "sets": {
            corpus.texts.name: {key: [getattr(each, key) for each in one] for key in vars(one[0])}
            for corpus, one in zip(corpora, counts, strict=True)
        },
    }


def main() -> None:
    """Measure, print, write the results."""
    given = measure.arguments(__doc__ or "", "safe_distances")
    data = data_folder(given.data)
    names = QUICK_RECIPES if given.quick else MEASURED
    record: dict[str, Any] = {
        "environment": measure.environment(),
        "similar": SIMILAR,
        "unlike": UNLIKE,
        "share": SHARE,
        "skipped": [reason for name in OPEN_SETS if (reason := missing(data, name))],
        "recipes": {},
    }
    corpora = []
    for name in OPEN_SETS:
        if data is not None and missing(data, name) is None:
            texts = open_texts(data, name)
            corpora.append(Corpus(Texts(name, texts.array[:QUICK_DOCUMENTS]) if given.quick else texts))
    record["sets"] = {corpus.texts.name: corpus.texts.as_record() for corpus in corpora}
    for name in names if corpora else ():
        one = record["recipes"][name] = measured(corpora, name)
        print(f"{name}, {one['bits']} bits: {one['safe']}", flush=True)
    for reason in record["skipped"]:
        print(f"skipped: {reason}")
    measure.write_json(given.output if corpora else None, record)


if __name__ == "__main__":
    main()
