"""How many pairs of documents lie within each Hamming distance: similar ones, hard ones, unlike ones.

A reference pair is two documents of a reference Jaccard of 0.8 or more; a hard one has less than 0.95; an unlike one less than 0.5.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from corpora import ReferenceSet, Texts
from neardup.kernels.matching.jaccard import similarities
from neardup.matching.similarities.table import shingle_sets_of

Array = np.ndarray[Any, np.dtype[Any]]

SIMILAR, HARD, UNLIKE = 0.8, 0.95, 0.5
LONGEST_DISTANCE = {64: 20, 128: 32, 256: 56}
"""Up to which distance the counts are recorded."""
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

    @property
    def pairs(self) -> int:
        return int(self.similar[-1])

    def distance_for(self, recall: float) -> int:
        """The least distance within which that share of the similar pairs is."""
        return int(np.argmax(self.similar >= recall * self.similar[-1]))

    def false_per_true(self, distance: int) -> float:
        return float(self.unlike[distance] / max(1, self.similar[distance]))

    def as_record(self, bits: int) -> dict[str, Any]:
        """The counts up to the distances that may be of use, and how many pairs there are, summed over the draws."""
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


def total(counts: Sequence[Counts]) -> Counts:
    """Sets together, or draws together; recalls of it are means."""
    return sum(counts[1:], counts[0])


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


def families(references: ReferenceSet, hit: Array) -> tuple[float, int]:
    """The mean recall of the families, which are the documents connected by similar pairs; and their number.

    Pairs of a family of licenses are found or missed together: 190 pairs of 20 documents are not 190 observations.
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


def join_sets(name: str, parts: Sequence[ReferenceSet]) -> list[ReferenceSet]:
    """One set of several, without pairs between them."""
    starts = np.cumsum([0, *(len(part.texts) for part in parts)])[:-1]
    texts = Texts(name, pa.concat_arrays([part.texts.array for part in parts]))
    left = np.concatenate([part.left + start for part, start in zip(parts, starts, strict=True)])
    right = np.concatenate([part.right + start for part, start in zip(parts, starts, strict=True)])
    return [ReferenceSet(texts, left, right, np.concatenate([part.jaccard for part in parts]))]
