"""Hypothesis profiles: the same examples every time, and as many as the run has time for (`quick` in `make test`). Slow tests. Chromium, for what is looked at in it."""

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

from durations import SlowTests

settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("interpreted", parent=settings.get_profile("default"), max_examples=10)
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=8)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=3000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser):
    parser.addoption(
        "--record-slow", type=float, metavar="SECONDS", help="list the tests that take as long in tests/slow.txt"
    )
    parser.addoption(
        "--rewrite-outputs",
        action="store_true",
        help="write the golden files of outputs instead of comparing with them",
    )
    parser.addoption(
        "--slow-share", metavar="K/N", help="of the tests in tests/slow.txt, run an N-th, another one for each K"
    )


def pytest_configure(config):
    config.pluginmanager.register(SlowTests(config.getoption("--record-slow"), config.getoption("--slow-share")))


@pytest.fixture
def stays(request):
    """Compares what was written with a golden file; with --rewrite-outputs, writes that file."""

    def check(path, written):
        if request.config.getoption("--rewrite-outputs"):
            path.write_bytes(written)
        assert written == path.read_bytes()

    return check


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("needs Chromium: make chromium, as root on Debian")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()
