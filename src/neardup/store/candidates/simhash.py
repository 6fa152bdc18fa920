"""Candidates by SIMHASH: every pair of fingerprints within the distance."""

import shutil
from pathlib import Path

import numpy as np

from neardup.arrays import Array
from neardup.hamming.index.index import Index
from neardup.hamming.index.store import is_index
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.store.candidates.proposing import Candidates, once
from neardup.store.contents import Contents
from neardup.store.derived import Derived
from neardup.store.marks import Marks
from neardup.store.postings import Found
from neardup.store.texts import Texts

FOLDER = "distances"
"""Of the index, within that of the store."""


class SimHashCandidates(Candidates):
    """All pairs within the distance, by an `Index`."""

    def __init__(self, recipe: Recipe, options: DedupOptions) -> None:
        super().__init__(recipe, options)
        assert self.max_distance is not None  # simhash has one
        self._most = self.max_distance
        self._index, self._upto = Index(max_distance=self._most, bits=64 * recipe.words), 0

    def open(self, contents: Contents, derived: Derived, gone: Marks) -> None:
        super().open(contents, derived, gone)
        if is_index(derived.folder / FOLDER):
            self._index = Index.open(derived.folder / FOLDER)
            self._upto = (self._index.state or {"documents": 0})["documents"]
        for some in self.blocks(self._upto, derived.upto):  # a crash came before it was written
            self.keep(contents.texts(some), some)

    def keep(self, texts: Texts, numbers: Array) -> None:
        wanted = np.flatnonzero(self.long_enough(texts) & (numbers >= self._upto))
        if len(wanted):
            self._index.add(numbers[wanted], np.ascontiguousarray(texts.prints.values[wanted]))
        self._upto = max(self._upto, int(numbers.max(initial=-1)) + 1)

    def spill(self) -> None:
        self._index.state = {"documents": self._upto}
        self._index.save(self.derived.folder / FOLDER)

    def folders(self) -> list[Path]:
        folder = self.derived.folder / FOLDER
        return [folder] if is_index(folder) else []

    def forget(self) -> None:
        for folder in self.folders():
            shutil.rmtree(folder)

    def of_kept(self, texts: Texts) -> Found:
        rows = np.flatnonzero(self.long_enough(texts))
        near = self._index.query_many(np.ascontiguousarray(texts.prints.values[rows]), threads=1)
        listed = [near[i] for i in range(len(rows))]
        places = np.repeat(rows, [len(each) for each in listed])
        numbers = np.array([number for each in listed for number, _ in each], np.int64)
        there = ~self.gone.has(numbers)
        return once(Found(places[there], numbers[there]))

    def among(self, texts: Texts) -> Found:
        rows = np.flatnonzero(self.long_enough(texts))
        values = texts.prints.values[rows]
        left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for i in range(len(rows) - 1):
            distances = np.bitwise_count(values[i + 1 :] ^ values[i]).sum(axis=1, dtype=np.int64)
            near = np.flatnonzero(distances <= self._most)
            left.append(np.full(len(near), rows[i]))
            right.append(rows[i + 1 :][near])
        return Found(np.concatenate(left), np.concatenate(right))
