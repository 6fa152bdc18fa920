"""How long do Spark and Ray take beside one process on the same processors, what travels, and does time grow with the corpus?

    python benchmarks/cluster.py [--quick] [--folder FOLDER] [--output FILE]

Each run is a process of its own: `neardup dedup` on two threads, `neardup.spark.deduplicate` in a session of two cores, which
starts its Java machine within the time, and `neardup.ray.deduplicate` on a cluster of two CPUs, which starts within it, too.
Survivors are counted at the sink, and must be as many. Memory is that of a run's processes at its peak, without pages of files.

- A million package texts (`package_texts.py`, about 3.3 KB each), by `exact` and by `minhash`.
- Made texts of 1 KB: 160 words of 50,000, the word of rank r drawn in proportion to 1 / (r + 10). Every tenth is a copy of one of
  the seven before it with four other words. So there are known near-copies, as many as a tenth of the texts.
- 100,000 package texts by others on Spark, which are ended after 20 minutes: MLlib's MinHashLSH, and MinHash with bands in RDDs
  without verification, as published for The Stack (Kocetkov and others 2022). Recall: pairs of `neardup.match` by `exact` at 0.8
  that they find, or have in one cluster. Precision: pairs that they list that are 0.8 alike.
- The same texts by others on Ray (`ray_peers.py`), if `make install-pipelines` has installed them: data-juicer's MinHash operator,
  and Daft.
  They say only what stays. Recall: of those pairs, those of which they removed one. Precision: removed documents that are in one.
"""

import argparse
import contextlib
import importlib.util
import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

import measure
import neardup as nd
import package_texts

SIZES = (1_000_000, 2_000_000, 4_000_000, 8_000_000)
QUICK_SIZES = (20_000, 40_000)
VOCABULARY, WORDS, CHANGED = 50_000, 160, 4
FILE_ROWS = 62_500
MIN_SIMILARITY = 0.8
OTHERS, QUICK_OTHERS = 100_000, 2_000
SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "16",
}
RESULT = measure.RESULTS / "cluster.json"
PIPELINES = Path(__file__).parent.parent / ".venv" / "pipelines"
VALUES, BANDS = 256, 25
"""Of the MinHash in RDDs: 10 rows a band."""


def made_texts(count: int, seed: int = 0) -> Iterator[list[str]]:
    """Texts with near-copies, so many of a file at a time."""
    chance = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(chance.choice(letters, chance.integers(3, 9))) for _ in range(VOCABULARY)])
    share = 1 / np.arange(10, VOCABULARY + 10)
    for first in range(0, count, FILE_ROWS):
        drawn = chance.choice(VOCABULARY, (min(FILE_ROWS, count - first), WORDS), p=share / share.sum())
        for row in range(9, len(drawn), 10):
            drawn[row] = drawn[row - int(chance.integers(1, 8))]
            drawn[row, chance.integers(0, WORDS, CHANGED)] = chance.integers(0, VOCABULARY, CHANGED)
        yield [" ".join(words[row]) for row in drawn]


def write(parts: Iterator[list[str]], folder: Path) -> int:
    """Write texts as files of Parquet, with ids that are places. Returns the bytes of text."""
    folder.mkdir()
    first = size = 0
    for texts in parts:
        place = range(first, first + len(texts))
        table = pa.table({"id": [str(each) for each in place], "place": place, "text": texts})
        pq.write_table(table, folder / f"{first:09d}.parquet", row_group_size=8192)
        first, size = first + len(texts), size + sum(len(text.encode()) for text in texts)
    return size


def package_parts(folder: Path, count: int) -> Iterator[list[str]]:
    """The first package texts, so many of a file at a time."""
    yield from batched((text for _, text in package_texts.first_documents(folder, count)), FILE_ROWS)


def batched(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    """So many texts at a time."""
    while part := list(itertools.islice(texts, size)):
        yield part


def by_one_process(folder: Path, method: str, scratch: Path) -> dict[str, Any]:
    """Run `neardup dedup` on two threads."""
    output = scratch / "unique.parquet"
    command = [
        sys.executable,
        "-m",
        "neardup",
        "dedup",
        str(folder),
        "--text",
        "text",
        "--id",
        "id",
        "--method",
        method,
    ]
    command += ["--min-similarity", str(MIN_SIMILARITY), "--threads", "2", "--overwrite", "-o", str(output)]
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "survivors": pq.ParquetFile(output).metadata.num_rows}


def by_ray(folder: Path, method: str, scratch: Path) -> dict[str, Any]:
    """Run `neardup.ray.deduplicate` in a process with a cluster of two CPUs."""
    with tempfile.TemporaryDirectory(dir=scratch) as work:
        return in_process("deduplicate on ray", str(folder), method, work)


def by_spark(folder: Path, method: str, scratch: Path) -> dict[str, Any]:
    """Run `neardup.spark.deduplicate` in a process with two cores."""
    with tempfile.TemporaryDirectory(dir=scratch) as work:
        return in_process("deduplicate", str(folder), method, work)


def in_process(name: str, *given: str, limit: float | None = None) -> dict[str, Any]:
    """Run one of RUNS in a new process, see `measured`."""
    found = measured([sys.executable, __file__, "--run", name, *given], limit)
    output = found.pop("output", None)
    return found if output is None else found | json.loads(output.splitlines()[-1])


def descendants(pid: int) -> list[int]:
    """A process, and all that it and they have started."""
    found = [pid]
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in path.read_text().split():
                found += descendants(int(child))
    return found


def memory_of(pids: Sequence[int]) -> int:
    """Bytes of processes that are no pages of files; memory that they share counts for each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
    return total


def measured(command: Sequence[str], limit: float | None = None, *, may_fail: bool = False) -> dict[str, Any]:
    """What a command prints, the seconds from its start to its end, and its memory; or the seconds after which it was ended.

    `may_fail`: then it is noted what it said last; else nothing more is run.
    """
    begun = time.perf_counter()
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "RAY_USAGE_STATS_ENABLED": "0"}
    over, peak = threading.Event(), [0]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:

        def watch() -> None:
            while not over.wait(0.2):
                peak[0] = max(peak[0], memory_of(descendants(process.pid)))

        threading.Thread(target=watch).start()
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            for pid in descendants(process.pid):  # its Java machine, and those of Ray
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            return {"unfinished_after": limit, "peak_bytes": peak[0]}
        finally:
            over.set()
    if process.returncode and may_fail:
        return {"failed": (errors.strip().splitlines() or [""])[-1][:200], "peak_bytes": peak[0]}
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{errors[-4000:]}")
    return {"seconds": time.perf_counter() - begun, "peak_bytes": peak[0], "output": output}


def session() -> Any:
    """A session of Spark with two cores."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def run_deduplicate(folder: str, method: str, work: str) -> dict[str, Any]:
    """Our own run."""
    import neardup.spark

    frame = session().read.parquet(folder)
    options: Any = {"method": method, "min_similarity": MIN_SIMILARITY}
    done = neardup.spark.deduplicate(frame, order="place", work=f"{work}/job", **options)
    return told(done, done.survivors.count())


def run_on_ray(folder: str, method: str, work: str) -> dict[str, Any]:
    """Our own run on Ray."""
    import ray

    import neardup.ray

    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error", object_store_memory=1 << 30
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    options: Any = {"method": method, "min_similarity": MIN_SIMILARITY}
    done = neardup.ray.deduplicate(ray.data.read_parquet(folder), order="place", work=f"{work}/job", **options)
    return told(done, done.survivors.count())


def told(done: Any, survivors: int) -> dict[str, Any]:
    """What a run on an engine tells."""
    stages: dict[str, dict[str, float]] = {}
    for stage in done.stages:
        of = stages.setdefault(stage.name, {"runs": 0, "seconds": 0.0, "bytes": 0})
        of["runs"] += 1
        of["seconds"] = round(of["seconds"] + stage.seconds, 2)
        of["bytes"] += sum(stage.bytes.values())
    return {"survivors": survivors, "shuffled_bytes": done.summary.shuffled_bytes, "stages": stages}


def run_mllib(folder: str, output: str) -> dict[str, Any]:
    """MLlib: sets of hashed words, 2^18 features; a join by MinHash tables, and the real Jaccard similarity."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, RegexTokenizer

    frame = session().read.parquet(folder)
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern="\\W+").transform(frame).where("size(words) > 0")
    sets = (
        HashingTF(inputCol="words", outputCol="set", binary=True, numFeatures=1 << 18)
        .transform(words)
        .select("place", "set")
    )
    model = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=10, seed=1).fit(sets)
    found = model.approxSimilarityJoin(sets, sets, 1 - MIN_SIMILARITY).where("datasetA.place < datasetB.place")
    found.selectExpr("datasetA.place as a", "datasetB.place as b").write.parquet(output)
    return {}


def run_bands(folder: str, output: str) -> dict[str, Any]:
    """MinHash in RDDs: signatures, bands, groups with a common band, of which the first is joined to the others, unverified."""
    frame = session().read.parquet(folder)
    chance = np.random.default_rng(1)
    prime = (1 << 61) - 1
    a, b = (chance.integers(1, prime, VALUES, dtype=np.uint64) for _ in range(2))
    rows = VALUES // BANDS

    def bands(row: Any) -> Iterator[tuple[tuple[int, bytes], int]]:
        words = row.text.split()
        grams = {" ".join(words[at : at + 5]) for at in range(max(len(words) - 4, 1))}
        hashes = np.array([hash_of(each) for each in grams], np.uint64)
        values = (hashes[:, None] * a + b).min(axis=0)
        for band in range(BANDS):
            yield (band, values[band * rows : (band + 1) * rows].tobytes()), row.place

    def edges(group: Any) -> Iterator[tuple[int, int]]:
        places = sorted(group[1])
        yield from ((places[0], place) for place in places[1:])

    pairs = frame.select("place", "text").rdd.flatMap(bands).groupByKey().flatMap(edges).distinct()
    pairs.toDF(["a", "b"]).write.parquet(output)
    return {}


def hash_of(text: str) -> int:
    """64 bits of a text."""
    return int(xxhash.xxh64_intdigest(text.encode()))


def beside(
    folder: Path, texts: Sequence[str], scratch: Path, limit: float, engines: Sequence[str], peers: dict[str, str]
) -> dict[str, Any]:
    """Others, and ours, on the same texts.

    Args:
        folder, texts, scratch: of the texts.
        limit: seconds that each of the others may take.
        engines: those that are here.
        peers: the Pythons of those on Ray.
    """
    found = nd.match(texts, method="exact", min_similarity=MIN_SIMILARITY)
    truth = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    record: dict[str, Any] = {"commit": measure.environment()["commit"], "documents": len(texts), "pairs": len(truth)}
    expected = len(nd.deduplicate(texts, method="exact", min_similarity=MIN_SIMILARITY).survivors)
    for name, run in ENGINES.items():
        if name in engines:
            ours = run(folder, "exact", scratch)
            assert ours["survivors"] == expected, (name, ours["survivors"], expected)
            record[f"neardup.{name}"] = ours | {
                "recall": 1.0,
                "precision": 1.0,
            }  # of no pair stay both, and nothing else goes
    for name, python in peers.items():
        output = scratch / name
        command = [python, str(Path(__file__).with_name("ray_peers.py")), name, str(folder), str(output)]
        record[name] = measured(command, limit, may_fail=True)
        record[name].pop("output", None)
        if "seconds" in record[name]:
            stays = set(pq.read_table(output).column("place").to_pylist())
            removed, near = set(range(len(texts))) - stays, {place for pair in truth for place in pair}
            parted = sum(a not in stays or b not in stays for a, b in truth)
            shares = {"recall": parted / len(truth), "precision": len(removed & near) / max(len(removed), 1)}
            record[name] |= {"removed": len(removed), **shares}
    for name in ("mllib", "bands") if "spark" in engines else ():
        output = scratch / name
        record[name] = in_process(name, str(folder), str(output), limit=limit)
        if "seconds" not in record[name]:
            continue
        listed = pq.read_table(output)
        pairs = set(zip(listed.column("a").to_pylist(), listed.column("b").to_pylist(), strict=True))
        if name == "bands":
            pairs = together(pairs, truth)
        hits = len(pairs & truth)
        record[name] |= {"pairs": len(pairs), "recall": hits / len(truth), "precision": hits / max(len(pairs), 1)}
    return record


def together(edges: set[tuple[int, int]], truth: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The edges, and those true pairs that edges connect."""
    first: dict[int, int] = {}

    def root(place: int) -> int:
        while first.get(place, place) != place:
            place = first[place]
        return place

    for a, b in edges:
        low, high = sorted((root(a), root(b)))
        first[high] = low
    return edges | {(a, b) for a, b in truth if root(a) == root(b)}


ENGINES = {"spark": by_spark, "ray": by_ray}
RUNS: dict[str, Callable[..., dict[str, Any]]] = {
    "deduplicate": run_deduplicate,
    "deduplicate on ray": run_on_ray,
    "mllib": run_mllib,
    "bands": run_bands,
}


def compared(
    folder: Path, size: int, method: str, scratch: Path, rounds: int, engines: Sequence[str]
) -> dict[str, Any]:
    """One process and engines in turn on the same texts, medians."""
    runs: dict[str, list[dict[str, Any]]] = {"one process": [], **{name: [] for name in engines}}
    for _ in range(rounds):
        runs["one process"].append(by_one_process(folder, method, scratch))
        for name in engines:
            runs[name].append(ENGINES[name](folder, method, scratch))
            assert runs[name][-1]["survivors"] == runs["one process"][-1]["survivors"], (name, runs)
    documents = sum(pq.ParquetFile(path).metadata.num_rows for path in folder.iterdir())
    seconds = {name: statistics.median(run["seconds"] for run in some) for name, some in runs.items()}
    found: dict[str, Any] = {
        "commit": measure.environment()["commit"],  # of a file that runs are added to, each has its own
        "method": method,
        "documents": documents,
        "text_bytes": size,
        "survivors": runs["one process"][0]["survivors"],
        "seconds": {name: measure.rounded(value) for name, value in seconds.items()},
    }
    for name in engines:
        costs = {
            "overhead": measure.rounded(seconds[name] / seconds["one process"]),
            "shuffled_bytes_each": measure.rounded(runs[name][0]["shuffled_bytes"] / documents),
            "peak_bytes": max(run["peak_bytes"] for run in runs[name]),
            "stages": runs[name][0]["stages"],
        }
        found |= costs if name == "spark" else {name: costs}
    return found


def main() -> None:
    """Run, print, write the results."""
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(RUNS[sys.argv[2]](*sys.argv[3:])))
        return
    given = arguments()
    missing = {
        "spark": importlib.util.find_spec("pyspark") is None or not shutil.which("java"),
        "ray": importlib.util.find_spec("ray") is None,
    }
    engines = [name for name in given.engines if not missing[name]]
    for name in set(given.engines) - set(engines):
        print(f"skipped: {name} is not installed: the extra [{name}]" + (", and make java" if name == "spark" else ""))
    if not engines:
        return
    pythons = {name: PIPELINES / name / "bin" / "python" for name in ("data-juicer", "daft")}
    peers = {name: str(python) for name, python in pythons.items() if python.exists() and "ray" in engines}
    rounds = 1 if given.quick else given.rounds
    record: dict[str, Any] = {"runs": {}}
    if given.add:
        record = json.loads(given.output.read_text())
    record["environment"] = measure.environment(("pyspark", "ray"))
    with tempfile.TemporaryDirectory(dir=given.scratch) as name:
        scratch = Path(name)
        reason = package_texts.missing(given.folder)
        if reason is not None:
            print(f"skipped: {reason}")
        else:
            folder = scratch / "packages"
            size = write(package_parts(given.folder, 20_000 if given.quick else 1_000_000), folder)
            for method in given.methods:
                record["runs"][f"package texts, {method}"] = compared(folder, size, method, scratch, rounds, engines)
                print(json.dumps(record["runs"][f"package texts, {method}"]), flush=True)
                measure.write_json(given.output, record)
            some = scratch / "some"
            parts = list(package_parts(given.folder, QUICK_OTHERS if given.quick else given.others))
            write(iter(parts), some)
            if not given.without_others:
                texts = [text for part in parts for text in part]
                record["others"] = beside(some, texts, scratch, given.limit, engines, peers)
                print(json.dumps(record["others"]), flush=True)
        for count in QUICK_SIZES if given.quick else given.sizes:
            folder = scratch / f"made {count}"
            size = write(made_texts(count), folder)
            record["runs"][f"{count:,} made texts"] = compared(folder, size, "exact", scratch, rounds, engines)
            print(json.dumps(record["runs"][f"{count:,} made texts"]), flush=True)
            for path in folder.iterdir():
                path.unlink()
            measure.write_json(given.output, record)
    measure.write_json(given.output, record)


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few texts, one round")
    parser.add_argument("--folder", type=Path, default=package_texts.default_folder(), help="of the package texts")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/cluster.json, none with --quick")
    parser.add_argument("--scratch", type=Path, help="where the texts are written: 12 GB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="how many made texts")
    parser.add_argument("--methods", nargs="*", default=("exact", "minhash"))
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--add", action="store_true", help="keep what the result file has of other runs")
    parser.add_argument("--others", type=int, default=OTHERS, help="package texts for other tools")
    parser.add_argument("--limit", type=float, default=1200, help="seconds after which another tool is ended")
    parser.add_argument("--without-others", action="store_true", help="do not run other tools")
    given = parser.parse_args()
    if given.add and (given.quick or not (given.output or RESULT).exists()):
        parser.error("--add: there is no result file to add to")
    if given.output is None and not given.quick:
        given.output = RESULT
    return given


if __name__ == "__main__":
    main()
