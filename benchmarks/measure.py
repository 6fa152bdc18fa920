"""What every benchmark shares: timing side by side, a record of where it ran, and result files.

Speeds of a machine shared with others move by half from minute to minute. So contenders take turns, round by round, and a ratio is
the median over rounds of the ratio within a round.
"""

import argparse
import datetime
import importlib.metadata
import json
import math
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding

from neardup.kernels.native.library import source_digest

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Timing:
    """Seconds of one contender, round by round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def speed(self, size: float) -> float:
        """The median amount a second."""
        return statistics.median(size / second for second in self.seconds)

    def as_record(self, size: float, unit: str) -> dict[str, Any]:
        """Median, least and greatest of `size` a second, and the median seconds."""
        speeds = [size / second for second in self.seconds]
        return {
            unit: rounded(statistics.median(speeds)),
            "min": rounded(min(speeds)),
            "max": rounded(max(speeds)),
            "seconds": rounded(self.median),
            "rounds": len(speeds),
        }


def take_turns(
    contenders: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timing]:
    """Time every contender once a round, after one call each that is not timed."""
    for work in contenders.values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for round_number in range(rounds):
        turn = round_number % len(names)
        for name in names[turn:] + names[:turn]:
            began = clock()
            contenders[name]()
            seconds[name].append(clock() - began)
    return {name: Timing(tuple(times)) for name, times in seconds.items()}


def ratio(ours: Timing, our_size: float, theirs: Timing, their_size: float) -> float:
    """How many times as fast we are: the median over rounds."""
    pairs = zip(ours.seconds, theirs.seconds, strict=True)
    return statistics.median((our_size / our_seconds) / (their_size / seconds) for our_seconds, seconds in pairs)


def rounded(value: float, digits: int = 4) -> float:
    """To so many significant digits."""
    return float(f"{value:.{digits}g}")


def wilson(hits: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % confidence interval of a share (Wilson 1927, "Probable inference, the law of succession …")."""
    if trials == 0:
        return 0.0, 1.0
    share, spread = hits / trials, z * z / trials
    center = (share + spread / 2) / (1 + spread)
    reach = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, center - reach), min(1.0, center + reach)


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def environment(packages: Sequence[str] = ()) -> dict[str, Any]:
    """The machine, the versions, and the state of the code: the commit, and a digest of the kernels that holds without one.

    The load is that of the five minutes before: what else ran.
    """
    versions = {"python": platform.python_version()}
    for name in ("numba", "numpy", "pyarrow", *packages):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    changed = _git("status", "--porcelain", "--", "../src")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {
            "processor": _processor(),
            "compiled_for": llvmlite.binding.get_host_cpu_name(),
            "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "load_average": round(os.getloadavg()[1], 1),
        "versions": versions,
        "commit": _git("rev-parse", "--verify", "HEAD"),
        "uncommitted_changes": bool(changed) if changed is not None else None,
        "kernels": source_digest(),
    }


def arguments(description: str, name: str, **flags: str) -> argparse.Namespace:
    """The options that all benchmarks have, and flags of one's own with their help."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="less than a minute, on less data; writes no results")
    parser.add_argument("--data", metavar="FOLDER", help="the folder of the open sets (default: NEARDUP_DATA)")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help=f"default: benchmarks/results/{name}.json, none with --quick"
    )
    for flag, text in flags.items():
        parser.add_argument(f"--{flag}", action="store_true", help=text)
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = RESULTS / f"{name}.json"
    return given


def write_json(path: Path | None, record: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write a result file: indented, but lists of plain values on one line."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_dump(record, "") + "\n", encoding="utf-8")


def _dump(value: Any, indent: str) -> str:
    inner = indent + " "
    if isinstance(value, Mapping) and value:
        rows = [
            f"{inner}{json.dumps(str(key), ensure_ascii=False)}: {_dump(item, inner)}" for key, item in value.items()
        ]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping | list | tuple) for item in value):
        return "[\n" + ",\n".join(inner + _dump(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
