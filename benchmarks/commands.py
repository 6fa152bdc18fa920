"""Runs of the command line as whole processes, with what the operating system says they took."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One process: wall-clock seconds, processor seconds, most memory resident, and its standard output."""

    seconds: float
    processor_seconds: float
    peak_memory_bytes: int
    output: str


def run(*arguments: str | Path, **environment: str | Path) -> Run:
    """Run `neardup` with the arguments; raises if it fails."""
    command = [sys.executable, "-m", "neardup", *map(str, arguments)]
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=os.environ | {name: str(value) for name, value in environment.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    peak = usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024
    return Run(seconds, usage.ru_utime + usage.ru_stime, peak, output)
