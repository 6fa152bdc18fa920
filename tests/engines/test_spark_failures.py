"""What Spark tells of failures becomes one error in our words. No Spark is needed: the messages are those that it brought."""

import errno
from types import SimpleNamespace

import pytest

import neardup as nd
from neardup.engines.spark import failures
from neardup.engines.spark.failures import is_waiting, translated_errors

TRACEBACK = 'An exception was thrown: Traceback (most recent call last):\n  File "x", line 47, in _task\n'
STAGE = "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times"


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        (
            "ModuleNotFoundError: No module named 'neardup'\n at x",
            nd.InputError,
            "An executor has no neardup. Ship the environment",
        ),
        (
            "ModuleNotFoundError: No module named 'pyarrow.lib'",
            nd.InputError,
            "An executor has no pyarrow. Ship the environment",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: 3.11.",
            nd.InputError,
            "another Python than the driver.*worker has different version: 3.12.*or set `spark.pyspark.python`",
        ),
        (
            f"{STAGE}\njava.io.IOException: No space left on device\n\tat java.base",
            OSError,
            "a disk of the cluster is full.*Spark said: java.io.IOException: No space left on device$",
        ),
        (
            f"{STAGE}, most recent failure: ExecutorLostFailure (executor 2 exited) Reason: Container from a bad node. Exit status: 137.",
            MemoryError,
            "Executors ran out of memory, several times.*memoryOverhead.*Exit status: 137",
        ),
        (f"{STAGE}\nMemoryError: Unable to allocate 3 GiB", MemoryError, "ran out of memory"),
        (
            f"{STAGE}\norg.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
            MemoryError,
            "or their Python workers, were killed, several times for the same task; most often for want of memory",
        ),
        (
            f"{STAGE}\n[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///in/a%20b.csv.  SQLSTATE: KD001\n\tat x\n"
            "Caused by: x.SparkException: [MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected.\n"
            "Caused by: x.SparkRuntimeException: [MALFORMED_CSV_RECORD] Malformed CSV record: a,b,c SQLSTATE: KD000\n\tat x",
            nd.DataError,
            "^A row of file:///in/a b.csv is malformed: a,b,c. A line of JSON is one object, .* Mend the row, or take it out.$",
        ),
        (
            "An error occurred while calling o60.load.\n: org.apache.spark.SparkException: [MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION]"
            "\nCaused by: com.fasterxml.jackson.core.io.JsonEOFException: Unexpected end-of-input in VALUE_STRING\n at [Source: x]",
            nd.DataError,
            "^A row of the input is malformed: Unexpected end-of-input in VALUE_STRING. A line",
        ),
        (
            f"{STAGE}\n[FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER] Encountered error while reading file file:/in/a.parquet. Could not read\n"
            "\tat x\nCaused by: java.lang.RuntimeException: file:/in/a.parquet is not a Parquet file (length is too low: 5)",
            nd.DataError,
            "^Spark cannot read the file file:/in/a.parquet: file:/in/a.parquet is not a Parquet file .length is too low: 5.. If it",
        ),
        (
            f"{STAGE}\n[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:/a. \nCaused by: java.lang.OutOfMemoryError",
            MemoryError,
            "ran out of memory",
        ),
        (
            f"{STAGE}: java.io.IOException: Mkdirs failed to create file:/no/my work/job/_temporary/0/attempt_1 (exists=false, cwd=file:/)",
            nd.InputError,
            "^Spark cannot make a folder at file:/no/my work/job. Give a path where the driver and all executors may write.$",
        ),
        (
            "An error occurred while calling o8.text.\n: x.ParentNotDirectoryException: Parent path is not a directory: file:/a/b\n\tat x",
            nd.InputError,
            "^Spark cannot make a folder at file:/a/b. Give",
        ),
        (
            f"{STAGE}\nCaused by: org.apache.hadoop.security.AccessControlException: Permission denied: user=one, access=WRITE",
            nd.InputError,
            "give the driver and all executors the right to, or another path. Spark said: .*Permission denied: user=one",
        ),
        ("Job 4 cancelled because SparkContext was shut down", OSError, "Spark has stopped: its master is gone"),
        (
            f"{TRACEBACK}neardup.errors.DataError: a text: null\n SQLSTATE: 38000\n\tat org.x",
            nd.DataError,
            "^a text: null$",
        ),
        (f"{TRACEBACK}neardup.errors.RowError: a row\n\n\tat org.x", nd.DataError, "^a row$"),
        (
            "An error occurred while calling o8.text.\n: java.lang.RuntimeException: java.lang.ClassNotFoundException: Class "
            "org.apache.hadoop.fs.s3a.S3AFileSystem not found\n\tat x",
            nd.InputError,
            "^Spark has nothing that reads and writes this kind of path: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found. Give",
        ),
        (
            '[x] org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "foo"\n\tat x',
            nd.InputError,
            'this kind of path: No FileSystem for scheme "foo"',
        ),
        (
            f"{STAGE}\n[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file file:///in/a.parquet. File does not "
            "exist.\n\tat x\nCaused by: java.io.FileNotFoundException: File file:/in/a.parquet does not exist",
            nd.DataError,
            "^A file is not there any more: file:///in/a.parquet. The input, and the folder of `work=`, must stay until all",
        ),
    ],
)
def test_failures_are_told_in_our_words(message, kind, words):
    with pytest.raises(kind, match=words), translated_errors():
        raise RuntimeError(message)


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        (
            "[COLUMN_ALREADY_EXISTS] The column `q` already exists. Choose another name. SQLSTATE: 42711",
            nd.InputError,
            "^Spark cannot do this: The column `q` already exists. Choose another name.$",
        ),
        (
            f"{TRACEBACK}ValueError: a user's own\n SQLSTATE: 38000\n\tat org.x",
            nd.DataError,
            "^Spark failed: ValueError: a user's own. The setting .* Once the cause is removed, call again with the same `work=`",
        ),
    ],
)
def test_what_only_spark_has_words_for_is_told_in_one_line(message, kind, words):
    of_spark = type("OfSparkError", (Exception,), {"__module__": "pyspark.errors"})
    with pytest.raises(kind, match=words) as told, translated_errors():
        raise of_spark(message)
    assert told.value.__suppress_context__


def test_what_is_in_our_words_is_not_translated_again():
    message = f"{STAGE}\njava.io.IOException: No space left on device"
    with (
        pytest.raises(OSError, match="a disk of the cluster is full") as told,
        translated_errors(),
        translated_errors(),
    ):
        raise RuntimeError(message)
    assert str(told.value).count("a disk of the cluster is full") == 1


def test_other_failures_are_left_as_they_are():
    with pytest.raises(RuntimeError, match="^something else$"), translated_errors():
        raise RuntimeError("something else")
    with pytest.raises(nd.OptionError, match="^No module named 'neardup'$"), translated_errors():
        raise nd.OptionError("No module named 'neardup'")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            "An error occurred while calling o9.save.\n: x.SparkException: [A_B.C] Some words. SQLSTATE: 42K03\n\tat x",
            "Some words",
        ),
        ("x.SparkException: many\n\tat x\nCaused by: java.io.IOException: a cause\n\tat y\n", "a cause"),
        ("words alone", "words alone"),
        ("", ""),
    ],
)
def test_any_other_failure_has_a_line(message, line):
    assert failures.in_a_line(RuntimeError(message)) == line


def test_a_full_disk_has_its_number():
    with pytest.raises(OSError, match="full") as found, translated_errors():
        raise RuntimeError("java.io.IOException: No space left on device")
    assert found.value.errno == errno.ENOSPC


def tracker(*active):
    """Of stages with so many running tasks; None for one that is not known any more."""
    infos = [None if number is None else SimpleNamespace(numActiveTasks=number) for number in active]
    return SimpleNamespace(getActiveStageIds=lambda: list(range(len(infos))), getStageInfo=infos.__getitem__)


@pytest.mark.parametrize(
    ("active", "waits"), [((), False), ((0,), True), ((0, 2), False), ((None,), False), ((0, None), True)]
)
def test_tasks_wait_if_there_are_some_and_none_runs(active, waits):
    assert is_waiting(tracker(*active)) == waits


class Session:
    """A session whose tasks run or not."""

    def __init__(self, patience, *active):
        self.cancelled, self.tags, self.tracker = [], [], tracker(*active)
        self.conf = SimpleNamespace(get=lambda name, default: str(patience))
        self.sparkContext = SimpleNamespace(
            addJobTag=self.tags.append,
            removeJobTag=self.tags.remove,
            cancelJobsWithTag=self.cancelled.append,
            statusTracker=lambda: self.tracker,
        )

    def job(self):
        for _ in range(300):
            if failures.threading.Event().wait(0.01) or self.cancelled:
                raise RuntimeError("Job 1 cancelled")


def test_a_cluster_without_executors_is_given_up():
    session = Session(0.2, 0)
    with (
        pytest.raises(OSError, match="No task has run for 0 seconds, though some wait: the executors are lost"),
        translated_errors(session),
    ):
        session.job()
    assert len(session.cancelled) == 1
    assert session.tags == []


def test_a_cluster_whose_tasks_run_is_waited_for():
    session = Session(0.2, 1)
    with translated_errors(session):
        session.job()
    assert session.cancelled == []
    assert session.tags == []
