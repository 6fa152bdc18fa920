"""The files of the installed package jieba: its dictionary with counts, and its model for guessing words."""

import ast
from functools import cache
from typing import Any, NamedTuple

from neardup.errors import DataError
from neardup.recipe.files.jieba_files import DICTIONARY, MODEL, TAG_MODEL, read_jieba_file

STATES = "BEMS"
"""A word's begin, end and middle, and a word of one character."""
IMPOSSIBLE = -3.14e100
"""jieba's logarithm of a probability that is 0."""


def read_counts() -> tuple[dict[str, int], int, dict[str, str]]:
    """The count of each word in jieba's dictionary, the sum of all counts, and the tag of each word.

    Raises:
        DataError: a line is damaged.
    """
    counts: dict[str, int] = {}
    tags: dict[str, str] = {}
    total = 0
    try:
        lines = read_jieba_file(DICTIONARY).decode().splitlines()
        for line in lines:
            word, count, tag = line.strip().split(" ")
            number = int(count)
            counts[word], tags[word] = number, tag
            total += number
    except ValueError as problem:
        raise DataError(
            f"The file {DICTIONARY} of the package jieba is damaged: {problem}. Install jieba again."
        ) from None
    return counts, total, tags


def _table(name: str) -> Any:
    """The one value of a source file that is nothing but `P = …`; it is read, not run."""
    content = read_jieba_file(name).decode()
    return ast.literal_eval(content[content.index("{") :].strip())


@cache
def read_model() -> tuple[dict[str, float], dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """The logarithms of the probabilities of jieba's model: of the first state, of the next one, and of a character in a state.

    Raises:
        DataError: a file is damaged.
    """
    try:
        start, move, shown = (_table(name) for name in MODEL)
        assert set(start) == set(move) == set(shown) == set(STATES)
    except (ValueError, SyntaxError, AssertionError, TypeError) as problem:
        raise DataError(
            f"The model of the package jieba, finalseg/prob_*.py, is damaged: {problem!r}. Install jieba again."
        ) from None
    return start, move, shown


State = tuple[str, str]
"""A place in a word, of STATES, and a tag."""


class TagProbabilities(NamedTuple):
    """The logarithms of the probabilities of jieba's model of tags.

    Attributes:
        start: of each state to be first.
        move: of each state after each.
        shown: of each character in each state.
        of: the states that each character has.
    """

    start: dict[State, float]
    move: dict[State, dict[State, float]]
    shown: dict[State, dict[str, float]]
    of: dict[str, tuple[State, ...]]


def read_tag_model() -> TagProbabilities:
    """Jieba's model of tags; takes some seconds.

    Raises:
        DataError: a file is damaged.
    """
    try:
        found = TagProbabilities(*map(_table, TAG_MODEL))
        assert set(found.start) == set(found.move) == set(found.shown)
    except (ValueError, SyntaxError, AssertionError, TypeError) as problem:
        raise DataError(
            f"The model of the package jieba, posseg/*.py, is damaged: {problem!r}. Install jieba again."
        ) from None
    return found
