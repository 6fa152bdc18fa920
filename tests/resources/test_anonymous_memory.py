"""What a run holds in memory that no file backs is bounded, however many documents there are."""

import json
import subprocess
import sys

import numpy as np
import pytest

import neardup as nd
from marks import long
from neardup.resources.resources import ARRAYS_AT_ONCE
from neardup.resources.scratch import IN_MEMORY, Scratch
from neardup.resources.temporary_files import TemporaryFiles

MEMORY = 64 << 20
AROUND = 64 << 20
"""Batches of one thread on their way, and what the kernels of a run need besides."""
DOCUMENTS = 400_000

PROGRAM = r"""
import json, re, sys, threading
from pathlib import Path
import neardup as nd

def anonymous():
    return 1024 * int(re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text()).group(1))

small, large, output, options = *sys.argv[1:4], json.loads(sys.argv[4])
nd.deduplicate_files(small, output, overwrite=True, **options)  # which loads and compiles all
before, seen, done = anonymous(), [], threading.Event()

def watch():
    while not done.wait(0.002):
        seen.append(anonymous())

watcher = threading.Thread(target=watch)
watcher.start()
found = nd.deduplicate_files(large, output, overwrite=True, **options)
done.set()
watcher.join()
print(json.dumps([found.summary.documents, found.summary.duplicates, max(seen) - before]))
"""


def write_corpus(path, documents):
    """Every tenth document is equal to the one before, every other tenth nearly so."""
    words = np.random.default_rng(0).integers(0, 1 << 20, (documents, 10))
    equal, near = np.arange(9, documents, 10), np.arange(4, documents, 10)
    words[equal], words[near, :9] = words[equal - 1], words[near - 1, :9]
    lines = (json.dumps({"id": row, "text": " ".join(map(hex, some))}) for row, some in enumerate(words.tolist()))
    path.write_text("\n".join(lines))


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    write_corpus(folder / "small.jsonl", 1_000)
    write_corpus(folder / "large.jsonl", DOCUMENTS)
    return folder


@pytest.mark.parametrize(
    ("method", "cluster"), [("exact", "star"), long("minhash", "components"), long("simhash", "star")]
)
def test_what_grows_with_the_documents_lies_in_files(corpora, method, cluster, tmp_path):
    options = {"method": method, "cluster": cluster, "memory": MEMORY, "threads": 1, "min_similarity": 0.6}
    given = [corpora / "small.jsonl", corpora / "large.jsonl", tmp_path / "out.jsonl", json.dumps(options)]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *given], capture_output=True, text=True, check=True)
    documents, duplicates, grown = json.loads(done.stdout)
    assert documents == DOCUMENTS
    assert duplicates >= DOCUMENTS // 10
    assert grown < MEMORY + AROUND


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_arrays_in_files_decide_as_those_in_memory(method, cluster, tmp_path, monkeypatch):
    write_corpus(tmp_path / "in.jsonl", 600)
    outputs = [tmp_path / name for name in ("out.jsonl", "out.duplicates.jsonl")]
    found = []
    for arrays in (ARRAYS_AT_ONCE, 1 << 60):
        monkeypatch.setattr("neardup.resources.resources.ARRAYS_AT_ONCE", arrays)
        options = {"method": method, "cluster": cluster, "min_similarity": 0.6, "overwrite": True, "keep": "last"}
        nd.deduplicate_files(tmp_path / "in.jsonl", str(outputs[0]), **options)
        found.append([path.read_bytes() for path in outputs])
    assert found[0] == found[1]
    assert len(found[0][1].splitlines()) >= 60


@pytest.mark.parametrize("largest", [None, 0])
def test_arrays_are_alike_wherever_they_are(largest, tmp_path):
    scratch = Scratch(largest, TemporaryFiles(str(tmp_path)))
    values, rows = np.arange(12, dtype=np.uint64).reshape(6, 2), np.array([5, 0, 5])
    made = {
        "zeros": (scratch.zeros((2, 3), np.int32), np.zeros((2, 3), np.int32)),
        "full": (scratch.full(3, np.nan, np.float64), np.full(3, np.nan)),
        "range": (scratch.range(5), np.arange(5)),
        "take": (scratch.take(values, rows), values[rows]),
        "keep": (scratch.keep(values[:, 1]), values[:, 1]),
        "none": (scratch.zeros(0, np.int64), np.empty(0, np.int64)),
    }
    for found, expected in made.values():
        assert np.array_equal(found, expected, equal_nan=found.dtype == np.float64)
        assert found.dtype == expected.dtype
        assert found.flags.writeable
    assert made["keep"][0].flags.c_contiguous == (largest == 0)
    assert list(tmp_path.iterdir()) == []


def test_without_a_limit_nothing_is_moved():
    values = np.arange(1 << 20)
    assert IN_MEMORY.keep(values) is values
