"""TOKENIZE: the tokens of many texts, as joined buffers."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.chosen_bytes import PLACES_BEHIND
from neardup.kernels.fingerprints.features import find_words, hash_spans, split_joined
from neardup.kernels.text.segmenters import find_between_spaces, find_characters, find_words_plainly, not_listed
from neardup.kernels.text.tokens import WORD, most_tokens
from neardup.recipe.tables.parts import VERSION
from neardup.text.normalizers import FoldedTexts
from neardup.text.unicode_tables import fold_tables

SPARE = 66
"""Bytes after the last token that kernels may read."""


class Tokens(NamedTuple):
    """The tokens of n texts, one after another.

    Attributes:
        data: uint8[], with SPARE more bytes after the last token.
        starts, ends: int64[t]; token i is data[starts[i]:ends[i]], UTF-8.
        kinds: uint8[t], WORD or CJK (`neardup.kernels.text.tokens`): decides how many tokens a window that starts here has.
        documents: int64[n + 1]; text d has the tokens from documents[d] to documents[d + 1].
    """

    data: Array
    starts: Array
    ends: Array
    kinds: Array
    documents: Array

    def text(self, token: int) -> str:
        """A token, as a string."""
        return self.data[self.starts[token] : self.ends[token]].tobytes().decode()

    def hashes(self) -> Array:
        """uint64[t]: XXH3-64 of each token, as in `neardup.kernels.text.tokens.tokenize`."""
        found = np.empty(len(self.starts), np.uint64)
        hash_spans(self.data, self.starts, self.ends, found)
        return found

    def only(self, keep: Array) -> "Tokens":
        """The tokens where `keep` (bool[t]) is true."""
        documents = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep, dtype=np.int64)])[self.documents]
        return Tokens(self.data, self.starts[keep], self.ends[keep], self.kinds[keep], documents)

    def not_among(self, table: Array) -> "Tokens":
        """The tokens whose hashes are not in a table made by `neardup.kernels.text.segmenters.list_hashes`."""
        keep = np.empty(len(self.starts), np.bool_)
        not_listed(self.hashes(), table, keep)
        return self.only(keep)


def hashes_of_texts(folded: FoldedTexts) -> Array:
    """uint64[n]: the hash of each text, as of one token."""
    found = np.empty(len(folded), np.uint64)
    hash_spans(folded.data, folded.offsets[:-1].copy(), folded.offsets[1:].copy(), found)
    return found


def words_of(folded: FoldedTexts, version: int = VERSION) -> Tokens:
    """Maximal runs of letters, marks and numbers, after NFKC case folding; each Han or Kana character is a token, and by `version`
    others.
    """
    n = len(folded)
    longest = most_tokens(int(np.diff(folded.offsets).max(initial=0)))
    most = most_tokens(int(folded.offsets[-1])) + n + PLACES_BEHIND + longest
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    kinds, documents = np.empty(most, np.uint8), np.zeros(n + 1, np.int64)
    find_words(folded.data, folded.offsets, starts, ends, kinds, documents, fold_tables(version))
    t = documents[-1]
    return Tokens(folded.data, starts[:t], ends[:t], kinds[:t], documents)


def words_of_any(folded: FoldedTexts, version: int = VERSION) -> Tokens:
    """Like `words_of`, for texts that may lack NFKC case folding."""
    most = int(folded.offsets[-1]) // 2 + len(folded)
    starts, ends, kinds = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.uint8)
    documents = np.zeros(len(folded) + 1, np.int64)
    find_words_plainly(folded.data, folded.offsets, starts, ends, kinds, documents, fold_tables(version))
    t = int(documents[-1])
    return Tokens(folded.data, starts[:t], ends[:t], kinds[:t], documents)


def characters_of(folded: FoldedTexts, version: int = VERSION) -> Tokens:
    """Each letter, mark or number is a token. All count as words, so `word_shingle` sets the size of windows."""
    most = int(folded.offsets[-1])
    starts, ends, documents = np.empty(most, np.int64), np.empty(most, np.int64), np.zeros(len(folded) + 1, np.int64)
    find_characters(folded.data, folded.offsets, starts, ends, documents, fold_tables(version))
    return _plain_words(folded.data, starts, ends, documents)


def between_spaces_of(folded: FoldedTexts, version: int = VERSION) -> Tokens:
    """Runs between white space that hold a letter, mark or number. All count as words: `word_shingle` sets the size of windows."""
    most = int(folded.offsets[-1]) // 2 + len(folded)
    starts, ends, documents = np.empty(most, np.int64), np.empty(most, np.int64), np.zeros(len(folded) + 1, np.int64)
    find_between_spaces(folded.data, folded.offsets, starts, ends, documents, fold_tables(version))
    return _plain_words(folded.data, starts, ends, documents)


def _plain_words(data: Array, starts: Array, ends: Array, documents: Array) -> Tokens:
    t = int(documents[-1])
    return Tokens(data, starts[:t], ends[:t], np.full(t, WORD, np.uint8), documents)


def from_joined(joined: bytes, counts: Array, version: int = VERSION) -> Tokens:
    """Tokens from their texts joined by zero bytes, one text after another; text d has counts[d] of them.

    Tokens without a letter, mark or number (punctuation, spaces) are left out. All count as words, so `word_shingle` sets the
    size of windows.
    """
    data = np.frombuffer(joined + bytes(SPARE), np.uint8)
    total = int(counts.sum())
    starts, ends, documents = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(len(counts) + 1, np.int64)
    split_joined(data, counts, starts, ends, documents, fold_tables(version))
    return _plain_words(data, starts, ends, documents)
