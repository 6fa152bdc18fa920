"""The items of benchmarks: read once, equal ones as one, and the index of their shingles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch
from neardup.kernels.matching.items import ItemIndex
from neardup.matching.contamination.options import LEAST_TOKENS, DecontaminationOptions
from neardup.matching.contamination.token_places import texts_in_chunks, token_places
from neardup.recipe.tables.similarities import CJK_SHINGLE, WORD_SHINGLE
from neardup.text.tokenizers import windows

NOT_CHECKED = -1
"""The number of an item that is not checked, where others have the number of their distinct item."""
SEPARATOR = b"\0"
"""Between the tokens of an item; no token holds it."""


class ReadItems(NamedTuple):
    """The items of a batch of rows.

    Attributes:
        ids: Arrow large_string[rows], each a JSON value, or nulls if the corpus keeps the ids.
        tokens: int64[rows]; -1 where the row is no item, because it could not be read.
        texts: the tokens of each row, with SEPARATOR between them.
        shingles: the distinct shingles of each row: uint64[].
    """

    ids: Any
    tokens: Array
    texts: list[bytes]
    shingles: list[Array]


def read_items(batch: Batch) -> ReadItems:
    """Read the items of a batch; called on any thread."""
    counts, texts, shingles = [], list[bytes](), list[Array]()
    for _, folded in texts_in_chunks(batch.texts):
        for i in range(len(folded)):
            known = token_places(folded, i)
            counts.append(len(known.starts))
            texts.append(SEPARATOR.join(known.tokens(0, len(known.starts))))
            shingles.append(np.unique(known.hashes))
    tokens = np.array(counts, np.int64)
    if batch.texts.null_count:
        tokens[batch.texts.is_null().to_numpy(zero_copy_only=False)] = -1
    return ReadItems(batch.ids, tokens, texts, shingles)


@dataclass(frozen=True)
class DistinctItem:
    """An item, as documents are compared with it.

    Attributes:
        text: its tokens, with SEPARATOR between them.
        hashes: uint64[n], its distinct shingles, ascending.
    """

    text: bytes
    hashes: Array

    @cached_property
    def tokens(self) -> list[bytes]:
        """Its tokens, as UTF-8."""
        return self.text.split(SEPARATOR)

    @cached_property
    def shingles(self) -> frozenset[tuple[bytes, ...]]:
        """Its distinct shingles."""
        found = windows([token.decode() for token in self.tokens], WORD_SHINGLE, CJK_SHINGLE)
        return frozenset(tuple(token.encode() for token in window) for window in found)

    @property
    def reach(self) -> int:
        """A matching part of a document has shingles that start within so many consecutive tokens."""
        return 2 * len(self.tokens)


@dataclass(frozen=True)
class Items:
    """The items of all benchmarks.

    Attributes:
        ids: Arrow array, the id of each row; JSON values, or of any type for items in memory.
        tokens: int64[rows], the tokens of each; -1 for a row that could not be read.
        numbers: int64[rows], the distinct item that each is, or NOT_CHECKED.
        distinct: the distinct items, in order of their first rows: items with the same tokens are one.
        firsts: int64[distinct], the first row of each.
    """

    ids: Any
    tokens: Array
    numbers: Array
    distinct: Sequence[DistinctItem]
    firsts: Array

    @classmethod
    def of(cls, parts: Iterable[ReadItems], ids: Any, options: DecontaminationOptions) -> "Items":
        """Gather what was read, in the order of the rows; drop what is too short."""
        numbers, tokens, firsts = list[int](), list[int](), list[int]()
        known, distinct = dict[bytes, int](), list[DistinctItem]()
        for part in parts:
            for count, text, hashes in zip(part.tokens.tolist(), part.texts, part.shingles, strict=True):
                number = NOT_CHECKED
                if count >= options.min_tokens:
                    number = known.setdefault(text, len(distinct))
                    if number == len(distinct):
                        distinct.append(DistinctItem(text, hashes))
                        firsts.append(len(tokens))
                tokens.append(count)
                numbers.append(number)
        return cls(ids, np.array(tokens, np.int64), np.array(numbers, np.int64), distinct, np.array(firsts, np.int64))

    def index(self, options: DecontaminationOptions) -> ItemIndex:
        """The index of the shingles of all distinct items."""
        sizes = np.array([len(item.hashes) for item in self.distinct], np.int64)
        every = np.concatenate([np.empty(0, np.uint64), *(item.hashes for item in self.distinct)])
        order = np.argsort(every, kind="stable")
        hashes, starts = np.unique(every[order], return_index=True)
        bits = max(1, len(hashes).bit_length())
        bounds = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        reaches = np.array([item.reach for item in self.distinct], np.int64)
        return ItemIndex(
            hashes=hashes,
            directory=np.append(np.searchsorted(hashes, bounds), len(hashes)).astype(np.int64),
            shift=64 - bits,
            starts=np.append(starts, len(every)).astype(np.int64),
            items=np.repeat(np.arange(len(sizes)), sizes)[order],
            least=least_shingles(sizes, options.min_share),
            block_shifts=np.ceil(np.log2(np.maximum(reaches, 1))).astype(np.int64),
            least_streak=options.min_run - LEAST_TOKENS + 1,
            word_size=WORD_SHINGLE,
            cjk_size=CJK_SHINGLE,
        )


def least_shingles(sizes: Array, share: float) -> Array:
    """int64[n]: the fewest of so many shingles (int64[n]) that are at least this share, by division of float64 numbers."""
    least = np.floor(sizes * share).astype(np.int64)
    for _ in range(2):  # the product is rounded, so it may be one off
        least += least / sizes < share
    lower: Array = np.where((least - 1) / sizes >= share, least - 1, least)
    return lower
