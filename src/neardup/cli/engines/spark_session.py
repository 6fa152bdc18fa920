"""The session of the command on Spark, and what the command tells while it runs."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from neardup.cli.engines.on_engine import logged

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


@contextlib.contextmanager
def told(*, quiet: bool) -> Iterator[None]:
    """Show the plan and each stage, as the logger tells of them; and say, of what ends the job, how it goes on.

    Raises:
        DataError: the cluster failed.
        KeyboardInterrupt: the command was interrupted.
    """
    from neardup.engines.spark.failures import in_a_line
    from neardup.errors import DataError

    try:
        with logged(quiet=quiet):
            yield
    except (OSError, MemoryError) as problem:  # with words of our own, which the command line has none for
        raise DataError(str(problem)) from problem
    except Exception as problem:
        if not type(problem).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise DataError(
            f"Spark failed: {in_a_line(problem)}. Make the same call again, and it goes on. The setting `{LOG_LEVEL}=ERROR` shows "
            "all that Spark tells."
        ) from problem
    except KeyboardInterrupt:
        raise KeyboardInterrupt("make the same call again, and it goes on: finished stages are kept") from None
