"""KILLING: run in a process of its own, kill that, and look at what is there."""

import contextlib
import importlib
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kills.scenarios import Scenario
from restored import restore

MOST_KILLS = 12
"""Of one run, before it is let to its end."""
PATIENCE_SECONDS = 120.0


@dataclass
class Killed:
    """What came of killing a scenario.

    Attributes:
        kills: how many runs were killed; `runs`: how many came to their end after at least one kill.
        finds: what was wrong, in words.
    """

    kills: int = 0
    runs: int = 0
    finds: list[str] = field(default_factory=list)


def run_and_kill(work: Any, seconds: float) -> bool:
    """Work in a process of its own, which is killed after so many seconds; whether it came to its end.

    Raises AssertionError, with what was raised, if it failed by itself.
    """
    failure = Path(tempfile.gettempdir()) / f"neardup-kills-{os.getpid()}.txt"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            failure.write_text(traceback.format_exc())
        finally:
            os._exit(code)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, failure.read_text()
            return True
        time.sleep(0.0002)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL), failure.read_text()
    return status == 0


def answer_of(question: Any) -> Any:
    """What a question is answered in a process of its own, so that this one never starts threads, which a fork would lose."""
    with tempfile.NamedTemporaryFile() as file:
        assert run_and_kill(lambda: Path(file.name).write_bytes(pickle.dumps(question())), PATIENCE_SECONDS)
        return pickle.loads(Path(file.name).read_bytes())


def _load(work: Callable[[], object]) -> None:
    """Load what the work loads, so that kills come while it works. It starts no threads here: a fork would lose them."""

    def loaded() -> list[str]:
        work()
        return [name for name in sys.modules if name.startswith("neardup.")]

    for name in answer_of(loaded):
        importlib.import_module(name)


def kill(scenario: Scenario, kills: int, seed: int) -> Killed:
    """Kill runs of a scenario at random moments until so many were killed, each run several times before it is finished."""
    rng, found = random.Random(f"{seed}/{scenario.name}"), Killed()
    with tempfile.TemporaryDirectory(prefix="neardup-kills-") as folder:
        start, here = Path(folder) / "start", Path(folder) / "here"
        here.mkdir()
        with contextlib.chdir(here):
            answer_of(scenario.make)
            shutil.copytree(here, start)
            of_index = scenario.name.startswith("index")
            old = answer_of(scenario.result) if of_index else None
            _load(scenario.run)
            restore(here, start)
            began = time.monotonic()
            assert run_and_kill(scenario.run, PATIENCE_SECONDS)
            whole = time.monotonic() - began
            expected = answer_of(scenario.result)
            while found.kills < kills:
                restore(here, start)
                _kill_once(scenario, found, rng, whole, (old, expected))
    return found


def _kill_once(scenario: Scenario, found: Killed, rng: random.Random, whole: float, known: tuple[Any, Any]) -> None:
    """Start a run, kill it and the same call again, until it comes to its end."""
    done, killed = False, 0
    while not done:
        patience = PATIENCE_SECONDS if killed >= MOST_KILLS else rng.uniform(0, whole)
        try:
            done = run_and_kill(scenario.run, patience)
        except AssertionError as failure:
            found.finds.append(f"{scenario.name}: after {killed} kills: {str(failure)[-1500:]}")
            return
        if not done:
            killed += 1
            wrong = answer_of(lambda: scenario.wrong(known))
            if wrong:
                found.finds.append(f"{scenario.name}: after {killed} kills: {wrong}")
            done = answer_of(lambda: scenario.is_done(known[1]))
            if done:
                answer_of(scenario.tidy)
    found.kills += killed
    found.runs += killed > 0
    if answer_of(scenario.result) != known[1]:
        found.finds.append(f"{scenario.name}: after {killed} kills, the result is another one")
    if strays := answer_of(scenario.strays):
        found.finds.append(f"{scenario.name}: after {killed} kills, these stay: {strays[:5]}")
