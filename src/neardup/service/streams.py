"""STREAMS: a response whose lines are sent as they are known, while the request may still come."""

from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from neardup.service.bodies import LINES
from neardup.service.problems import problem_of


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
