"""How far each stage of a run is from what the machine must take for the bytes that the stage moves.

    python benchmarks/stage_limits.py [--quick] [--folder FOLDER] [--output FILE]

The run is `neardup dedup --method exact` of the package texts as JSON lines. In turns with it the machine is asked, on as many
threads, how fast it reads files that it has in its cache, writes new ones, gives memory that was never touched, streams memory that
was, and counts at random places of a table as large as the run's; and how fast Arrow alone parses these lines, and the kernels of
the first pass alone go through texts in memory. A stage's floor is what it moves at these rates, one after another, with nothing
computed but what is named.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.json

import measure
import package_texts
from commands import run
from corpus_speed import chosen_shards
from neardup.matching.prefix_join.counts import ElementCounts
from neardup.matching.prefix_join.join import POSTING_BYTES
from neardup.matching.similarities.first_pass import first_pass
from neardup.matching.similarities.table import SIMILARITY_TABLE
from neardup.recipe.recipe import Recipe
from neardup.resources.threads import in_order, thread_count
from neardup.text.columns import in_chunks

Array = np.ndarray[Any, np.dtype[Any]]

LARGE = 1 << 30
BUFFER = 4 << 20
INCREMENTS = 1 << 24
IDLE_SECONDS = 5
# Compiled without a cache: neardup's would not see a change of this file.
_compile: Any = numba.njit(nogil=True, error_model="numpy", _nrt=False)


@_compile
def count_at_random(cells, increments, seed):
    state = np.uint64(seed)
    for _ in range(increments):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        cells[np.int64((state >> np.uint64(24)) % np.uint64(len(cells)))] += np.uint16(1)


def _on_all(work: Callable[[int], float]) -> float:
    """Amounts of `work(thread)` a second, on all threads together."""
    threads = thread_count(None)
    began = time.perf_counter()
    amount = sum(in_order(work, range(threads), threads))
    return amount / (time.perf_counter() - began)


def reading(shards: list[Path]) -> float:
    """Bytes a second."""

    def work(thread: int) -> float:
        buffer, total = bytearray(BUFFER), 0
        for shard in shards[thread :: thread_count(None)]:
            with shard.open("rb", buffering=0) as file:
                while count := file.readinto(buffer):
                    total += count
        return total

    return _on_all(work)


def writing(folder: Path, size: int) -> float:
    """Bytes a second, to new files."""
    data = np.random.default_rng(1).bytes(BUFFER)

    def work(_: int) -> float:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            for _ in range(max(1, size // thread_count(None) // BUFFER)):
                file.write(data)
            return file.tell()

    return _on_all(work)


def touching(size: int) -> float:
    """Bytes a second, of memory that nobody had for some seconds: a virtual machine's host may have taken it back."""

    def work(_: int) -> float:
        memory = np.empty(size // thread_count(None), np.uint8)
        memory.fill(1)
        return memory.nbytes

    return _on_all(work)


def streaming(memory: Array) -> float:
    """Bytes a second, read once."""
    parts = np.array_split(memory, thread_count(None))

    def work(thread: int) -> float:
        parts[thread].sum()
        return parts[thread].nbytes

    return _on_all(work)


def counting(cells: Array) -> float:
    """Increments a second."""

    def work(thread: int) -> float:
        count_at_random(cells, INCREMENTS, thread)
        return INCREMENTS

    return _on_all(work)


def parsing(blocks: list[Any]) -> float:
    """Bytes of JSON lines a second, by Arrow alone."""
    schema = pa.schema([("text", pa.large_string())])
    how = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")

    def work(thread: int) -> float:
        mine = blocks[thread :: thread_count(None)]
        for block in mine:
            pa.json.read_json(
                pa.BufferReader(block), pa.json.ReadOptions(use_threads=False, block_size=block.size + 1), how
            )
        return sum(block.size for block in mine)

    return _on_all(work)


def passing(chunks: list[Any]) -> float:
    """Bytes of text a second, through the first pass's kernels: fingerprints and elements."""
    similarity = SIMILARITY_TABLE["jaccard"]

    def work(thread: int) -> float:
        mine = chunks[thread :: thread_count(None)]
        for chunk in mine:
            first_pass(chunk, Recipe(), similarity)
        return sum(chunk.nbytes for chunk in mine)

    return _on_all(work)


def line_blocks(shard: Path) -> list[Any]:
    """A shard's lines in blocks such as the reader makes."""
    found, rest = [], b""
    with shard.open("rb") as file:
        while data := file.read(BUFFER):
            cut = data.rfind(b"\n") + 1
            found.append(pa.py_buffer(rest + data[:cut]))
            rest = data[cut:]
    return [block for block in found if block.size]


def sample_of(blocks: list[Any]) -> tuple[list[Any], float]:
    """The texts of a shard, as the first pass gets them, and how many elements a byte of JSON lines has."""
    options = pa.json.ReadOptions(block_size=1 << 26)
    texts = [
        text.cast(pa.large_string())
        for block in blocks
        for text in pa.json.read_json(pa.BufferReader(block), options).column("text").chunks
    ]
    chunks = [chunk for text in texts for chunk in in_chunks(text)]
    elements = sum(len(first_pass(chunk, Recipe(), SIMILARITY_TABLE["jaccard"])[1].values) for chunk in chunks)
    return chunks, elements / sum(block.size for block in blocks)


def moved(summary: dict[str, Any], elements: float) -> Iterator[tuple[str, list[tuple[str, str, float]]]]:
    """Of each stage what it cannot do without: what, the rate that it goes by, and how much."""
    read, kept, join = summary["read_bytes"], 8 * elements, summary["join"]
    each = kept / summary["documents"]
    yield (
        "fingerprint",
        [
            ("read the files", "reading", read["fingerprint"]),
            ("parse", "parsing", read["fingerprint"]),
            ("first pass's kernels", "passing", summary["text_bytes"]),
            ("write the elements", "writing", kept),
        ],
    )
    yield "count", [("read the elements", "reading", kept), ("count each", "counting", elements)]
    yield "prefixes", [("read the elements", "reading", kept), ("look each up", "counting", elements)]
    yield (
        "join",
        [
            ("memory for postings", "touching", POSTING_BYTES * join["postings"]),
            ("find each posting's list", "counting", join["postings"]),
            ("go through the lists", "streaming", 8 * join["visits"]),
        ],
    )
    yield "verify", [("read both sets of a pair", "streaming", 2 * each * summary["candidates"])]
    yield (
        "write",
        [
            ("read the files", "reading", read["write"]),
            ("write the survivors", "writing", summary["written_bytes"]["write"]),
        ],
    )


def dedup(shards: list[Path], folder: Path) -> dict[str, Any]:
    """What the summary of a run says."""
    done = run("dedup", *shards, "-o", f"{folder}/", "--method", "exact", "--overwrite", "--quiet", "--json")
    found: dict[str, Any] = json.loads(done.output)
    return found


def measured(shards: list[Path], rounds: int, folder: Path, size: int) -> dict[str, Any]:
    """Rates and stages, medians of rounds in turns."""
    blocks = line_blocks(shards[0])
    chunks, elements_a_byte = sample_of(blocks)
    total = sum(shard.stat().st_size for shard in shards)
    text_share = sum(chunk.nbytes for chunk in chunks) / sum(block.size for block in blocks)
    memory = np.ones(size // 8, np.uint64)
    cells = np.zeros(ElementCounts.bytes_for(int(total * elements_a_byte), memory=LARGE) // 2, np.uint16)
    asked: dict[str, Callable[[], float]] = {
        "touching": lambda: touching(size),  # first, as the others use memory
        "reading": lambda: reading(shards),
        "writing": lambda: writing(folder, size),
        "streaming": lambda: streaming(memory),
        "counting": lambda: counting(cells),
        "parsing": lambda: parsing(blocks),
        "passing": lambda: passing(chunks),
    }
    count_at_random(cells, 1, 1)
    passing(chunks[:2])
    found: dict[str, list[float]] = {name: [] for name in asked}
    runs = []
    for _ in range(rounds):
        runs.append(dedup(shards, folder))
        time.sleep(IDLE_SECONDS)
        for name, ask in asked.items():
            found[name].append(ask())
    rates = {name: statistics.median(values) for name, values in found.items()}
    summary = {**runs[0], "text_bytes": total * text_share}
    stages = {}
    for stage, moves in moved(summary, total * elements_a_byte):
        seconds = [each["seconds"][stage] for each in runs]
        parts = {what: measure.rounded(amount / rates[rate], 3) for what, rate, amount in moves}
        stages[stage] = {
            "seconds": measure.rounded(statistics.median(seconds)),
            "min": min(seconds),
            "max": max(seconds),
            "floor": measure.rounded(sum(parts.values()), 3),
            "parts": parts,
        }
    return {
        "megabytes": round(total / 1e6, 1),
        "documents": summary["documents"],
        "elements": round(total * elements_a_byte),
        "seconds": [each["seconds"]["total"] for each in runs],
        "millions_a_second": {name: measure.rounded(rate / 1e6) for name, rate in rates.items()},
        "stages": stages,
    }


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 MB, one round; writes no results")
    parser.add_argument("--folder", type=Path, default=package_texts.default_folder(), help="of the package texts")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/stage_limits.json")
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = measure.RESULTS / "stage_limits.json"
    reason = None if given.quick else package_texts.missing(given.folder)
    if reason:
        print(f"skipped: {reason}")
        return
    with tempfile.TemporaryDirectory(dir=None if given.quick else given.folder) as temporary:
        here = Path(temporary)
        (here / "out").mkdir()
        shards = chosen_shards(given, here)
        dedup(shards[:1], here / "out")  # kernels are compiled
        record = {
            "environment": measure.environment(("pyarrow",)),
            **measured(shards, 1 if given.quick else 3, here / "out", LARGE // 16 if given.quick else LARGE),
        }
    print(json.dumps(record["stages"], indent=1))
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
