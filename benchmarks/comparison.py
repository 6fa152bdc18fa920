"""The whole comparison by one command: every benchmark, a process each, then all tables and charts anew.

    python benchmarks/comparison.py [--quick] [--only NAME …] [--folder FOLDER] [--text-dedup PYTHON] [--datatrove PYTHON]
        [--decontamination PYTHON]

It goes on after a failure, and says at the end what failed, what was skipped, and why. `--quick` runs the short form of each,
writes into `build/bench-quick`, prints the tables, and names each headline figure that became worse (`headlines.py`); otherwise the
committed results, tables and charts are replaced.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import comparison_chart
import headlines
import measure
import package_texts
import tables

HERE = Path(__file__).parent
QUICK_RESULTS = HERE.parent / "build" / "bench-quick"
LIMIT, QUICK_LIMIT = 4 * 3600, 300
"""Seconds of a benchmark."""


@dataclass(frozen=True)
class Step:
    """A benchmark, and which of the options of this command it takes."""

    name: str
    takes: tuple[str, ...] = ()


PEERS = ("--text-dedup", "--datatrove")
STEPS = (
    Step("fingerprints"),
    Step("signatures"),
    Step("hamming_join"),
    Step("hamming_index", ("--folder",)),
    Step("hamming_scale"),
    Step("open_sets", PEERS),
    Step("dedup_peers", PEERS),
    Step("decontaminate", ("--decontamination",)),
    Step("exact_join", ("--folder",)),
    Step("corpus_speed", ("--folder",)),
    Step("stage_limits", ("--folder",)),
    Step("end_to_end"),
    Step("memory"),
    Step("soak"),
    Step("cluster", ("--folder",)),
    Step("cluster_kills"),
    Step("store"),
    Step("store_growth"),
    Step("store_soak"),
    Step("store_orders"),
    Step("reliability"),
    Step("store_kills"),
    Step("service"),
    Step("service_soak"),
    Step("service_waits"),
    Step("service_kills"),
    Step("recipes"),
    Step("thresholds"),
    Step("safe_distances"),
    Step("removal_ranges"),
    Step("guards"),
    Step("splits"),
    Step("repeated_passages"),
    Step("hashes"),
    Step("weights"),
    Step("vectors"),
    Step("segmenters"),
    Step("chinese_segmenters"),
    Step("chinese_corpus"),
    Step("classical"),
    Step("ray_shuffle"),
    Step("json_readers"),
    Step("skew"),
)


@dataclass(frozen=True)
class Outcome:
    """How a benchmark ended: "done", "skipped" or "failed", why, and in how many seconds."""

    name: str
    state: str
    reason: str
    seconds: float


def command_of(step: Step, given: argparse.Namespace, output: Path) -> list[str]:
    """The command line of that benchmark."""
    command = [sys.executable, str(HERE / f"{step.name}.py"), "--output", str(output)]
    command += ["--quick"] if given.quick else []
    for option in step.takes:
        value = getattr(given, option.removeprefix("--").replace("-", "_"))
        command += [option, str(value)] if value is not None else []
    return command


def run(name: str, command: list[str], output: Path, limit: float) -> Outcome:
    """Run a benchmark; what it says is passed on. Without a result file of this run it was skipped, or has failed."""
    print(f"\n== {name}", flush=True)
    output.unlink(missing_ok=True)
    began, late = time.monotonic(), threading.Event()
    skipped = []
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as problems,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=problems, text=True, start_new_session=True
        ) as process,
    ):

        def stop() -> None:
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(limit, stop)
        timer.start()
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith("skipped: "):
                skipped.append(line.removeprefix("skipped: ").strip())
        process.wait()
        timer.cancel()
        problems.seek(0)
        said = problems.read().strip().splitlines()
    seconds = time.monotonic() - began
    if late.is_set():
        return Outcome(name, "failed", f"not done after {limit:g} s", seconds)
    if process.returncode:
        return Outcome(name, "failed", said[-1] if said else f"exit status {process.returncode}", seconds)
    if not output.is_file():
        return Outcome(name, "skipped", "; ".join(skipped) or "it wrote no results", seconds)
    return Outcome(name, "done", "", seconds)


def left_out(record: Any, place: str = "") -> Iterator[str]:
    """Every reason in a result file why a part of it is missing, with its place there."""
    if isinstance(record, dict):
        for key, value in record.items():
            if key in ("skipped", "stopped", "failed") and value:
                reasons = value if isinstance(value, list) else [value]
                yield from (f"{place or 'a part'} {key}: {reason}" for reason in reasons)
            else:
                yield from left_out(value, f"{place}, {key}".removeprefix(", ") if isinstance(value, dict) else place)
    elif isinstance(record, list):
        for value in record:
            yield from left_out(value, place)


def report(outcomes: list[Outcome], folder: Path) -> str:
    """How each ended, and what of it is missing."""
    lines = []
    for outcome in outcomes:
        lines.append(f"{outcome.name}: {outcome.state}, {outcome.seconds:.0f} s {outcome.reason}".rstrip())
        if outcome.state == "done":
            record = json.loads((folder / f"{outcome.name}.json").read_text(encoding="utf-8"))
            lines += [f"  {reason}" for reason in left_out(record)]
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the short form; writes into build/bench-quick")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[step.name for step in STEPS])
    parser.add_argument("--folder", type=Path, default=package_texts.default_folder(), help="of the package texts")
    for option in PEERS:
        parser.add_argument(option, default=sys.executable, metavar="PYTHON", help="an interpreter that has it")
    parser.add_argument("--decontamination", metavar="PYTHON", help="of Python 3.12, with decon and corpus-assay")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where results go, if not as said above")
    return parser.parse_args()


def main() -> None:
    """Run all, write or print the tables, draw the chart, report; fails if a benchmark has failed."""
    given = _arguments()
    folder: Path = given.results or (QUICK_RESULTS if given.quick else measure.RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [step for step in STEPS if not given.only or step.name in given.only]
    outcomes = []
    for step in chosen:
        # Committed results stay where a run gives none.
        fresh = folder / f"{step.name}.new.json"
        outcome = run(step.name, command_of(step, given, fresh), fresh, QUICK_LIMIT if given.quick else LIMIT)
        if outcome.state == "done":
            for path in folder.glob(f"{step.name}.new.*"):
                path.replace(folder / path.name.replace(".new.", "."))
        outcomes.append(outcome)
    peers = tables.load(folder, "dedup_peers")
    if peers is not None:
        comparison_chart.draw(dict(peers), folder / "comparison.svg")
    if folder == measure.RESULTS:
        for page in tables.write(folder):
            print(f"written: {page}")
    else:
        tables.show(folder)
    print(f"\n{report(outcomes, folder)}")
    if given.quick:
        print("\n".join(headlines.compared(folder, package_texts.default_folder() / "headlines.json")))
    if any(outcome.state == "failed" for outcome in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main()
