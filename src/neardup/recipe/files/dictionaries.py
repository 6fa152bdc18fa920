"""The lines of user dictionaries: what each segmenter with a dictionary can read."""

import csv
import re
from collections.abc import Callable
from typing import Any

from neardup.recipe.files.word_lists import WordList

JIEBA_ENTRY = re.compile(r"(\S+)(?:\s+([0-9]+))?(?:\s+([A-Za-z]+))?")


def jieba_entries(dictionary: WordList) -> list[tuple[str, int | None]]:
    """The words of a dictionary for jieba or cppjieba, with their counts where they have any."""
    found = [JIEBA_ENTRY.fullmatch(line) for line in dictionary.lines]
    return [(each[1], int(each[2]) if each[2] else None) for each in found if each is not None]


MAX_COUNT = 10**12
"""The largest count of a word in a user dictionary: sums of counts stay far below 64 bits."""
SUDACHI_COLUMNS = (18, 19)


def jieba_problems(dictionary: WordList) -> list[str]:
    """The problems in the lines of a dictionary for jieba or cppjieba: a word, and perhaps its count and its part of speech."""
    return [
        f"dictionary {dictionary.name!r}, line {number}: {line!r} is not a word, or a word and its count (at most {MAX_COUNT:,}), "
        "or these and its part of speech, with spaces between"
        for number, line in zip(dictionary.numbers, dictionary.lines, strict=True)
        if (found := JIEBA_ENTRY.fullmatch(line)) is None or int(found[2] or 0) > MAX_COUNT
    ]


def sudachi_problems(dictionary: WordList) -> list[str]:
    """The problems in the lines of the source of a dictionary for Sudachi that show without building it."""
    return [
        f"dictionary {dictionary.name!r}, line {number}: {len(row)} columns; an entry of Sudachi's user dictionary (CSV) has 18"
        for number, line in zip(dictionary.numbers, dictionary.lines, strict=True)
        if len(row := next(csv.reader([line]))) not in SUDACHI_COLUMNS
    ]


PROBLEMS: dict[str, Callable[[WordList], list[str]]] = {
    "jieba": jieba_problems,
    "rjieba": jieba_problems,
    "cppjieba": jieba_problems,
    "sudachi": sudachi_problems,
}
"""By the segmenter: what finds the problems in the lines of its dictionary."""


def dictionary_problems(segmenter: Any, dictionary: WordList) -> list[str]:
    """The problems of the lines of a user dictionary; of a segmenter without dictionaries, none."""
    find = PROBLEMS.get(segmenter) if isinstance(segmenter, str) else None
    return [] if find is None else find(dictionary)
