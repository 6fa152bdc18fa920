"""Does `nd.Store` stay as it is? Mixed work for an hour, with memory, files and latency by the minute.

Documents of about 200 bytes come in durable batches of 256, and expire after a minute. After each batch, 16 texts are checked, half
of them copies that must be found, and some kept documents are removed, which must not be found again. Every ten seconds, what has
expired is removed. Every minute the store is closed and opened. At each quarter of the time it is compacted. At the end, every byte
is verified. The number of documents must always be what the answers say.
"""

import argparse
import itertools
import json
import os
import random
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import measure
import neardup
from store_growth import WARM_TEXTS, memory_mb
from store_texts import short_documents

BATCH, CHECKED, REMOVED = 256, 16, 4
LIVES, EXPIRES_EVERY = 60.0, 10.0
"""Seconds."""
SECONDS, QUARTERS = 3600.0, 4
ENDLESS = 1 << 40


@dataclass
class Counts:
    """What should be there, and what was wrong.

    Attributes:
        alive: kept documents by the answers.
        lost: copies of kept documents that were not found.
        returned: removed documents that were found again.
        miscounted: how often the number of documents was another.
    """

    alive: int = 0
    lost: int = 0
    returned: int = 0
    miscounted: int = 0


@dataclass
class Minute:
    """The times of a minute, in seconds, by kind of work."""

    taken: dict[str, list[float]] = field(default_factory=dict)

    def time(self, kind: str, began: float) -> None:
        """Note what has taken until now."""
        self.taken.setdefault(kind, []).append(time.perf_counter() - began)

    def as_record(self) -> dict[str, Any]:
        """Milliseconds: median, p99 and most, and how many."""
        return {
            kind: {
                "count": len(times),
                "median_ms": measure.rounded(1e3 * float(np.median(times))),
                "p99_ms": measure.rounded(1e3 * float(np.percentile(times, 99))),
                "most_ms": measure.rounded(1e3 * max(times)),
            }
            for kind, times in self.taken.items()
        }


class Work:
    """Mixed work on a store."""

    def __init__(self, path: Path, method: str) -> None:
        self._path, self._method = path, method
        self._documents = itertools.chain.from_iterable(short_documents(ENDLESS))
        self._unseen = itertools.chain.from_iterable(short_documents(ENDLESS, seed=99))
        self._chance, self._given = random.Random(3), 0
        self._kept: deque[tuple[float, int, str]] = deque()  # some documents that are there: when they expire
        self.counts, self.minute = Counts(), Minute()
        self.store = neardup.Store(path, method=method)

    def batch(self) -> None:
        """Add some documents, check some, and remove some."""
        texts, expires = list(itertools.islice(self._documents, BATCH)), time.time() + LIVES
        ids = range(self._given, self._given + BATCH)
        began = time.perf_counter()
        answers = self.store.check_and_add_many(ids, texts, expires=expires)
        self.minute.time("add", began)
        self._given += BATCH
        rows = [row for row, answer in enumerate(answers) if answer.is_new]
        self.counts.alive += len(rows)
        chosen = self._chance.sample(rows, 2 * REMOVED)
        self._kept.extend((expires, ids[row], texts[row]) for row in chosen[:REMOVED])
        while self._kept and self._kept[0][0] < time.time() + 1:
            self._kept.popleft()
        copies = [self._chance.choice(self._kept)[2] for _ in range(CHECKED // 2)]
        for text in [*copies, *itertools.islice(self._unseen, CHECKED // 2)]:
            began = time.perf_counter()
            answer = self.store.check(text)
            self.minute.time("check", began)
            self.counts.lost += text in copies and answer.is_new
        gone = [ids[row] for row in chosen[REMOVED:]]
        began = time.perf_counter()
        self.counts.alive -= self.store.remove(gone)
        self.minute.time("remove", began)
        self.counts.returned += sum(self.store.get(each) is not None for each in gone)
        self.counts.miscounted += len(self.store) != self.counts.alive

    def expire(self) -> None:
        """Remove what has expired."""
        began = time.perf_counter()
        self.counts.alive -= self.store.expire()
        self.minute.time("expire", began)

    def reopen(self) -> None:
        """Close the store, and open it."""
        began = time.perf_counter()
        self.store.close()
        self.minute.time("close", began)
        began = time.perf_counter()
        self.store = neardup.Store(self._path, method=self._method)
        self.minute.time("open", began)

    def compact(self) -> None:
        """Give up the room of what is gone."""
        began = time.perf_counter()
        self.store.compact()
        self.minute.time("compact", began)

    def look(self, minute: int) -> dict[str, Any]:
        """What there is after a minute; another one begins."""
        info = self.store.info()
        record = {
            "minute": minute,
            "given": self._given,
            "documents": info.documents,
            "gone": info.gone,
            **memory_mb(),
            "disk_mb": measure.rounded(sum(info.bytes.values()) / 1e6),
            "bytes": info.bytes,
            "files": sum(1 for _ in self._path.iterdir()),
            "open_files": len(os.listdir("/proc/self/fd")),
            "load": os.getloadavg()[0],
            "work": self.minute.as_record(),
        }
        self.minute = Minute()
        return record


def soak(path: Path, method: str, seconds: float, minute_seconds: float) -> dict[str, Any]:
    """Work for so long."""
    work, minutes = Work(path, method), []
    began = last = expired = time.monotonic()
    quarters = [began + seconds * quarter / QUARTERS for quarter in range(1, QUARTERS)]
    while (now := time.monotonic()) < began + seconds:
        work.batch()
        if now - expired >= EXPIRES_EVERY:
            work.expire()
            expired = now
        if quarters and now >= quarters[0]:
            work.compact()
            quarters.pop(0)
        if now - last >= minute_seconds:
            work.reopen()
            minutes.append(work.look(len(minutes) + 1))
            print(json.dumps(minutes[-1]), flush=True)
            last = now
    check = work.store.verify()
    work.store.close()
    return {
        "method": method,
        "seconds": seconds,
        "sound": check.is_sound,
        "documents_verified": check.documents,
        **vars(work.counts),
        "minutes": minutes,
    }


def main() -> None:
    """Run and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="half a minute; writes no results")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="default: %(default)g")
    parser.add_argument("--method", choices=("exact", "minhash"), default="exact", help="default: %(default)s")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/store_soak.json")
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = measure.RESULTS / "store_soak.json"
    seconds, minute = (30.0, 10.0) if given.quick else (given.seconds, 60.0)
    record: dict[str, Any] = {"environment": measure.environment(), "load_before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as name:
        with neardup.Store(Path(name) / "warm", method=given.method) as warm:  # which compiles
            warm.check_and_add_many([0, 1], WARM_TEXTS)
        record |= soak(Path(name) / "store", given.method, seconds, minute)
    measure.write_json(given.output, record)
    print(json.dumps({name: value for name, value in record.items() if name not in ("environment", "minutes")}))


if __name__ == "__main__":
    main()
