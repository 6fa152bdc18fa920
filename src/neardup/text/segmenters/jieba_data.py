"""The files of the installed package jieba: its dictionary with counts, and its model for guessing words."""

import ast
from functools import cache
from typing import Any

from neardup.errors import DataError
from neardup.recipe.jieba_files import DICTIONARY, MODEL, read_jieba_file

STATES = "BEMS"
"""A word's begin, end and middle, and a word of one character."""
IMPOSSIBLE = -3.14e100
"""jieba's logarithm of a probability that is 0."""


def read_counts() -> tuple[dict[str, int], int]:
    """The count of each word in jieba's dictionary, and the sum of all counts.

    Raises:
        DataError: a line is damaged.
    """
    counts: dict[str, int] = {}
    total = 0
    try:
        lines = read_jieba_file(DICTIONARY).decode().splitlines()
        for line in lines:
            word, count = line.strip().split(" ")[:2]
            number = int(count)
            counts[word] = number
            total += number
    except ValueError as problem:
        raise DataError(f"The file {DICTIONARY} of the package jieba is damaged: {problem}. Install jieba again.") from None
    return counts, total


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
        raise DataError(f"The model of the package jieba, finalseg/prob_*.py, is damaged: {problem!r}. Install jieba again.") from None
    return start, move, shown
