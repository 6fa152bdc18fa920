"""A CONNECTION: what uvicorn leaves to its callers. Headers must come in time and be few, and responses must be read.

A connection that waits for a request, or has sent a part of its headers, is closed after a time; one that does not read its
response, too. So idle, slow and half-closed clients hold a socket for a bounded time, and no thread.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from neardup.service.limits import HEADERS, Limits

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def connection_type(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol of connections under these limits."""

    class Connection(HttpToolsProtocol):
        """One connection."""

        _waits: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None
        _headers, _complete = 0, 0  # bytes that have come of headers, and those of whole ones

        def connection_made(self, transport: Any) -> None:
            """Begin to wait for a request, unless there are too many connections."""
            super().connection_made(transport)
            if len(self.connections) > limits.max_connections:
                transport.abort()
            else:
                self._begin_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection."""
            self._stop(self._waits, self._unread)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            """Parse what has come."""
            before = self._waits
            super().data_received(data)
            if self._waits is None or self._waits is not before:  # a body, or the headers are complete
                self._headers = 0
                return
            self._headers += len(data)
            if self._headers > HEADERS and not self.transport.is_closing():
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

        def on_message_begin(self) -> None:
            """Begin with the headers of a request."""
            self._complete = 0
            super().on_message_begin()

        def on_header(self, name: bytes, value: bytes) -> None:
            """Take a header.

            Raises:
                ValueError: there are too many. The parser tells uvicorn of it, which then sends a response of status 400.
            """
            self._complete += len(name) + len(value)
            if self._complete > HEADERS:
                raise ValueError("too many headers")
            super().on_header(name, value)

        def send_400_response(self, msg: str) -> None:
            """Refuse what is no request, or has too large headers."""
            if max(self._headers, self._complete) <= HEADERS:
                super().send_400_response(msg)
            else:
                self.transport.write(_TOO_LARGE)
                self._end()

        def on_headers_complete(self) -> None:
            """Begin with a request."""
            self._stop(self._waits)
            self._waits = None
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            """Wait for the next request, unless it is there."""
            is_last = not self.pipeline
            super().on_response_complete()
            if is_last and not self.transport.is_closing():
                self._unset_keepalive_if_required()  # the same time, and it would be reset by each byte
                self._begin_waiting()

        def pause_writing(self) -> None:
            """Note that the client does not read."""
            super().pause_writing()
            self._unread = self.loop.call_later(limits.timeout, self.transport.abort)

        def resume_writing(self) -> None:
            """Note that the client reads."""
            self._stop(self._unread)
            self._unread = None
            super().resume_writing()

        def _begin_waiting(self) -> None:
            self._headers = 0
            self._waits = self.loop.call_later(limits.timeout, self._end)

        def _end(self) -> None:
            """Close; what the client has not read by then is dropped a little later."""
            self.transport.close()
            self._stop(self._unread)
            self._unread = self.loop.call_later(limits.timeout, self.transport.abort)

        @staticmethod
        def _stop(*timers: asyncio.TimerHandle | None) -> None:
            for timer in timers:
                if timer is not None:
                    timer.cancel()

    return Connection
