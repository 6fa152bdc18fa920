"""ALIGN two texts by their tokens: what both have, in order, and which tokens only one of them has."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.recipe.tables.parts import FOLDING, VERSION
from neardup.text.side_by_side.shown_tokens import Token, shingle_spans, tokens_of

MAX_COMPARISONS = 20_000
"""Between two anchors, tokens are compared one by one if the product of their numbers is not above this."""

Places = tuple[int, int]
Run = tuple[Places, Places]
"""The first place in both, and the last place in both."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the tokens of two texts correspond.

    Attributes:
        tokens: of the left and of the right text.
        spans: first and last token of the shingles of each.
        runs: runs of shingles that both have in the same order.
        matches: pairs of equal tokens, ascending in both.
        only: for each text and token, whether nothing in the other text corresponds to it: no shingle with it is there, and between
            what is aligned there is no such token.
    """

    tokens: tuple[list[Token], list[Token]]
    spans: tuple[list[Places], list[Places]]
    runs: list[Run]
    matches: list[Places]
    only: tuple[list[bool], list[bool]]


def align(
    left: str,
    right: str,
    steps: tuple[Any, ...] = FOLDING,
    *,
    version: int = VERSION,
    cut: tuple[bool, bool] = (False, False),
) -> Alignment:
    """Align two texts.

    Args:
        left, right: the texts.
        steps: normalizers of the recipe, after which texts are compared.
        version: of the recipe.
        cut: whether each text goes on. What comes after the last token in common may then be in the rest of the other text.
    """
    tokens = (tokens_of(left, steps, version), tokens_of(right, steps, version))
    spans = (shingle_spans(tokens[0]), shingle_spans(tokens[1]))
    shingles = [
        [tuple(token.folded for token in side[first:end]) for first, end in found]
        for side, found in zip(tokens, spans, strict=True)
    ]
    runs = list(_runs(shingles[0], shingles[1]))
    matches = list(_matches(tokens, spans, runs))
    aligned = ({i for i, _ in matches}, {j for _, j in matches})
    only = ([True] * len(tokens[0]), [True] * len(tokens[1]))
    for side in (0, 1):
        known = set(shingles[1 - side])
        for (first, end), shingle in zip(spans[side], shingles[side], strict=True):
            if shingle in known:
                only[side][first:end] = [False] * (end - first)
        for place in aligned[side]:
            only[side][place] = False
        if any(cut):
            end = max(aligned[side], default=-1) + 1
            only[side][end:] = [False] * (len(only[side]) - end)
    return Alignment(tokens, spans, runs, matches, only)


def _runs(left: list[tuple[str, ...]], right: list[tuple[str, ...]]) -> Iterator[Run]:
    """Find runs of shingles that are in both lists in the same order; yield the first and last place of each run in both.

    Anchors are the longest sequence, ascending in both lists, of shingles that occur once in each list (as in patience diff).
    """
    chain = _anchors(left, right)
    if not chain:
        return
    first = last = chain[0]
    for i, j in chain[1:]:
        if i - last[0] != j - last[1] or left[last[0] : i] != right[last[1] : j]:
            yield first, last
            first = i, j
        last = i, j
    yield first, last


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Places]:
    """The longest sequence, ascending in both, of items that occur once in each."""
    once = [{item for item, count in Counter(side).items() if count == 1} for side in (left, right)]
    place = {item: j for j, item in enumerate(right) if item in once[1]}
    return _ascending([(i, place[item]) for i, item in enumerate(left) if item in once[0] and item in place])


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


def _matches(
    tokens: tuple[list[Token], list[Token]], spans: tuple[list[Places], list[Places]], runs: list[Run]
) -> Iterator[Places]:
    """Pairs of equal tokens, ascending in both: those of the runs, and the most that fit between them."""
    words = [[token.folded for token in side] for side in tokens]
    at = (0, 0)
    for (i, j), (last, _) in runs:
        begin = spans[0][i][0], spans[1][j][0]
        overlap = max(0, at[0] - begin[0], at[1] - begin[1])  # the shingles of two runs may share tokens
        length = spans[0][last][1] - begin[0]
        if overlap >= length:
            continue
        yield from _between(words, at, (begin[0] + overlap, begin[1] + overlap))
        length = min(length, len(words[1]) - begin[1])
        for k in range(overlap, length):
            if words[0][begin[0] + k] == words[1][begin[1] + k]:
                yield begin[0] + k, begin[1] + k
        at = begin[0] + length, begin[1] + length
    yield from _between(words, at, (len(words[0]), len(words[1])))


def _between(words: list[list[str]], first: Places, end: Places) -> Iterator[Places]:
    """The most pairs of equal tokens between two places, ascending in both."""
    left, right = words[0][first[0] : end[0]], words[1][first[1] : end[1]]
    if not left or not right:
        return
    small = len(left) * len(right) <= MAX_COMPARISONS
    for i, j in _longest(left, right) if small else _anchors(left, right):
        yield first[0] + i, first[1] + j


def _longest(left: list[str], right: list[str]) -> Iterator[Places]:
    """A longest common subsequence; its time and memory grow with the product of the lengths."""
    begin = 0
    while begin < min(len(left), len(right)) and left[begin] == right[begin]:
        yield begin, begin
        begin += 1
    rows, columns = len(left) - begin, len(right) - begin
    table = list[bytearray]()
    lengths = [0] * (columns + 1)
    for i in range(rows - 1, -1, -1):
        below, lengths, take = lengths, [0] * (columns + 1), bytearray(columns)
        for j in range(columns - 1, -1, -1):
            if left[begin + i] == right[begin + j]:
                lengths[j], take[j] = below[j + 1] + 1, 2
            elif below[j] >= lengths[j + 1]:
                lengths[j] = below[j]
            else:
                lengths[j], take[j] = lengths[j + 1], 1
        table.append(take)
    i = j = 0
    while i < rows and j < columns:
        step = table[rows - 1 - i][j]
        if step == 2:
            yield begin + i, begin + j
        i, j = i + (step != 1), j + (step >= 1)
