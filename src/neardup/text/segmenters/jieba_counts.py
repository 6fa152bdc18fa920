"""The counts of words in jieba's dictionary and a user's, added in the user's order, as `add_word` of jieba does."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from neardup.text.segmenters.jieba_data import read_counts

_BLOCKS = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&\._%\-]+)")
"""What jieba looks for words in."""
_ALPHANUMERIC = re.compile(r"[a-zA-Z0-9]")


@dataclass
class WordCounts:
    """The counts of words.

    Attributes:
        counts: the count of each word; 0 for a word that was removed.
        total: the sum of all counts that were ever given.
        forbidden: words that were removed, and are not guessed either.
    """

    counts: dict[str, int]
    total: int
    forbidden: set[str] = field(default_factory=set)

    def add(self, word: str, count: int | None) -> None:
        """Give a word a count, or without one that which makes it a word wherever it occurs; a count of 0 removes it."""
        count = self.suggested(word) if count is None else count
        self.counts[word] = count
        self.total += count
        if "_beginnings" in vars(self):
            self._beginnings.update(word[:end] for end in range(1, len(word)))
        if count == 0:
            self.forbidden.add(word)

    @cached_property
    def _beginnings(self) -> set[str]:
        return {word[:end] for word in self.counts for end in range(1, len(word))}

    def _count(self, part: str) -> int:
        """The count of a word; 0 of a beginning of words, and 1 of what is neither."""
        return self.counts.get(part, 0 if part in self._beginnings else 1)

    def suggested(self, word: str) -> int:
        """The smallest count by which a word is likelier than what it is cut into without it, and not less than it has."""
        share = 1.0
        for part in self._cut(word):
            share *= self._count(part) / float(self.total)
        return max(int(share * self.total) + 1, self._count(word))

    def _cut(self, text: str) -> Iterator[str]:
        """The tokens of a text, without guesses."""
        for number, block in enumerate(_BLOCKS.split(text)):
            yield from self._cut_block(block) if number % 2 else block

    def _cut_block(self, block: str) -> Iterator[str]:
        """The words of the likeliest way through; letters and digits that are words alone are joined."""
        ends, letters = self._likeliest(block), ""
        start = 0
        while start < len(block):
            word = block[start : ends[start]]
            start = ends[start]
            if len(word) == 1 and _ALPHANUMERIC.match(word):
                letters += word
                continue
            if letters:
                yield letters
                letters = ""
            yield word
        if letters:
            yield letters

    def _likeliest(self, block: str) -> list[int]:
        """Where the word ends that begins at each character, if the block from there on is cut into the likeliest words."""
        n, total = len(block), math.log(self.total)
        best, ends = [0.0] * (n + 1), [0] * n
        for i in range(n - 1, -1, -1):
            found = [
                (math.log(self._count(block[i:end])) - total + best[end], end) for end in self._words_from(block, i)
            ]
            best[i], ends[i] = max(found) if found else (-total + best[i + 1], i + 1)
        return ends

    def _words_from(self, block: str, i: int) -> Iterator[int]:
        """Where the words end that begin at a character."""
        for end in range(i + 1, len(block) + 1):
            part = block[i:end]
            if self.counts.get(part):
                yield end
            elif part not in self.counts and part not in self._beginnings:
                return


def counted(words: Iterable[tuple[str, int | None]]) -> WordCounts:
    """Jieba's dictionary with a user's words, in their order.

    Raises:
        DataError: jieba's dictionary is damaged.
    """
    found = WordCounts(*read_counts()[:2])
    for word, count in words:
        found.add(word, count)
    return found
