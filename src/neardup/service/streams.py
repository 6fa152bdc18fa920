"""STREAMS: lines are answered part after part, while the request may still come."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from neardup.service.admission import Admission, Asked
from neardup.service.bodies import LINES, decode, read_lines
from neardup.service.limits import PART
from neardup.service.problems import problem_of

Answered = Callable[[list[Any], int], Awaitable[bytes]]
"""What makes lines of answers to values, the first of which has a number."""


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

    Args:
        asked: the request.
        admission: what all requests share.
        kind: the type of a line.
        answered: makes the answers.
        is_cut_by_number: whether a part has always `PART` lines, however they come.

    Raises:
        Problem: a line is wrong, or comes too slowly; or the store refuses.
    """
    first, waiting = 0, list[bytes]()
    async for lines in read_lines(asked.request.receive, admission.limits, asked.held):
        waiting += lines
        while len(waiting) >= PART or (waiting and not is_cut_by_number):
            yield await _part(asked, admission, waiting[:PART], kind, answered, first)
            first += len(waiting[:PART])
            del waiting[:PART]
    if waiting:
        yield await _part(asked, admission, waiting, kind, answered, first)


async def _part(
    asked: Asked, admission: Admission, lines: list[bytes], kind: type, answered: Answered, first: int
) -> bytes:
    values = [decode(line, kind, f"line {first + place} (counted from 0)") for place, line in enumerate(lines)]
    while seconds := admission.wait_for(asked.caller, len(values)):
        await asyncio.sleep(seconds)
    body = await answered(values, first)
    asked.documents += len(values)
    return body
