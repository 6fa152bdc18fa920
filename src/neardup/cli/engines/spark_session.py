"""The session of the command on Spark."""

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

LOG_LEVEL = "spark.log.level"


@contextlib.contextmanager
def session_of_command(*, quiet: bool) -> Iterator[Any]:
    """The session of `spark-submit`, or a new one, which is stopped at the end. `quiet`: whether Spark is to log nothing.

    Raises:
        MissingExtra: there is no PySpark.
        InputError: there is no Java.
    """
    from neardup.errors import InputError, MissingExtra

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("PySpark is not installed: pip install 'neardup[spark]'") from None
    logging.getLogger().addFilter(_is_new)
    try:
        with _silent_java() if quiet else contextlib.nullcontext():
            session = _built(SparkSession.builder.appName("neardup"))
    except Exception as problem:
        if "JAVA_GATEWAY_EXITED" not in str(problem):
            raise
        raise InputError("Spark's Java did not start. Install Java 17, or name its folder by JAVA_HOME.") from problem
    context = session.sparkContext
    if quiet:
        context.setLogLevel("OFF")
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # by default the first `python3` of the path, which may be another
    try:
        yield session
    finally:
        session.stop()


@contextlib.contextmanager
def _silent_java() -> Iterator[None]:
    """Java's process, which starts here and logs before its settings are read, inherits a standard error that nobody reads."""
    shown, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(shown, 2)
        os.close(shown)
        os.close(nowhere)


def _is_new(record: logging.LogRecord) -> bool:
    """Whether a record is another than those by which py4j tells of an interrupt, with stacks: the command tells of it."""
    problem = (record.exc_info or (None, None))[1]
    return not isinstance(problem, KeyboardInterrupt) and type(problem).__module__.partition(".")[0] != "py4j"


def _built(builder: Any) -> Any:
    """The session. One of our own logs nothing, unless its settings say so: of a failure, Spark shows hundreds of lines of Java."""
    from pyspark import SparkConf

    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # which `spark-submit` sets
        if SparkConf().get(LOG_LEVEL) is None:
            builder = builder.config(LOG_LEVEL, "OFF")
        if not sys.stderr.isatty():
            builder = builder.config("spark.ui.showConsoleProgress", "false")
    return builder.getOrCreate()
