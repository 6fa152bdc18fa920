"""STREAMS: lines are answered part after part, while the request may still come."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from neardup.service.admission import Admission, Asked
from neardup.service.limits import Limits
from neardup.service.problems import problem_of
from neardup.service.requests.bodies import LINES, decode, decoded, read_lines

Answered = Callable[[list[Any], int, int], Awaitable[bytes]]
"""What makes lines of answers to values, the first of which has a number; last, the number of their part."""


class LineStream(Response):
    """Lines of JSON. If something fails after the first of them, a problem is the last line; if before, it is the response.

    Attributes:
        failure: what ended the stream early; None if nothing did.
    """

    def __init__(self, parts: AsyncIterator[bytes]) -> None:
        super().__init__(media_type=LINES)
        del self.headers["content-length"]
        self._parts = parts
        self.failure: BaseException | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send the lines.

        Raises:
            Exception: whatever fails before anything was sent.
        """
        has_begun = False
        try:
            async for part in self._parts:
                if not has_begun:
                    await self._begin(send)
                    has_begun = True
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except Exception as failure:
            if not has_begun:
                raise
            self.failure = failure
            line = problem_of(failure).body() + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
        if not has_begun:
            await self._begin(send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})


async def parts(
    asked: Asked, admission: Admission, kind: type, answered: Answered, *, is_cut_by_number: bool = False
) -> AsyncIterator[bytes]:
    """The answers to lines, part after part: to what has come, or always to the same lines together.

    Lines that wait for their part count as memory until they are answered. If that is too much, the stream is refused. It does not
    wait for memory that others may give up: these might wait for what it holds.

    Args:
        asked: the request.
        admission: what all requests share.
        kind: the type of a line.
        answered: makes the answers.
        is_cut_by_number: whether a part has always `lines_per_part` lines, or as many as `bytes_per_part` has room for,
            however they come.

    Raises:
        Problem: a line is wrong, or comes too slowly; or the store refuses.
    """
    first, number, waiting = 0, 0, list[bytes]()
    async for lines in _and_an_end(read_lines(asked.request.receive, admission.limits, asked.held)):
        waiting += lines or ()
        if lines:
            lines.clear()
        while part := _first_part(waiting, admission.limits, may_be_short=lines is None or not is_cut_by_number):
            yield await _part(asked, admission, part, kind, answered, first, number)
            asked.held.release(sum(map(len, part)))
            first, number = first + len(part), number + 1
            del waiting[: len(part)]


async def _and_an_end(all_lines: AsyncIterator[list[bytes]]) -> AsyncIterator[list[bytes] | None]:
    async for lines in all_lines:
        yield lines
    yield None


def _first_part(waiting: list[bytes], limits: Limits, *, may_be_short: bool) -> list[bytes]:
    """The lines that are decided next; none if others that are still to come may belong to them."""
    most, size = limits.lines_per_part, 0
    for place, line in enumerate(waiting[:most]):
        size += len(line)
        if size > limits.bytes_per_part and place:
            return waiting[:place]
    return waiting[:most] if may_be_short or len(waiting) >= most else []


async def _part(
    asked: Asked, admission: Admission, lines: list[bytes], kind: type, answered: Answered, first: int, number: int
) -> bytes:
    def decodes() -> list[Any]:
        return [decode(line, kind, f"line {first + place} (counted from 0)") for place, line in enumerate(lines)]

    values = await decoded(lines, decodes)
    while seconds := admission.wait_for(asked.caller, len(values)):
        await asyncio.sleep(seconds)
    body = await answered(values, first, number)
    asked.documents += len(values)
    return body
