"""What two texts have in common, for display: tokens of shingles in both, and tokens of only one."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from neardup.recipe.parts import FOLDING
from neardup.recipe.similarities import CJK_SHINGLE, WORD_SHINGLE
from neardup.text.normalizers import normalize
from neardup.text.tokenizers import CJK, SEPARATOR, WORD, token_class
from neardup.text.visible import plainly

CONTEXT = 140
"""Common characters shown on either side of a difference."""

LONE = 400
"""Characters shown of texts that do not differ at all."""

SIDE_BYTES = 6_000
"""Maximum bytes in the page for one text."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text.

    Attributes:
        kind: `common`, `only` (in this text alone) or `cut` (the rest, not shown).
        text: empty for `cut`.
        characters: length of the passage.
    """

    kind: str
    text: str
    characters: int


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    folded: str
    kind: int


@lru_cache(maxsize=1 << 16)
def _fold(character: str, steps: tuple[Any, ...]) -> tuple[str, int]:
    """Fold a single character and give its class; class -1: it leaves nothing and separates nothing."""
    if character.isspace():
        return "", SEPARATOR
    folded = normalize(character, steps) if not "\ud800" <= character <= "\udfff" else ""
    if not folded:
        return "", -1
    kinds = [token_class(each) for each in folded]
    return folded, next((kind for kind in kinds if kind != SEPARATOR), SEPARATOR)


def _tokens(text: str, steps: tuple[Any, ...] = FOLDING) -> list[_Token]:
    """Tokens with their places; characters are folded one by one, which is exact enough for display."""
    found: list[_Token] = []
    start, parts = -1, list[str]()
    for place, character in enumerate(text):
        folded, kind = _fold(character, steps)
        if kind == WORD:
            start = place if start < 0 else start
            parts.append(folded)
            continue
        if kind == -1:
            continue
        if start >= 0:
            found.append(_Token(start, place, "".join(parts), WORD))
            start, parts = -1, []
        if kind == CJK:
            found.append(_Token(place, place + 1, folded, CJK))
    if start >= 0:
        found.append(_Token(start, len(text), "".join(parts), WORD))
    return found


def _windows(tokens: list[_Token]) -> list[tuple[int, int]]:
    """First token of each shingle, and one past its last."""
    sizes = (CJK_SHINGLE if token.kind == CJK else WORD_SHINGLE for token in tokens)
    whole = [(i, i + size) for i, size in enumerate(sizes) if i + size <= len(tokens)]
    return whole or ([(0, len(tokens))] if tokens else [])


@dataclass(frozen=True, slots=True)
class Row:
    """Passages of two texts shown side by side; or `skipped`, the length in the left text of a common passage left out."""

    left: tuple[Passage, ...] = ()
    right: tuple[Passage, ...] = ()
    skipped: int = 0


def compare_passages(left: str, right: str, steps: tuple[Any, ...] = FOLDING) -> list[Row]:
    """Show two texts side by side; long common passages, and whatever exceeds the room, are left out with a note.

    `steps`: normalizers of the recipe, after which texts are compared.

    >>> [passage.kind for passage in compare_passages("one two three four", "zero one two three")[0].left]
    ['common', 'only']
    """
    texts = (left, right)
    sides = [_tokens(text, steps) for text in texts]
    windows = [_windows(tokens) for tokens in sides]
    shingles = [
        [tuple(token.folded for token in tokens[first:end]) for first, end in found]
        for tokens, found in zip(sides, windows, strict=True)
    ]
    runs = []
    for side, text in enumerate(texts):
        known, shared = set(shingles[1 - side]), [False] * len(sides[side])
        for (first, end), shingle in zip(windows[side], shingles[side], strict=True):
            if shingle in known:
                shared[first:end] = [True] * (end - first)
        runs.append(list(_runs(text, sides[side], shared)))
    starts = [[sides[side][first].start for first, _ in windows[side]] for side in (0, 1)]
    ends = [[sides[side][end - 1].end for _, end in windows[side]] for side in (0, 1)]
    begins, rows = [0, 0], list[Row]()
    for (i, j), (k, m) in _aligned(shingles[0], shingles[1]):
        spans = [(starts[0][i], ends[0][k]), (starts[1][j], ends[1][m])]
        lines = _common_line_end(left[slice(*spans[0])], right[slice(*spans[1])])
        if lines and spans[0][0] >= begins[0] and spans[1][0] >= begins[1]:
            ended = [spans[0][0] + lines[0], spans[1][0] + lines[1]]
            rows.append(_row(runs, begins, ended))
            begins = ended
        before = CONTEXT if spans[0][0] or spans[1][0] else 0
        after = CONTEXT if spans[0][1] < len(left.rstrip()) or spans[1][1] < len(right.rstrip()) else 0
        if before == after == 0:
            before = LONE
        cut = [
            (
                _outside_tokens(sides[side], max(first, begins[side]) + before),
                _outside_tokens(sides[side], end - after),
            )
            for side, (first, end) in enumerate(spans)
        ]
        if min(end - first for first, end in cut) < CONTEXT:
            continue
        if any(cut[side][0] > begins[side] for side in (0, 1)):
            rows.append(_row(runs, begins, [cut[0][0], cut[1][0]]))
        rows.append(Row(skipped=cut[0][1] - cut[0][0]))
        begins = [cut[0][1], cut[1][1]]
    if begins[0] < len(left.rstrip()) or begins[1] < len(right.rstrip()):
        rows.append(_row(runs, begins, [len(left), len(right)]))
    return list(_within_bytes(rows))


Places = tuple[int, int]


def _aligned(left: list[tuple[str, ...]], right: list[tuple[str, ...]]) -> Iterator[tuple[Places, Places]]:
    """Find runs of shingles that are in both lists in the same order; yield the first and last place of each run in both.

    Anchors are the longest sequence, ascending in both lists, of shingles that occur once in each list (as in patience diff).
    """
    once = [{shingle for shingle, count in Counter(side).items() if count == 1} for side in (left, right)]
    place = {shingle: j for j, shingle in enumerate(right) if shingle in once[1]}
    pairs = [(i, place[shingle]) for i, shingle in enumerate(left) if shingle in once[0] and shingle in place]
    chain = _ascending(pairs)
    if not chain:
        return
    first = last = chain[0]
    for i, j in chain[1:]:
        if i - last[0] != j - last[1] or left[last[0] : i] != right[last[1] : j]:
            yield first, last
            first = i, j
        last = i, j
    yield first, last


def _outside_tokens(tokens: list[_Token], place: int) -> int:
    """Return the place, or the beginning of the word around it if that is close."""
    number = bisect_right(tokens, place, key=lambda token: token.start) - 1
    if number < 0 or tokens[number].end <= place or place - tokens[number].start > CONTEXT // 4:
        return place
    return tokens[number].start


def _common_line_end(left: str, right: str) -> Places | None:
    """Return the end of each text's first line, if those lines have the same words."""
    first, second = left.find("\n") + 1, right.find("\n") + 1
    if not first or not second or left[:first].split() != right[:second].split():
        return None
    return first, second


def _ascending(pairs: list[Places]) -> list[Places]:
    """Find a longest subsequence of pairs that ascends in the second value, too; the first value ascends already."""
    tails, ends = list[int](), list[int]()
    before = [-1] * len(pairs)
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        tails[at : at + 1] = [j]
        ends[at : at + 1] = [number]
        before[number] = ends[at - 1] if at else -1
    found, number = list[Places](), ends[-1] if ends else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _runs(text: str, tokens: list[_Token], shared: list[bool]) -> Iterator[Passage]:
    """Yield maximal runs of one kind. Separators belong to the token before, except for the space after a difference."""
    if not tokens:
        if text:
            yield Passage("only" if text.strip() else "common", text, len(text))
        return
    begin, kind = 0, shared[0]
    for token, is_shared in zip(tokens, shared, strict=True):
        if is_shared != kind:
            end = token.start if kind else begin + len(text[begin : token.start].rstrip())
            yield Passage("common" if kind else "only", text[begin:end], end - begin)
            begin, kind = end, is_shared
    yield Passage("common" if kind else "only", text[begin:], len(text) - begin)


def _row(runs: list[list[Passage]], begins: list[int], ends: list[int]) -> Row:
    left, right = (tuple(_between(runs[side], begins[side], ends[side])) for side in (0, 1))
    return Row(left, right)


def _between(runs: list[Passage], begin: int, end: int) -> Iterator[Passage]:
    """Yield the passages of a text between two character positions."""
    place = 0
    for run in runs:
        text = run.text[max(0, begin - place) : max(0, end - place)]
        place += run.characters
        if text:
            yield Passage(run.kind, text, len(text))


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
        for side, passages in enumerate((row.left, row.right)):
            kept, room[side], rest[side] = _cut(passages, room[side])
            sides.append(kept)
        yield Row(tuple(sides[0]), tuple(sides[1]))
    if any(rest):
        left, right = ((Passage("cut", "", count),) if count else () for count in rest)
        yield Row(left, right)


def _size(passages: Iterable[Passage]) -> int:
    return sum(passage.characters for passage in passages)


def _cut(passages: Iterable[Passage], room: int) -> tuple[list[Passage], int, int]:
    """Return the passages that fit, the remaining room, and how many characters did not fit."""
    kept, rest = list[Passage](), 0
    for passage in passages:
        cost = _cost(passage.text)
        if rest or cost <= room:
            rest += passage.characters if rest else 0
            kept += [] if rest else [passage]
            room -= 0 if rest else cost
            continue
        fits, beyond = 0, len(passage.text)
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            fits, beyond = (middle, beyond) if _cost(passage.text[:middle]) <= room else (fits, middle)
        if fits and _cost(passage.text[:fits]) <= room:
            kept.append(Passage(passage.kind, passage.text[:fits], fits))
        else:
            fits = 0
        rest = passage.characters - fits
    return kept, room, rest


def _cost(text: str) -> int:
    """Approximate bytes in the page; escaping adds at most 5 per character."""
    plain = plainly(text)
    return 60 + len(plain.encode()) + 5 * sum(map(plain.count, "&<>\"'"))
