"""Working memory that a thread reuses for its next chunk: fresh pages would cost a sixth of the time."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from neardup.recipe.tables.parts import FOLDING
from neardup.text.normalizers import FoldedTexts, compared_form

KEPT_BYTES = 1 << 23
"""Larger memory for normalized texts is freed at once."""
KEPT_TEXT_BYTES = 1 << 20
"""So is the data of kernels for longer texts: it may take sixteen times as much."""

Scratch = TypeVar("Scratch")


class Workspace(threading.local, Generic[Scratch]):
    """One thread's memory for normalized texts, and for the data that a kernel needs for one of them.

    `make(longest, size)` creates that data for texts of at most `longest` bytes; `size` is a second parameter of it.
    """

    def __init__(self, make: Callable[[int, int], Scratch]) -> None:
        self._make = make
        self._buffer = np.empty(0, np.uint8)
        self._longest, self._size = -1, 0
        self._scratch: Scratch | None = None

    def fold(self, texts: Any, steps: Sequence[Any] = FOLDING) -> FoldedTexts:
        """The folded texts, after the `steps` of a recipe (see `compared_form`), until the next call."""
        folded = compared_form(texts, steps, self._buffer)
        if len(self._buffer) < len(folded.data) <= KEPT_BYTES:
            self._buffer = folded.data
        return folded

    def scratch(self, longest: int, size: int) -> Scratch:
        """The kernel's data for texts of at least this length."""
        if longest > KEPT_TEXT_BYTES:
            return self._make(longest, size)
        if self._scratch is None or longest > self._longest or size != self._size:
            self._longest, self._size = longest, size
            self._scratch = self._make(longest, size)
        return self._scratch
