"""How two texts differ, word by word; Han characters and Kana are compared one by one.

Case, punctuation and the width of characters make no difference, as they make none for a recipe.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

CJK = "\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+")
_SMALL = 4_000_000
"""Largest product of the lengths of two passages that are compared word by word; larger ones differ as wholes."""

Kind = Literal["both", "first", "second"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of two texts: in `both` (as the first text has it), or in the `first` or the `second` alone.

    Attributes:
        kind: where it is.
        words: its words, each with what follows it up to the next.
    """

    kind: Kind
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts, with the differences between them.

    Attributes:
        first, second: the ids of the documents.
        pieces: the texts, piece by piece.
    """

    first: object
    second: object
    pieces: tuple[Piece, ...]

    @property
    def places(self) -> int:
        """The number of places where the texts differ."""
        kinds = [piece.kind != "both" for piece in self.pieces]
        return sum(differs and not before for before, differs in zip([False, *kinds], kinds, strict=False))


def difference(first: str, second: str) -> tuple[Piece, ...]:
    """Compare two texts.

    >>> [(piece.kind, "".join(piece.words)) for piece in difference("The old pier.", "the new pier")]
    [('both', 'The '), ('first', 'old '), ('second', 'new '), ('both', 'pier.')]
    """
    sides = _words(first), _words(second)
    keys = [[key for key, _ in side] for side in sides]
    pieces: list[Piece] = []

    def add(kind: Kind, words: Sequence[tuple[str, str]]) -> None:
        if words:
            pieces.append(Piece(kind, tuple(word for _, word in words)))

    start = [0, 0]
    for i, j, size in _common(keys[0], keys[1]):
        add("first", sides[0][start[0] : i])
        add("second", sides[1][start[1] : j])
        add("both", sides[0][i : i + size])
        start = [i + size, j + size]
    add("first", sides[0][start[0] :])
    add("second", sides[1][start[1] :])
    return tuple(pieces)


def _words(text: str) -> list[tuple[str, str]]:
    """The words as they are compared, and as they are shown, with what stands behind them."""
    spans = [match.span() for match in _WORD.finditer(text)]
    bounds = [0, *(begin for begin, _ in spans[1:]), len(text)]
    return [
        (unicodedata.normalize("NFKC", text[begin:end]).casefold(), text[bounds[i] : bounds[i + 1]])
        for i, (begin, end) in enumerate(spans)
    ]


def _common(first: list[str], second: list[str]) -> Iterator[tuple[int, int, int]]:
    """Runs of words that both have in the same order: the places where a run begins in each, and its length.

    Runs of words that occur once in each text divide the texts, as in patience diff; what lies between is compared closely.
    """
    begin = (0, 0)
    found: list[tuple[int, int, int]] = []
    for anchor in [*_anchors(first, second), (len(first), len(second))]:
        found += _between(first, second, begin, anchor)
        if anchor[0] < len(first) and anchor[1] < len(second):
            found.append((*anchor, 1))
        begin = (anchor[0] + 1, anchor[1] + 1)
    yield from _joined(found)


def _joined(runs: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    current = (0, 0, 0)
    for i, j, size in runs:
        if i == current[0] + current[2] and j == current[1] + current[2]:
            current = (current[0], current[1], current[2] + size)
        else:
            if current[2]:
                yield current
            current = (i, j, size)
    if current[2]:
        yield current


def _between(
    first: list[str], second: list[str], begin: tuple[int, int], end: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
    """The common runs of two passages."""
    a, b = first[begin[0] : end[0]], second[begin[1] : end[1]]
    if not a or not b or len(a) * len(b) > _SMALL:
        return
    for i, j, size in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        if size:
            yield begin[0] + i, begin[1] + j, size


def _anchors(first: list[str], second: list[str]) -> list[tuple[int, int]]:
    """Words that occur once in each text, in an order that both have: the longest such sequence."""
    once = [{word for word, count in Counter(side).items() if count == 1} for side in (first, second)]
    place = {word: j for j, word in enumerate(second) if word in once[1]}
    pairs = [(i, place[word]) for i, word in enumerate(first) if word in once[0] and word in place]
    tails: list[int] = []
    ends: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        tails[at : at + 1], ends[at : at + 1] = [j], [number]
        before[number] = ends[at - 1] if at else -1
    chain, number = [], ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
