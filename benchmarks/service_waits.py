"""How long does a service let others wait: at its first start on a database, and while its store is compacted?

    python benchmarks/service_waits.py [--quick] [--documents COUNT …] [--output FILE]

Stores of short random documents, in a folder and in PostgreSQL. A service on PostgreSQL starts without a replica, and with a copy
of another one's. Then a tenth of the documents is removed, and the store is compacted by the route, while two clients ask and add,
each request after the answer to the one before. Whoever is refused asks again after a second.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import measure
import neardup
from service_load import Asking
from service_shared import shared_store
from service_soak import served
from store_texts import short_documents

DOCUMENTS, QUICK_DOCUMENTS = (100_000, 1_000_000), (5_000,)
AROUND = 1.0
"""Seconds in which clients ask before and after."""


async def compacted(port: int, count: int) -> dict[str, Any]:
    """What clients wait for while a service compacts."""
    service, is_over = Asking(port), asyncio.Event()
    unseen = itertools.chain.from_iterable(short_documents(1 << 40, seed=99))
    for first in range(0, count // 10, 1000):
        await service.call("remove", {"ids": list(range(first, min(first + 1000, count // 10)))})

    async def client(route: str) -> dict[str, Any]:
        own, longest, number = Asking(port), 0.0, 0
        while not is_over.is_set():
            given = {"text": next(unseen)} | ({"id": f"new-{number}"} if route == "check-and-add" else {})
            began = time.perf_counter()
            await own.call(route, given)
            longest, number = max(longest, time.perf_counter() - began), number + 1
        refused = sum(own.refused.values())
        own.close()
        return {"requests": number, "refused": refused, "longest_seconds": measure.rounded(longest, 3)}

    asking = [asyncio.create_task(client(route)) for route in ("check", "check-and-add")]
    await asyncio.sleep(AROUND)
    began = time.perf_counter()
    await service.call("compact", {})
    seconds = time.perf_counter() - began
    await asyncio.sleep(AROUND)
    is_over.set()
    checks, additions = await asyncio.gather(*asking)
    service.close()
    return {"seconds": measure.rounded(seconds, 3), "checks": checks, "additions": additions}


def fill(place: str, count: int) -> float:
    """Add so many documents; returns the seconds."""
    began, first = time.perf_counter(), 0
    texts = itertools.chain.from_iterable(short_documents(count))
    with neardup.Store(place, durable="batch") as store:
        while some := list(itertools.islice(texts, min(2048, count - first))):
            store.check_and_add_many(range(first, first + len(some)), some)
            first += len(some)
    return time.perf_counter() - began


def started(place: str, folder: Path) -> float:
    """Seconds until a service is ready whose replicas lie in a folder; it ends again."""
    began = time.perf_counter()
    with served(place, {"NEARDUP_CACHE_DIR": str(folder)}):
        return time.perf_counter() - began


def run(kind: str, count: int) -> dict[str, Any]:
    """The figures of one store."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        folder, found = Path(name), dict[str, Any]()
        place = str(folder / "store")
        if kind == "postgresql":
            place, _ = running.enter_context(shared_store(iter(()), folder))
        filled = f"{place}&replica={folder / 'own'}" if kind == "postgresql" else place
        found["fill_seconds"] = round(fill(filled, count))
        if kind == "postgresql":
            found["first_start_seconds"] = measure.rounded(started(place, folder / "cache"), 3)
            [replica] = (folder / "cache/replicas").glob("*/1")
            copy = folder / "other" / replica.relative_to(folder / "cache")
            copy.parent.mkdir(parents=True)
            began = time.perf_counter()
            command = [sys.executable, "-m", "neardup", "store", "backup", str(replica), str(copy), "--quiet"]
            subprocess.run(command, check=True)
            found["copy_seconds"] = measure.rounded(time.perf_counter() - began, 3)
            found["start_with_copy_seconds"] = measure.rounded(started(place, folder / "other"), 3)
        else:
            found["first_start_seconds"] = measure.rounded(started(place, folder / "cache"), 3)
        with served(place, {"NEARDUP_CACHE_DIR": str(folder / "cache")}) as (_, port):
            found["compaction"] = asyncio.run(compacted(port, count))
        return found


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute; writes no results")
    parser.add_argument("--documents", type=int, nargs="*", help="default: 100,000 and a million")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/service_waits.json")
    given = parser.parse_args()
    usual = None if given.quick else measure.RESULTS / "service_waits.json"
    counts = given.documents or (QUICK_DOCUMENTS if given.quick else DOCUMENTS)
    record: dict[str, Any] = {"environment": measure.environment(("psycopg",)), "load_before": os.getloadavg()}
    for kind, count in itertools.product(("folder", "postgresql"), counts):
        found = run(kind, count)
        record.setdefault("stores", []).append({"kind": kind, "documents": count, **found, "load": os.getloadavg()[0]})
        print(json.dumps(record["stores"][-1]), flush=True)
        measure.write_json(given.output or usual, record)


if __name__ == "__main__":
    main()
