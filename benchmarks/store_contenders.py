"""What `store.py` compares, each in a process of its own: documents in order, each new or a duplicate of an earlier one.

    python benchmarks/store_contenders.py NAME TEXTS.json FOLDER

A contender decides batches of BATCH documents, one after another, and answers about single texts. Who has no batches decides its
documents one by one. Importing packages, the first compilation and reading the texts are not timed. The record goes to standard
output as JSON.
"""

import argparse
import json
import os
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import measure
from contender import AT_LEAST, PERMUTATIONS, UnavailableError
from neardup.resources.memory_use import peak_memory_bytes
from neardup.resources.threads import thread_count
from peer_contenders import word_shingles
from redis_server import RedisServer
from store_texts import questions

BATCH = 1024
BANDS, ROWS = 16, 8
"""Of the plain table: two texts of similarity 0.8 share a band with a probability of 0.947."""
SIMHASH_DISTANCE, FAISS_DISTANCE = 3, 10
"""SimhashIndex has its default; the recipe `default-64` has the other."""


class Contender(ABC):
    """Remembers documents.

    Attributes:
        decides_by: what makes a document a duplicate.
        durable: what a crash of the machine loses.
        reopens: whether it finds its documents again.
        batch: documents that it decides at a time.
    """

    decides_by: str
    durable: str
    reopens = True
    batch = BATCH

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.open()

    @abstractmethod
    def open(self) -> None:
        """Begin, or go on with what lies in the folder."""

    @abstractmethod
    def add(self, first: int, texts: list[str]) -> list[bool]:
        """Decide documents with the ids from `first` on, and keep the new ones; whether each is new."""

    @abstractmethod
    def check(self, text: str) -> bool:
        """Whether a document would be new."""

    def close(self) -> None:
        """End cleanly."""
        return

    def bytes(self) -> dict[str, int]:
        """What it takes on disk, or in memory, by kind."""
        return {}


class Neardup(Contender):
    """`nd.Store`, durable batches."""

    durable = "each batch"

    def __init__(self, folder: Path, method: str) -> None:
        self._method = method
        least = {"exact": "every pair", "minhash": "most pairs"}[method]
        self.decides_by = f"verified similarity of 0.8; {least}"
        super().__init__(folder)

    def open(self) -> None:
        import neardup

        self._store = neardup.Store(self.folder / "store", method=self._method, min_similarity=AT_LEAST)

    def add(self, first: int, texts: list[str]) -> list[bool]:
        found = self._store.check_and_add_many(range(first, first + len(texts)), texts)
        return [answer.is_new for answer in found]

    def check(self, text: str) -> bool:
        return self._store.check(text).is_new

    def close(self) -> None:
        self._store.close()

    def bytes(self) -> dict[str, int]:
        return self._store.info().bytes


class OneByOne(Contender):
    """Who decides documents one after another; the batch is that of the clock."""

    batch = 64

    @abstractmethod
    def sketch(self, text: str) -> Any:
        """What is compared of a text."""

    @abstractmethod
    def finds(self, sketch: Any) -> bool:
        """Whether it matches a kept document."""

    @abstractmethod
    def keep(self, number: int, sketch: Any) -> None:
        """Keep a document."""

    def add(self, first: int, texts: list[str]) -> list[bool]:
        found = []
        for number, text in enumerate(texts, first):
            sketch = self.sketch(text)
            is_new = not self.finds(sketch)
            if is_new:
                self.keep(number, sketch)
            found.append(is_new)
        return found

    def check(self, text: str) -> bool:
        return not self.finds(self.sketch(text))


class Datasketch(OneByOne):
    """MinHashLSH with its keys in Redis, as its documentation queries and inserts; estimates are not looked at."""

    def __init__(self, folder: Path, fsync: str) -> None:
        self._fsync = fsync
        self.durable = {"always": "each document", "everysec": "but the last second"}[fsync]
        self.decides_by = "bands of MinHash for 0.8"
        super().__init__(folder)

    def open(self) -> None:
        from datasketch import MinHash, MinHashLSH

        self._server = RedisServer(self.folder / "redis", self._fsync)
        redis = {"host": "127.0.0.1", "port": self._server.port}
        # A name for its keys, by which it finds them again.
        self._index = MinHashLSH(
            threshold=AT_LEAST,
            num_perm=PERMUTATIONS,
            storage_config={"type": "redis", "basename": b"documents", "redis": redis},
        )
        self._minhash = MinHash

    def sketch(self, text: str) -> Any:
        made = self._minhash(num_perm=PERMUTATIONS)
        made.update_batch([shingle.encode() for shingle in word_shingles(text)])
        return made

    def finds(self, sketch: Any) -> bool:
        return bool(self._index.query(sketch))

    def keep(self, number: int, sketch: Any) -> None:
        self._index.insert(str(number), sketch)

    def close(self) -> None:
        self._server.stop()

    def bytes(self) -> dict[str, int]:
        return {"Redis, in memory": self._server.memory_bytes(), "append-only file": disk(self.folder)}


class PyPISimhash(OneByOne):
    """`SimhashIndex`, in memory."""

    decides_by = f"{SIMHASH_DISTANCE} bits of 64"
    durable, reopens = "nothing", False

    def open(self) -> None:
        from simhash import Simhash, SimhashIndex

        self._simhash, self._index = Simhash, SimhashIndex([], k=SIMHASH_DISTANCE)

    def sketch(self, text: str) -> Any:
        return self._simhash(word_shingles(text))  # of characters, it fails on some texts with NumPy 2

    def finds(self, sketch: Any) -> bool:
        return bool(self._index.get_near_dups(sketch))

    def keep(self, number: int, sketch: Any) -> None:
        self._index.add(str(number), sketch)


class Faiss(Contender):
    """`IndexBinaryFlat` over fingerprints of neardup, in memory; batches are decided as one by one."""

    decides_by = f"{FAISS_DISTANCE} bits of 64 of neardup's fingerprints"
    durable, reopens = "nothing", False

    def open(self) -> None:
        import faiss

        import neardup

        self._fingerprint, self._index = neardup.fingerprint, faiss.IndexBinaryFlat(64)
        self._threads = faiss.omp_set_num_threads

    def add(self, first: int, texts: list[str]) -> list[bool]:  # noqa: ARG002 - it counts documents itself
        values = self._fingerprint(texts, recipe="default-64").reshape(-1)
        self._threads(thread_count(None))
        limits = self._index.range_search(values.view(np.uint8).reshape(-1, 8), FAISS_DISTANCE + 1)[0]
        is_new = np.diff(limits.astype(np.int64)) == 0
        for row in range(len(values)):
            if is_new[row]:
                near = np.bitwise_count(values[row + 1 :] ^ values[row]) <= FAISS_DISTANCE
                is_new[row + 1 :] &= ~near
        self._index.add(np.ascontiguousarray(values[is_new]).view(np.uint8).reshape(-1, 8))
        found: list[bool] = is_new.tolist()
        return found

    def check(self, text: str) -> bool:
        self._threads(1)  # for one text, those of OpenMP take longer than they help
        value = self._fingerprint([text], recipe="default-64").view(np.uint8).reshape(1, 8)
        return int(self._index.range_search(value, FAISS_DISTANCE + 1)[0][-1]) == 0

    def bytes(self) -> dict[str, int]:
        return {"in memory": 8 * self._index.ntotal}


class Bands(Contender):
    """The table that one writes oneself: the bands of signatures in SQLite, and their estimate; a commit for each batch."""

    decides_by = f"{BANDS} bands of {ROWS} of MinHash, estimate of 0.8"
    durable = "each batch"

    def open(self) -> None:
        import neardup

        self._sign = neardup.signatures
        self._base = sqlite3.connect(self.folder / "bands.sqlite", isolation_level=None)
        self._base.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE IF NOT EXISTS bands (band INTEGER, key INTEGER, id INTEGER, PRIMARY KEY (band, key, id)) WITHOUT ROWID;"
            "CREATE TABLE IF NOT EXISTS signatures (id INTEGER PRIMARY KEY, signature BLOB NOT NULL);"
        )

    def _finds(self, values: Any, keys: list[int]) -> bool:
        asked = " UNION ".join([f"SELECT id FROM bands WHERE band = {band} AND key = ?" for band in range(BANDS)])
        rows = self._base.execute(f"SELECT signature FROM signatures WHERE id IN ({asked})", keys)
        return any(np.mean(np.frombuffer(row[0], np.uint32) == values) >= AT_LEAST for row in rows)

    def add(self, first: int, texts: list[str]) -> list[bool]:
        values, found = self._sign(texts).values, []
        keys = keys_of_bands(values)
        self._base.execute("BEGIN")
        for row, mine in enumerate(keys):
            is_new = not self._finds(values[row], mine)
            if is_new:
                number = first + row
                self._base.execute("INSERT INTO signatures VALUES (?, ?)", (number, values[row].tobytes()))
                self._base.executemany(
                    "INSERT INTO bands VALUES (?, ?, ?)", [(band, key, number) for band, key in enumerate(mine)]
                )
            found.append(is_new)
        self._base.execute("COMMIT")
        return found

    def check(self, text: str) -> bool:
        values = self._sign([text], threads=1).values
        return not self._finds(values[0], keys_of_bands(values)[0])

    def close(self) -> None:
        self._base.close()

    def bytes(self) -> dict[str, int]:
        return {"SQLite": disk(self.folder)}


def keys_of_bands(values: Any) -> list[list[int]]:
    """A hash of each band of some signatures, as SQLite has integers."""
    parts = values.reshape(len(values), BANDS, ROWS).astype(np.uint64)
    keys = np.zeros(parts.shape[:2], np.uint64)
    for row in range(ROWS):
        keys = (keys ^ parts[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    found: list[list[int]] = keys.view(np.int64).tolist()
    return found


def disk(folder: Path) -> int:
    """Bytes of the files of a folder."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


CONTENDERS: dict[str, Callable[[Path], Contender]] = {
    "neardup exact": lambda folder: Neardup(folder, "exact"),
    "neardup minhash": lambda folder: Neardup(folder, "minhash"),
    "SQLite table of bands": Bands,
    "FAISS IndexBinaryFlat": Faiss,
    "PyPI simhash SimhashIndex": PyPISimhash,
    "datasketch on Redis, synced each second": lambda folder: Datasketch(folder, "everysec"),
    "datasketch on Redis, synced always": lambda folder: Datasketch(folder, "always"),
}


def run(make: Callable[[Path], Contender], given: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Give a contender all documents, as far as the time goes; ask it; close and open it again."""
    (folder / "warm").mkdir()
    warm = make(folder / "warm")  # which compiles what is compiled, and imports the rest
    warm.add(0, given["texts"][:8])
    warm.check(given["texts"][0])
    warm.close()
    (folder / "documents").mkdir()
    texts, (contender, before) = given["texts"], (make(folder / "documents"), peak_memory_bytes())
    batches: list[float] = []
    is_new: list[bool] = []
    for first in range(0, len(texts), contender.batch):
        part = texts[first : first + contender.batch]
        began = time.perf_counter()
        is_new += contender.add(first, part)
        batches.append((time.perf_counter() - began) / len(part))
        if sum(batches) * contender.batch > given["seconds"]:
            break
    count = len(is_new)
    kept = [text for text, new in zip(texts, is_new, strict=False) if new]
    asked = questions(kept, given["unseen"])
    record: dict[str, Any] = {
        "decides_by": contender.decides_by,
        "durable": contender.durable,
        "documents": count,
        "kept": sum(is_new),
        "documents_a_second": measure.rounded(1 / float(np.mean(batches))),
        "median_of_batches": measure.rounded(1 / float(np.median(batches))),
        "slowest_batch_seconds": measure.rounded(max(batches) * contender.batch),
        **agreement(is_new, given["is_new"][:count]),
        "check": {kind: latency(contender.check, each) for kind, each in asked.by_kind().items()},
        "bytes_open": contender.bytes(),
    }
    began = time.perf_counter()
    contender.close()
    record["close_seconds"] = measure.rounded(time.perf_counter() - began)
    if contender.reopens:
        began = time.perf_counter()
        contender.open()
        record["open_seconds"] = measure.rounded(time.perf_counter() - began)
        record["opened_finds_copies"] = not contender.check(texts[0])
        record["bytes"] = contender.bytes()
        contender.close()
    record["peak_memory_mb"] = round(peak_memory_bytes() / 1e6)
    record["peak_memory_before_mb"] = round(before / 1e6)
    return record


def agreement(is_new: list[bool], expected: list[bool]) -> dict[str, float | None]:
    """Which of the duplicates that `dedup` removes it finds, and which of the survivors it loses."""
    removed, right = ~np.array(is_new), np.array(expected)
    duplicates = int((~right).sum())
    return {
        "duplicates": duplicates,
        "duplicates_found": measure.rounded(float(removed[~right].mean())) if duplicates else None,
        "survivors_lost": measure.rounded(float(removed[right].mean())),
    }


def latency(check: Callable[[str], bool], asked: list[str]) -> dict[str, float]:
    """Microseconds of single questions, and how many were answered with "new"."""
    taken, new = [], 0
    for text in asked:
        began = time.perf_counter()
        new += check(text)
        taken.append(1e6 * (time.perf_counter() - began))
    return {
        "median": measure.rounded(float(np.median(taken))),
        "p99": measure.rounded(float(np.percentile(taken, 99))),
        "questions": len(asked),
        "answered_new": measure.rounded(new / len(asked)),
    }


def main() -> None:
    """Run one contender."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=CONTENDERS)
    parser.add_argument("texts", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    asked = json.loads(given.texts.read_text(encoding="utf-8"))
    load = os.getloadavg()[0]
    try:
        record = run(CONTENDERS[given.name], asked, given.folder)
    except UnavailableError as reason:
        print(json.dumps({"skipped": str(reason)}))
        return
    except ImportError as problem:
        print(json.dumps({"skipped": str(problem)}))
        return
    print(json.dumps(record | {"load": [load, os.getloadavg()[0]]}))


if __name__ == "__main__":
    main()
