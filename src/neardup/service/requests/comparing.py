"""COMPARING: two texts step by step, or side by side. It takes the processor, but no store, so one request does it at a time."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from neardup.judging.comparison import compare
from neardup.recipe.recipe import Recipe
from neardup.service.limits import WAITING_COMPARISONS, Limits
from neardup.service.messages.messages import AlignedRow, AlignedRows, Compared, TwoTexts, compared_of, converted
from neardup.service.problems import later
from neardup.text.side_by_side.rows import aligned_rows

Found = TypeVar("Found")


class Comparing:
    """The one comparison that goes on, and the few requests that may wait for it."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._is_free, self._waiting = limits, asyncio.Semaphore(1), 0

    async def compared(self, given: TwoTexts, recipe: Recipe) -> Compared:
        """The comparison of two texts.

        Raises:
            Problem: too many wait already, or its turn does not come.
        """
        return await self._one(lambda: compared_of(compare(given.left, given.right, recipe=recipe)))

    async def side_by_side(self, given: TwoTexts, recipe: Recipe) -> AlignedRows:
        """What two texts have in common, side by side.

        Raises:
            Problem: too many wait already, or its turn does not come.
        """
        steps = tuple(recipe.normalize)
        return await self._one(
            lambda: AlignedRows(
                converted(aligned_rows(given.left, given.right, steps, version=recipe.version), list[AlignedRow])
            )
        )

    async def _one(self, function: Callable[[], Found]) -> Found:
        await self._turn()
        try:
            return await asyncio.to_thread(function)
        finally:
            self._is_free.release()

    async def _turn(self) -> None:
        """Wait for it. Who waits has one of the few places for requests, so nobody waits for long, and few do."""
        if self._waiting >= WAITING_COMPARISONS:
            raise later("busy", f"{self._waiting} comparisons wait. Ask again later.")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.timeout):
                await self._is_free.acquire()
        except TimeoutError:
            raise later("busy", f"Other comparisons took {self._limits.timeout:g} s. Ask again later.") from None
        finally:
            self._waiting -= 1
