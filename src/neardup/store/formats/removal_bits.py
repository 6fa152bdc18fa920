"""MARKS: the numbers of documents that were removed, a bit each."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array

CHUNK_BYTES = 1 << 13
"""Bytes by which marks grow, and of which the record has a row each."""
NO_MARKS = np.zeros(0, np.uint8)


@dataclass
class Marks:
    """Marked numbers.

    Attributes:
        bits: uint8[b], the lowest number in the lowest bit of the first byte; numbers behind the last are not marked.
        count: how many are marked.
    """

    bits: Array
    count: int

    @classmethod
    def of(cls, bits: Array) -> "Marks":
        """For bits as the record has them."""
        return cls(bits, int(np.bitwise_count(bits).sum()))

    def has(self, numbers: Array) -> Array:
        """bool[n]: which of some numbers (int64[n]) are marked."""
        at = numbers >> 3
        inside = at < len(self.bits)
        found: Array = np.zeros(len(numbers), np.bool_)
        found[inside] = (self.bits[at[inside]] >> (numbers[inside] & 7).astype(np.uint8)) & 1
        return found

    def set(self, numbers: Array) -> None:
        """Mark numbers that are not marked yet, each once."""
        most = (int(numbers.max(initial=-1)) // (8 * CHUNK_BYTES) + 1) * CHUNK_BYTES
        if most > len(self.bits):
            grown = np.zeros(most, np.uint8)
            grown[: len(self.bits)] = self.bits
            self.bits = grown
        np.bitwise_or.at(self.bits, numbers >> 3, (1 << (numbers & 7)).astype(np.uint8))
        self.count += len(numbers)
