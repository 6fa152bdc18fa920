"""A passage of a document as it stands there, for people to read: found again from its tokens, which are of the normalized text."""

from bisect import bisect_right
from typing import NamedTuple

from neardup.matching.contamination.token_places import token_count

CHARACTERS = 300
"""An excerpt has at most so many characters."""


class Excerpt(NamedTuple):
    """A passage of a document.

    Attributes:
        text: its first CHARACTERS characters.
        characters: the length of the whole passage.
    """

    text: str
    characters: int


def excerpt_of(text: str, first: int, end: int) -> Excerpt:
    """The passage of a text that has the tokens [first, end).

    >>> excerpt_of("Hear: “To be, or not to be?” He sighed.", 1, 7)
    Excerpt(text='To be, or not to be?”', characters=21)
    """
    lengths = range(len(text) + 1)
    start = bisect_right(lengths, first, key=lambda length: token_count(text[:length])) - 1
    stop = bisect_right(lengths, end, lo=start, key=lambda length: token_count(text[:length])) - 1
    passage = text[start:stop].strip()
    return Excerpt(passage[:CHARACTERS], len(passage))
