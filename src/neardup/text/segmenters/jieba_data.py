"""The files of the installed package jieba: its dictionary with counts, and its model for guessing words."""

import hashlib
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from neardup.errors import DataError
from neardup.recipe.stored_parts import check_installed

DICTIONARY = "dict.txt"
MODEL = ("finalseg/prob_start.py", "finalseg/prob_trans.py", "finalseg/prob_emit.py")
STATES = "BEMS"
"""A word's begin, end and middle, and a word of one character."""
IMPOSSIBLE = -3.14e100
"""jieba's logarithm of a probability that is 0."""
EXTRA = "zh"


def jieba_file(name: str) -> Path:
    """The path of a file of the installed package jieba, which is not imported: that takes a second."""
    found = importlib.util.find_spec("jieba")
    assert found is not None  # checked by the callers
    assert found.origin is not None
    return Path(found.origin).parent / name


def _content(name: str) -> bytes:
    try:
        return jieba_file(name).read_bytes()
    except OSError as problem:
        raise DataError(f"The file {name} of the package jieba cannot be read ({problem}). Install jieba again.") from None


@cache
def words_digest(what: str = "segmenter='jieba'") -> str:
    """The digest of all files of jieba that decide tokens, 16 hexadecimal digits.

    Raises:
        MissingExtra: jieba is not installed; `what` needs it.
        DataError: a file cannot be read.
    """
    check_installed(what, ("jieba",), EXTRA)
    digest = hashlib.sha256()
    for name in (DICTIONARY, *MODEL):
        content = _content(name)
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def read_counts() -> tuple[dict[str, int], int]:
    """The count of each word in jieba's dictionary, and the sum of all counts.

    Raises:
        DataError: a line is damaged.
    """
    counts: dict[str, int] = {}
    total = 0
    try:
        lines = _content(DICTIONARY).decode().splitlines()
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
    import ast

    content = _content(name).decode()
    return ast.literal_eval(content[content.index("{") :].strip())


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
