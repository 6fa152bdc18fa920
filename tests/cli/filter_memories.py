"""What `neardup filter` remembers documents in, an index or a store: what both have in common, for tests of both."""

import gzip
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_corpora import lines, write_lines

import neardup as nd
from neardup.jobs.streams import filter as filter_by_index
from neardup.jobs.streams import filter_store_walk, line_walk
from neardup.jobs.streams.filter_store import filter_with_store
from neardup.store.record.record import Record


def corpus(count, seed=0):
    """Rows of which many are near copies or equal to others; some are short or empty."""
    choose = random.Random(seed)
    words = [f"word{i}" for i in range(300)]
    rows: list[dict] = []
    for i in range(count):
        if rows and choose.random() < 0.5:
            text = choose.choice(rows)["text"] + choose.choice(["", " !", " more", " and more of it"])
        else:
            text = " ".join(choose.sample(words, choose.choice([0, 3, 30, 60])))
        rows.append({"id": f"d{i}", "text": text, "other": [1, None]})
    return rows


ROWS = corpus(150)


def shards_of(rows):
    """The rows in three files, the second one compressed, the third one without a newline at its end."""
    Path("in").mkdir(exist_ok=True)
    write_lines("in/a.jsonl", rows[:40])
    Path("in/b.jsonl.gz").write_bytes(gzip.compress(lines(rows[40:90])))
    Path("in/c.jsonl").write_bytes(lines(rows[90:]).rstrip(b"\n"))
    return ["in/a.jsonl", "in/b.jsonl.gz", "in/c.jsonl"]


class Killed(BaseException):
    """The process ends here."""


@dataclass(frozen=True)
class Memory:
    """A kind of memory.

    Attributes:
        kind: `index` or `store`.
        walk: the class that decides blocks.
        filter: the function that filters.
        size: the module and the name of the number of documents between two commits.
        steps: functions at which a process may be killed, by their owner and name.
    """

    kind: str
    walk: Any
    filter: Callable[..., Any]
    size: tuple[Any, str]
    steps: tuple[tuple[Any, str], ...]

    def command(self, place, *arguments):
        return ("filter", "--create", f"--{self.kind}", place, *arguments)

    def documents(self, place):
        if self.kind == "index":
            return len(nd.Index.open(place))
        with nd.Store(place) as store:
            return len(store)

    def small_steps(self, monkeypatch, documents=15):
        """Blocks of some ten documents, and commits of fewer."""
        monkeypatch.setattr(*self.size, documents)
        monkeypatch.setattr(line_walk, "BLOCK_BYTES", 4_000)

    def interrupted(self, monkeypatch, place, inputs="a.jsonl", out="out.jsonl"):
        """A run that stops half way."""
        self.small_steps(monkeypatch, 12)
        with monkeypatch.context() as patch:
            original, count = self.walk.decide, [0]

            def decide(walk, *args):
                count[0] += 1
                if count[0] > 4:
                    raise Killed
                return original(walk, *args)

            patch.setattr(self.walk, "decide", decide)
            with pytest.raises(Killed):
                self.filter(place, inputs, out, threads=1, create=True)


INDEX = Memory(
    "index",
    filter_by_index.FilterWalk,
    nd.filter_files,
    (filter_by_index, "COMMIT_ROWS"),
    ((os, "fsync"), (os, "replace"), (Path, "replace"), (Path, "unlink")),
)
STORE = Memory(
    "store",
    filter_store_walk.FilterStoreWalk,
    filter_with_store,
    (filter_store_walk, "DOCUMENTS_AT_ONCE"),
    ((os, "fsync"), (os, "fdatasync"), (Path, "replace"), (Record, "set_facts")),
)

_SELF_KILLING = """
import os, random, signal, sys, threading
from filter_memories import INDEX, STORE
from neardup.cli.main import main
from neardup.jobs.streams import line_walk
memory = {"index": INDEX, "store": STORE}[sys.argv[1]]
setattr(*memory.size, {"index": 40, "store": 20}[memory.kind])
line_walk.BLOCK_BYTES = 4_000
choose = random.Random(int(sys.argv[2]))
original = memory.walk.decide
def decide(self, *args):
    if self.counts.rows > moment:
        threading.Timer(choose.random() * 0.01, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return original(self, *args)
moment = choose.randrange(int(sys.argv[3]))
memory.walk.decide = decide
main(sys.argv[4:])
"""


def self_killing(memory, seed, rows, *arguments):
    """A call of `neardup` with these arguments in a process that kills itself at some moment."""
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{_SELF_KILLING}"
    return [sys.executable, "-c", program, memory.kind, str(seed), str(len(rows)), *arguments]
