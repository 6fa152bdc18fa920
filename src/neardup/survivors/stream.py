"""Streaming de-duplication: decide documents one after another, each new or near a kept one."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array, join_fingerprints
from neardup.hamming.index.answers import Neighbors
from neardup.hamming.index.ids import as_ids, take
from neardup.hamming.index.index import Index
from neardup.hamming.index.store import home_of, is_index
from neardup.recipe.element_recipe import ElementRecipe
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.presets import RecipeLike, recipe_of, usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.resources.threads import in_order, thread_count
from neardup.text.columns import as_text_arrays, in_chunks

TOGETHER = 1 << 10
"""Documents decided in one block; the answers do not depend on it."""


class Kept(Protocol):
    """Stores the kept documents: an `Index`, or a store that is durable or forgets with time."""

    max_distance: int
    state: dict[str, Any] | None

    has_strings: bool | None

    @property
    def recipe(self) -> FingerprintRecipe | None:
        """The recipe of its fingerprints."""

    def query_many(
        self, fingerprints: Array, max_distance: int | None = None, *, nearest: bool = False, threads: int | None = None
    ) -> Neighbors:
        """The nearest stored document for each query; of equally near ones, the one added first."""

    def find_short(self, digests: Array, *, nearest: bool = False) -> Neighbors:
        """The first stored short text that equals each query."""

    def add(self, ids: Any, fingerprints: Array) -> None:
        """Store documents."""

    def add_short(self, ids: Any, digests: Array) -> None:
        """Store short texts."""

    def save(self, path: str | Path | None = None, *, overwrite: bool = False) -> None:
        """Make the stored documents and `state` durable. After a crash, both are there or neither is."""


@dataclass(frozen=True, slots=True)
class Match:
    """The kept document that a new document duplicates.

    Attributes:
        id: the id of the kept document.
        distance: the Hamming distance between the two; 0 for short texts, which are equal.
    """

    id: Any
    distance: int


class Stream:
    """Keeps a document when no kept document is within the distance.

    Otherwise the document is a duplicate of the nearest kept one; of equally near ones, the first.
    A text with fewer tokens than the recipe's `min_tokens` is a duplicate only of a text that equals it after normalization.

    Attributes:
        index: stores the kept documents.
        recipe: makes the fingerprints.
        max_distance: the largest distance at which documents are duplicates.
        is_new: true until the index has been saved to disk.

    >>> stream = Stream(recipe=Recipe(bits=64, max_distance=3))
    >>> stream.add("a", "All the bells of the town rang at noon on Sunday, as ever.")
    >>> stream.add("b", "ALL the bells of the town rang at noon on Sunday, as ever!")
    Match(id='a', distance=0)
    """

    def __init__(
        self,
        index: Index | Kept | str | Path | None = None,
        *,
        recipe: RecipeLike | None = None,
        max_distance: int | None = None,
    ) -> None:
        """Open a stream over an index.

        Args:
            index: an index, or the folder of one. If the folder does not exist, `save` creates it. None keeps the index in memory.
            recipe: the index's recipe: a recipe, a name or a path. A new index uses `Recipe()` by default.
            max_distance: at most the index's own. A new index uses the recipe's by default.

        Raises:
            RecipeMismatch: the index has another recipe.
            OptionError: no distance is known, it is larger than the index's, or neither the index nor the call has a recipe.
            InputError, DataError: see `Index.open`.
        """
        self._new_home: Path | None = None
        recipe = None if recipe is None else recipe_of(recipe)
        found: Kept
        if index is None or (isinstance(index, str | Path) and not is_index(home_of(index))):
            found = self._new(recipe_of(recipe), max_distance)
            self._new_home = None if index is None else home_of(index)
        else:
            found = Index.open(index) if isinstance(index, str | Path) else index
        made_by = found.recipe
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
            if isinstance(found, Index):
                found.take_files(recipe)
        self.index, self.recipe = found, recipe or made_by or Recipe()
        self.max_distance = found.max_distance if max_distance is None else max_distance
        if not 0 <= self.max_distance <= found.max_distance:
            raise OptionError(
                f"`max_distance={max_distance}`: the index was made for {found.max_distance}. Give at most that, or make another."
            )

    @property
    def is_new(self) -> bool:
        """See the class."""
        return self._new_home is not None

    @staticmethod
    def _new(recipe: Recipe, max_distance: int | None) -> Index:
        distance = usual_distance(recipe) if max_distance is None else max_distance
        if distance is None:
            raise OptionError("This recipe has no distance of its own. Give `max_distance`.")
        return Index(max_distance=distance, bits=64 * recipe.words, recipe=recipe)

    def add(self, id: int | str, text: str) -> Match | None:  # noqa: A002
        """Decide one document. Returns None if it is new, and stores it; otherwise returns the kept document that it duplicates."""
        return self.add_many([id], [text])[0]

    def add_many(self, ids: Any, texts: Any, *, threads: int | None = None) -> list[Match | None]:
        """Decide documents in order, with the same answers as calling `add` for each.

        Args:
            ids: integers or strings, as in `Index.add`.
            texts: strings, as a list or an Arrow array.
            threads: all processors by default. The result does not depend on it.
        """
        labels = as_ids(ids)
        work = partial(fingerprint_array, recipe=self.recipe)
        chunks = (chunk for array in as_text_arrays(texts) for chunk in in_chunks(array))
        prints = join_fingerprints(list(in_order(work, chunks, thread_count(threads))), self.recipe)
        if len(labels) != len(prints.values):
            raise OptionError(f"{len(labels)} ids for {len(prints.values)} texts: give one each.")
        return self.add_fingerprints(labels, prints)

    def add_fingerprints(self, labels: Any, prints: Fingerprints) -> list[Match | None]:
        """Like `add_many`, for texts whose fingerprints are already made."""
        found: list[Match | None] = []
        for first in range(0, len(prints.values), TOGETHER):
            rows = slice(first, first + TOGETHER)
            part = Fingerprints(prints.values[rows], prints.digests[rows], prints.tokens[rows])
            found += self._decide(labels[rows], part)
        return found

    def _decide(self, labels: Any, prints: Fingerprints) -> list[Match | None]:
        found: list[Match | None] = [None] * len(labels)
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
        self, rows: Array, names: list[Any], values: Array, known: Neighbors, found: list[Match | None]
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
                    best = Match(names[kept[place]], distance)
            if best is None:
                new[len(kept)] = values[row]
                kept.append(row)
            found[row] = best
        return kept

    @staticmethod
    def _walk_short(
        rows: Array, names: list[Any], digests: Array, known: Neighbors, found: list[Match | None]
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
                found[row] = Match(names[first], 0)
        return kept

    def save(self, path: str | Path | None = None) -> None:
        """Save the index in place, or to `path`; see `Index.save`."""
        self.index.save(self._new_home if path is None else path)
        if path is None:
            self._new_home = None


def _first_of_each(known: Neighbors) -> list[Match | None]:
    """The nearest match of each query."""
    found: list[Match | None] = []
    for i in range(len(known)):
        near = known[i]
        found.append(Match(*near[0]) if near else None)
    return found
