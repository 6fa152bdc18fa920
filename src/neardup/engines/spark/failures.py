"""FAILURES on a cluster, as one error on the driver in our words; and a watch, since Spark waits without end for lost executors."""

import contextlib
import errno
import json
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator
from typing import Any

from neardup import errors
from neardup.engines.spark import tasks
from neardup.errors import InputError

PATIENCE = "spark.neardup.patience"
"""The setting of a session that says how many seconds a job waits while no task runs."""
SECONDS = 1800
LOOK = 1.0
"""Seconds between two looks at the tasks."""
_log = logging.getLogger("neardup")

_MODULE = re.compile(r"No module named '([\w.]+)'")
_PYTHON = re.compile(r"\[PYTHON_VERSION_MISMATCH\] ([^\n]*)")
_FULL = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
_STOPPED = (
    "SparkContext was shut down",
    "stopped SparkContext",
    "All masters are unresponsive",
    "Master removed our application",
)
_MEMORY = re.compile(
    r"OutOfMemoryError|MemoryError|OOMKilled|exceeding (?:physical |virtual )?memory limits|(?:code|status):? 137|"
    r"Cannot allocate memory|Container killed"
)
_KILLED = re.compile(r"ExecutorLostFailure|Python worker exited unexpectedly|MetadataFetchFailed|FetchFailed")
_KINDS: dict[str, type[errors.NeardupError]] = {"DataError": errors.DataError, "OptionError": errors.OptionError}


@contextlib.contextmanager
def told(session: Any = None) -> Iterator[None]:
    """Errors of tasks as errors of the driver, in our words. `session`: to watch whether its tasks run.

    Raises:
        NeardupError: those of tasks; InputError also for executors without packages, or with another Python.
        MemoryError: executors or their workers were killed several times.
        OSError: a disk is full, or no task runs any more.
    """
    try:
        if session is None:
            yield
        else:
            with _watched(session):
                yield
    except (errors.NeardupError, IdleError):
        raise
    except Exception as problem:
        ours = _ours(str(problem))
        if ours is None:
            raise
        raise ours from problem


class IdleError(OSError):
    """No task runs."""


def _ours(text: str) -> Exception | None:
    """The error that Spark's message tells of; None if we know no better words."""
    at = text.find(tasks.TOLD)
    if at >= 0:
        found, _ = json.JSONDecoder().raw_decode(text[at + len(tasks.TOLD) :])
        return _KINDS.get(found["kind"], InputError)(found["message"])
    if found := _PYTHON.search(text):
        return InputError(
            f"An executor has another Python than the driver, which has {_version()}: {found[1]} Ship the environment of the "
            "driver to the executors, or set `spark.pyspark.python`."
        )
    if found := _MODULE.search(text):
        return InputError(
            f"An executor has no {found[1].split('.')[0]}. Ship the environment of the driver to the executors, or install the "
            "package there."
        )
    if any(words in text for words in _FULL):
        return OSError(
            errno.ENOSPC,
            "a disk of the cluster is full: that of `spark.local.dir`, where Spark sorts, or that of `work=`. Free or add space, "
            f"and call again with the same `work=`: finished stages are kept. Spark said: {_line(text, _FULL)}",
        )
    if any(words in text for words in _STOPPED):
        return OSError(
            "Spark has stopped: its master is gone, or the session was ended. Start another session, and call again with the same "
            f"`work=`: finished stages are kept. Spark said: {_line(text, _STOPPED)}"
        )
    is_memory, is_killed = _MEMORY.search(text), _KILLED.search(text)
    if is_memory or is_killed:
        found = is_memory or is_killed
        assert found is not None
        return MemoryError(
            ("Executors ran out of memory" if is_memory else "Executors, or their Python workers, were killed")
            + ", several times for the same task"
            + ("" if is_memory else "; most often for want of memory")
            + ". Give a task more: `spark.executor.memoryOverhead`, fewer `spark.executor.cores`, or more memory on a machine. "
            f"Then call again with the same `work=`: finished stages are kept. Spark said: {_line(text, (found[0],))}"
        )
    return None


def _line(text: str, words: tuple[str, ...]) -> str:
    """The line of a message with some words."""
    return next(line.strip() for line in text.splitlines() if any(each in line for each in words))[:300]


def _version() -> str:
    from platform import python_version

    return python_version()


@contextlib.contextmanager
def _watched(session: Any) -> Iterator[None]:
    """Cancel the jobs of this thread if no task of the session runs for long, though some wait.

    Raises:
        IdleError: so it was.
    """
    context = session.sparkContext
    patience = float(session.conf.get(PATIENCE, str(SECONDS)))
    tag, over, given_up = f"neardup-{secrets.token_hex(8)}", threading.Event(), threading.Event()
    context.addJobTag(tag)
    watch = threading.Thread(target=_watch, args=(context, tag, patience, over, given_up), daemon=True)
    watch.start()
    try:
        yield
    except Exception as problem:
        if given_up.is_set():
            raise IdleError(
                f"No task has run for {patience:,.0f} seconds, though some wait: the executors are lost, or the cluster has no "
                "room for any. Bring workers back, and call again with the same `work=`: finished stages are kept. The setting "
                f"`{PATIENCE}` of the session says how many seconds to wait."
            ) from problem
        raise
    finally:
        over.set()
        watch.join()
        with contextlib.suppress(Exception):  # the session may be gone
            context.removeJobTag(tag)


def _watch(context: Any, tag: str, patience: float, over: threading.Event, given_up: threading.Event) -> None:
    since, warned = time.monotonic(), 0.0
    while not over.wait(min(LOOK, patience / 4)):
        try:
            waits = is_waiting(context.statusTracker())
        except Exception:
            return  # the session has stopped, which the job tells
        now = time.monotonic()
        if not waits:
            since = now
        elif now - since >= patience:
            given_up.set()
            context.cancelJobsWithTag(tag)
            return
        elif now - since >= 60 and now - warned >= 60:
            warned = now
            _log.warning(
                "no task has run for %.0f seconds, though some wait; given up after %.0f", now - since, patience
            )


def is_waiting(tracker: Any) -> bool:
    """Whether tasks wait, and none runs."""
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    found = [stage for stage in stages if stage is not None]
    return bool(found) and not any(stage.numActiveTasks for stage in found)
