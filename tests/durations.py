"""Which tests `make test` leaves to `make test-all`: those that `slow.txt` lists, since they took long when `make slow-tests` measured them.

A line is a file, a function or one of its arguments, as pytest names them. What all arguments of a function share is one line.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")
"""The lines of this file are written by a run with `--record-slow`, and by hand where that is not worth a run."""


def prefixes(name: str) -> list[str]:
    """A test's file, function and itself: `a.py`, `a.py::f`, `a.py::f[1]`."""
    return [name.partition("::")[0], name.partition("[")[0], name]


class SlowTests:
    """Marks the slow tests of a run; or measures them, and writes their list."""

    def __init__(self, least: float | None) -> None:
        self.least = least
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_collection_modifyitems(self, items: Iterable[pytest.Item]) -> None:
        """Mark what is listed."""
        listed = set(SLOW.read_text(encoding="utf-8").split("\n"))
        for item in items:
            if not listed.isdisjoint(prefixes(item.nodeid.removeprefix("tests/"))):
                item.add_marker(pytest.mark.slow)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a test took, with its fixtures."""
        self.seconds[report.nodeid.removeprefix("tests/")] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the list, in the process that sees all reports."""
        if self.least is not None and not hasattr(session.config, "workerinput"):
            SLOW.write_text("".join(f"{line}\n" for line in slow_of(self.seconds, self.least)), encoding="utf-8")


def slow_of(seconds: dict[str, float], least: float) -> list[str]:
    """The tests that took `least` seconds or more, sorted; where all of a file or a function did, only its name."""
    sizes: dict[str, int] = defaultdict(int)
    slow: dict[str, int] = defaultdict(int)
    for name, each in seconds.items():
        for prefix in set(prefixes(name)):
            sizes[prefix] += 1
            slow[prefix] += each >= least
    return sorted(
        {
            next(each for each in prefixes(name) if slow[each] == sizes[each])
            for name in seconds
            if seconds[name] >= least
        }
    )
