"""Runs of the command line as whole processes, with what the operating system says they took."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One process: wall-clock seconds, processor seconds, most memory resident, and its standard output."""

    seconds: float
    processor_seconds: float
    peak_memory_bytes: int
    output: str


LAUNCHER = """
import json, os, subprocess, sys, time
began = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
output = process.stdout.read()
_, status, usage = os.wait4(process.pid, 0)
seconds = time.perf_counter() - began
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, output]))
"""
"""A small process that starts the measured one: the system counts the memory of the process that was forked, too."""


def run(*arguments: str | Path, **environment: str | Path) -> Run:
    """Run `neardup` with the arguments; raises if it fails. Modules are compiled once, as pip does when it installs them."""
    return launch([sys.executable, "-m", "neardup", *map(str, arguments)], **environment)


def launch(command: Sequence[str], *, cwd: Path | None = None, **environment: str | Path) -> Run:
    """Run any command; raises RuntimeError if it fails."""
    variables = os.environ | {name: str(value) for name, value in environment.items()}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-S", "-c", LAUNCHER, *command],
        env=variables,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    code, seconds, processor_seconds, peak, output = json.loads(done.stdout)
    if code != 0:
        raise RuntimeError(f"{' '.join(command)} failed with {code}")
    return Run(seconds, processor_seconds, peak if sys.platform == "darwin" else peak * 1024, output)
