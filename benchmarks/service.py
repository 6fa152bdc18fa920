"""How many requests does `neardup serve` answer, and how soon? Single ones and batches, questions and durable additions.

The store has a million documents of 2 KB: random words of a vocabulary in which the word of rank r is drawn in proportion to
1 / (r + 3). The service and the load generator (`service_load.py`, a process of its own) share the machine, over loopback. What is
asked about, or added, are other documents of this kind; one in ten of them is a kept one with a word more. Bodies are made
beforehand, and each service answers other checks for five seconds before it is measured. Additions have an `Idempotency-Key`
each. With slow syncs, each `fsync` and `fdatasync` of the service takes 5 ms more.

Targets: single checks, 1,500 a second with a p99 below 15 ms; durable additions, 1,500 a second of 32 clients, and 600 with slow
syncs; in batches of 100, 12,000 checks and 8,000 durable additions a second. Four services on such a store in
PostgreSQL: 200 durable additions a second, and 4,000 in batches. With `--shared`, these alone are measured anew.

Beside it: the same application on Granian, and indexes of other tools with fewer documents (`service_peers.py`). After 30 minutes
no further case begins.
"""

import contextlib
import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure
import neardup
from service_cases import Case, Measuring, documents, neardup_serve, served
from service_peers import PEERS
from service_shared import shared_store

DOCUMENTS, QUICK_DOCUMENTS = 1_000_000, 20_000
SECONDS, QUICK_SECONDS = 15.0, 3.0
WARMING = 5.0
MOST_SECONDS = 30 * 60
CLIENTS, BATCH, BATCH_CLIENTS = 32, 100, 8
RATE = 1_500.0
PEER_DOCUMENTS, QUICK_PEER_DOCUMENTS = 2_000, 200
"""Of other tools' indexes, which take long to fill."""
SERVICES = 4
"""On one database, whose documents are decided and committed there, and read by each service."""
ALONE = (
    Case("single checks, paced", 1, CLIENTS, adds=False, expected=RATE, rate=RATE),
    Case("single checks", 1, CLIENTS, adds=False, expected=20_000),
    Case("batches of checks", BATCH, BATCH_CLIENTS, adds=False, expected=100_000),
    Case("single additions", 1, CLIENTS, adds=True, expected=5_000),
    Case("batches of additions", BATCH, BATCH_CLIENTS, adds=True, expected=20_000),
)
SLOW = Case("single additions, slow syncs", 1, CLIENTS, adds=True, expected=3_000)
ON_GRANIAN = (
    Case("single checks, Granian", 1, CLIENTS, adds=False, expected=20_000),
    Case("single additions, Granian", 1, CLIENTS, adds=True, expected=5_000),
)
SHARED = (
    Case("single checks, four services", 1, CLIENTS, adds=False, expected=20_000),
    Case("single additions, four services", 1, CLIENTS, adds=True, expected=3_000),
    Case("batches of checks, four services", BATCH, 4 * SERVICES, adds=False, expected=100_000),
    Case("batches of additions, four services", BATCH, 4 * SERVICES, adds=True, expected=20_000),
)
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


def fill(path: Path, count: int) -> tuple[list[str], float]:
    """A store of so many documents. Returns some of them, and the seconds that it took."""
    began, kept, texts = time.perf_counter(), list[str](), documents(count, 1)
    with neardup.Store(path, durable="batch") as store:
        for first in range(0, count, 2048):
            some = list(itertools.islice(texts, 2048))
            store.check_and_add_many([f"kept-{first + i}" for i in range(len(some))], some)
            kept += some[:8]
    return kept[:2000], time.perf_counter() - began


def slow_syncs(folder: Path) -> dict[str, str]:
    """What makes each sync slow.

    Raises:
        RuntimeError: there is no C compiler.
    """
    if shutil.which("cc") is None:
        raise RuntimeError("there is no C compiler")
    (folder / "slow.c").write_text(SLOW_SYNC)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "slow.so", folder / "slow.c", "-ldl"], check=True)
    return {"LD_PRELOAD": str(folder / "slow.so")}


def granian(folder: Path, store: Path) -> list[str]:
    """The command of the same application on Granian.

    Raises:
        RuntimeError: it is not installed.
    """
    if importlib.util.find_spec("granian") is None:
        raise RuntimeError("Granian is not installed")
    (folder / "served.py").write_text(GRANIAN.replace("sys.argv[-1]", repr(str(store))))
    return [
        sys.executable, "-m", "granian", "--interface", "asgi", "--workers", "1", "--port", "8479", "--no-access-log",
        "--log-level", "error", "--working-dir", str(folder), "served:app",
    ]  # fmt: skip


def run_alone(measuring: Measuring, folder: Path, store: Path, kept: list[str]) -> None:
    """One service on a store in a folder: as it comes, with slow syncs, and on Granian. Each case has a service of its own."""
    for case in ALONE:
        with served(neardup_serve(store)) as port:
            measuring.measure(case, [port], kept)
    try:
        with served(neardup_serve(store), slow_syncs(folder)) as port:
            measuring.measure(SLOW, [port], kept)
    except RuntimeError as problem:
        measuring.skip(SLOW.name, str(problem))
    for case in ON_GRANIAN:
        try:
            with served(granian(folder, store)) as port:
                measuring.measure(case, [port], kept)
        except RuntimeError as problem:
            measuring.skip(case.name, str(problem))


def run_shared(measuring: Measuring, folder: Path, count: int) -> None:
    """Several services on a store in PostgreSQL."""
    environment = {"NEARDUP_CACHE_DIR": str(folder / "cache")}
    try:
        with shared_store(documents(count, 1), folder) as (place, kept), contextlib.ExitStack() as running:
            ports = [running.enter_context(served(neardup_serve(place), environment)) for _ in range(SERVICES)]
            for case in SHARED:
                measuring.measure(case, ports, kept)
    except RuntimeError as problem:
        measuring.skip("four services", str(problem))


def run_peers(measuring: Measuring, folder: Path, count: int) -> None:
    """Indexes of other tools behind the same server and framework. What they lose in a crash is told by `service_peers.py`."""
    kept = list(documents(count, 1))[:2000]
    for name in PEERS:
        own = folder / name.replace(" ", "-")
        own.mkdir()
        program = str(Path(__file__).parent / "service_peers.py")
        try:
            with served([sys.executable, program, name, str(own), "8478", str(count)]) as port:
                for what, adds in (("checks", False), ("additions", True)):
                    case = Case(f"single {what}, {name}", 1, CLIENTS, adds=adds, expected=5_000 if not adds else 1_000)
                    measuring.measure(case, [port], kept)
        except RuntimeError as problem:
            measuring.skip(name, str(problem))


def run(folder: Path, write: Callable[[dict[str, Any]], None], *, quick: bool) -> None:
    """All cases, one after another."""
    ends, store = time.monotonic() + MOST_SECONDS, folder / "seen.store"
    count, seconds = (QUICK_DOCUMENTS, QUICK_SECONDS) if quick else (DOCUMENTS, SECONDS)
    kept, took = fill(store, count)
    peers = QUICK_PEER_DOCUMENTS if quick else PEER_DOCUMENTS
    about: dict[str, Any] = {
        "documents": count,
        "fill_seconds": round(took),
        "document_bytes": len(kept[0]),
        "seconds": seconds,
    }
    about |= {
        "peer_documents": peers,
        "shared_documents": count,
        "durable": {name: of.durable for name, of in PEERS.items()},
    }
    measuring = Measuring(seconds, WARMING, ends, lambda cases: write({**about, "cases": cases}))
    run_alone(measuring, folder, store, kept)
    shutil.rmtree(store)
    run_shared(measuring, folder, count)
    run_peers(measuring, folder, peers)


def run_shared_alone(folder: Path, before: dict[str, Any], write: Callable[[dict[str, Any]], None]) -> None:
    """The cases of four services; all others are those of the result file."""
    about = {"shared_documents": DOCUMENTS, "shared_environment": measure.environment(("psycopg",))}
    cases = before["cases"]
    measuring = Measuring(
        SECONDS,
        WARMING,
        time.monotonic() + MOST_SECONDS,
        lambda found: write({**before, **about, "cases": {**cases, **found}}),
    )
    run_shared(measuring, folder, DOCUMENTS)


def main() -> None:
    """Measure, print, and unless `--quick` write."""
    shared = "only the cases of four services; others stay as they are in the result file"
    given = measure.arguments(__doc__ or "", "service", shared=shared)
    if given.shared:
        before = json.loads((measure.RESULTS / "service.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            run_shared_alone(Path(folder), before, lambda found: measure.write_json(given.output, found))
        return
    packages = (
        "starlette",
        "uvicorn",
        "uvloop",
        "httptools",
        "msgspec",
        "psycopg",
        "granian",
        "datasketch",
        "redis",
        "simhash",
    )
    about = {"environment": measure.environment(packages), "load_before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), lambda found: measure.write_json(given.output, {**about, **found}), quick=given.quick)


if __name__ == "__main__":
    main()
