"""A CONNECTION: what uvicorn leaves to its callers. Headers must come in time and be few, and responses must be read.

A connection that waits for a request, or has sent a part of its headers, is closed after a time; one that does not read its
response, too. So idle, slow and half-closed clients hold a socket for a bounded time, and no thread.

A request may be refused before its body has come. What is left of the body is then read and dropped, for a bounded time and up to
a size. If the connection were closed instead, the system of the client would hear of it at once, and the client, or a proxy such as
nginx, would fail to send and never read the refusal.
"""

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from neardup.display import size_text
from neardup.service.limits import HEADER_BYTES, HEADER_LINES, Limits
from neardup.service.problems import MEDIA_TYPE, Problem

_NO_REQUEST = Problem("invalid_request", "What came is no request of HTTP/1.1.")
_TOO_LARGE = Problem(
    "headers_too_large",
    f"The first line and the headers have more than {size_text(HEADER_BYTES)} or {HEADER_LINES} lines. Send less in them.",
)


def connection_type(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol of connections under these limits."""
    return type("Connection", (Connection,), {"limits": limits})


class Connection(HttpToolsProtocol):
    """One connection.

    Attributes:
        limits: what it bears; of the class, which uvicorn calls.
    """

    limits: ClassVar[Limits]
    _waits: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _headers, _complete, _lines = 0, 0, 0  # bytes that have come of headers, those of whole ones, and their number
    _has_more, _is_begun, _is_last = False, False, False  # of the request that came last: see `_is_dropping`
    _dropped = 0  # bytes of a body

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            transport.abort()
        else:
            self._begin_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        _stop(self._waits, self._unread)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before, was_dropping = self._waits, self._is_dropping
        super().data_received(data)
        if was_dropping or self._is_dropping:
            self._headers = 0
            self._dropped += len(data)
            if self._dropped > self.limits.max_dropped:
                self._end()
        elif self._waits is None or self._waits is not before:  # a body, or the headers are complete
            self._headers = 0
        else:
            self._headers += len(data)
            if self._headers > HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response("")

    def eof_received(self) -> bool:  # type: ignore[override]
        """Let a client that sends no more read its answers. Returns whether the connection stays open for that."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or self.transport.get_extra_info("ssl_object") is not None:
            return False
        if cycle.more_body:  # it will never come
            cycle.disconnected = True
            cycle.message_event.set()
            return False
        last = self.pipeline[0][0] if self.pipeline else cycle
        last.keep_alive = False
        return True

    # ------------------------------------------------------------------------------------------- headers of requests

    def on_message_begin(self) -> None:
        self._complete = self._lines = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address; a ValueError, as of `on_header`, if it is too long."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header.

        Raises:
            ValueError: there are too many, or two hosts. The parser tells uvicorn, which then sends a response of status 400.
        """
        self._lines += 1
        self._count(len(name) + len(value))
        if name.lower() == b"host" and any(known == b"host" for known, _ in self.headers):
            raise ValueError("two hosts")
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._complete += size
        if self._is_too_large:
            raise ValueError("too many headers")

    @property
    def _is_too_large(self) -> bool:
        return max(self._headers, self._complete) > HEADER_BYTES or self._lines > HEADER_LINES

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - what uvicorn says is no problem detail
        """Refuse what is no request, or has too large headers."""
        problem = _TOO_LARGE if self._is_too_large else _NO_REQUEST
        status, body = HTTPStatus(problem.status), problem.body()
        first = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        )
        self.transport.write(first.encode() + b"connection: close\r\n\r\n" + body)
        self._end()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing of what could be installed: the request is answered like any other, without the upgrade."""

    def on_headers_complete(self) -> None:
        _stop(self._waits)
        self._waits = None
        super().on_headers_complete()  # raises if the address is none
        self._has_more, self._is_begun, self._dropped = True, False, 0
        self.cycle.transport = _Response(self)  # type: ignore[assignment]  # it needs no more of a transport

    # ---------------------------------------------------------------------------------- bodies, and ends of responses

    def on_body(self, body: bytes) -> None:
        self._is_begun = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take the end of a body, which is dropped if the response is complete."""
        self._has_more = False
        super().on_message_complete()
        if self._is_last:
            self._end()

    @property
    def _is_dropping(self) -> bool:
        """Whether what comes belongs to a request that was answered already."""
        return self._has_more and self.cycle.response_complete

    def end_after_request(self) -> None:
        """Close, but first drop what is left of the request."""
        if self._has_more and not self.pipeline:
            self._is_last = True
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is there."""
        is_last = not self.pipeline
        super().on_response_complete()
        if self._has_more and self.expect_100_continue and not self._is_begun:  # a client may leave out the body now
            self._end()
        elif is_last and not self.transport.is_closing():
            self._unset_keepalive_if_required()  # the same time, and it would be reset by each byte
            self._begin_waiting()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.limits.timeout, self.transport.abort)

    def resume_writing(self) -> None:
        _stop(self._unread)
        self._unread = None
        super().resume_writing()

    def _begin_waiting(self) -> None:
        self._headers = 0
        self._waits = self.loop.call_later(self.limits.timeout, self._end)

    def _end(self) -> None:
        """Close; what the client has not read by then is dropped a little later."""
        self.transport.close()
        _stop(self._unread)
        self._unread = self.loop.call_later(self.limits.timeout, self.transport.abort)


class _Response:
    """What a response is written to: the transport of a connection, which a response closes only after its request has come."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.write = connection.transport.write
        self.is_closing = connection.transport.is_closing

    def close(self) -> None:
        self._connection.end_after_request()


def _stop(*timers: asyncio.TimerHandle | None) -> None:
    for timer in timers:
        if timer is not None:
            timer.cancel()
