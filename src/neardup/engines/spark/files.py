"""FILES: what a command on Spark reads and writes: the formats of paths, whether they exist, and which lie in one another."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from neardup.engines.job import paths
from neardup.engines.job.paths import demand_one_format, format_of
from neardup.engines.spark.failures import in_a_line, translated_errors
from neardup.errors import InputError

_CSV = {"header": "true", "quote": '"', "escape": '"'}
_READING = {"json": {"mode": "FAILFAST"}, "csv": {**_CSV, "multiLine": "true", "mode": "FAILFAST"}}
_WRITING = {"csv": _CSV}
_PATTERN = re.compile(r"[][{}*?\\]")


def literal(path: str) -> str:
    """A path as Spark reads it, which takes some characters for patterns; it writes paths as they are."""
    return _PATTERN.sub(r"\\\g<0>", path)


def read(session: Any, paths: Sequence[str], otherwise: str) -> Any:
    """A frame of paths that Spark reads: of files, folders or globs. Columns of CSV are strings.

    Raises:
        OptionError: they have several formats.
        InputError: Spark cannot read them, or they have no columns.
        DataError: a row, or a file, is malformed.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.utils import IllegalArgumentException

    name, shown = demand_one_format(paths, otherwise), ", ".join(paths)
    try:
        with translated_errors(session):
            found = session.read.format(name).options(**_READING.get(name, {})).load(list(paths))
    except (PySparkException, IllegalArgumentException) as problem:
        if "[UNABLE_TO_INFER_SCHEMA]" not in str(problem):
            raise InputError(
                f"Spark cannot read {shown} as {name}: {in_a_line(problem)}. Give paths that exist, and `format` where no ending "
                "tells it."
            ) from problem
        found = None
    if found is None or not found.columns:
        raise InputError(
            f"There are no rows in {shown}, and nothing tells the columns. Give paths of {name} with rows, and `format` where no "
            "ending tells it."
        )
    return found


def demand_writable(frame: Any, path: str, otherwise: str) -> None:
    """Refuse a format that cannot hold the columns of a frame.

    Raises:
        InputError: a column is nested, and the format has none such.
    """
    nested = [
        field.name for field in frame.schema.fields if field.dataType.typeName() in ("array", "map", "struct", "binary")
    ]
    if format_of(path, otherwise)[0] == "csv" and nested:
        raise InputError(f"{path}: CSV cannot hold the column {nested[0]!r}, which is nested or binary. Write Parquet.")


def write(frame: Any, path: str, otherwise: str, *, overwrite: bool) -> None:
    """Write a folder of files."""
    name, codec = format_of(path, otherwise)
    writer = (
        frame.write.format(name).options(**_WRITING.get(name, {})).mode("overwrite" if overwrite else "errorifexists")
    )
    (writer if codec is None else writer.option("compression", codec)).save(path)


def exists(session: Any, path: str) -> bool:
    """Whether a file or folder is there."""
    system, place = _found(session, path)
    return bool(system.exists(place))


def demand_apart(session: Any, written: Sequence[str], frames: Sequence[Any], given: Sequence[str]) -> None:
    """Refuse what is written if it is, holds, or lies in something else that is written, or a path that is read.

    Args:
        session: of Spark.
        written: paths.
        frames: those that are read, which tell their files.
        given: their paths as given.

    Raises:
        InputError: it is so.
    """
    reading = {_plain(name) for frame in frames for name in frame.inputFiles()}
    paths.demand_apart(
        {path: place_of(session, path) for path in written}, reading | {place_of(session, path) for path in given}
    )


def remove(session: Any, path: str) -> None:
    """Remove a folder."""
    system, place = _found(session, path)
    system.delete(place, True)


def _found(session: Any, path: str) -> tuple[Any, Any]:
    """The file system of a path, and the whole path."""
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    system = place.getFileSystem(session._jsc.hadoopConfiguration())
    return system, system.makeQualified(place)


def place_of(session: Any, path: str) -> str:
    """The whole path, as a URL."""
    return _plain(_found(session, path)[1].toUri().toString())


def _plain(url: str) -> str:
    """A URL as others write it: `file:///a` and `file:/a` are one."""
    return re.sub(r":/+", ":/", unquote(url), count=1).rstrip("/")
