"""What two texts have in common, for showing: the tokens of shingles that are in both, and what only one of them has."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from neardup.reports.visible import plainly
from neardup.similarities.table import CJK_SHINGLE, WORD_SHINGLE
from neardup.text.normalizers import normalize
from neardup.text.tokenizers import CJK, SEPARATOR, WORD, token_class

CONTEXT = 140
"""Characters in common that are shown on either side of a difference."""

LONE = 400
"""Characters that are shown of texts that do not differ at all."""

SIDE_BYTES = 10_000
"""What is shown of a text takes no more in the page."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text.

    Attributes:
        kind: `common`, `only` (in this text alone), `skipped` (in common, not shown) or `cut` (the rest, not shown).
        text: empty for the last two.
        characters: that it has.
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
def _fold(character: str) -> tuple[str, int]:
    """What becomes of a character that stands alone, and its class; -1: it leaves nothing and separates nothing."""
    if character.isspace():
        return "", SEPARATOR
    folded = normalize(character) if not "\ud800" <= character <= "\udfff" else ""
    if not folded:
        return "", -1
    kinds = [token_class(each) for each in folded]
    return folded, next((kind for kind in kinds if kind != SEPARATOR), SEPARATOR)


def _tokens(text: str) -> list[_Token]:
    """Tokens with their places; characters are folded one by one, which is near enough for showing."""
    found: list[_Token] = []
    start, parts = -1, list[str]()
    for place, character in enumerate(text):
        folded, kind = _fold(character)
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
    """First and last-but-one token of each shingle."""
    sizes = (CJK_SHINGLE if token.kind == CJK else WORD_SHINGLE for token in tokens)
    whole = [(i, i + size) for i, size in enumerate(sizes) if i + size <= len(tokens)]
    return whole or ([(0, len(tokens))] if tokens else [])


def compare_passages(left: str, right: str) -> tuple[list[Passage], list[Passage]]:
    """Both texts in passages: long ones in common and all that would take too much room are left out, and said to be.

    >>> [passage.kind for passage in compare_passages("one two three four", "zero one two three")[0]]
    ['common', 'only']
    """
    sides = [_tokens(left), _tokens(right)]
    windows = [_windows(tokens) for tokens in sides]
    shingles = [
        [tuple(token.folded for token in tokens[first:end]) for first, end in found]
        for tokens, found in zip(sides, windows, strict=True)
    ]
    known = [set(found) for found in shingles]
    shown = []
    for side, text in enumerate((left, right)):
        tokens, shared = sides[side], [False] * len(sides[side])
        for (first, end), shingle in zip(windows[side], shingles[side], strict=True):
            if shingle in known[1 - side]:
                shared[first:end] = [True] * (end - first)
        shown.append(list(_within_bytes(_condensed(list(_runs(text, tokens, shared))))))
    return shown[0], shown[1]


def _runs(text: str, tokens: list[_Token], shared: list[bool]) -> Iterator[Passage]:
    """Maximal runs of one kind; what separates tokens goes with the one before."""
    if not tokens:
        if text:
            yield Passage("only" if text.strip() else "common", text, len(text))
        return
    begin, kind = 0, shared[0]
    for token, is_shared in zip(tokens, shared, strict=True):
        if is_shared != kind:
            yield Passage("common" if kind else "only", text[begin : token.start], token.start - begin)
            begin, kind = token.start, is_shared
    yield Passage("common" if kind else "only", text[begin:], len(text) - begin)


def _condensed(runs: list[Passage]) -> Iterator[Passage]:
    """Of long runs in common only what is beside a difference."""
    if len(runs) == 1 and runs[0].kind == "common" and runs[0].characters > LONE:
        yield Passage("common", runs[0].text[:LONE], LONE)
        yield Passage("skipped", "", runs[0].characters - LONE)
        return
    for number, run in enumerate(runs):
        before = CONTEXT if number > 0 else 0
        after = CONTEXT if number + 1 < len(runs) else 0
        left_out = run.characters - before - after
        if run.kind != "common" or left_out < CONTEXT:
            yield run
            continue
        if before:
            yield Passage("common", run.text[:before], before)
        yield Passage("skipped", "", left_out)
        if after:
            yield Passage("common", run.text[-after:], after)


def _within_bytes(passages: Iterator[Passage]) -> Iterator[Passage]:
    room = SIDE_BYTES
    rest = 0
    for passage in passages:
        if rest:
            rest += passage.characters
            continue
        cost = _cost(passage.text)
        if cost <= room:
            yield passage
            room -= cost
            continue
        fits, beyond = 0, len(passage.text)
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            fits, beyond = (middle, beyond) if _cost(passage.text[:middle]) <= room else (fits, middle)
        if fits:
            yield Passage(passage.kind, passage.text[:fits], fits)
        rest = passage.characters - fits
    if rest:
        yield Passage("cut", "", rest)


def _cost(text: str) -> int:
    """Bytes in the page, about; the most that escaping makes of a character are 5."""
    plain = plainly(text)
    return 60 + len(plain.encode()) + 5 * sum(map(plain.count, "&<>\"'"))
