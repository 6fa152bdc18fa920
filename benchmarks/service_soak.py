"""Does `neardup serve` stay as it is? Mixed requests for an hour, with memory, open files, the store and latencies by the minute.

    python benchmarks/service_soak.py [--kind folder | postgresql] [--seconds SECONDS] [--rate REQUESTS] [--quick]

Requests are due at fixed times, and come over kept connections: questions, half of them copies that must be found; additions of one
document, and of 20, which expire after a minute; removals, whose documents must be gone; what is known of a document. Every ten
seconds, what has expired is removed, and metrics are read; every five minutes the store is compacted. Every second somebody behaves
badly: breaks off within a body, sends a body that is too large, or half a header, and goes away or stays. Every minute all
connections are made anew, and the number of documents must be what the answers say. At the end, every byte is verified.

A store in PostgreSQL has two services, and each request goes to one of them by chance.
"""

import argparse
import asyncio
import collections
import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import measure
import neardup
from service_load import Asking
from service_shared import shared_store
from store_growth import memory_mb
from store_soak import Counts, Minute
from store_texts import short_documents, vocabulary

RATES, SECONDS = {"folder": 200.0, "postgresql": 60.0}, 3600.0
"""Requests a second."""
SERVICES = {"folder": 1, "postgresql": 2}
BATCH, AT_ONCE = 20, 32
LIVES, KEEPS_ANSWERS = 60.0, 60.0
EXPIRES_EVERY, COMPACTS_EVERY, MINUTE = 10.0, 300.0, 60.0
"""Seconds."""
SHARES = {"check": 0.6, "add": 0.22, "add_many": 0.06, "remove": 0.06, "get": 0.06}
MARGIN = 10.0
"""Seconds before it expires in which a document is not asked about any more."""
ENDLESS = 1 << 40
_BEGUN = b"POST /v1/stores/default/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BAD = (
    _BEGUN + b"Content-Length: 900\r\n\r\n{",
    _BEGUN + b"Content-Length: 99999999\r\n\r\n{",
    _BEGUN[:60],
)
"""What somebody sends who behaves badly."""


@contextlib.contextmanager
def served(place: str, environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A service that runs, with its port. What it logs besides requests goes to standard error at the end."""
    keeps = ["--keep-answers", f"{KEEPS_ANSWERS:g}s"]
    command = [sys.executable, "-m", "neardup", "serve", "--store", place, "--port", "0", "--quiet", *keeps]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stderr=log, env=os.environ | environment)
        try:
            last = time.monotonic() + 60
            while (port := _port(log)) is None:
                if process.poll() is not None or time.monotonic() > last:
                    raise RuntimeError(f"the service did not start: {_lines(log)}")
                time.sleep(0.1)
            yield process, port
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)
            print(*_lines(log), sep="\n", file=sys.stderr)


def _lines(log: Any) -> list[str]:
    found: bytes = os.pread(log.fileno(), 1 << 20, 0)
    return found.decode().splitlines()


def _port(log: Any) -> int | None:
    events = [json.loads(line) for line in _lines(log) if line.startswith("{") and line.endswith("}")]
    if not any(each["event"] == "started" for each in events):
        return None
    return next(int(each["port"]) for each in events if each["event"] == "listening")


class Load:
    """Mixed requests to services of one store."""

    def __init__(self, ports: list[int]) -> None:
        vocabulary()  # takes seconds, the first time
        self._services = [Asking(port) for port in ports]
        self._ports = ports
        self._documents = itertools.chain.from_iterable(short_documents(ENDLESS))
        self._unseen = itertools.chain.from_iterable(short_documents(ENDLESS, seed=99))
        self._chance, self._given, self._next_bad = random.Random(3), 0, 0
        self._kept: deque[tuple[float, int, str]] = deque()  # documents that are there: when they expire
        self._there = set[int]()
        self._asides: list[tuple[asyncio.StreamWriter, float]] = []
        self.counts, self.minute = Counts(), Minute()

    @property
    def refused(self) -> dict[int, int]:
        """How many answers there were of each status but 200. Such requests were sent again."""
        return dict(sum((each.refused for each in self._services), collections.Counter[int]()))

    async def _call(self, kind: str, route: str, value: Any) -> Any:
        """What a service answers; its time is noted."""
        began = time.perf_counter()
        found = await self._chance.choice(self._services).call(route, value)
        self.minute.time(kind, began)
        return found

    def _expires(self) -> None:
        while self._kept and self._kept[0][0] < time.time() + MARGIN:
            self._there.discard(self._kept.popleft()[1])

    async def one(self) -> None:
        """A request of a kind that is drawn."""
        kind = self._chance.choices(list(SHARES), list(SHARES.values()))[0]
        self._expires()
        if kind in ("remove", "get") and not self._kept:
            kind = "add"
        await getattr(self, kind)()

    async def check(self) -> None:
        """Ask about a text: a copy of a kept document, or another one."""
        if self._kept and self._chance.random() < 0.5:
            expires, name, text = self._chance.choice(self._kept)
            found = await self._call("check", "check", {"text": text})
            self.counts.lost += found["is_new"] and self._is_there(name, expires)
        else:
            await self._call("check", "check", {"text": next(self._unseen)})

    def _is_there(self, name: int, expires: float) -> bool:
        return name in self._there and expires > time.time() + 1

    async def add(self) -> None:
        """Decide a document."""
        await self._add("add", 1)

    async def add_many(self) -> None:
        """Decide some documents at once."""
        await self._add("add_many", BATCH)

    async def _add(self, kind: str, count: int) -> None:
        texts, expires = list(itertools.islice(self._documents, count)), time.time() + LIVES
        ids = range(self._given, self._given + count)
        self._given += count
        given = [{"id": name, "text": text, "expires": expires} for name, text in zip(ids, texts, strict=True)]
        answers = await self._call(kind, "check-and-add", given)
        new = [row for row, answer in enumerate(answers) if answer["is_new"]]
        self.counts.alive += len(new)
        self._kept.extend((expires, ids[row], texts[row]) for row in new)
        self._there.update(ids[row] for row in new)

    async def remove(self) -> None:
        """Remove a kept document."""
        at = self._chance.randrange(len(self._kept))
        _, name, _ = self._kept[at]
        del self._kept[at]
        self._there.discard(name)
        removed = (await self._call("remove", "remove", {"ids": [name]}))["removed"]
        self.counts.alive -= removed
        self.counts.returned += bool((await self._call("get", "get", {"ids": [name]}))["documents"])

    async def get(self) -> None:
        """Ask what is known of a kept document."""
        expires, name, _ = self._chance.choice(self._kept)
        found = await self._call("get", "get", {"ids": [name]})
        self.counts.lost += not found["documents"] and self._is_there(name, expires)

    async def expire(self) -> None:
        """Remove what has expired, and read metrics."""
        removed = (await self._call("expire", "expire", {}))["removed"]
        self.counts.alive -= removed
        for each in self._services:
            await each.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")

    async def compact(self) -> None:
        """Give up the room of what is gone."""
        await self._call("compact", "compact", {})

    async def behave_badly(self) -> None:
        """Send what is no request, and break off at once, or stay for a while."""
        sent, stays = BAD[self._next_bad % len(BAD)], self._next_bad % 2
        self._next_bad += 1
        _, writer = await asyncio.open_connection("127.0.0.1", self._chance.choice(self._ports))
        writer.write(sent)
        self._asides.append((writer, time.monotonic() + 5 * stays))
        for aside, until in list(self._asides):
            if until <= time.monotonic():
                self._asides.remove((aside, until))
                aside.close()

    def rest(self) -> None:
        """Close all connections; others are opened when they are needed."""
        for each in self._services:
            each.close()
        for aside, _ in self._asides:
            aside.close()
        self._asides.clear()

    async def look(self, minute: int, processes: list[int], folder: Path) -> dict[str, Any]:
        """What there is after a minute in which nobody asks any more; another one begins."""
        _, body = await self._services[0].send(b"GET /v1/stores/default/info HTTP/1.1\r\nHost: localhost\r\n\r\n")
        info = json.loads(body)
        self.counts.miscounted += info["documents"] != self.counts.alive
        own = [memory_mb(each) for each in processes]
        record = {
            "minute": minute,
            "given": self._given,
            "documents": info["documents"],
            "gone": info["gone"],
            "anonymous_mb": sum(each["anonymous_mb"] for each in own),
            "open_files": sum(len(os.listdir(f"/proc/{each}/fd")) for each in processes),
            "threads": sum(len(os.listdir(f"/proc/{each}/task")) for each in processes),
            "disk_mb": measure.rounded(sum(info["bytes"].values()) / 1e6),
            "files": sum(len(files) for _, _, files in os.walk(folder)),
            "load": os.getloadavg()[0],
            "work": self.minute.as_record(),
        }
        self.minute = Minute()
        return record


async def soak(
    ports: list[int], processes: list[int], folder: Path, rate: float, seconds: float, faster: float
) -> dict[str, Any]:
    """Ask for so long. `faster`: how many times as often as usual what comes from time to time is done."""
    load, minutes = Load(ports), list[dict[str, Any]]()
    began = time.monotonic()
    every: list[tuple[float, Callable[[], Awaitable[None]]]] = [
        (1.0, load.behave_badly), (EXPIRES_EVERY, load.expire), (COMPACTS_EVERY, load.compact),
    ]  # fmt: skip
    due = [(began + step / faster, step / faster, call) for step, call in every]
    while (now := time.monotonic()) < began + seconds:
        until = min(began + seconds, now + MINUTE / faster)
        async with paced(load, rate, until) as begin:
            while (now := time.monotonic()) < until:
                for at, (when, step, call) in enumerate(due):
                    if now >= when:
                        begin(call())
                        due[at] = (max(when + step, now), step, call)
                await asyncio.sleep(0.1)
        minutes.append(await load.look(len(minutes) + 1, processes, folder))
        load.rest()
        print(json.dumps(minutes[-1]), vars(load.counts), flush=True)
    return {"seconds": seconds, "rate": rate, **vars(load.counts), "refused": load.refused, "minutes": minutes}


@contextlib.asynccontextmanager
async def paced(load: Load, rate: float, until: float) -> AsyncIterator[Callable[[Awaitable[None]], None]]:
    """Send requests at a rate until a time, no more than so many at once; wait for all of them at the end."""
    free = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:

        async def one() -> None:
            try:
                await load.one()
            finally:
                free.release()

        async def all_() -> None:
            began = time.monotonic()
            for number in itertools.count():
                at = began + number / rate
                if at >= until or time.monotonic() >= until:
                    return
                await asyncio.sleep(max(0.0, at - time.monotonic()))
                await free.acquire()
                group.create_task(one())

        async def other(call: Awaitable[None]) -> None:
            await call

        group.create_task(all_())

        def begin(call: Awaitable[None]) -> None:
            group.create_task(other(call))

        yield begin


def run(kind: str, rate: float, seconds: float, faster: float) -> dict[str, Any]:
    """Make a store, serve it, and soak it; verify it at the end."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        folder = Path(name)
        place = str(folder / "store")
        if kind == "postgresql":
            place, _ = running.enter_context(shared_store(iter(()), folder))
        environment = {"NEARDUP_CACHE_DIR": str(folder / "cache")}
        neardup.Store(place).close()
        with contextlib.ExitStack() as serving:
            services = [serving.enter_context(served(place, environment)) for _ in range(SERVICES[kind])]
            processes = [process.pid for process, _ in services]
            found = asyncio.run(soak([port for _, port in services], processes, folder, rate, seconds, faster))
            ended = [process for process, _ in services]
        with neardup.Store(place) as store:
            check = store.verify()
        sound = {"sound": check.is_sound, "documents_verified": check.documents}
        return {"kind": kind, "services": len(ended), "exits": [each.returncode for each in ended], **sound, **found}


def main() -> None:
    """Run and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=tuple(RATES), default="folder", help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="half a minute; writes no results")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="default: %(default)g")
    parser.add_argument("--rate", type=float, help="requests a second; default: 200, and 60 with PostgreSQL")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: a file in benchmarks/results")
    given = parser.parse_args()
    name = {"folder": "service_soak", "postgresql": "service_soak_shared"}[given.kind]
    usual = None if given.quick else measure.RESULTS / f"{name}.json"
    record: dict[str, Any] = {"environment": measure.environment(), "load_before": os.getloadavg()}
    seconds, faster = (30.0, 12.0) if given.quick else (given.seconds, 1.0)
    record |= run(given.kind, given.rate or RATES[given.kind], seconds, faster)
    measure.write_json(given.output or usual, record)
    print(json.dumps({name: value for name, value in record.items() if name not in ("environment", "minutes")}))


if __name__ == "__main__":
    main()
