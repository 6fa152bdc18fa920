"""A few kills of every scenario; `make kills` has hundreds."""

import dataclasses
import time
from pathlib import Path

import pytest

from kills.killing import kill
from kills.scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_a_run_that_was_killed_gives_what_another_gives(scenario):
    found = kill(scenario, 2, seed=5)
    assert found.finds == []
    assert found.kills >= 2


def _careless() -> Scenario:
    """A run that writes its output in place, and begins where the file ends."""

    def run() -> None:
        done = len(Path("out").read_bytes().split()) if Path("out").exists() else 0
        with Path("out").open("a") as file:
            for number in range(done, 1000):
                file.write(f"{number} ")
                file.flush()
                if number % 100 == 0:
                    time.sleep(0.02)  # most of the time is spent while the file is half written, on a busy machine, too
        Path(".x.partial").touch()

    nothing = lambda: None  # noqa: E731
    partial = lambda: [str(path) for path in Path().glob(".*")]  # noqa: E731
    return Scenario("careless", nothing, run, lambda: {"out": Path("out").read_bytes()}, partial)


def test_what_a_kill_leaves_is_seen():
    found = kill(_careless(), 3, seed=1)
    assert any("these stay: ['.x.partial']" in find for find in found.finds)
    half = dataclasses.replace(
        _careless(),
        wrong=lambda known: "half" if Path("out").exists() and Path("out").read_bytes() != known[1]["out"] else "",
    )
    assert any("half" in find for find in kill(half, 3, seed=1).finds)
