"""Decide documents one after another by the distance of fingerprints alone, as `neardup filter --index` does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.fingerprints.simhash import Fingerprints
from neardup.hamming.index.answers import Neighbors
from neardup.hamming.index.ids import take
from neardup.hamming.index.index import Index
from neardup.hamming.index.store import is_index
from neardup.recipe.element_recipe import ElementRecipe
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.safe_distances import distance_alone
from neardup.recipe.serialization import check_same

TOGETHER = 1 << 10
"""Documents decided in one block; the answers do not depend on it."""


@dataclass(frozen=True, slots=True)
class DistanceMatch:
    """The kept document that a new document duplicates.

    Attributes:
        id: the id of the kept document.
        distance: the Hamming distance between the two; 0 for short texts, which are equal.
    """

    id: Any
    distance: int


class DistanceStream:
    """Keeps a document when no kept document is within the distance.

    Otherwise the document is a duplicate of the nearest kept one; of equally near ones, the first.
    A text with fewer tokens than the recipe's `min_tokens` is a duplicate only of a text that equals it after normalization.

    Attributes:
        index: stores the kept documents.
        recipe: makes the fingerprints.
        max_distance: the largest distance at which documents are duplicates.
        is_new: true until the index has been saved.
    """

    def __init__(self, home: Path, *, recipe: RecipeLike | None = None, max_distance: int | None = None) -> None:
        """Open the index in a folder; if there is none, `save` creates it.

        Args:
            home: the folder.
            recipe: the index's recipe: a recipe, a name or a path. A new index uses `Recipe()` by default.
            max_distance: at most the index's own. A new index uses `distance_alone` of its recipe by default.

        Raises:
            RecipeMismatch: the index has another recipe.
            OptionError: no distance is known, it is larger than the index's, or neither the index nor the call has a recipe.
            InputError, DataError: see `Index.open`.
        """
        self._home, self.is_new = home, not is_index(home)
        recipe = None if recipe is None else recipe_of(recipe)
        self.index = _new_index(recipe_of(recipe), max_distance) if self.is_new else Index.open(home)
        made_by = self.index.recipe
        if made_by is not None and not isinstance(made_by, Recipe):
            raise OptionError(
                f"This index holds fingerprints of {made_by.as_dict()['kind']}, not of texts. Name another."
            )
        if isinstance(made_by, ElementRecipe):
            raise OptionError("This index holds fingerprints of given sets or lists, not of texts. Name another.")
        if made_by is None and recipe is None:
            raise OptionError("This index does not know the recipe of its fingerprints. Give `recipe`.")
        if made_by is not None and recipe is not None:
            check_same(recipe, made_by, "The index")
            self.index.take_files(recipe)
        self.recipe = recipe or made_by or Recipe()
        self.max_distance = self.index.max_distance if max_distance is None else max_distance
        if not 0 <= self.max_distance <= self.index.max_distance:
            raise OptionError(
                f"`max_distance={max_distance}`: the index was made for {self.index.max_distance}. Give at most that, or make "
                "another."
            )

    def add_fingerprints(self, labels: Any, prints: Fingerprints) -> list[DistanceMatch | None]:
        """Decide documents in order: None for each that is new, and is stored; otherwise the kept document that it duplicates.

        Args:
            labels: the ids, as `as_ids` returns them.
            prints: the fingerprints of the texts.
        """
        found: list[DistanceMatch | None] = []
        for first in range(0, len(prints.values), TOGETHER):
            rows = slice(first, first + TOGETHER)
            part = Fingerprints(prints.values[rows], prints.digests[rows], prints.tokens[rows])
            found += self._decide(labels[rows], part)
        return found

    def _decide(self, labels: Any, prints: Fingerprints) -> list[DistanceMatch | None]:
        found: list[DistanceMatch | None] = [None] * len(labels)
        short = prints.tokens < self.recipe.min_tokens
        names = labels.tolist() if isinstance(labels, np.ndarray) else labels.to_pylist()
        rows = np.flatnonzero(~short)
        if len(rows):
            known = self.index.query_many(prints.values[rows], self.max_distance, nearest=True, threads=1)
            new = self._walk(rows, names, prints.values, known, found)
            if new:
                self.index.add(take(labels, np.array(new)), prints.values[new])
        rows = np.flatnonzero(short)
        if len(rows):
            new = self._walk_short(
                rows, names, prints.digests, self.index.find_short(prints.digests[rows], nearest=True), found
            )
            if new:
                self.index.add_short(take(labels, np.array(new)), prints.digests[new])
        return found

    def _walk(
        self, rows: Array, names: list[Any], values: Array, known: Neighbors, found: list[DistanceMatch | None]
    ) -> list[int]:
        """Fill `found` for the rows, and return the rows that are kept."""
        near = _first_of_each(known)
        kept: list[int] = []
        new = np.empty((len(rows), values.shape[1]), np.uint64)
        for i, row in enumerate(rows.tolist()):
            best = near[i]
            if kept and (best is None or best.distance):
                distances = np.bitwise_count(new[: len(kept)] ^ values[row]).sum(axis=1, dtype=np.int64)
                place = int(distances.argmin())
                distance = int(distances[place])
                if distance <= self.max_distance and (best is None or distance < best.distance):
                    best = DistanceMatch(names[kept[place]], distance)
            if best is None:
                new[len(kept)] = values[row]
                kept.append(row)
            found[row] = best
        return kept

    @staticmethod
    def _walk_short(
        rows: Array, names: list[Any], digests: Array, known: Neighbors, found: list[DistanceMatch | None]
    ) -> list[int]:
        near, kept = _first_of_each(known), []
        seen: dict[bytes, int] = {}
        for i, row in enumerate(rows.tolist()):
            if near[i] is not None:
                found[row] = near[i]
                continue
            first = seen.setdefault(digests[row].tobytes(), row)
            if first == row:
                kept.append(row)
            else:
                found[row] = DistanceMatch(names[first], 0)
        return kept

    def save(self) -> None:
        """Save the index in its folder."""
        self.index.save(self._home if self.is_new else None)
        self.is_new = False


def _new_index(recipe: Recipe, max_distance: int | None) -> Index:
    distance = distance_alone(recipe) if max_distance is None else max_distance
    if distance is None:
        raise OptionError("This recipe has no distance of its own. Give `max_distance`.")
    return Index(max_distance=distance, bits=64 * recipe.words, recipe=recipe)


def _first_of_each(known: Neighbors) -> list[DistanceMatch | None]:
    """The nearest match of each query."""
    found: list[DistanceMatch | None] = []
    for i in range(len(known)):
        near = known[i]
        found.append(DistanceMatch(*near[0]) if near else None)
    return found
