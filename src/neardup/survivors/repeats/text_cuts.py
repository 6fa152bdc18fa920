"""CUT TEXTS: what is removed from texts, in whole characters; what separates the rest; and how many tokens are left."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array, Bools
from neardup.kernels.repeats.places import find_bytes
from neardup.survivors.repeats.options import Align
from neardup.survivors.repeats.text_places import (
    BLANK,
    UNSURE,
    WORDS,
    PiecePlaces,
    border_kinds,
)
from neardup.survivors.repeats.token_stream import TokenStream
from neardup.text.normalizers import character_counts, utf8_buffers
from neardup.text.units import find

SPACE = " "
"""What is put between two tokens that would run together."""
NEAR = 64
"""Characters on both sides of a cut that are looked at to see whether tokens run together there."""
MOST_BYTES = 4
"""Of a character."""


class Span(NamedTuple):
    """A part of a text that is removed: characters from `first` to `end`, and whether a space is put there instead."""

    first: int
    end: int
    is_separated: bool


@dataclass(frozen=True, slots=True)
class CutTexts:
    """Pieces of texts without what is cut.

    Attributes:
        spans: int64[s, 4], what is removed: the piece, the first character and the end, and whether a space is put there.
        runs: int64[r, 2], the runs of tokens that are removed: first and end.
        left: int64[pieces], how many tokens the rest of each has.
    """

    spans: Array
    runs: Array
    left: Array


def cut_texts(pieces: Any, places: PiecePlaces, runs: Array, stream: TokenStream, align: Align | None) -> CutTexts:
    """Remove runs of tokens (int64[n, 2], first and end of each, ascending; none touches another) from pieces of texts, an Arrow
    `large_string` array, whose tokens are at `places`.

    With `align`, only lines or paragraphs all of whose tokens are in runs go, as `without_units` removes them. Else, the
    characters of each run go, and nothing besides; where two tokens would run together, a space is put.
    """
    runs = places.narrowed(runs)
    texts = _Characters(pieces)
    of = np.searchsorted(places.tokens, runs[:, 0], "right") - 1
    characters = np.column_stack([of, places.characters(runs)])
    if align is None:
        spans = np.column_stack([characters, _are_separated(texts, characters, stream)])
    else:
        spans = _of_units(texts, characters, stream, align)
        runs, of = _runs_in(spans, places), spans[:, 0]
    left = np.diff(places.tokens)
    np.subtract.at(left, of, runs[:, 1] - runs[:, 0])
    return CutTexts(spans, runs, left)


def _runs_in(spans: Array, places: PiecePlaces) -> Array:
    """int64[n, 2]: the runs of tokens that lie in spans."""
    found = np.empty((len(spans), 2), np.int64)
    for number, (piece, *characters, _) in enumerate(spans.tolist()):
        found[number] = places.tokens[piece] + np.searchsorted(places.of(piece).firsts, characters)
    return found


def without_spans(text: str, spans: Sequence[Span]) -> str:
    """A text without some parts of it."""
    parts, at = [], 0
    for first, end, is_separated in spans:
        parts.append(text[at:first])
        if is_separated:
            parts.append(SPACE)
        at = end
    return "".join([*parts, text[at:]])


class _Characters:
    """The characters of some pieces of texts.

    Attributes:
        data, offsets: uint8[], and int64[n + 1]: the bytes of the pieces, and where each begins.
        counts: int64[n], how many characters each piece has.
    """

    def __init__(self, pieces: Any) -> None:
        data, offsets = utf8_buffers(pieces)
        self.data, self.offsets = data[offsets[0] : offsets[-1]], offsets - offsets[0]
        self.counts = character_counts(pieces)
        self._firsts = np.cumsum(self.counts) - self.counts
        self._is_ascii = int(self.counts.sum()) == len(self.data)

    def in_bytes(self, pieces: Array, characters: Array) -> Array:
        """int64[m]: where characters of pieces (int64[m] each) begin in `data`; the one behind the last ends there."""
        at: Array = self._firsts[pieces] + characters
        if self._is_ascii:
            return at
        wanted, which = np.unique(at, return_inverse=True)
        found = np.empty(len(wanted), np.int64)
        find_bytes(self.data, wanted, found)
        return found[which]

    def codes(self, pieces: Array, characters: Array) -> Array:
        """uint32[m]: the code points of some characters of pieces (int64[m] each)."""
        begins = self.in_bytes(pieces, characters)
        found = self.data[begins].astype(np.uint32)
        sizes = 1 + (found >= 0xC0) + (found >= 0xE0) + (found >= 0xF0)
        found &= np.array([0, 0x7F, 0x1F, 0x0F, 0x07], np.uint32)[sizes]
        for more in range(1, 4):
            here = np.flatnonzero(sizes > more)
            found[here] = found[here] << 6 | self.data[begins[here] + more] & 0x3F
        return found

    def before(self, begin: int, end: int) -> str:
        """The last characters of some bytes, at most NEAR."""
        return self.data[max(begin, end - MOST_BYTES * (NEAR + 1)) : end].tobytes().decode(errors="ignore")[-NEAR:]

    def behind(self, begin: int, end: int) -> str:
        """The first characters of some bytes, at most NEAR."""
        return self.data[begin : min(end, begin + MOST_BYTES * NEAR)].tobytes().decode(errors="ignore")[:NEAR]

    def whole(self, piece: int) -> str:
        """A piece."""
        return self.data[self.offsets[piece] : self.offsets[piece + 1]].tobytes().decode()

    def units(self, piece: int, unit: Align) -> tuple[list[int], list[int]]:
        """Where the units of a piece begin and end, in characters."""
        data = self.data[self.offsets[piece] : self.offsets[piece + 1]]
        units = find(data, np.array([0, len(data)]), unit)
        places, which = np.unique(np.concatenate([[0], units.starts, units.ends]), return_inverse=True)
        is_first = (data & 0xC0) != 0x80
        sizes = [np.count_nonzero(is_first[a:b]) for a, b in pairwise(places.tolist())]
        found = np.append(0, np.cumsum(sizes, dtype=np.int64))[which[1:]]
        return found[: len(units)].tolist(), found[len(units) :].tolist()


def _are_separated(texts: _Characters, spans: Array, stream: TokenStream) -> Bools:
    """bool[n]: whether tokens would run together where spans are removed (int64[n, 3], piece, first character and end)."""
    of, firsts, ends = spans.T
    found, inside = np.zeros(len(spans), np.bool_), (firsts > 0) & (ends < texts.counts[of])
    some = np.flatnonzero(inside)
    before, after = (border_kinds(texts.codes(of[some], each)) for each in (firsts[some] - 1, ends[some]))
    is_blank = (before == BLANK) | (after == BLANK)
    if stream.similarity.is_plain and stream.folds_alone:
        is_sure = (before != UNSURE) & (after != UNSURE)
        found[some] = (before == WORDS) & (after == WORDS)
    else:
        is_sure = is_blank
    waiting = some[~(is_sure | is_blank)]
    if len(waiting):
        edges = np.column_stack([texts.in_bytes(of, firsts), texts.in_bytes(of, ends)]).tolist()
        for some in _in_rounds(spans, waiting):
            borders = [_border(texts, int(of[number]), edges, found, number) for number in some.tolist()]
            found[some] = _run_together(borders, stream)
    return found


def _in_rounds(spans: Array, waiting: Array) -> Iterator[Array]:
    """Some spans (int64[n], ascending), in rounds: none comes before those that are NEAR before it."""
    sizes = spans[:, 2] - spans[:, 1]
    removed = np.append(0, np.cumsum(sizes))
    i, j = waiting[1:], waiting[:-1]
    between = spans[i, 1] - spans[j, 2] - (removed[i] - removed[j + 1])
    at = np.arange(len(waiting))
    is_free = np.append(True, (spans[i, 0] != spans[j, 0]) | (between >= NEAR))
    rounds = at - np.maximum.accumulate(np.where(is_free, at, 0))
    order = np.argsort(rounds, kind="stable")
    yield from np.split(waiting[order], np.flatnonzero(np.diff(rounds[order])) + 1)


def _border(texts: _Characters, piece: int, edges: list[list[int]], separated: Bools, number: int) -> tuple[str, str]:
    """What stands before a span that is removed, without the spans before it, and what follows it. `edges`: of all, in bytes."""
    start, stop = texts.offsets[piece : piece + 2].tolist()
    (at, end), before, k = edges[number], "", number - 1
    while True:
        begin = max(start, edges[k][1] if k >= 0 else 0)
        before = texts.before(begin, at) + before
        if begin == start or len(before) >= NEAR:
            break
        before = SPACE * bool(separated[k]) + before
        at, k = edges[k][0], k - 1
    until = min(stop, edges[number + 1][0] if number + 1 < len(edges) else stop)
    return before[-NEAR:], texts.behind(end, until)


def _run_together(borders: Sequence[tuple[str, str]], stream: TokenStream) -> list[bool]:
    """Whether the tokens of each two texts are others if one follows the other at once."""
    texts = [before + between + after for before, after in borders for between in (SPACE, "")]
    tokens = list(_tokens(texts, stream))
    return [apart != joined for apart, joined in zip(tokens[::2], tokens[1::2], strict=True)]


def _tokens(texts: Sequence[str], stream: TokenStream) -> Iterator[list[str]]:
    """The tokens of each of some texts."""
    found = stream.tokens(pa.array(texts, pa.large_string()))
    for first, end in zip(
        found.documents[: len(texts)].tolist(), found.documents[1 : len(texts) + 1].tolist(), strict=True
    ):
        yield [found.text(i) for i in range(first, end)]


def _of_units(texts: _Characters, characters: Array, stream: TokenStream, unit: Align) -> Array:
    """int64[n, 4]: the units of which no token is left without some characters (int64[m, 3], piece, first and end)."""
    asked, units = list[tuple[int, int]](), dict[int, tuple[list[int], list[int]]]()
    compared = list[str]()
    for piece, some in _by_piece(characters):
        text = texts.whole(piece)
        units[piece] = starts, ends = texts.units(piece, unit)
        at = 0
        for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
            while at < len(some) and some[at][1] <= start:
                at += 1
            here, k = list[Span](), at
            while k < len(some) and some[k][0] < end:
                here.append(Span(max(0, some[k][0] - start), min(end, some[k][1]) - start, True))
                k += 1
            if here:
                asked.append((piece, number))
                compared += [text[start:end], without_spans(text[start:end], here)]
    counts = np.diff(stream.tokens(pa.array(compared, pa.large_string())).documents[: len(compared) + 1])
    removed: dict[int, list[int]] = {piece: [] for piece in units}
    for (piece, number), whole, rest in zip(asked, counts[::2].tolist(), counts[1::2].tolist(), strict=True):
        if whole and not rest:
            removed[piece].append(number)
    found = [(piece, *span) for piece, gone in removed.items() for span in _spans_of_units(gone, *units[piece])]
    return np.array(found, np.int64).reshape(-1, 4)


def _by_piece(characters: Array) -> Iterator[tuple[int, list[list[int]]]]:
    """Each piece with its characters (int64[m, 3], ascending)."""
    begins = np.flatnonzero(np.diff(characters[:, 0], prepend=-1))
    for some in np.split(characters, begins[1:]) if len(begins) else ():
        yield int(some[0, 0]), some[:, 1:].tolist()


def _spans_of_units(removed: list[int], starts: list[int], ends: list[int]) -> list[Span]:
    """What `without_units` removes: each unit with the separator behind it, or, at the end of the text, before it."""
    spans, gone, k = list[Span](), set(removed), 0
    last = max((number for number in range(len(starts)) if number not in gone), default=-1)
    while k < len(removed):
        first = last_of_run = removed[k]
        while k + 1 < len(removed) and removed[k + 1] == removed[k] + 1:
            k += 1
            last_of_run = removed[k]
        if first > last:  # all that follows goes, and with it the separator before
            spans.append(Span(ends[last] if last >= 0 else starts[first], ends[last_of_run], False))
        else:
            spans.append(Span(starts[first], starts[last_of_run + 1], False))
        k += 1
    return spans
