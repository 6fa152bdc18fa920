"""Kill drivers of jobs on a cluster, and start them again; and what the programs share that kill workers and nodes as well."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from engines.corpus_files import expected, rows_of, written

TESTS = Path(__file__).parents[1]
TIMEOUT = 400
"""Seconds."""


class Killed(NamedTuple):
    """Of a job whose nodes or workers were killed: the stages that ran as tasks, those in which one was, whether the answer is the same."""

    ran: list
    killed: list
    is_same: bool


class Driver(NamedTuple):
    """Of a driver that was killed: how many stages it had finished that ran again, and whether the answer is the same."""

    again: int
    is_same: bool


def begun(cluster, given, work, *settings, **environment):
    """A driver of its own."""
    command = [sys.executable, "-m", "engines.cluster_job", cluster.name, cluster.address, given, work, *settings]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "start_new_session": True}
    return subprocess.Popen([*map(str, command)], cwd=TESTS, env=os.environ | cluster.settings | environment, **pipes)


def printed_by(cluster, given, work, *settings, **environment):
    """What a driver prints; it must end within `TIMEOUT` seconds."""
    printed, _ = begun(cluster, given, work, *settings, **environment).communicate(timeout=TIMEOUT)
    return printed


def await_stages(driver, work, count):
    """Wait until a driver has finished so many stages."""
    ends = time.monotonic() + TIMEOUT
    while len(list((work / "finished").glob("[!._]*"))) < count:
        assert time.monotonic() < ends
        assert driver.poll() is None
        time.sleep(0.05)


def driver_killed(cluster, folder, *, after, **environment):
    """Kill a driver when it has finished so many stages, and start it again."""
    rows = rows_of()
    given, work = written(folder / "in", rows), folder / "work"
    driver = begun(cluster, given, work, **environment)
    await_stages(driver, work, after)
    os.killpg(driver.pid, 9)
    driver.wait()
    before = {path.name for path in (work / "rows").iterdir()}
    printed = printed_by(cluster, given, work, SMALL="16000000", **environment)
    stages = [path.name[:3] for path in (work / "rows").iterdir()]
    return Driver(sum(stages.count(name[:3]) > 1 for name in before), printed == f"survivors {expected(rows)}\n")


def drivers_killed(cluster, folder, given, figures, stages, environments=({},)):
    """Kill as many drivers as the program was asked for, after stages that are spread over a job, and count."""
    figures |= {"drivers_killed": 0, "stages_again": 0}
    for number in range(given.drivers):
        own = folder / str(number)
        own.mkdir()
        after = 1 + number * stages // max(given.drivers, 1)
        driver = driver_killed(cluster, own, after=after, **environments[number % len(environments)])
        figures["drivers_killed"] += 1
        figures["stages_again"] += driver.again
        figures["different"] += not driver.is_same
        print(after, driver, flush=True)


def arguments(prog, description):
    """Those of a program that kills."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--drivers", type=int, default=8)
    parser.add_argument("--seed", type=int, help="taken for the sake of its callers: nothing here is drawn")
    parser.add_argument("--output", type=Path)
    return parser.parse_args()


def reported(figures, began, output):
    """Print and write what was counted. The exit code."""
    figures["seconds"] = round(time.monotonic() - began)
    print(json.dumps(figures), flush=True)
    if output:
        output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 1 if figures["different"] else 0
