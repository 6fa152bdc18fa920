"""BLOCKS: texts that are worked on together, fewer where so many are alike that their pairs would take too much memory."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from neardup.store.formats.segments import TooManyPairsError

T = TypeVar("T")


class Blocks:
    """Cuts texts into blocks; their sizes follow what was found so far. Results must not depend on them."""

    def __init__(self, most: int) -> None:
        """`most`: texts in a block, at most."""
        self._most = self._size = most

    def over(self, count: int, work: Callable[[slice], T]) -> Iterator[T]:
        """The results for so many texts, block after block. Work that raises `TooManyPairsError` has changed nothing."""
        begin = 0
        while begin < count:
            some = slice(begin, min(begin + self._size, count))
            try:
                found = work(some)
            except TooManyPairsError:
                self._size = max(1, (some.stop - begin) // 4)
                continue
            self._size = min(self._most, 2 * self._size)
            begin = some.stop
            yield found
