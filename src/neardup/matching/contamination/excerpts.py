"""MATCHED TEXT of a document as it stands there, for people to read: found by its tokens, which are of the normalized text."""

import re
from bisect import bisect_right
from typing import NamedTuple

from neardup.matching.contamination.readings import Reading
from neardup.matching.contamination.token_places import token_count
from neardup.recipe.tables.parts import VERSION

_FOLDED = re.compile(r"\A\s+|(?<=\s)\s+")

MAX_CHARACTERS = 300
"""An excerpt has at most so many characters."""


class Excerpt(NamedTuple):
    """The matched text of a document.

    Attributes:
        text: its first MAX_CHARACTERS characters.
        characters: the length of all of it.
    """

    text: str
    characters: int


def excerpt_of(
    text: str,
    first: int,
    end: int,
    guess: tuple[int, int] = (0, 0),
    *,
    read: Reading | None = None,
    version: int = VERSION,
) -> Excerpt:
    """The part of a text that has the tokens [first, end), or of which `read`, its other reading, has these; tokens of a `version`.

    `guess`: where the two tokens start in the normalized text, in characters; it never changes the result. A good one spares most
    of the work: each place that is looked at takes normalizing the text up to there.

    >>> excerpt_of("Hear: “To be, or not to be?” He sighed.", 1, 7)
    Excerpt(text='To be, or not to be?”', characters=21)
    """
    matched = text[slice(*span_of(text, first, end, guess, read=read, version=version))]
    return Excerpt(matched[:MAX_CHARACTERS], len(matched))


def span_of(
    text: str,
    first: int,
    end: int,
    guess: tuple[int, int] = (0, 0),
    *,
    read: Reading | None = None,
    version: int = VERSION,
) -> tuple[int, int]:
    """The characters [start, stop) of that part, without white space at its ends."""
    looked = text if read is None else read.text
    start, stop = (
        _longest_of(looked, tokens, _with_spaces(looked, at), version)
        for tokens, at in zip((first, end), guess, strict=True)
    )
    if read is not None and (inside := looked[start:stop]).strip():
        start, stop = read.original(start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip()))
    matched = text[start:stop]
    start += len(matched) - len(matched.lstrip())
    return start, start + len(matched.strip())


def _with_spaces(text: str, place: int) -> int:
    """The place in a text of a place in its normalized text, if all that differs is spaces that are folded to one or none."""
    for spaces in _FOLDED.finditer(text):
        if spaces.start() > place:
            break
        place += spaces.end() - spaces.start()
    return place


def _longest_of(text: str, tokens: int, guess: int, version: int) -> int:
    """The length of the longest beginning of a text that has at most so many tokens: at least `low`, and under `high`."""
    low, high, step = 0, len(text) + 1, 1
    at = min(guess, len(text))
    if token_count(text[:at], version) <= tokens:
        low = at
        while low + step < high and token_count(text[: low + step], version) <= tokens:
            low, step = low + step, 2 * step
        high = min(high, low + step)
    else:
        high = at
        while high > step and token_count(text[: high - step], version) > tokens:
            high, step = high - step, 2 * step
        low = max(low, high - step)
    return low + bisect_right(range(low, high), tokens, key=lambda length: token_count(text[:length], version)) - 1
