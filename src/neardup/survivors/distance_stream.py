"""Decide documents one after another by the distance of fingerprints alone, as `neardup filter --index` does."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.fingerprints.simhash import Fingerprints
from neardup.hamming.index.answers import Neighbors
from neardup.hamming.index.files.folder import is_index
from neardup.hamming.index.ids import take
from neardup.hamming.index.index import Index
from neardup.kernels.survivors.in_order import keep_in_order
from neardup.recipe.kinds import ElementRecipe
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.safe_distances import distance_alone
from neardup.recipe.serialization import check_same

DOCUMENTS_PER_BLOCK = 1 << 10
"""Documents decided in one block; the answers do not depend on it."""


class DistanceDecisions(NamedTuple):
    """What is decided of documents in order.

    Attributes:
        distances: int64[n], to the kept document that each duplicates; 0 for short texts, which are equal; -1 for a new document.
        matched: the ids of those kept documents; None for a new document.
    """

    distances: Array
    matched: list[Any]


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

    def add_fingerprints(self, labels: Any, prints: Fingerprints) -> DistanceDecisions:
        """Decide documents in order, and store those that are new.

        Args:
            labels: the ids, as `as_ids` returns them.
            prints: the fingerprints of the texts.
        """
        distances, matched = np.empty(len(prints.values), np.int64), list[Any]()
        for first in range(0, len(prints.values), DOCUMENTS_PER_BLOCK):
            rows = slice(first, first + DOCUMENTS_PER_BLOCK)
            part = Fingerprints(prints.values[rows], prints.digests[rows], prints.tokens[rows])
            found = self._decide(labels[rows], part)
            distances[rows] = found.distances
            matched += found.matched
        return DistanceDecisions(distances, matched)

    def _decide(self, labels: Any, prints: Fingerprints) -> DistanceDecisions:
        decided = DistanceDecisions(np.full(len(labels), -1, np.int64), [None] * len(labels))
        short = prints.tokens < self.recipe.min_tokens
        rows = np.flatnonzero(~short)
        if len(rows):
            values = prints.values[rows]
            known = self.index.query_many(values, self.max_distance, nearest=True, threads=1)
            found = self._keep(values, known)
            _note(decided, labels, rows, known, found)
            if len(found.kept):
                self.index.add(take(labels, rows[found.kept]), values[found.kept])
        rows = np.flatnonzero(short)
        if len(rows):
            digests = prints.digests[rows]
            known = self.index.find_short(digests, nearest=True)
            found = _keep_unequal(digests, known)
            _note(decided, labels, rows, known, found)
            if len(found.kept):
                self.index.add_short(take(labels, rows[found.kept]), digests[found.kept])
        return decided

    def _keep(self, values: Array, known: Neighbors) -> "_Found":
        """Decide documents by their fingerprints."""
        has = _have_neighbors(known)
        distances = np.full(len(values), self.max_distance + 1, np.int64)
        distances[has] = known.distances[known.offsets[:-1][has]]
        nearest, kept = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
        n = keep_in_order(values, self.max_distance, distances, nearest, kept)
        return _Found(kept[:n], nearest, distances)

    def save(self) -> None:
        """Save the index in its folder."""
        self.index.save(self._home if self.is_new else None)
        self.is_new = False


def _new_index(recipe: Recipe, max_distance: int | None) -> Index:
    distance = distance_alone(recipe) if max_distance is None else max_distance
    if distance is None:
        raise OptionError("This recipe has no distance of its own. Give `max_distance`.")
    return Index(max_distance=distance, bits=64 * recipe.words, recipe=recipe)


class _Found(NamedTuple):
    """What is found of n documents.

    Attributes:
        kept: int64[k], those that are new, in order.
        nearest: int64[n], the one among them that each duplicates; -1 if it is new, or duplicates one that was known.
        distances: int64[n], to what each duplicates.
    """

    kept: Array
    nearest: Array
    distances: Array


def _keep_unequal(digests: Array, known: Neighbors) -> _Found:
    """Decide short documents by their digests, uint64[n, 2]."""
    _, firsts, group = np.unique(digests, axis=0, return_index=True, return_inverse=True)
    equal, has = firsts[group.ravel()], _have_neighbors(known)  # `equal`: for each, the first that equals it
    is_first = equal == np.arange(len(digests))
    return _Found(
        np.flatnonzero(~has & is_first), np.where(has | is_first, -1, equal), np.zeros(len(digests), np.int64)
    )


def _note(decided: DistanceDecisions, labels: Any, rows: Array, known: Neighbors, found: _Found) -> None:
    """Put what is found of some rows (int64[n]), and of those known before, with the decisions of all; `labels`: the ids of all."""
    here = np.flatnonzero(found.nearest >= 0)
    before = np.flatnonzero(_have_neighbors(known) & (found.nearest < 0))
    for places, ids in (
        (here, take(labels, rows[found.nearest[here]])),
        (before, take(known.ids, known.offsets[before])),
    ):
        decided.distances[rows[places]] = found.distances[places]
        matched = ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()
        for row, each in zip(rows[places].tolist(), matched, strict=True):
            decided.matched[row] = each


def _have_neighbors(known: Neighbors) -> Array:
    """bool[q]: which queries have a neighbor."""
    return np.diff(known.offsets) > 0
