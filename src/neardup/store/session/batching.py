"""BLOCKS: texts that are worked on together, fewer where so many are alike that their pairs would take too much memory; and what
can be read together of files that are damaged.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.store.formats.segments import TooManyPairsError

T = TypeVar("T")
Numbers = TypeVar("Numbers", Sequence[int], range, Array)


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


def by_halves(read: Callable[[Numbers], T], numbers: Numbers) -> Iterator[tuple[Numbers, T | None]]:
    """What is read under some numbers, with as many as can be read together; None for each that is damaged."""
    try:
        found = read(numbers)
    except DataError:
        if len(numbers) < 2:
            yield numbers, None
            return
        half = len(numbers) // 2
        for some in (numbers[:half], numbers[half:]):
            yield from by_halves(read, some)
        return
    yield numbers, found
