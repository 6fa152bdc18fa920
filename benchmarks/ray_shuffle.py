"""What carries packed rows from task to task on Ray: its own shuffles, its object store, or files that all nodes share?

    python benchmarks/ray_shuffle.py [--quick] [--output FILE]

So many megabytes of packed rows, made by so many tasks for so many buckets, come to a task for each bucket, which adds their bytes.
The cluster has a head and a second node of one CPU each, as processes, whose object stores hold 200 MB each.

- Ray Data's `repartition(keys=…)`, by each of its two strategies of hash shuffles.
- Tasks whose results are an object for each bucket.
- Files, as `neardup.ray` has them.

Each way is run once as it is, and once while the second node is killed when half of the first tasks are done, and another one is
started. What came of that is noted: the same sum, or the error. Memory is that of the processes of Ray, at its peak, less what they
had before.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import measure

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from engines import ray_cluster
from neardup.engines.job.bucket_files import Written, contents, of_buckets, write
from neardup.engines.job.folder import Folder
from neardup.engines.packing import Packed

MEGABYTES, TASKS, BUCKETS = 64, 16, 16
QUICK = (16, 8, 8)
PATIENCE = 120
RESULT = measure.RESULTS / "ray_shuffle.json"


def packed(task: int, sizes: tuple[int, int, int]) -> Iterator[Packed]:
    """The packed rows of a task: random bytes, as those that are compressed."""
    megabytes, tasks, buckets = sizes
    each = (megabytes << 20) // tasks // buckets
    chance = np.random.default_rng(task)
    for bucket in range(buckets):
        yield Packed(bucket, 1, chance.bytes(each))


def by_ray_data(strategy: str) -> Callable[..., int]:
    """Ray Data's shuffle by keys."""

    def run(sizes: tuple[int, int, int], told: Path, _: Path) -> int:
        import ray

        context = ray.data.DataContext.get_current()
        context.shuffle_strategy = strategy

        def made(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
            for each in packed(row["id"], sizes):
                yield {"bucket": each.bucket, "content": each.content}
            (told / str(row["id"])).touch()

        def added(block: pa.Table) -> pa.Table:
            return pa.table({"bytes": [sum(len(each.as_buffer()) for each in block.column("content"))]})

        rows = ray.data.range(sizes[1], override_num_blocks=sizes[1]).flat_map(made)
        sent = rows.repartition(sizes[2], keys=["bucket"]).map_batches(added, batch_format="pyarrow", batch_size=None)
        return int(sum(row["bytes"] for row in sent.iter_rows()))

    return run


def by_objects(sizes: tuple[int, int, int], told: Path, _: Path) -> int:
    """Tasks whose results are an object for each bucket."""
    import ray

    @ray.remote(num_returns=sizes[2], max_retries=8)
    def made(task: int) -> list[bytes]:
        found = [each.content for each in packed(task, sizes)]
        (told / str(task)).touch()
        return found

    @ray.remote(max_retries=8)
    def added(*contents: bytes) -> int:
        return sum(map(len, contents))

    objects = [made.remote(task) for task in range(sizes[1])]
    ray.wait([each[0] for each in objects], num_returns=len(objects))
    return int(sum(ray.get([added.remote(*column) for column in zip(*objects, strict=True)])))


def by_files(sizes: tuple[int, int, int], told: Path, scratch: Path) -> int:
    """Files that all nodes share."""
    import ray

    folder = Folder(str(scratch))

    @ray.remote(max_retries=8)
    def made(task: int) -> Written:
        name = f"{task}-{os.getpid()}-{time.monotonic_ns()}"
        with folder.writing(name) as file:
            found = write(file, (("rows", each) for each in packed(task, sizes)))
        (told / str(task)).touch()
        return Written(name, found)

    @ray.remote(max_retries=8)
    def added(segments: Any) -> int:
        return sum(map(len, contents(folder, segments)))

    written = ray.get([made.remote(task) for task in range(sizes[1])])
    segments = [(each.file, each.segments["rows"]) for each in written]
    return int(sum(ray.get([added.remote(of_buckets(segments, at, at + 1)) for at in range(sizes[2])])))


WAYS = {
    "Ray Data, `hash_shuffle`": by_ray_data("hash_shuffle"),
    "Ray Data, `shuffle_v2`": by_ray_data("shuffle_v2"),
    "objects of tasks": by_objects,
    "files, as `neardup.ray`": by_files,
}


def memory(pids: list[int]) -> int:
    """Bytes of processes that are not shared with files."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem")))
    return total


def one(way: str, sizes: tuple[int, int, int], *, kills: bool) -> None:
    """Run one way on a cluster of its own, print what came of it, and end this process: a job that never ends would keep it."""
    with tempfile.TemporaryDirectory() as name, ray_cluster.running() as cluster, ray_cluster.connected(cluster):
        told, scratch, over, peak = Path(name) / "told", Path(name) / "files", threading.Event(), [0]
        told.mkdir()
        scratch.mkdir()
        processes = [cluster.head, *cluster.nodes]

        def all_pids() -> list[int]:
            return [pid for process in processes for pid in ray_cluster.children(process.pid)]

        before = memory(all_pids())

        def watch() -> None:
            left = kills
            while not over.wait(0.05):
                with contextlib.suppress(OSError):
                    peak[0] = max(peak[0], memory(all_pids()) - before)
                if left and len(list(told.iterdir())) >= sizes[1] // 2:
                    left = False
                    cluster.kill_node(cluster.nodes[0])
                    processes.append(cluster.add_node())

        found: dict[str, Any] = {}
        answer: list[Any] = []

        def work() -> None:
            try:
                answer.append(WAYS[way](sizes, told, scratch))
            except Exception as problem:
                answer.append(f"{type(problem).__name__}: {str(problem).strip().splitlines()[-1][:160]}")

        watcher, worker = threading.Thread(target=watch), threading.Thread(target=work, daemon=True)
        begun = time.monotonic()
        watcher.start()
        worker.start()
        worker.join(PATIENCE)
        over.set()
        watcher.join()
        right = sizes[1] * sizes[2] * ((sizes[0] << 20) // sizes[1] // sizes[2])
        found = {"seconds": measure.rounded(time.monotonic() - begun), "peak_bytes": peak[0]}
        told_of = answer[0] if answer else f"not finished after {PATIENCE} s"
        found["answer"] = "the same" if told_of == right else str(told_of)
        print(json.dumps(found), flush=True)
        cluster.stop()
        os._exit(0)


def in_process(way: str, kills: str, *, quick: bool) -> dict[str, Any]:
    """Run one way in a process of its own, since what Ray does not finish stays in the process."""
    command = [sys.executable, "-W", "ignore", __file__, "--one", way, kills, *(["--quick"] if quick else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"{way}, {kills}: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def main() -> None:
    """Run, print, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows; writes no results")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/ray_shuffle.json, none with --quick")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "KILLS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    sizes = QUICK if given.quick else (MEGABYTES, TASKS, BUCKETS)
    if given.one:
        one(given.one[0], sizes, kills=given.one[1] == "kills")
    record: dict[str, Any] = {"environment": measure.environment(("ray",)), "megabytes": sizes[0], "tasks": sizes[1]}
    record |= {"buckets": sizes[2], "ways": {}}
    for way in WAYS:
        runs = {"as it is": "no", "a node is killed": "kills"}
        record["ways"][way] = {name: in_process(way, kills, quick=given.quick) for name, kills in runs.items()}
        print(way, json.dumps(record["ways"][way]), flush=True)
    measure.write_json(given.output or (None if given.quick else RESULT), record)


if __name__ == "__main__":
    main()
