"""The cases of `service.py`: services that are started, the requests that they get, and what came of each load."""

import contextlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from service_load import Load, load, request
from store_texts import vocabulary

WORDS, NEAR = 300, 0.1
POOL, LEAST_POOL = 4_000, 400
"""Different texts that are asked about, and requests at least; they come again and again."""


@dataclass(frozen=True)
class Case:
    """A load.

    Attributes:
        name: of the case.
        size: documents of a request; clients: connections.
        adds: whether documents are added; if not, they are asked about.
        expected: documents a second for which additions are made beforehand, at most.
        rate: requests a second; None for as many as are answered.
    """

    name: str
    size: int
    clients: int
    adds: bool
    expected: float
    rate: float | None = None


@dataclass
class Measuring:
    """What all cases share.

    Attributes:
        seconds: of each case; warming: of other checks before it; ends: when no further one begins, by `time.monotonic`.
        write: gets all figures after each case.
        found: the figures of each case by its name.
    """

    seconds: float
    warming: float
    ends: float
    write: Callable[[dict[str, Any]], None]
    found: dict[str, Any] = field(default_factory=dict)
    _seeds: Iterator[int] = field(default_factory=lambda: itertools.count(100))

    def measure(self, case: Case, ports: Sequence[int], kept: list[str]) -> None:
        """Load services on these ports, which have these texts."""
        if time.monotonic() > self.ends:
            self.skip(case.name, "there was no time left")
            return
        most = int(case.expected * self.seconds / case.size) + case.clients
        count = most if case.adds else min(most, max(POOL // case.size, LEAST_POOL))
        made = bodies(kept, count, case.size, adds=case.adds, seed=next(self._seeds))
        sent = iter(made) if case.adds else itertools.cycle(made)
        load(ports, itertools.cycle(bodies(kept, POOL, 1, adds=False, seed=1)), case.clients, self.warming)
        before = os.getloadavg()[0]
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            given = (list(ports), sent, case.clients, self.seconds, case.rate)
            done: Load = pool.submit(load, *given).result()
        self._tell(case.name, {**done.as_record(case.size), "clients": case.clients, "load_before": round(before, 2)})

    def skip(self, name: str, why: str) -> None:
        """Note what was not measured."""
        self._tell(name, {"skipped": why})

    def _tell(self, name: str, figures: dict[str, Any]) -> None:
        self.found[name] = figures
        print(name, json.dumps(figures), flush=True)
        self.write(self.found)


def documents(count: int, seed: int) -> Iterator[str]:
    """Random documents of about 2 KB."""
    chance = np.random.default_rng(seed)
    words, shares = vocabulary()
    for first in range(0, count, 1024):
        drawn = np.searchsorted(shares, chance.random((min(1024, count - first), WORDS)))
        yield from (" ".join([words[i] for i in row]) for row in drawn.tolist())


def near_some(texts: Iterator[str], kept: list[str], seed: int) -> Iterator[str]:
    """The texts, some of them replaced by kept ones with a word more."""
    chance = random.Random(seed)
    for text in texts:
        yield f"{chance.choice(kept)} besides" if chance.random() < NEAR else text


def bodies(kept: list[str], count: int, size: int, *, adds: bool, seed: int) -> list[bytes]:
    """Requests of `size` documents each: one object, or an array."""
    texts = list(near_some(documents(count * size, seed), kept, seed))
    path = f"/v1/stores/default/{'check-and-add' if adds else 'check'}"
    made = []
    for number in range(count):
        some: list[dict[str, Any]] = [{"text": text} for text in texts[number * size : (number + 1) * size]]
        for place, each in enumerate(some):
            each |= {"id": f"{seed}-{number}-{place}"} if adds else {}
        body = msgspec.json.encode(some[0] if size == 1 else some)
        made.append(request(path, body, f"Idempotency-Key: {seed}-{number}\r\n" if adds else ""))
    return made


@contextlib.contextmanager
def served(command: list[str], environment: dict[str, str] | None = None) -> Iterator[int]:
    """The port of a service that runs, and is ended."""
    given = os.environ | (environment or {})
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=given)
    assert process.stderr is not None
    try:
        line = b""
        for line in process.stderr:
            found = json.loads(line) if line.startswith(b"{") else {}
            if found.get("event") == "listening":
                yield int(found["port"])
                break
            if found.get("event") == "started":  # of another server, at the port that it was told
                time.sleep(1)
                yield int(command[command.index("--port") + 1])
                break
        else:
            raise RuntimeError(f"the service did not start: {line.decode().strip()}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        process.wait(120)
        process.stderr.close()


def neardup_serve(store: Path | str) -> list[str]:
    """The command of a service."""
    return [sys.executable, "-m", "neardup", "serve", "--store", str(store), "--port", "0", "--quiet", "--wait", "30"]
