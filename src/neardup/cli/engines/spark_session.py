"""The session of the command on Spark."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

LOG_LEVEL = "spark.log.level"


@contextlib.contextmanager
def session_of_command() -> Iterator[Any]:
    """The session of `spark-submit`, or a new one, which is stopped at the end.

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
    try:
        session = _built(SparkSession.builder.appName("neardup"))
    except Exception as problem:
        if "JAVA_GATEWAY_EXITED" not in str(problem):
            raise
        raise InputError("Spark's Java did not start. Install Java 17, or name its folder by JAVA_HOME.") from problem
    context = session.sparkContext
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # by default the first `python3` of the path, which may be another
    try:
        yield session
    finally:
        session.stop()


def _built(builder: Any) -> Any:
    """The session. One of our own logs nothing, unless its settings say so: of a failure, Spark shows hundreds of lines of Java."""
    from pyspark import SparkConf

    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # which `spark-submit` sets
        if SparkConf().get(LOG_LEVEL) is None:
            builder = builder.config(LOG_LEVEL, "OFF")
        if not sys.stderr.isatty():
            builder = builder.config("spark.ui.showConsoleProgress", "false")
    return builder.getOrCreate()
