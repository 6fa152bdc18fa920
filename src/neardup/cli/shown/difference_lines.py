"""The difference of two texts for a terminal: what is in one alone is marked, and what both have is shown around it."""

from collections.abc import Iterator
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import click

from neardup.display import counted, display_width, printable, similarity_text

if TYPE_CHECKING:
    from neardup.judging.difference import Difference, Piece

CONTEXT_COLUMNS = 48
"""Columns of what both texts have that are shown before and after a difference."""
MAX_WORDS = 60
"""Words of one text alone from which the middle is left out."""
MAX_PLACES = 12
"""Places where the texts differ that are shown."""
INDENT = "  "
MAX_EXAMPLE_PLACES = 1
"""Places that are shown of a pair that is an example."""

MARKS = {"first": ("[-", "-]"), "second": ("{+", "+}"), "both": ("", "")}
COLORS = {"first": "red", "second": "green"}


def example_lines(found: "Difference", similarity: float, width: int) -> Iterator[str]:
    """A removed document that is an example: its survivor, how similar they are, and where they first differ."""
    yield f"{INDENT}{found.first}  is a duplicate of  {found.second}  (similarity {similarity_text(similarity)})"
    for line in difference_lines(found, width - len(INDENT), places=MAX_EXAMPLE_PLACES):
        yield f"{INDENT}{line}"


def legend(first: str, second: str) -> str:
    """What the marks mean."""
    return f"{_marked(f'only in {first}', 'first')}  {_marked(f'only in {second}', 'second')}"


def difference_lines(found: "Difference", width: int, *, places: int = MAX_PLACES) -> Iterator[str]:
    """The places where the texts differ, `places` at most, in lines of at most `width` columns."""
    if not found.places:
        how = "the texts are the same, character by character"
        if not found.same_text:
            how = "no word differs: the texts are equal but for case, width, punctuation or space"
        yield INDENT + how
        return
    for words in _paragraphs(found.pieces, places):
        yield from _filled(words, width)
    if found.places > places:
        yield f"{INDENT}… and {counted(found.places - places, 'more place')}"


Word = tuple[str, str]
"""A word as it is shown, and where it is: in `both`, or in the `first` or the `second` text alone."""


def _paragraphs(pieces: "tuple[Piece, ...]", most: int) -> Iterator[list[Word]]:
    """Pieces that stand near each other, each list to be shown as a paragraph."""
    paragraph: list[Word] = []
    places, differs = 0, False
    for number, piece in enumerate(pieces):
        words = [" ".join(printable(word).split("\n")) for word in piece.words]
        if piece.kind != "both":
            places += not differs
            differs = True
            if places > most:
                if paragraph:
                    yield [*paragraph, ("…", "both")]
                return
            paragraph += _alone(words, piece.kind)
            continue
        differs = False
        is_first, is_last = number == 0, number == len(pieces) - 1
        before = [] if is_first else words[: _beside(words)]
        after = [] if is_last or places == most else words[-_beside(words[::-1]) :]
        if len(words) <= len(before) + len(after):
            paragraph += [(word, "both") for word in words]
            continue
        paragraph += [(word, "both") for word in before]
        if paragraph:
            yield [*paragraph, ("…", "both")]
        paragraph = [("… ", "both"), *((word, "both") for word in after)] if after else []
    if paragraph:
        yield paragraph


def _beside(words: list[str]) -> int:
    """How many words are shown beside a difference, of those that begin there."""
    widths = accumulate(map(display_width, words))
    return max(1, sum(width <= CONTEXT_COLUMNS for width in widths))


def _alone(words: list[str], kind: str) -> list[Word]:
    """What one text alone has, in its marks; of a long piece, the beginning and the end."""
    opening, closing = MARKS[kind]
    if len(words) > MAX_WORDS:
        half = MAX_WORDS // 2
        left_out = f"… {counted(len(words) - 2 * half, 'word')} … "
        words = [*words[:half], left_out, *words[-half:]]
    marked = [opening + words[0], *words[1:]]
    last = marked[-1].rstrip()
    marked[-1] = last + closing + marked[-1][len(last) :]
    return [(word, kind) for word in marked]


def _marked(text: str, kind: str) -> str:
    opening, closing = MARKS[kind]
    return click.style(f"{opening}{text}{closing}", fg=COLORS.get(kind))


def _filled(words: list[Word], width: int) -> Iterator[str]:
    """Lines of words, each of at most `width` columns if its words allow."""
    line: list[Word] = []
    taken, room = 0, width - len(INDENT)
    for text, kind in words:
        shown = " ".join(text.split()) + (" " if text[-1:].isspace() else "")
        if line and taken + display_width(shown.rstrip()) > room:
            yield _painted(line)
            line, taken = [], 0
        line.append((shown, kind))
        taken += display_width(shown)
    if line:
        yield _painted(line)


def _painted(line: list[Word]) -> str:
    parts = []
    for kind, some in groupby(line, key=lambda word: word[1]):
        text = "".join(shown for shown, _ in some)
        bare = text.rstrip()
        parts.append((click.style(bare, fg=COLORS[kind]) if kind in COLORS else bare) + text[len(bare) :])
    return INDENT + "".join(parts).rstrip()
