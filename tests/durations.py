"""Which tests `make test` leaves to `make test-all`: those that `slow.txt` lists, since they took long when `make slow-tests` measured them.

A line is a file, a function or one of its arguments, as pytest names them. What all arguments of a function share is one line.

`--slow-share 9/8` runs an eighth of the slow tests and leaves out the others: it runs those whose checksum leaves the remainder 1, as 9 does. So a
number that rises from commit to commit lets all slow tests run in turn.
"""

import zlib
from collections import defaultdict
from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")
"""The lines of this file are written by a run with `--record-slow`, which keeps those of tests that it did not run."""


def prefixes(name: str) -> list[str]:
    """A test's file, function and itself: `a.py`, `a.py::f`, `a.py::f[1]`."""
    return [name.partition("::")[0], name.partition("[")[0], name]


def share_of(text: str) -> tuple[int, int]:
    """The two numbers of `9/8`.

    Raises:
        pytest.UsageError: it has not got them.
    """
    number, _, shares = text.partition("/")
    if not (number.isdecimal() and shares.isdecimal() and int(shares)):
        raise pytest.UsageError(f"--slow-share {text}: give a number and how many shares there are, such as 9/8")
    return int(number), int(shares)


def is_in_share(name: str, share: tuple[int, int]) -> bool:
    """Whether a slow test belongs to a share. Tests of one file may belong to several, since some files take minutes."""
    number, shares = share
    return zlib.crc32(name.encode()) % shares == number % shares


class SlowTests:
    """Marks the slow tests of a run; or measures them, and writes their list."""

    def __init__(self, least: float | None, share: str | None = None) -> None:
        self.least = least
        self.share = share_of(share) if share else None
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Mark what is listed, and leave out what is of another share."""
        listed = set(SLOW.read_text(encoding="utf-8").split("\n"))
        others = []
        for item in items:
            name = item.nodeid.removeprefix("tests/")
            if not listed.isdisjoint(prefixes(name)):
                item.add_marker(pytest.mark.slow)
                if self.share and not is_in_share(name, self.share):
                    others.append(item)
        if others:
            config.hook.pytest_deselected(items=others)
            left_out = set(map(id, others))
            items[:] = [item for item in items if id(item) not in left_out]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a test took, with its fixtures."""
        self.seconds[report.nodeid.removeprefix("tests/")] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the list, in the process that sees all reports."""
        if self.least is not None and not hasattr(session.config, "workerinput"):
            listed = listed_after(SLOW.read_text(encoding="utf-8").splitlines(), self.seconds, self.least)
            SLOW.write_text("".join(f"{line}\n" for line in listed), encoding="utf-8")


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


def listed_after(listed: list[str], seconds: dict[str, float], least: float) -> list[str]:
    """The lines after a run: those of tests that it did not run, and its slow ones."""
    ran = {prefix for name in seconds for prefix in prefixes(name)}
    return sorted((set(listed) - ran) | set(slow_of(seconds, least)))
