"""Chinese words by rjieba, the binding of jieba-rs; runs in worker processes, so it imports nothing heavy."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from neardup.recipe.word_lists import WordList
from neardup.text.segmenters.cutting import Cut, CutterSettings

_ENTRY = re.compile(r"(\S+)(?:\s+([0-9]+))?(?:\s+([A-Za-z]+))?")
MOST = 10**12
"""The largest count of a word in a user dictionary: sums of counts stay far below 64 bits."""


def entry_problems(dictionary: WordList) -> list[str]:
    """The problems in the lines of a user dictionary: each has a word, and may have its count and its part of speech."""
    return [
        f"dictionary {dictionary.name!r}, line {number}: {line!r} is not a word, or a word and its count (at most {MOST:,}), "
        "or these and its part of speech, with spaces between"
        for number, line in zip(dictionary.numbers, dictionary.lines, strict=True)
        if (found := _ENTRY.fullmatch(line)) is None or int(found[2] or 0) > MOST
    ]


def entries(dictionary: WordList) -> list[tuple[str, int | None]]:
    """The words of a user dictionary, with their counts where they have any."""
    found = [_ENTRY.fullmatch(line) for line in dictionary.lines]
    return [(each[1], int(each[2]) if each[2] else None) for each in found if each is not None]


def cutter(settings: CutterSettings) -> Cut:
    """The function that cuts a text, with its own dictionary."""
    import rjieba

    jieba: Any = rjieba.Jieba()
    for word, count in settings.dictionary:
        jieba.add_word(word, count, None)  # without a count, the word gets one that makes it a word wherever it occurs
    cut = jieba.cut_for_search if settings.mode == "search" else jieba.cut
    found: Cut = partial(_cut, cut, settings.hmm)
    return found


def _cut(cut: Any, hmm: bool, text: str) -> Sequence[str]:
    tokens: list[str] = cut(text, hmm)
    return tokens
