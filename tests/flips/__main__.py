"""Flip bytes in files of every format that the program reads, and count what comes of it.

    python -m flips [--flips 10000] [--seed 1] [--form NAME …] [--workers 2] [--output FILE.json]

Exits with 1 if a flip changes a result silently, if a file is refused without its name, or if the program crashes, hangs or
raises what it does not name.
"""

import argparse
import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from flips.judgment import CRASHED, FINDS, HUNG
from flips.worker import FORMS, PATIENCE_SECONDS
from places import TESTS

SHOWN = 40


class Worker:
    """A process that flips; another one takes its place if it crashes or hangs."""

    command = (sys.executable, "-m", "flips.worker")
    patience_seconds = 4.0 * PATIENCE_SECONDS
    """The worker itself says of most that hang that they do."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def flip(self, seed: int, name: str, number: int) -> dict[str, Any]:
        """Ask for one flip."""
        if self._process is None:
            pipe = subprocess.PIPE
            paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
            self._process = subprocess.Popen(
                self.command,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                text=True,
                env=os.environ | {"PYTHONPATH": paths},
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        outcome = HUNG
        try:
            process.stdin.write(json.dumps([seed, name, number]) + "\n")
            process.stdin.flush()
            if select.select([process.stdout], [], [], self.patience_seconds)[0]:
                if line := process.stdout.readline():
                    return dict(json.loads(line))
                outcome = CRASHED
        except BrokenPipeError:
            outcome = CRASHED
        process.kill()
        process.communicate()
        self._process = None
        return {"form": name, "number": number, "outcome": outcome, "target": "?", "said": f"code {process.returncode}"}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


def flips(names: Iterable[str], count: int, seed: int, workers: int) -> Iterator[dict[str, Any]]:
    """The outcomes of `count` flips, divided evenly among forms."""
    names = list(names)
    tasks = [(seed, names[number % len(names)], number // len(names)) for number in range(count)]
    tasks.sort(key=lambda task: names.index(task[1]))

    def work(part: int) -> list[dict[str, Any]]:
        worker = Worker()
        found = []
        try:
            for task in tasks[part::workers]:
                found.append(worker.flip(*task))
                if found[-1]["outcome"] in FINDS:
                    print("==", found[-1], file=sys.stderr, flush=True)
            return found
        finally:
            worker.close()

    with ThreadPoolExecutor(workers) as pool:
        for found in pool.map(work, range(workers)):
            yield from found


def figures(found: list[dict[str, Any]], seed: int, seconds: float) -> dict[str, Any]:
    """Counts by form and outcome, and the finds."""
    forms: dict[str, Counter[str]] = {name: Counter() for name in FORMS}
    for each in found:
        forms[each["form"]][each["outcome"]] += 1
    return {
        "seed": seed,
        "flips": len(found),
        "seconds": round(seconds),
        "outcomes": dict(sorted(Counter(each["outcome"] for each in found).items())),
        "forms": {name: dict(sorted(counts.items())) for name, counts in forms.items() if counts},
        "finds": [each for each in found if each["outcome"] in FINDS][:SHOWN],
    }


def main() -> int:
    """Flip, print, and write."""
    parser = argparse.ArgumentParser(
        prog="flips", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--form", action="append", choices=list(FORMS), metavar="NAME")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    began = time.monotonic()
    found = list(flips(given.form or FORMS, given.flips, given.seed, given.workers))
    told = figures(found, given.seed, time.monotonic() - began)
    if given.output:
        given.output.write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))
    return 1 if told["finds"] else 0


if __name__ == "__main__":
    sys.exit(main())
