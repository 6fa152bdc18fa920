"""ROWS of two texts side by side: aligned segments, with what only one of them has."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.recipe.tables.parts import FOLDING, VERSION
from neardup.text.side_by_side.alignment import Places, align
from neardup.text.side_by_side.shown_tokens import Token
from neardup.text.side_by_side.visible import plainly

CONTEXT_CHARACTERS = 140
"""Common characters shown on either side of a difference."""

LONE_CHARACTERS = 400
"""Characters shown of texts that do not differ at all."""

SIDE_BYTES = 6_000
"""Maximum bytes in the page for one text."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text.

    Attributes:
        kind: `common`, `only` (in this text alone) or `cut` (the rest, not shown).
        text: empty for `cut`.
        characters: length of the segment.
    """

    kind: str
    text: str
    characters: int


@dataclass(frozen=True, slots=True)
class Row:
    """Segments of two texts shown side by side; or `skipped`, the length in the left text of a common segment left out."""

    left: tuple[Segment, ...] = ()
    right: tuple[Segment, ...] = ()
    skipped: int = 0


def aligned_rows(
    left: str,
    right: str,
    steps: tuple[Any, ...] = FOLDING,
    *,
    version: int = VERSION,
    cut: tuple[bool, bool] = (False, False),
) -> list[Row]:
    """Show two texts side by side; long common segments, and whatever exceeds the room, are left out with a note.

    `steps`: normalizers of the recipe, after which texts are compared; `version`: of the recipe. `cut`: whether each text goes on.

    >>> [segment.kind for segment in aligned_rows("one two three four", "zero one two three")[0].left]
    ['common', 'only']
    """
    texts = (left, right)
    aligned = align(left, right, steps, version=version, cut=cut)
    sides = aligned.tokens
    runs = [list(_marked(text, sides[side], aligned.only[side])) for side, text in enumerate(texts)]
    starts = [[sides[side][first].start for first, _ in aligned.spans[side]] for side in (0, 1)]
    ends = [[sides[side][end - 1].end for _, end in aligned.spans[side]] for side in (0, 1)]
    begins, rows = [0, 0], list[Row]()
    for (i, j), (k, m) in aligned.runs:
        spans = [(starts[0][i], ends[0][k]), (starts[1][j], ends[1][m])]
        lines = _common_line_end(left[slice(*spans[0])], right[slice(*spans[1])])
        if lines and spans[0][0] >= begins[0] and spans[1][0] >= begins[1]:
            ended = [spans[0][0] + lines[0], spans[1][0] + lines[1]]
            rows.append(_row(runs, begins, ended))
            begins = ended
        before = CONTEXT_CHARACTERS if spans[0][0] or spans[1][0] else 0
        after = CONTEXT_CHARACTERS if spans[0][1] < len(left.rstrip()) or spans[1][1] < len(right.rstrip()) else 0
        if before == after == 0:
            before = LONE_CHARACTERS
        skipped = [
            (
                _outside_tokens(sides[side], max(first, begins[side]) + before),
                _outside_tokens(sides[side], end - after),
            )
            for side, (first, end) in enumerate(spans)
        ]
        if min(end - first for first, end in skipped) < CONTEXT_CHARACTERS:
            continue
        if any(skipped[side][0] > begins[side] for side in (0, 1)):
            rows.append(_row(runs, begins, [skipped[0][0], skipped[1][0]]))
        rows.append(Row(skipped=skipped[0][1] - skipped[0][0]))
        begins = [skipped[0][1], skipped[1][1]]
    if begins[0] < len(left.rstrip()) or begins[1] < len(right.rstrip()):
        rows.append(_row(runs, begins, [len(left), len(right)]))
    return list(_within_bytes(rows))


def _outside_tokens(tokens: Sequence[Token], place: int) -> int:
    """Return the place, or the beginning of the word around it if that is close."""
    number = bisect_right(tokens, place, key=lambda token: token.start) - 1
    if number < 0 or tokens[number].end <= place or place - tokens[number].start > CONTEXT_CHARACTERS // 4:
        return place
    return tokens[number].start


def _common_line_end(left: str, right: str) -> Places | None:
    """Return the end of each text's first line, if those lines have the same words."""
    first, second = left.find("\n") + 1, right.find("\n") + 1
    if not first or not second or left[:first].split() != right[:second].split():
        return None
    return first, second


def _marked(text: str, tokens: Sequence[Token], only: Sequence[bool]) -> Iterator[Segment]:
    """Yield maximal runs of one kind. A difference begins with its first token and ends with its last one."""
    if not tokens:
        if text:
            yield Segment("only" if text.strip() else "common", text, len(text))
        return
    begin, number = 0, 0
    while number < len(tokens):
        if not only[number]:
            number += 1
            continue
        first = number
        while number < len(tokens) and only[number]:
            number += 1
        start, end = tokens[first].start, tokens[number - 1].end
        if start > begin:
            yield Segment("common", text[begin:start], start - begin)
        yield Segment("only", text[start:end], end - start)
        begin = end
    if begin < len(text):
        yield Segment("common", text[begin:], len(text) - begin)


def _row(runs: list[list[Segment]], begins: list[int], ends: list[int]) -> Row:
    left, right = (tuple(_between(runs[side], begins[side], ends[side])) for side in (0, 1))
    return Row(left, right)


def _between(runs: list[Segment], begin: int, end: int) -> Iterator[Segment]:
    """Yield the segments of a text between two character positions."""
    place = 0
    for run in runs:
        text = run.text[max(0, begin - place) : max(0, end - place)]
        place += run.characters
        if text:
            yield Segment(run.kind, text, len(text))


def _within_bytes(rows: list[Row]) -> Iterator[Row]:
    """Yield rows while there is room for either side; then one row for what is left of both."""
    room, rest = [SIDE_BYTES, SIDE_BYTES], [0, 0]
    for row in rows:
        if any(rest):
            rest = [rest[0] + _size(row.left) + row.skipped, rest[1] + _size(row.right) + row.skipped]
            continue
        if row.skipped:
            room = [each - _cost("") for each in room]
            yield row
            continue
        sides = []
        for side, segments in enumerate((row.left, row.right)):
            kept, room[side], rest[side] = _cut(segments, room[side])
            sides.append(kept)
        yield Row(tuple(sides[0]), tuple(sides[1]))
    if any(rest):
        left, right = ((Segment("cut", "", count),) if count else () for count in rest)
        yield Row(left, right)


def _size(segments: Iterable[Segment]) -> int:
    return sum(segment.characters for segment in segments)


def _cut(segments: Iterable[Segment], room: int) -> tuple[list[Segment], int, int]:
    """Return the segments that fit, the remaining room, and how many characters did not fit."""
    kept, rest = list[Segment](), 0
    for segment in segments:
        cost = _cost(segment.text)
        if rest or cost <= room:
            rest += segment.characters if rest else 0
            kept += [] if rest else [segment]
            room -= 0 if rest else cost
            continue
        fits, beyond = 0, len(segment.text)
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            fits, beyond = (middle, beyond) if _cost(segment.text[:middle]) <= room else (fits, middle)
        if fits and _cost(segment.text[:fits]) <= room:
            kept.append(Segment(segment.kind, segment.text[:fits], fits))
        else:
            fits = 0
        rest = segment.characters - fits
    return kept, room, rest


def _cost(text: str) -> int:
    """Approximate bytes in the page; escaping adds at most 5 per character."""
    plain = plainly(text)
    return 60 + len(plain.encode()) + 5 * sum(map(plain.count, "&<>\"'"))
