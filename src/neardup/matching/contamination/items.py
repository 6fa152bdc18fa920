"""The items of benchmarks: read once, equal ones as one, with the forms in which they are looked for, and the index of these."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch
from neardup.kernels.matching.items import ItemIndex
from neardup.matching.contamination.options import LEAST_TOKENS, DecontaminationOptions
from neardup.matching.contamination.readings import is_one_word, readings_of
from neardup.matching.contamination.token_places import texts_in_chunks, token_places
from neardup.recipe.tables.parts import VERSION
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
        forms: of each row: as it stands, then without markup, if it has any.
    """

    ids: Any
    tokens: Array
    forms: list[list["ItemForm"]]


def read_items(batch: Batch, version: int = VERSION) -> ReadItems:
    """Read the items of a batch, in tokens of a version; called on any thread."""
    forms = [[form] for form in _forms(batch.texts, version)]
    tokens = np.array([form.size for [form] in forms], np.int64)
    others = list(readings_of(batch.texts, is_one_word))
    for (row, _), form in zip(
        others, _forms(pa.array([read.text for _, read in others], pa.large_string()), version), strict=True
    ):
        forms[row] += [form] if form.text != forms[row][0].text else []
    if batch.texts.null_count:
        tokens[batch.texts.is_null().to_numpy(zero_copy_only=False)] = -1
    return ReadItems(batch.ids, tokens, forms)


def _forms(texts: Any, version: int) -> Iterator["ItemForm"]:
    for _, folded in texts_in_chunks(texts):
        for i in range(len(folded)):
            known = token_places(folded, i, version)
            yield ItemForm(SEPARATOR.join(known.tokens(0, len(known.starts))), np.unique(known.hashes), version)


@dataclass(frozen=True)
class ItemForm:
    """An item in one of its forms, as documents are compared with it.

    Attributes:
        text: its tokens, with SEPARATOR between them.
        hashes: uint64[n], its distinct shingles, ascending.
        version: of the tokens.
    """

    text: bytes
    hashes: Array
    version: int = VERSION

    @property
    def size(self) -> int:
        """The number of its tokens."""
        return self.text.count(SEPARATOR) + 1 if self.text else 0

    @cached_property
    def tokens(self) -> list[bytes]:
        """Its tokens, as UTF-8."""
        return self.text.split(SEPARATOR)

    @cached_property
    def shingles(self) -> frozenset[tuple[bytes, ...]]:
        """Its distinct shingles."""
        found = windows([token.decode() for token in self.tokens], WORD_SHINGLE, CJK_SHINGLE, self.version)
        return frozenset(tuple(token.encode() for token in window) for window in found)

    @property
    def reach(self) -> int:
        """A matching part of a document has shingles that start within so many consecutive tokens."""
        return 2 * self.size


@dataclass(frozen=True)
class Items:
    """The items of all benchmarks.

    Attributes:
        ids: Arrow array, the id of each row; JSON values, or of any type for items in memory.
        tokens: int64[rows], the tokens of each; -1 for a row that could not be read.
        numbers: int64[rows], the distinct item that each is, or NOT_CHECKED.
        forms: in which items are looked for: first each distinct item as it stands, in order of their first rows (items with the
            same tokens are one), then those that have markup without it.
        form_items: int64[forms], the distinct item of each.
        firsts: int64[distinct], the first row of each.
    """

    ids: Any
    tokens: Array
    numbers: Array
    forms: Sequence[ItemForm]
    form_items: Array
    firsts: Array

    @classmethod
    def of(cls, parts: Iterable[ReadItems], ids: Any, options: DecontaminationOptions) -> "Items":
        """Gather what was read, in the order of the rows; drop what is too short."""
        numbers, tokens, firsts = list[int](), list[int](), list[int]()
        known, distinct, others = dict[bytes, int](), list[ItemForm](), dict[tuple[int, bytes], ItemForm]()
        for part in parts:
            for count, forms in zip(part.tokens.tolist(), part.forms, strict=True):
                number = NOT_CHECKED
                if count >= options.min_tokens:
                    number = known.setdefault(forms[0].text, len(distinct))
                    if number == len(distinct):
                        distinct.append(forms[0])
                        firsts.append(len(tokens))
                    for form in forms[1:]:
                        if form.size >= options.min_tokens:
                            others.setdefault((number, form.text), form)
                tokens.append(count)
                numbers.append(number)
        return cls(
            ids,
            np.array(tokens, np.int64),
            np.array(numbers, np.int64),
            [*distinct, *others.values()],
            np.array([*range(len(distinct)), *(number for number, _ in others)], np.int64),
            np.array(firsts, np.int64),
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """All tokens of all forms."""
        return frozenset(token.decode() for form in self.forms for token in form.text.split(SEPARATOR))

    def index(self, options: DecontaminationOptions) -> ItemIndex:
        """The index of the shingles of all forms."""
        sizes = np.array([len(form.hashes) for form in self.forms], np.int64)
        every = np.concatenate([np.empty(0, np.uint64), *(form.hashes for form in self.forms)])
        order = np.argsort(every, kind="stable")
        hashes, starts = np.unique(every[order], return_index=True)
        bits = max(1, len(hashes).bit_length())
        bounds = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        reaches = np.array([form.reach for form in self.forms], np.int64)
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

    def items_with(self, index: ItemIndex) -> Array:
        """int64[shingles of the index]: how many distinct items have each."""
        counts, items = np.diff(index.starts), max(1, len(self.firsts))
        if len(self.forms) == len(self.firsts):
            return counts
        pairs = np.unique(np.repeat(np.arange(len(counts)), counts) * items + self.form_items[index.items])
        return np.bincount(pairs // items, minlength=len(counts))


def least_shingles(sizes: Array, share: float) -> Array:
    """int64[n]: the fewest of so many shingles (int64[n]) that are at least this share, by division of float64 numbers."""
    least = np.floor(sizes * share).astype(np.int64)
    for _ in range(2):  # the product is rounded, so it may be one off
        least += least / sizes < share
    lower: Array = np.where((least - 1) / sizes >= share, least - 1, least)
    return lower
