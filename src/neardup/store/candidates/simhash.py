"""Candidates by SIMHASH: every pair of fingerprints within the distance."""

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, NeardupError
from neardup.hamming.index.files.folder import MANIFEST, is_index
from neardup.hamming.index.index import Index
from neardup.hamming.near import row_distances
from neardup.io.outputs.growing_file import to_disk
from neardup.matching.text_features import Texts
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.store.candidates.proposing import Candidates, Plan, once
from neardup.store.formats.contents import Contents
from neardup.store.formats.derived import Derived
from neardup.store.formats.removal_bits import Marks
from neardup.store.formats.segments import Found

FOLDER = "distances"
"""Of the index, within that of the store."""


REPAIR = "The store makes it of its other files: repair the store."


def saved_index(folder: Path, store: str, generation: int) -> Index:
    """The index of the store with this identity, compacted so often; a DataError if it is damaged, or of another."""
    try:
        found = Index.open(folder / FOLDER)
    except DataError as problem:
        raise DataError(f"{problem} {REPAIR}") from None
    told = found.state if isinstance(found.state, dict) else {}
    if (told.get("store"), told.get("generation")) != (store, generation) or "documents" not in told:
        raise DataError(f"{folder / FOLDER} is not the index of this store. {REPAIR}")
    return found


class SimHashCandidates(Candidates):
    """All pairs within the distance, by an `Index`."""

    in_derived = False

    def __init__(self, recipe: Recipe, options: DedupOptions, plan: Plan) -> None:
        super().__init__(recipe, options, plan)
        assert self.max_distance is not None  # simhash has one
        self._most = self.max_distance
        self._index, self._upto = Index(max_distance=self._most, bits=64 * recipe.words), 0

    def open(self, contents: Contents, derived: Derived, gone: Marks, threads: int) -> None:
        super().open(contents, derived, gone, threads)
        if is_index(derived.folder / FOLDER):
            self._index = saved_index(derived.folder, contents.store, contents.generation)
            assert self._index.state is not None
            self._upto = self._index.state["documents"]
        for some in self.blocks(self._upto, derived.upto):  # a crash came before it was written
            self.keep(contents.texts(some), some)

    def keep(self, texts: Texts, numbers: Array) -> None:
        wanted = np.flatnonzero(self.long_enough(texts) & (numbers >= self._upto))
        if len(wanted):
            self._index.add(numbers[wanted], np.ascontiguousarray(texts.prints.values[wanted]))
        self._upto = max(self._upto, int(numbers.max(initial=-1)) + 1)

    def spill(self) -> None:
        own = {"store": self.contents.store, "generation": self.contents.generation}
        self._index.state = {"documents": self._upto, **own}
        self._index.save(self.derived.folder / FOLDER)

    def folders(self) -> list[Path]:
        folder = self.derived.folder / FOLDER
        return [folder] if is_index(folder) else []

    @property
    def is_behind(self) -> bool:
        return self.derived.upto > 0 and not self.folders()

    @classmethod
    def damage_in(cls, folder: Path, facts: Mapping[str, Any]) -> list[str]:
        if not is_index(folder / FOLDER):
            return []  # a kill during a compaction leaves none; until the next writer has closed the store, memory answers
        try:
            damaged = saved_index(folder, facts["store"], facts["generation"]).info(verify=True).damaged
        except NeardupError as problem:
            return [str(problem)]
        return [f"{FOLDER}/{name} is damaged: it is made of the other files." for name in damaged or ()]

    def damaged(self) -> list[str]:
        return [f"{FOLDER}/{name}" for name in self._index.info(verify=True).damaged or ()]

    @classmethod
    def copied(cls, folder: Path, facts: Mapping[str, Any]) -> None:
        with contextlib.suppress(NeardupError, OSError):
            state = saved_index(folder, facts["store"], facts["generation"]).state
            if state is not None and state["documents"] <= facts["documents"]:
                return
        shutil.rmtree(
            folder / FOLDER, ignore_errors=True
        )  # a writer has changed it: memory answers until it is made again

    @classmethod
    def forget(cls, folder: Path) -> None:
        if (folder / FOLDER).is_dir():
            (folder / FOLDER / MANIFEST).unlink(missing_ok=True)  # first: without it, what a crash leaves is no index
            to_disk(folder / FOLDER)
            shutil.rmtree(folder / FOLDER)

    def found_by_keys(self, texts: Texts) -> Found:
        rows = np.flatnonzero(self.long_enough(texts))
        try:
            near = self._index.query_many(np.ascontiguousarray(texts.prints.values[rows]), threads=1)
        except DataError as problem:
            raise DataError(f"{problem} {REPAIR}") from None
        listed = [near[i] for i in range(len(rows))]
        places = np.repeat(rows, [len(each) for each in listed])
        numbers = np.array([number for each in listed for number, _ in each], np.int64)
        there = ~self.gone.has(numbers)
        there &= numbers < len(self.contents)  # a writer may have saved others already
        return once(Found(places[there], numbers[there]))

    def proposed(self, texts: Texts, pairs: Found) -> Found:
        prints = self.contents.fingerprints(self.contents.rows(pairs.found))
        near = row_distances(texts.prints.values[pairs.asked], prints) <= self._most
        return Found(pairs.asked[near], pairs.found[near])

    def proposed_among(self, texts: Texts, pairs: Found) -> Found:
        values = texts.prints.values
        near = row_distances(values[pairs.asked], values[pairs.found]) <= self._most
        return Found(pairs.asked[near], pairs.found[near])

    def among_by_keys(self, texts: Texts) -> Found:
        rows = np.flatnonzero(self.long_enough(texts))
        values = texts.prints.values[rows]
        left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for i in range(len(rows) - 1):
            distances = row_distances(values[i + 1 :], values[i])
            near = np.flatnonzero(distances <= self._most)
            left.append(np.full(len(near), rows[i]))
            right.append(rows[i + 1 :][near])
        return Found(np.concatenate(left), np.concatenate(right))
