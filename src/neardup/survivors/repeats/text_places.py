"""PLACES IN TEXTS: which characters of a text, as it was given, make some of its tokens."""

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array, Bools
from neardup.errors import OptionError
from neardup.kernels.repeats.places import DROPPED, PLAIN, SPACES, Clusters, find_all_characters, find_characters
from neardup.kernels.text.normalization import (
    CLASS_SHIFT,
    DELETED,
    ITSELF,
    KIND_SHIFT,
    ONE,
    SEVERAL,
    SPACE,
    TWO_BITS,
    VALUE_MASK,
)
from neardup.survivors.repeats.token_stream import TokenStream
from neardup.text.normal_forms import may_be_mark
from neardup.text.normalizers import FoldedTexts, fold_texts, utf8_buffers
from neardup.text.segmenters.tokens import Tokens, words_of
from neardup.text.unicode_tables import entries_of, fold_tables

_BESIDE = "1"
"""Stands on both sides of what is normalized by itself, so that spaces at its ends stay."""
_RUN = re.compile(r"\s+|\w+|[^\w\s]")


class TokenPlaces(NamedTuple):
    """Where the tokens of a piece of a text are: the first and the last character of each, int64[tokens] each."""

    firsts: Array
    lasts: Array


class PiecePlaces(NamedTuple):
    """Where the tokens of some pieces of texts are: the first and the last character of each, int64[tokens] each, and the first
    token of each piece, int64[pieces + 1].
    """

    firsts: Array
    lasts: Array
    tokens: Array

    def of(self, piece: int) -> TokenPlaces:
        """Those of a piece."""
        some = slice(self.tokens[piece], self.tokens[piece + 1])
        return TokenPlaces(self.firsts[some], self.lasts[some])

    def narrowed(self, runs: Array) -> Array:
        """Runs of tokens (int64[n, 2]) without those at their ends that share a character with one outside, as the tokens of U+FDFA
        do; without those of which nothing is left.
        """
        shares = np.zeros(len(self.firsts) + 1, np.bool_)  # a character with the token before
        shares[1:-1] = self.lasts[:-1] >= self.firsts[1:]
        shares[self.tokens] = False
        if shares[runs].any():
            places = np.arange(len(shares))
            after = np.minimum.accumulate(np.where(shares, len(shares), places)[::-1])[::-1]
            before = np.maximum.accumulate(np.where(shares, 0, places))
            runs = np.column_stack([after[runs[:, 0]], before[runs[:, 1]]])
        found: Array = runs[runs[:, 0] < runs[:, 1]]
        return found

    def characters(self, runs: Array) -> Array:
        """int64[n, 2]: the characters of runs of tokens (int64[n, 2]), none of which is empty: the first, and the end."""
        return np.column_stack([self.firsts[runs[:, 0]], self.lasts[runs[:, 1] - 1] + 1])


def places_in_pieces(pieces: Any, stream: TokenStream) -> PiecePlaces:
    """Where the tokens of each of some pieces of texts are: an Arrow `large_string` array without nulls.

    Raises:
        OptionError: the tokens of a segmenter do not stand in the text one after another.
    """
    folded = stream.folded(pieces)
    tokens = words_of(folded, stream.recipe.version) if stream.similarity.is_plain else stream.tokens(pieces)
    documents, begins = tokens.documents[: len(pieces) + 1].copy(), folded.offsets[:-1]
    starts, ends = tokens.starts, tokens.ends
    if tokens.data is not folded.data:
        starts, ends = _places_in(tokens, folded, stream)
    del tokens  # as large as the texts, or several times so
    if not stream.folds_alone:
        for d, begin in enumerate(begins.tolist()):
            some = slice(documents[d], documents[d + 1])
            wanted = starts[some] - begin, ends[some] - begin
            starts[some], ends[some] = _by_atoms(pieces[d].as_py(), *wanted, folded[d].encode(), stream)
        return PiecePlaces(starts, ends, documents)
    del folded
    content, offsets = utf8_buffers(pieces)
    data = np.append(content[offsets[0] : offsets[-1]], np.zeros(8, np.uint8))
    offsets, waiting = offsets - offsets[0], np.empty(len(pieces), np.bool_)
    kinds, tables = _ascii_kinds(), fold_tables()
    find_all_characters(
        data, offsets, begins, starts, ends, documents, _NO_CLUSTERS, kinds, _makes_marks(), waiting, tables
    )
    for d in np.flatnonzero(waiting).tolist():
        some, begin, end = slice(documents[d], documents[d + 1]), int(offsets[d]), int(offsets[d + 1])
        clusters = _clusters(pieces[d].as_py(), begin)
        find_characters(data, begin, end, int(begins[d]), starts[some], ends[some], clusters, kinds, tables)
    return PiecePlaces(starts, ends, documents)


_NO_CLUSTERS = Clusters(*(np.full(1, value, np.int64) for value in (-1, -1, 0, 0, 0)))


def _clusters(text: str, begin: int) -> Clusters:
    """The characters of a text that have marks, or become some, each with the marks that follow it. The text has them, and begins
    at byte `begin`.
    """
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    marked = _makes_marks()[codes]
    edges = _characters(text)
    some = np.flatnonzero(np.logical_or.reduceat(marked, edges[:-1]))
    firsts, ends = edges[some], edges[some + 1]
    data = np.frombuffer(text.encode(), np.uint8)
    in_bytes = begin + np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
    found = [text[a:b] for a, b in zip(firsts.tolist(), ends.tolist(), strict=True)]
    distinct = {each: i for i, each in enumerate(dict.fromkeys(found))}
    made = fold_texts(pa.array([_BESIDE + each for each in distinct], pa.large_string()))
    sizes = (np.diff(made.offsets) - 1)[[distinct[each] for each in found]]
    spaces = np.array([made[i][1:2] == " " for i in range(len(distinct))])[[distinct[each] for each in found]]
    columns = (in_bytes[firsts], in_bytes[ends], ends - firsts, sizes, spaces.astype(np.int64))
    return Clusters(*(np.append(column, last) for column, last in zip(columns, (-1, -1, 0, 0, 0), strict=True)))


@cache
def _entries() -> Array:
    """uint32[0x110000]: the folding of each character."""
    tables = fold_tables()
    return entries_of(tables.fold_index, tables.fold_blocks, np.arange(0x110000))


@cache
def _follows() -> Bools:
    """bool[0x110000]: marks, and the characters that folding deletes: they may stand between a character and its marks."""
    found: Bools = may_be_mark() | (_entries() >> KIND_SHIFT & TWO_BITS == DELETED)
    return found


@cache
def _makes_marks() -> Bools:
    """bool[0x110000]: the characters in whose folded form there are marks."""
    tables, found, entries = fold_tables(), may_be_mark().copy(), _entries()
    for code in np.flatnonzero(entries >> KIND_SHIFT & TWO_BITS == SEVERAL).tolist():
        which = int(entries[code] & VALUE_MASK)
        made = tables.expansions[tables.expansion_starts[which] : tables.expansion_starts[which + 1]]
        found[code] |= bool(may_be_mark()[made].any())
    return found


UNSURE, BLANK, WORDS, APART, ALONE = range(5)
"""What a character is beside another, where texts are folded: one whose neighbor may change it, white space, part of a word,
between words, a token by itself.
"""
_SURE = (
    (0x00, 0x80), (0xC0, 0x250), (0x370, 0x530), (0x3001, 0x3012), (0x3041, 0x3097), (0x30A1, 0x30FB), (0x3400, 0x4DC0),
    (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xFF01, 0xFF5F),
)  # fmt: skip
"""Scripts of characters that no neighbor but a mark changes."""


_NO_BLANK_FROM = 0x3001
"""No character from here on is white space."""


@cache
def _border_kinds() -> Array:
    """uint8[0x10000]: the kind of each character, where texts are folded, and nothing else is done to them."""
    found = np.full(0x10000, UNSURE, np.uint8)
    for first, end in _SURE:
        codes, entries = np.arange(first, end), _entries()[first:end]
        how = entries >> KIND_SHIFT & TWO_BITS
        folded = np.where(how == ITSELF, codes, entries & VALUE_MASK)
        of_class = np.array([APART, WORDS, ALONE, UNSURE], np.uint8)[_entries()[folded] >> CLASS_SHIFT & TWO_BITS]
        is_sure = ((how == ITSELF) | (how == ONE)) & ~_makes_marks()[first:end] & (folded != SPACE)
        found[first:end] = np.where(is_sure, of_class, UNSURE)
    found[[code for code in range(_NO_BLANK_FROM) if chr(code).isspace()]] = BLANK
    return found


def border_kinds(codes: Array) -> Array:
    """uint8[n]: the kind of each of some characters (uint32[n])."""
    found: Array = _border_kinds()[np.minimum(codes, 0xFFFF)]  # which is no character, and unsure
    return found


@cache
def _ascii_kinds() -> Array:
    """uint8[128]: what becomes of each ASCII character, for `find_characters`."""
    made = fold_texts(pa.array([_BESIDE + chr(code) + _BESIDE for code in range(128)], pa.large_string()))
    kinds = np.where(np.diff(made.offsets) == 2, DROPPED, PLAIN).astype(np.uint8)
    kinds[[code for code in range(128) if made[code][1:-1] == " "]] = SPACES
    return kinds


def _places_in(tokens: Tokens, folded: FoldedTexts, stream: TokenStream) -> tuple[Array, Array]:
    """Where tokens begin and end in folded texts, which a segmenter had copies of: int64[n] each.

    Raises:
        OptionError: they do not stand in the text one after another.
    """
    starts = np.empty(len(tokens.starts), np.int64)
    for d in range(len(folded)):
        text, at = folded[d].encode(), 0
        for i in range(tokens.documents[d], tokens.documents[d + 1]):
            token = tokens.data[tokens.starts[i] : tokens.ends[i]].tobytes()
            at = text.find(token, at)
            if at < 0:
                raise OptionError(
                    f"`similarity` with `segmenter={stream.similarity.segmenter!r}`: its tokens do not stand in the text one "
                    f"after another ({token.decode()!r}), so they cannot be cut out. Give a segmenter, or a mode of it, whose "
                    "tokens do."
                )
            starts[i] = folded.offsets[d] + at
            at += len(token)
    return starts, starts + tokens.ends - tokens.starts


def _by_atoms(text: str, starts: Array, ends: Array, wanted: bytes, stream: TokenStream) -> tuple[Array, Array]:
    """`find_characters` for any normalizers, which make `wanted` of the text: it is cut into atoms that are normalized alone, the
    smallest that make the same together.
    """
    for edges in (_characters(text), _runs(text), np.array([0, len(text)])):
        atoms = [text[a:b] for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        sizes = _sizes(atoms, wanted, stream)
        if sizes is not None:
            break
    else:
        sizes = np.array([len(wanted)])
    stops = np.cumsum(sizes)
    of_starts, of_ends = np.searchsorted(stops, starts, "right"), np.searchsorted(stops, ends)
    return edges[of_starts], edges[of_ends + 1] - 1


def _characters(text: str) -> Array:
    """int64[n + 1]: where characters begin, each with the marks that follow it, and what is invisible; and the end."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    begins = ~_follows()[codes]
    begins[:1] = True
    return np.append(np.flatnonzero(begins), len(text))


def _runs(text: str) -> Array:
    """int64[n + 1]: where words, single other characters, and runs of spaces begin; and the end."""
    return np.array([*(found.start() for found in _RUN.finditer(text)), len(text)], np.int64)


def _sizes(atoms: list[str], wanted: bytes, stream: TokenStream) -> Array | None:
    """int64[n]: how many bytes of the normalized text each atom makes; None if that is not what they make one after another."""
    distinct = list(dict.fromkeys(atoms))
    number = {atom: i for i, atom in enumerate(distinct)}
    made = stream.folded(pa.array([f"{_BESIDE}{atom}{_BESIDE}" for atom in distinct], pa.large_string()))
    parts = [made.data[a + 1 : b - 1].tobytes() for a, b in zip(made.offsets[:-1], made.offsets[1:], strict=True)]
    sizes, after_space, whole = np.zeros(len(atoms), np.int64), True, list[bytes]()
    for i, atom in enumerate(atoms):
        part = parts[number[atom]]
        if after_space and stream.folds_spaces:
            part = part.lstrip(b" ")
        after_space = part.endswith(b" ") if part else after_space
        sizes[i] = len(part)
        whole.append(part)
    found = b"".join(whole)
    return sizes if (found.rstrip(b" ") if stream.folds_spaces else found) == wanted else None
