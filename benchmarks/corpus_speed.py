"""A corpus of shards from files to files, in JSON lines and in Parquet: megabytes a second, by stage, beside a plain copy.

The corpus is `package_texts.py`'s, a million documents in 16 shards; the same documents as zstd Parquet, written by Arrow.
In turns:

- `dedup`: a process, `neardup dedup FOLDER -o OUT/ --json`, all by default;
- `read`: every text is read by the same reader, on as many threads, and nothing is done with it;
- `copy`: the same reader and writer copy every row.

The kernels are compiled before. A megabyte is 10^6 bytes of JSON lines, or of text (UTF-8) in Parquet, whose files are smaller.

Targets, on two processors: JSON lines 120 MB/s, Parquet 200 MB/s.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

import measure
import package_texts
from commands import run
from corpora import python_installation
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import open_corpus
from neardup.io.corpora.reading import Reading
from neardup.io.formats.table import FORMATS, open_sink
from neardup.io.storage.compressions import compression_of_name
from neardup.resources.threads import in_order, thread_count

TARGETS = {"jsonl": 120, "parquet": 200}


def as_parquet(shards: list[Path], folder: Path) -> list[Path]:
    """The same documents in Parquet."""
    written = []
    for shard in shards:
        table = pa.json.read_json(shard, pa.json.ReadOptions(block_size=1 << 26))
        written.append(folder / (shard.stem + ".parquet"))
        pq.write_table(table, written[-1], compression="zstd", row_group_size=1 << 14)
    return written


def small_shards(folder: Path) -> list[Path]:
    """Two shards of texts that every machine has, 10 MB each."""
    texts = python_installation(20_000_000).array.to_pylist()
    (folder / "in").mkdir()
    shards = [folder / "in" / f"{number}.jsonl" for number in range(2)]
    for number, shard in enumerate(shards):
        rows = ({"id": f"{number}/{row}", "text": text} for row, text in enumerate(texts[number::2]))
        shard.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return shards


def chosen_shards(given: argparse.Namespace, folder: Path) -> list[Path]:
    """The package texts or, with --quick, small shards that are written to `folder`."""
    if given.quick:
        return small_shards(folder)
    return [package_texts.shard_path(given.folder, number) for number in range(package_texts.SHARDS)]


def text_bytes(shards: list[Path]) -> int:
    """UTF-8 bytes of the texts of Parquet shards."""
    return sum(pq.read_table(shard, columns=["text"]).column("text").nbytes for shard in shards)


def _size(batch: Batch) -> int:
    return len(batch.texts)


def read(shards: list[Path]) -> float:
    """Seconds to read all texts."""
    began = time.perf_counter()
    corpus = open_corpus(shards, Reading())
    for _ in corpus.map(_size):
        pass
    return time.perf_counter() - began


def copy(shards: list[Path], rows: list[int], folder: Path) -> float:
    """Seconds to copy all rows by the reader and the writer of the format, several shards at a time."""
    began = time.perf_counter()
    found = open_corpus(shards, Reading()).shards

    def one(number: int) -> None:
        shard, target = found[number], folder / found[number].path.name
        with open_sink(target, shard.format, compression_of_name(target.name)) as sink:
            FORMATS[shard.format].copy(shard, np.ones(rows[number], np.bool_), sink)

    for _ in in_order(one, range(len(found)), thread_count(None)):
        pass
    return time.perf_counter() - began


def rows_of(shards: list[Path]) -> list[int]:
    """Rows of JSON-lines shards."""
    found = []
    for shard in shards:
        with shard.open("rb") as file:
            found.append(sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 24), b"")))
    return found


def dedup(shards: list[Path], folder: Path) -> tuple[float, dict[str, Any]]:
    """Seconds of the process, and what its summary says."""
    done = run("dedup", *shards, "-o", f"{folder}/", "--overwrite", "--quiet", "--json")
    found = json.loads(done.output)
    kept = ("documents", "survivors", "method", "seconds", "peak_temporary_bytes")
    return done.seconds, {name: found[name] for name in kept} | {
        "processor_seconds": done.processor_seconds,
        "peak_memory_mb": round(done.peak_memory_bytes / 1e6),
    }


def in_turns(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[Any]]:
    """What each contender gave in each round."""
    found: dict[str, list[Any]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            found[name].append(contender())
    return found


def measured(kind: str, shards: list[Path], rows: list[int], size: int, rounds: int, folder: Path) -> dict[str, Any]:
    """The figures of one format."""
    found = in_turns(
        {
            "read": lambda: read(shards),
            "copy": lambda: copy(shards, rows, folder),
            "dedup": lambda: dedup(shards, folder),
        },
        rounds,
    )
    seconds = {name: [each[0] if isinstance(each, tuple) else each for each in given] for name, given in found.items()}
    medians = {name: statistics.median(given) for name, given in seconds.items()}
    middle = min(found["dedup"], key=lambda each: abs(each[0] - medians["dedup"]))
    return {
        "megabytes": round(size / 1e6, 1),
        "file_megabytes": round(sum(shard.stat().st_size for shard in shards) / 1e6, 1),
        "megabytes_a_second": {name: measure.rounded(size / 1e6 / value) for name, value in medians.items()},
        "seconds": {name: [measure.rounded(value) for value in given] for name, given in seconds.items()},
        "target_megabytes_a_second": TARGETS[kind],
        "run": middle[1],
    }


def main() -> None:
    """Measure both formats and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="two shards of the Python installation's texts, one round; writes no results",
    )
    parser.add_argument("--folder", type=Path, default=package_texts.default_folder(), help="of the package texts")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/corpus_speed.json")
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = measure.RESULTS / "corpus_speed.json"
    reason = None if given.quick else package_texts.missing(given.folder)
    if reason:
        print(f"skipped: {reason}")
        return
    rounds = 1 if given.quick else 3
    record: dict[str, Any] = {"environment": measure.environment(("pyarrow", "msgspec"))}
    with tempfile.TemporaryDirectory(dir=None if given.quick else given.folder) as temporary:
        here = Path(temporary)
        shards = chosen_shards(given, here)
        rows = rows_of(shards)
        (here / "out").mkdir()
        dedup(shards[:1], here / "out")  # kernels are compiled
        size = sum(shard.stat().st_size for shard in shards)
        record["jsonl"] = measured("jsonl", shards, rows, size, rounds, here / "out")
        parquet = as_parquet(shards, here)
        record["parquet"] = measured("parquet", parquet, rows, text_bytes(parquet), rounds, here / "out")
    print(json.dumps({kind: record[kind]["megabytes_a_second"] for kind in TARGETS}, indent=1))
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
