"""FAILURES on a cluster, as one error on the driver in our words; and a watch, since Spark waits without end for lost executors."""

import contextlib
import errno
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator
from platform import python_version
from typing import Any
from urllib.parse import unquote

from neardup import errors
from neardup.engines.job.failures import GOES_ON, MISSING_MODULE, SHOWN_CHARACTERS, IdleError, told_in, translated_by
from neardup.errors import InputError

PATIENCE = "spark.neardup.patience"
"""The setting of a session that says how many seconds a job waits while no task runs."""
PATIENCE_SECONDS = 1800
LOOK_SECONDS = 1.0
"""Seconds between two looks at the tasks."""
_log = logging.getLogger("neardup")

_PYTHON = re.compile(r"\[PYTHON_VERSION_MISMATCH\] ([^\n]*)")
_FULL = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
_STOPPED = (
    "SparkContext was shut down",
    "stopped SparkContext",
    'SparkContext.dagScheduler()" is null',
    'SparkContext.dagScheduler()" is null',
    "All masters are unresponsive",
    "Master removed our application",
)
_MEMORY = re.compile(
    r"OutOfMemoryError|MemoryError|OOMKilled|exceeding (?:physical |virtual )?memory limits|(?:code|status):? 137|"
    r"Cannot allocate memory|Container killed"
)
_KILLED = re.compile(r"ExecutorLostFailure|Python worker exited unexpectedly|MetadataFetchFailed|FetchFailed")
_MALFORMED = re.compile(r"MALFORMED_RECORD_IN_PARSING|MALFORMED_CSV_RECORD")
_RECORD = re.compile(r"Malformed CSV record: (.*?)(?: SQLSTATE|\n)|com\.fasterxml\.[\w.$]+: ([^\n]*)")
_NO_SYSTEM = re.compile(r"Class (\S+) not found|No FileSystem for scheme \S+")
_GONE = re.compile(
    r"FILE_NOT_EXIST|FileNotFoundException: (?:File )?(\S+?)(?: does not exist|$)|File (\S+) does not exist",
    re.MULTILINE,
)
_CALL = re.compile(
    r"\[(?:COLUMN_ALREADY_EXISTS|AMBIGUOUS_\w+|UNRESOLVED_\w+|DATATYPE_MISMATCH|PATH_ALREADY_EXISTS)[.\]\w]*|UNSUPPORTED_\w+"
)
"""Conditions of Spark that the caller brings about."""
_UNREADABLE = re.compile(r"\[(?:FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER)")
_FILE = re.compile(r"(?:reading file|read footer for file:?) (\S+?)\.?\s")
_CREATED = re.compile(
    r"(?:Mkdirs failed to create|Parent path is not a directory:) (.+?)(?:/_temporary|\s\(exists=|$)", re.MULTILINE
)
_FORBIDDEN = re.compile(r"Permission denied|Read-only file system|AccessControlException|AccessDenied|403 Forbidden")
_STACK = "Traceback (most recent call last)"
_CODES = re.compile(r"^(?:[\w.$]+(?:Exception|Error): )?(?:\[[\w.]+\] )?|(?:\. *)? SQLSTATE: \w+$|\.$")


@contextlib.contextmanager
def translated_errors(session: Any = None) -> Iterator[None]:
    """Errors of tasks as errors of the driver, in our words. `session`: to watch whether its tasks run.

    Raises:
        NeardupError: those of tasks; InputError also for executors without packages, or with another Python, and for paths that
            cannot be written; DataError also for rows and files that cannot be read.
        MemoryError: executors or their workers were killed several times.
        OSError: a disk is full, or no task runs any more.
    """
    watch = contextlib.nullcontext() if session is None else _watched(session)
    with translated_by(_ours), watch:
        yield


def known_errors() -> contextlib.AbstractContextManager[None]:
    """What `translated_errors` does, but to other errors than those that have words of their own."""
    return translated_by(_known)


def _ours(problem: Exception) -> Exception | None:
    """An error of Spark in our words; None if it is another's."""
    found = _known(problem)
    if found is not None or type(problem).__module__.partition(".")[0] not in ("pyspark", "py4j"):
        return found
    if _CALL.search(str(problem)):
        return InputError(f"Spark cannot do this: {in_a_line(problem)}.")
    return errors.DataError(
        f"Spark failed: {in_a_line(problem)}. The setting `spark.log.level=ERROR` shows all that it tells. Once the cause "
        f"is removed, c{GOES_ON}."
    )


def _known(problem: Exception) -> Exception | None:
    """The error that Spark's message tells of; None if we know no better words."""
    if isinstance(problem, errors.NeardupError):
        return None
    text = str(problem)
    if told := told_in(text):
        return told
    if found := _PYTHON.search(text):
        return InputError(
            f"An executor has another Python than the driver, which has {python_version()}: {found[1]} Ship the environment of the "
            "driver to the executors, or set `spark.pyspark.python`."
        )
    if found := MISSING_MODULE.search(text):
        return InputError(
            f"An executor has no {found[1].split('.')[0]}. Ship the environment of the driver to the executors, or install the "
            "package there."
        )
    if any(words in text for words in _FULL):
        return OSError(
            errno.ENOSPC,
            "a disk of the cluster is full: that of `spark.local.dir`, where Spark sorts, or that of `work=`. Free or add space, "
            f"and c{GOES_ON}. Spark said: {_line(text, _FULL)}",
        )
    if any(words in text for words in _STOPPED):
        return stopped(f"Spark said: {_line(text, _STOPPED)}")
    is_memory, is_killed = _MEMORY.search(text), _KILLED.search(text)
    if not is_memory and (of_files := _of_files(text)):
        return of_files
    if is_memory or is_killed:
        found = is_memory or is_killed
        assert found is not None
        return MemoryError(
            ("Executors ran out of memory" if is_memory else "Executors, or their Python workers, were killed")
            + ", several times for the same task"
            + ("" if is_memory else "; most often for want of memory")
            + ". Give a task more: `spark.executor.memoryOverhead`, fewer `spark.executor.cores`, or more memory on a machine. "
            f"Then c{GOES_ON}. Spark said: {_line(text, (found[0],))}"
        )
    return None


def stopped(why: str) -> OSError:
    """The error of a session that has stopped. `why`: how that is known."""
    return OSError(
        f"Spark has stopped: its master is gone, or the session was ended. Start another session, and c{GOES_ON}. {why}"
    )


def _of_files(text: str) -> errors.NeardupError | None:
    """The error of what Spark cannot read or write; None if it is not that."""
    if missing := _NO_SYSTEM.search(text):
        return InputError(
            f"Spark has nothing that reads and writes this kind of path: {missing[0]}. Give a path of another kind, or "
            "the package, such as `spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION` for s3a, in the version of its Hadoop."
        )
    named, record = _FILE.search(text), _RECORD.search(text)
    file = unquote(named[1]) if named else ""
    if _MALFORMED.search(text):
        what = f": {(record[1] or record[2]).strip()[:SHOWN_CHARACTERS]}" if record else ""
        return errors.DataError(
            f"A row of {file or 'the input'} is malformed{what}. A line of JSON is one object, and a row of CSV has the columns of "
            "its header. Mend the row, or take it out."
        )
    if gone := _GONE.search(text):
        return errors.DataError(
            f"A file is not there any more: {unquote(gone[1] or gone[2] or file)}. The input, and the folder of `work=`, must stay "
            "until all is written."
        )
    if created := _CREATED.search(text):
        return InputError(
            f"Spark cannot make a folder at {unquote(created[1])}. Give a path where the driver and all executors may write."
        )
    if forbidden := _FORBIDDEN.search(text):
        return InputError(
            "Spark may not read or write a path: give the driver and all executors the right to, or another path. Spark said: "
            + _line(text, (forbidden[0],))
        )
    if _UNREADABLE.search(text):
        return errors.DataError(
            f"Spark cannot read the file {file}: {_cause(text)}. If it is of the input, mend it or take it out; if it lies in the "
            "folder of `work=`, give another folder, and the job begins anew."
        )
    return None


def in_a_line(problem: BaseException) -> str:
    """What Spark says of a problem, without codes and without stacks."""
    text = str(problem)
    if _STACK in text:  # of Python, whose last line says what happened
        lines = re.split(r"^\s*at ", text[text.rindex(_STACK) :], maxsplit=1, flags=re.MULTILINE)[0].splitlines()
        said = (line.strip() for line in reversed(lines) if line.strip() and "SQLSTATE: " not in line)
        return next(said)[:SHOWN_CHARACTERS]
    return _cause(text)


def _cause(text: str) -> str:
    lines = [line.strip().removeprefix(": ") for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("An error occurred while calling"):
        del lines[0]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return _CODES.sub("", (causes or lines or [""])[-1 if causes else 0])[:SHOWN_CHARACTERS]


def _line(text: str, words: tuple[str, ...]) -> str:
    """The line of a message with some words."""
    return next(line.strip() for line in text.splitlines() if any(each in line for each in words))[:SHOWN_CHARACTERS]


@contextlib.contextmanager
def _watched(session: Any) -> Iterator[None]:
    """Cancel the jobs of this thread if no task of the session runs for long, though some wait.

    Raises:
        IdleError: so it was.
    """
    context = session.sparkContext
    patience = float(session.conf.get(PATIENCE, str(PATIENCE_SECONDS)))
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
                f"room for any. Bring workers back, and c{GOES_ON}. The setting "
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
    while not over.wait(min(LOOK_SECONDS, patience / 4)):
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
