"""POSTINGS: which texts have a key, as sorted runs that are merged by size, so that a posting moves only a few times."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array

GROWTH = 4
"""A run is merged with the one before it unless that is so many times as long."""


class Keys(NamedTuple):
    """Keys of some texts, text after text.

    Attributes:
        keys: uint64[k].
        texts: int64[k], a place or a number for each.
        positions: uint32[k], how many elements of the text come before the one that is the key.
        sizes: uint32[k], how many elements the text has.
    """

    keys: Array
    texts: Array
    positions: Array
    sizes: Array

    def some(self, chosen: Array) -> "Keys":
        """Some of the keys: int64[m] or bool[k]."""
        return Keys(*(column[chosen] for column in self))

    def of(self, wanted: Array) -> "Keys":
        """The keys of some texts (bool[n], by place)."""
        return self.some(wanted[self.texts])

    def named(self, numbers: Array) -> "Keys":
        """The same with numbers (int64[n]) for places."""
        return self._replace(texts=numbers[self.texts])

    def sorted(self) -> "Keys":
        """The same in ascending order of keys."""
        return self.some(np.argsort(self.keys, kind="stable"))


def joined_keys(parts: list[Keys]) -> Keys:
    """All keys of some parts."""
    columns = zip(*[no_keys(), *parts], strict=True)
    return Keys(*map(np.concatenate, columns))


def no_keys() -> Keys:
    """No keys."""
    return Keys(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint32), np.empty(0, np.uint32))


class Postings:
    """The keys of texts, in memory."""

    def __init__(self) -> None:
        self._runs: list[Keys] = []

    def __len__(self) -> int:
        return sum(len(run.keys) for run in self._runs)

    def add(self, keys: Keys) -> None:
        """Add keys of texts."""
        if not len(keys.keys):
            return
        self._runs.append(keys.sorted())
        while len(self._runs) > 1 and len(self._runs[-2].keys) < GROWTH * len(self._runs[-1].keys):
            self._runs[-2:] = [joined_keys(self._runs[-2:]).sorted()]

    def find(self, keys: Array) -> tuple[Array, Keys]:
        """All pairs of a place in `keys` (uint64[n]) and a posting with that key: int64[p], and p postings."""
        places, found = [np.empty(0, np.int64)], []
        for run in self._runs:
            begins, ends = np.searchsorted(run.keys, keys, "left"), np.searchsorted(run.keys, keys, "right")
            lengths = ends - begins
            total = int(lengths.sum())
            if total:
                before = np.cumsum(lengths) - lengths
                places.append(np.repeat(np.arange(len(keys)), lengths))
                found.append(run.some(np.arange(total) - np.repeat(before - begins, lengths)))
        return np.concatenate(places), joined_keys(found)
