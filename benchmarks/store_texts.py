"""The documents of the benchmarks of stores: pieces of sources, short random ones, and what a store is asked about.

Short documents are words of a vocabulary in which the word of rank r is drawn in proportion to 1 / (r + 3), about 200 bytes each.
One in twenty is equal to an earlier one, one in ten differs from an earlier one in its last word.
"""

import functools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from corpora import python_installation
from neardup.arrays import Array

VOCABULARY, LEAST_WORDS, MOST_WORDS = 50_000, 26, 34
EQUAL, NEAR = 0.05, 0.1
AT_ONCE = 1 << 14
"""Short documents that are made together; near copies are of documents in the same part."""
KINDS = {"pieces": 3000, "short": 200}
"""Characters of the pieces of sources, by kind."""


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Texts to ask a store about, none of which it has been given but copies.

    Attributes:
        new: texts of the same kind, most of which are like no other.
        near: kept texts with a word more.
        copies: kept texts.
    """

    new: list[str]
    near: list[str]
    copies: list[str]

    def by_kind(self) -> dict[str, list[str]]:
        """The same, by name."""
        return {"new": self.new, "near copies": self.near, "copies": self.copies}


def questions(kept: list[str], unseen: list[str]) -> Questions:
    """As many questions of each kind as there are unseen texts."""
    chance = random.Random(1)
    near = [f"{chance.choice(kept).rstrip()} {chance.choice(('therefore', 'besides', 'however'))}" for _ in unseen]
    return Questions(new=unseen, near=near, copies=[chance.choice(kept) for _ in unseen])


def sources(kind: str, count: int) -> list[str]:
    """So many pieces of the sources of Python and its packages, or all that there are; see `corpora.python_installation`."""
    size = KINDS[kind]
    texts: list[str] = python_installation(count * size * 9 // 8, piece=size).array.to_pylist()
    return texts[:count]


@functools.cache
def vocabulary() -> tuple[list[str], Array]:
    """Random words, and the shares of all up to each of them, the frequent ones first."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    lengths = np.random.default_rng(7).integers(2, 11, VOCABULARY)
    words = ["".join(np.random.default_rng(i).choice(letters, length)) for i, length in enumerate(lengths.tolist())]
    shares = np.cumsum(1 / (np.arange(VOCABULARY) + 3))
    return words, shares / shares[-1]


def short_documents(count: int, seed: int = 0) -> Iterator[list[str]]:
    """Short random documents, some thousand at a time; the first ones are the same, however many."""
    chance = np.random.default_rng(seed)
    words, shares = vocabulary()
    for first in range(0, count, AT_ONCE):
        sizes = chance.integers(LEAST_WORDS, MOST_WORDS + 1, AT_ONCE)
        drawn = np.searchsorted(shares, chance.random(int(sizes.sum()))).tolist()
        kinds, others = chance.random(AT_ONCE).tolist(), chance.random(AT_ONCE).tolist()
        texts: list[str] = []
        at = 0
        for row, size in enumerate(sizes.tolist()):
            if row and kinds[row] < EQUAL + NEAR:
                text = texts[int(others[row] * row)]
                if kinds[row] < NEAR:
                    text = f"{text.rpartition(' ')[0]} {words[drawn[at]]}"
            else:
                text = " ".join([words[i] for i in drawn[at : at + size]])
            at += size
            texts.append(text)
        yield texts[: count - first]
