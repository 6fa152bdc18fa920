"""PARTITIONS: windows by their hash, in temporary files, each with the row of its words."""

import os
import tempfile
from collections.abc import Iterator
from threading import Lock

import numpy as np

from neardup.arrays import Array
from neardup.kernels.repeats.partitions import count_words, pack, unpack
from neardup.resources.resources import Resources
from neardup.resources.temporary_files import TemporaryFiles

HELD_WORDS, MOST_HELD_WORDS, LEAST_HELD_WORDS = 1 << 22, 1 << 15, 1 << 9
"""Words that all parts hold together before they are written, and each part at most and at least."""
PLACES_BITS = 17
"""A partition for so many places of the corpus, so that its table of hashes stays in a processor's cache; up to 2^MAX_BITS."""
MAX_BITS = 12
FILES = 16
"""The partitions lie in at most so many files, so that disk is given back while they are read."""


class WordFiles:
    """uint64 words of many parts, appended in blocks to a few temporary files; a file goes when all its parts are taken."""

    def __init__(self, parts: int, files: TemporaryFiles) -> None:
        self._files, self._lock = files, Lock()
        self._most_held = min(MOST_HELD_WORDS, max(LEAST_HELD_WORDS, HELD_WORDS // parts))
        self._each = -(-parts // FILES)
        count = -(-parts // self._each)
        self._open = [tempfile.TemporaryFile(dir=files.given, prefix="neardup-") for _ in range(count)]  # noqa: SIM115
        self._sizes, self._left = [0] * len(self._open), [0] * len(self._open)
        self._blocks: list[list[tuple[int, int]]] = [[] for _ in range(parts)]
        self._held: list[list[Array]] = [[] for _ in range(parts)]
        self._counts = [0] * parts
        for part in range(parts):
            self._left[part // self._each] += 1

    def __len__(self) -> int:
        return len(self._blocks)

    def add(self, part: int, words: Array) -> None:
        """Append words (uint64[]) to a part; they must not be changed afterwards."""
        self._held[part].append(words)
        self._counts[part] += len(words)
        if self._counts[part] >= self._most_held:
            self._write(part)

    def _write(self, part: int) -> None:
        number = part // self._each
        file = self._open[number]
        data = np.concatenate(self._held[part])
        self._held[part], self._counts[part] = [], 0
        self._files.add(data.nbytes)
        file.seek(self._sizes[number])
        file.write(data.data)
        self._blocks[part].append((self._sizes[number], len(data)))
        self._sizes[number] += data.nbytes

    def count(self, part: int) -> int:
        """How many words a part has."""
        return sum(count for _, count in self._blocks[part]) + self._counts[part]

    def blocks(self, part: int) -> Iterator[Array]:
        """The words of a part, in order; from any thread, once all are added."""
        file = self._open[part // self._each]
        for start, count in self._blocks[part]:
            words = np.empty(count, np.uint64)
            data, at = words.view(np.uint8).data, start
            while data:
                read = os.preadv(file.fileno(), [data], at)
                data, at = data[read:], at + read
            yield words
        if self._held[part]:
            yield np.concatenate(self._held[part])

    def flush(self) -> None:
        """What was written can be read."""
        for file in self._open:
            file.flush()

    def taken(self, part: int) -> None:
        """A part is needed no more; from any thread."""
        number = part // self._each
        self._held[part] = []
        with self._lock:
            self._left[number] -= 1
            if not self._left[number]:
                self._close(number)

    def _close(self, number: int) -> None:
        if not self._open[number].closed:
            self._open[number].close()
            self._files.remove(self._sizes[number])

    def close(self) -> None:
        for number in range(len(self._open)):
            self._close(number)


class Partitions:
    """Windows by the upper bits of their hash, with their places, which ascend."""

    def __init__(self, places: int, resources: Resources, *, bits: int = 0) -> None:
        """`places`: of the whole corpus. There are at least 2^`bits` partitions."""
        self.bits = min(MAX_BITS, max(bits, (places >> PLACES_BITS).bit_length()))
        self._last = np.zeros(1 << self.bits, np.int64)
        self.words = WordFiles(1 << self.bits, resources.files)

    def __len__(self) -> int:
        return 1 << self.bits

    def add(self, first: int, values: Array, places: Array) -> None:
        """Add windows: their hashes, and places counted from `first`; one call after another, in order."""
        n = len(values)
        counts = np.empty(len(self), np.int64)
        count_words(values, places, n, first, self.bits, self._last.copy(), counts)
        out = np.empty(int(counts.sum()), np.uint64)
        begins = np.cumsum(counts) - counts
        ends = begins.copy()
        pack(values, places, n, first, self.bits, self._last, ends, out)
        for part in np.flatnonzero(ends > begins).tolist():
            self.words.add(part, out[begins[part] : ends[part]])

    def windows(self, part: int) -> Iterator[tuple[Array, Array]]:
        """The hashes (uint64[n], of 48 bits) and places (int64[n]) of a partition, block by block."""
        place = 0
        for words in self.words.blocks(part):
            keys, places = np.empty(len(words), np.uint64), np.empty(len(words), np.int64)
            n, place = unpack(words, place, keys, places)
            yield keys[:n], places[:n]
