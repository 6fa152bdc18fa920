"""The tokens of normalized texts, with their places and shingles; items and documents are read as these."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.fingerprints.workspace import Workspace
from neardup.kernels.chosen_bytes import PLACES_BEHIND
from neardup.kernels.fingerprints.features import find_words
from neardup.kernels.fingerprints.shingles import shingle
from neardup.kernels.matching.elements import TokenMemory
from neardup.kernels.text.tokens import CJK, most_tokens, tokenize
from neardup.matching.similarities.table import token_memory
from neardup.recipe.tables.parts import VERSION
from neardup.recipe.tables.similarities import CJK_SHINGLE, WORD_SHINGLE
from neardup.text.columns import in_chunks
from neardup.text.normalizers import FoldedTexts, fold_texts
from neardup.text.unicode_tables import fold_tables


@dataclass(frozen=True, slots=True)
class Memory:
    """A thread's working memory for one text: for its tokens, and uint64[] for its shingles."""

    tokens: TokenMemory
    shingles: Array


WORKSPACE = Workspace(lambda longest, _: Memory(token_memory(longest), np.empty(most_tokens(longest), np.uint64)))
"""Each thread's normalized texts, and the memory for one of them."""


def memory_for(folded: FoldedTexts) -> Memory:
    """This thread's working memory for the longest of some texts."""
    return WORKSPACE.scratch(int(np.diff(folded.offsets).max(initial=0)), 0)


@dataclass(frozen=True, slots=True)
class TokenPlaces:
    """The tokens of a normalized text, and its shingles: those of the tokens of a version, without any that would run past the end.

    Attributes:
        data: uint8[], the text, and others around it.
        begin: where it begins.
        starts, ends: int64[tokens], where each token is.
        sizes: int64[tokens], the tokens of the shingle that starts there.
        hashes: uint64[shingles].
        places: int64[shingles], the token at which each starts.
    """

    data: Array
    begin: int
    starts: Array
    ends: Array
    sizes: Array
    hashes: Array
    places: Array

    def tokens(self, first: int, end: int) -> list[bytes]:
        """Some of the tokens, as UTF-8."""
        begin = int(self.starts[first]) if first < end else 0
        text = self.data[begin : int(self.ends[end - 1]) if first < end else 0].tobytes()
        spans = zip(self.starts[first:end].tolist(), self.ends[first:end].tolist(), strict=True)
        return [text[start - begin : stop - begin] for start, stop in spans]

    def characters_before(self, token: int) -> int:
        """Characters of the normalized text before a token; before its end, if there are no more tokens."""
        if not len(self.starts):
            return 0
        end = int(self.starts[token] if token < len(self.starts) else self.ends[-1])
        return len(self.data[self.begin : end].tobytes().decode())


def token_places(folded: FoldedTexts, document: int, version: int = VERSION) -> TokenPlaces:
    """The tokens of one of some normalized texts; valid until the texts are."""
    first, last = int(folded.offsets[document]), int(folded.offsets[document + 1])
    memory = memory_for(folded)
    known = memory.tokens.tokens
    n = tokenize(folded.data, first, last, known, fold_tables(version))
    m = shingle(known, n, WORD_SHINGLE, CJK_SHINGLE, memory.shingles)
    starts, ends = _spans(folded, document, version)
    sizes = np.where(known.kinds[:n] == CJK, CJK_SHINGLE, WORD_SHINGLE)
    places = np.flatnonzero(np.arange(n) + sizes <= n)
    return TokenPlaces(
        folded.data,
        first,
        starts,
        ends,
        sizes,
        memory.shingles[: min(m, len(places))].copy(),  # a text that is too short for a shingle would be one
        places,
    )


def _spans(folded: FoldedTexts, document: int, version: int) -> tuple[Array, Array]:
    """Where the tokens of one of some normalized texts begin and end: int64[n] each."""
    offsets = folded.offsets[document : document + 2]
    room = 2 * most_tokens(int(offsets[1] - offsets[0])) + PLACES_BEHIND
    starts, ends, documents = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(2, np.int64)
    find_words(folded.data, offsets, starts, ends, np.empty(room, np.uint8), documents, fold_tables(version))
    n = int(documents[1])
    return starts[:n].copy(), ends[:n].copy()


def token_count(text: str, version: int = VERSION) -> int:
    """The number of tokens of one text; leaves the memory of normalized texts alone."""
    folded = fold_texts(pa.array([text], pa.large_string()))
    known = memory_for(folded).tokens.tokens
    found: int = tokenize(folded.data, 0, int(folded.offsets[1]), known, fold_tables(version))
    return found


def texts_in_chunks(texts: Any) -> Iterator[tuple[int, FoldedTexts]]:
    """The normalized texts of an Arrow `large_string` array, in chunks, each with its first text; each valid until the next."""
    first = 0
    for chunk in in_chunks(texts):
        yield first, WORKSPACE.fold(chunk)
        first += len(chunk)
