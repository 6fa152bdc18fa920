"""How many requests does `neardup serve` answer, and how soon? Single ones and batches, questions and durable additions.

The store has a million documents of 2 KB: random words of a vocabulary in which the word of rank r is drawn in proportion to
1 / (r + 3). The service and the load generator (`service_load.py`, a process of its own) share the machine, over loopback. What is
asked about, or added, are other documents of this kind; one in ten of them is a kept one with a word more. Bodies are made
beforehand. Additions have an `Idempotency-Key` each. With slow syncs, each `fsync` and `fdatasync` of the service takes 5 ms more.

Targets: single checks, 1,500 a second with a p99 below 15 ms; durable additions, 1,500 a second of 32 clients, and 600 with slow
syncs; in batches of 100, 12,000 checks and 8,000 durable additions a second. Four services on a store in PostgreSQL, with
fewer documents: 200 durable additions a second, and 4,000 in batches.

Beside it: the same application on Granian, and indexes of other tools with fewer documents (`service_peers.py`).
"""

import contextlib
import importlib.util
import itertools
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import measure
import neardup
from service_load import load, request
from service_peers import PEERS
from service_shared import shared_store
from store_texts import vocabulary

WORDS = 300
DOCUMENTS, QUICK_DOCUMENTS = 1_000_000, 20_000
SECONDS, QUICK_SECONDS = 15.0, 3.0
CLIENTS, BATCH, BATCH_CLIENTS = 32, 100, 4
RATE = 1_500.0
NEAR = 0.1
PEER_DOCUMENTS = 2_000
"""Of other tools' indexes, which take long to fill."""
SERVICES, SHARED_DOCUMENTS = 4, 100_000
"""On one database, whose documents are decided and committed there, and read by each service."""
POOL = 4_000
"""Different texts that are asked about; they come again and again."""
SLOW_SYNC = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
#define SLOW(name) int name(int file) { \\
    static int (*real)(int); if (!real) real = dlsym(RTLD_NEXT, #name); usleep(5000); return real(file); }
SLOW(fsync) SLOW(fdatasync)
"""
GRANIAN = """
import sys
from neardup.service.app import make_app
from neardup.service.logs import Log
app = make_app({"default": sys.argv[-1]}, log=Log(quiet=True))
"""


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


def fill(path: Path, count: int) -> tuple[list[str], float]:
    """A store of so many documents. Returns some of them, and the seconds that it took."""
    began, kept, texts = time.perf_counter(), list[str](), documents(count, 1)
    with neardup.Store(path, durable="batch") as store:
        for first in range(0, count, 2048):
            some = list(itertools.islice(texts, 2048))
            store.check_and_add_many([f"kept-{first + i}" for i in range(len(some))], some)
            kept += some[:8]
    return kept[:2000], time.perf_counter() - began


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
    return [sys.executable, "-m", "neardup", "serve", "--store", str(store), "--port", "0", "--quiet", "--wait", "30"]


def slow_syncs(folder: Path) -> dict[str, str] | None:
    """What makes each sync slow; None without a C compiler."""
    if shutil.which("cc") is None:
        return None
    (folder / "slow.c").write_text(SLOW_SYNC)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "slow.so", folder / "slow.c", "-ldl"], check=True)
    return {"LD_PRELOAD": str(folder / "slow.so")}


def run(folder: Path, count: int, seconds: float) -> dict[str, Any]:
    """All cases, one after another, on one store."""
    store = folder / "seen.store"
    kept, took = fill(store, count)
    found: dict[str, Any] = {"documents": count, "fill_seconds": round(took), "document_bytes": len(kept[0])}
    seeds, cases = itertools.count(100), {}

    def case(
        name: str, command: list[str], size: int, clients: int, *, adds: bool, expected: float, rate: float | None = None,
        environment: dict[str, str] | None = None, services: int = 1, asked: list[str] = kept,
    ) -> None:  # fmt: skip
        most = int(expected * seconds / size) + clients
        made = bodies(asked, most if adds else min(most, POOL), size, adds=adds, seed=next(seeds))
        sent = iter(made) if adds else itertools.cycle(made)
        with contextlib.ExitStack() as running:
            ports = [running.enter_context(served(command, environment)) for _ in range(services)]
            load(ports, itertools.cycle(bodies(asked, 20, 1, adds=False, seed=1)), 4, 1.0)
            before = os.getloadavg()[0]
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
                done = pool.submit(_loaded, ports, sent, clients, seconds, rate).result()
        cases[name] = {**done.as_record(size), "clients": clients, "load_before": round(before, 2)}
        print(name, json.dumps(cases[name]), flush=True)

    serve = neardup_serve(store)
    case("single checks, paced", serve, 1, CLIENTS, adds=False, expected=RATE, rate=RATE)
    case("single checks", serve, 1, CLIENTS, adds=False, expected=20_000)
    case("batches of checks", serve, BATCH, BATCH_CLIENTS, adds=False, expected=100_000)
    case("single additions", serve, 1, CLIENTS, adds=True, expected=5_000)
    case("batches of additions", serve, BATCH, BATCH_CLIENTS, adds=True, expected=20_000)
    if (environment := slow_syncs(folder)) is not None:
        case("single additions, slow syncs", serve, 1, CLIENTS, adds=True, expected=3_000, environment=environment)
    if has_granian():
        (folder / "served.py").write_text(GRANIAN.replace("sys.argv[-1]", repr(str(store))))
        granian = [
            sys.executable, "-m", "granian", "--interface", "asgi", "--workers", "1", "--port", "8479", "--no-access-log",
            "--log-level", "error", "--working-dir", str(folder), "served:app",
        ]  # fmt: skip
        case("single checks, Granian", granian, 1, CLIENTS, adds=False, expected=20_000)
        case("single additions, Granian", granian, 1, CLIENTS, adds=True, expected=5_000)
    shared = min(count, SHARED_DOCUMENTS)
    several: dict[str, Any] = {"environment": {"NEARDUP_CACHE_DIR": str(folder / "cache")}, "services": SERVICES}
    try:
        with shared_store(documents(shared, 1), folder) as (place, asked):
            serve = neardup_serve(place)
            for name, size, clients, adds, expected in (
                ("single checks, four services", 1, CLIENTS, False, 20_000),
                ("single additions, four services", 1, CLIENTS, True, 3_000),
                ("batches of additions, four services", BATCH, 2 * SERVICES, True, 20_000),
            ):
                case(name, serve, size, clients, adds=adds, expected=expected, asked=asked, **several)
    except RuntimeError as problem:
        cases["four services"] = {"skipped": str(problem)}
    for name in PEERS:
        own = folder / name.replace(" ", "-")
        own.mkdir()
        few = PEER_DOCUMENTS
        command = [sys.executable, str(Path(__file__).parent / "service_peers.py"), name, str(own), "8478", str(few)]
        try:
            case(f"single checks, {name}", command, 1, CLIENTS, adds=False, expected=5_000)
            shutil.rmtree(own)
            own.mkdir()
            case(f"single additions, {name}", command, 1, CLIENTS, adds=True, expected=5_000)
        except RuntimeError as problem:
            cases[name] = {"skipped": str(problem)}
    few = {"peer_documents": PEER_DOCUMENTS, "shared_documents": shared}
    return found | {"seconds": seconds, **few, "cases": cases}


def has_granian() -> bool:
    """Whether Granian is installed, beside which the service is measured."""
    return importlib.util.find_spec("granian") is not None


def _loaded(ports: list[int], sent: Iterator[bytes], clients: int, seconds: float, rate: float | None) -> Any:
    return load(ports, sent, clients, seconds, rate)


def main() -> None:
    """Measure, print, and unless `--quick` write."""
    given = measure.arguments(__doc__ or "", "service")
    before = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        found = run(
            Path(folder),
            QUICK_DOCUMENTS if given.quick else DOCUMENTS,
            QUICK_SECONDS if given.quick else SECONDS,
        )
    packages = (
        "starlette",
        "uvicorn",
        "uvloop",
        "httptools",
        "msgspec",
        "psycopg",
        *(["granian"] if has_granian() else []),
    )
    measure.write_json(given.output, {"environment": measure.environment(packages), "load_before": before, **found})


if __name__ == "__main__":
    main()
