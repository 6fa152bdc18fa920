"""CHANGES: in one line, where a text differs from its survivor."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

from neardup.recipe.tables.parts import FOLDING, VERSION
from neardup.text.side_by_side.alignment import Alignment, align
from neardup.text.side_by_side.visible import plainly

AROUND_CHARACTERS = 36
"""Common characters shown before and after a change."""

JOINED_CHARACTERS = 48
"""Changes with no more common characters between them stand in one excerpt."""

CHANGE_CHARACTERS = 90
"""Characters shown of what was removed or added in one place."""

EXCERPTS = 2
"""Excerpts shown of a text."""

EXCERPT_CHARACTERS = 320
"""No change is added to an excerpt of so many characters."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an excerpt; `kind`: `common`, `removed` (in the survivor only), `added` (not in the survivor) or `gap`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Excerpts with the first changes, and the number of all places that differ in what was compared."""

    excerpts: tuple[tuple[Piece, ...], ...]
    places: int


@dataclass(frozen=True, slots=True)
class _Change:
    """What stands in the survivor instead of the part of the other text from `start` to `end`."""

    removed: str
    start: int
    end: int


def changes_of(
    survivor: str,
    other: str,
    steps: tuple[Any, ...] = FOLDING,
    *,
    version: int = VERSION,
    cut: tuple[bool, bool] = (False, False),
) -> Changes:
    """Find where a text differs from its survivor; `steps`, `version`: of the recipe; `cut`: whether each text goes on.

    >>> [[(piece.kind, piece.text) for piece in each] for each in changes_of("seats 40 and dogs", "seats 52 and dogs").excerpts]
    [[('common', 'seats '), ('removed', '40'), ('added', '52'), ('common', ' and dogs')]]
    """
    found = list(_changes(survivor, other, align(survivor, other, steps, version=version, cut=cut)))
    shown: list[tuple[Piece, ...]] = []
    first = 0
    while first < len(found) and len(shown) < EXCERPTS:
        last, length = first, 0
        while last + 1 < len(found):
            change = found[last]
            between = found[last + 1].start - change.end
            sizes = len(change.removed), change.end - change.start
            length += between + sum(min(CHANGE_CHARACTERS, size) for size in sizes)
            if between > JOINED_CHARACTERS or length > EXCERPT_CHARACTERS:
                break
            last += 1
        shown.append(tuple(_excerpt(other, found[first : last + 1])))
        first = last + 1
    return Changes(tuple(shown), len(found))


def _changes(survivor: str, other: str, aligned: Alignment) -> Iterator[_Change]:
    """The changes in order. What only moved is none."""
    left, right = aligned.tokens
    bounds = [(-1, -1), *aligned.matches, (len(left), len(right))]
    for (i, j), (next_i, next_j) in pairwise(bounds):
        lost = [place for place in range(i + 1, next_i) if aligned.only[0][place]]
        new = [place for place in range(j + 1, next_j) if aligned.only[1][place]]
        if not lost and not new:
            continue
        removed = survivor[left[lost[0]].start : left[lost[-1]].end] if lost else ""
        if new:
            yield _Change(removed, right[new[0]].start, right[new[-1]].end)
            continue
        at = right[j].end if j >= 0 else 0
        if lost[0] > i + 1:  # what moved stands before it, so the gaps are not those of one place
            yield _Change(removed, at, at)
            continue
        begin, behind = left[i].end if i >= 0 else 0, lost[-1] + 1
        gap = other[at : right[j + 1].start if j + 1 < len(right) else len(other)]
        shared = _shared(survivor[begin : left[lost[0]].start], gap)
        end = left[lost[-1]].end
        if shared == len(gap):  # nothing of it is left to part what was removed from what follows
            end = left[behind].start if behind < len(left) else len(survivor)
        yield _Change(survivor[begin + shared : end], at + shared, at + shared)


def _shared(gap: str, other: str) -> int:
    """With how many characters two gaps between tokens begin alike; a space is like any other."""
    alike = (a == b or (a.isspace() and b.isspace()) for a, b in zip(gap, other, strict=False))
    return sum(takewhile(bool, alike))


def _excerpt(text: str, changes: Sequence[_Change]) -> Iterator[Piece]:
    begin = max(0, changes[0].start - AROUND_CHARACTERS)
    if begin:
        word = re.compile(r"\s\S").search(
            text, begin, changes[0].start
        )  # not the space just before the change: it says nothing
        begin = word.start() + 1 if word else begin
        yield Piece("gap", "…")
    for change in changes:
        yield from _pieces(("common", text[begin : change.start]))
        yield from _pieces(("removed", _clipped(change.removed)), ("added", _clipped(text[change.start : change.end])))
        begin = change.end
    end = min(len(text), begin + AROUND_CHARACTERS)
    yield from _pieces(("common", text[begin:end]))
    if end < len(text.rstrip()):
        yield Piece("gap", "…")


def _pieces(*given: tuple[str, str]) -> Iterator[Piece]:
    for kind, text in given:
        if text:
            yield Piece(kind, plainly(re.sub(r"\s+", " ", text)))


def _clipped(text: str) -> str:
    return text if len(text) <= CHANGE_CHARACTERS else f"{text[: CHANGE_CHARACTERS - 20]} … {text[-16:]}"
