"""A load on an HTTP service: prepared requests over kept connections, bounded in number and time.

Without a rate, each connection sends its next request when it has an answer. With one, requests are due at fixed times, and wait
for a free connection; a latency is counted from when the request was due, so that a slow answer makes later ones late, too.
"""

import asyncio
import collections
import gc
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOST_IDLE = 10.0
"""Seconds for which a connection is kept that nobody uses. A service closes it after 30."""


@dataclass
class Load:
    """What came of it.

    Attributes:
        latencies: seconds of each answer.
        statuses: how many answers of each status.
        seconds: from the first request to the last answer.
    """

    latencies: list[float] = field(default_factory=list)
    statuses: collections.Counter[int] = field(default_factory=collections.Counter)
    seconds: float = 0.0

    def as_record(self, of_each: int = 1) -> dict[str, object]:
        """Figures, where each request has so many documents."""
        times = 1e3 * np.array(self.latencies)
        return {
            "a_second": round(len(times) * of_each / self.seconds),
            "requests": len(times),
            "median_ms": round(float(np.median(times)), 2),
            "p99_ms": round(float(np.percentile(times, 99)), 2),
            "most_ms": round(float(times.max()), 2),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
        }


def request(path: str, body: bytes, headers: str = "") -> bytes:
    """A request as it is sent."""
    known = f"Host: localhost\r\nContent-Type: application/json\r\n{headers}Content-Length: {len(body)}"
    return f"POST {path} HTTP/1.1\r\n{known}\r\n\r\n".encode() + body


class _Connection(asyncio.Protocol):
    def __init__(self, work: "_Work") -> None:
        self._work, self._came, self.began = work, bytearray(), 0.0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._work.is_free(self, has_answer=False)

    def send(self, sent: bytes, due: float) -> None:
        self.began = due
        self._transport.write(sent)

    def data_received(self, data: bytes) -> None:
        self._came += data
        end = self._came.find(b"\r\n\r\n")
        if end < 0:
            return
        at = self._came.lower().find(b"content-length:", 0, end)
        length = int(self._came[at + 15 : self._came.find(b"\r\n", at)])
        if len(self._came) < end + 4 + length:
            return
        found = self._work.found
        found.latencies.append(time.perf_counter() - self.began)
        found.statuses[int(self._came[9:12])] += 1
        self._came.clear()
        self._work.is_free(self, has_answer=True)

    def connection_lost(self, _: Exception | None) -> None:
        self._work.lost()


class _Work:
    def __init__(self, requests: Iterator[bytes], seconds: float, rate: float | None) -> None:
        self.found, self._requests, self._rate = Load(), requests, rate
        self._free: collections.deque[_Connection] = collections.deque()
        self._running, self._sent = 0, 0
        self._began = time.perf_counter()
        self._ends = self._began + seconds
        self._is_waiting, self._is_over, self.done = False, False, asyncio.get_running_loop().create_future()

    def is_free(self, connection: _Connection, *, has_answer: bool) -> None:
        self._running -= has_answer
        self._free.append(connection)
        self.go_on()

    def go_on(self) -> None:
        """Send what is due on free connections."""
        while self._free and not self._is_over:
            now = time.perf_counter()
            due = now if self._rate is None else self._began + self._sent / self._rate
            if due >= self._ends or now >= self._ends + 10:
                self._is_over = True
                break
            if due > now:
                if not self._is_waiting:  # a single timer, however many connections are free
                    self._is_waiting = True
                    asyncio.get_running_loop().call_later(due - now, self._is_due)
                return
            sent = next(self._requests, None)
            if sent is None:
                self._is_over = True
                break
            self._sent += 1
            self._running += 1
            self._free.popleft().send(sent, due)
        if self._is_over and not self._running and not self.done.done():
            self.found.seconds = time.perf_counter() - self._began
            self.done.set_result(None)

    def _is_due(self) -> None:
        self._is_waiting = False
        self.go_on()

    def lost(self) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError("the service has closed a connection"))


async def _load(
    ports: Sequence[int], requests: Iterator[bytes], connections: int, seconds: float, rate: float | None
) -> Load:
    work = _Work(requests, seconds, rate)
    loop = asyncio.get_running_loop()
    of_each = itertools.islice(itertools.cycle(ports), connections)
    made = [(await loop.create_connection(lambda: _Connection(work), "127.0.0.1", port))[0] for port in of_each]
    await asyncio.wait_for(work.done, seconds + 60)
    for each in made:
        each.abort()
    return work.found


def load(
    ports: Sequence[int], requests: Iterator[bytes], connections: int, seconds: float, rate: float | None = None
) -> Load:
    """Send requests to ports of this machine, until they or the seconds are at their end; connections take ports in turn."""
    import uvloop

    gc.collect()
    gc.freeze()  # a search for cycles among all that the caller has would count as a latency of the service
    return uvloop.run(_load(ports, requests, connections, seconds, rate))


class Asking:
    """Kept connections to a service, each for one request at a time, without what a client of the library adds.

    Attributes:
        refused: how many answers there were of each status but 200; such requests were sent again.
    """

    def __init__(self, port: int) -> None:
        self._port, self._keys, self.refused = port, itertools.count(), collections.Counter[int]()
        self._free: collections.deque[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]]
        self._free = collections.deque()

    async def call(self, name: str, value: Any) -> Any:
        """The answer of a route of the store, which is asked until it gives one."""
        key = f"Idempotency-Key: {self._port}-{next(self._keys)}\r\n" if name == "check-and-add" else ""
        sent = request(f"/v1/stores/default/{name}", json.dumps(value).encode(), key)
        while True:
            status, body = await self.send(sent)
            if status == 200:
                return json.loads(body)
            if status not in (503, 504):
                raise RuntimeError(f"{name}: {status} {body.decode()}")
            self.refused[status] += 1
            await asyncio.sleep(1.0)

    async def send(self, sent: bytes) -> tuple[int, bytes]:
        """Status and body of the answer to a request."""
        reader, writer = await self._connection()
        writer.write(sent)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        at = head.find(b"content-length:")
        body = await reader.readexactly(int(head[at + 15 : head.find(b"\r\n", at)]))
        if b"connection: close" in head:
            writer.close()
        else:
            self._free.append((time.monotonic(), reader, writer))
        return int(head[9:12]), body

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The connection that was used last; those that the service may be about to close are closed."""
        while self._free and self._free[0][0] < time.monotonic() - MOST_IDLE:
            self._free.popleft()[2].close()
        if not self._free:
            return await asyncio.open_connection("127.0.0.1", self._port)
        _, reader, writer = self._free.pop()
        return reader, writer

    def close(self) -> None:
        """Close the connections, none of which is in use."""
        while self._free:
            self._free.pop()[2].close()
