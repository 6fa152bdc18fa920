"""FILES: what a command on Spark reads and writes: the formats of paths, whether they exist, and which lie in one another."""

import posixpath
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from neardup.errors import InputError, OptionError

FORMATS = {".parquet": "parquet", ".orc": "orc", ".json": "json", ".jsonl": "json", ".csv": "csv"}
"""Of the endings of paths."""
_CODECS = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstd"}
"""Of the second endings that lines have."""
_GLOB = re.compile(r"[][{}*?\\]")
_CSV = {"header": "true", "quote": '"', "escape": '"'}
_READING = {"json": {"mode": "FAILFAST"}, "csv": {**_CSV, "multiLine": "true", "mode": "FAILFAST"}}
_WRITING = {"csv": _CSV}


def literal(path: str) -> str:
    """A path as Spark reads it, which takes some characters for patterns otherwise."""
    return _GLOB.sub(r"\\\g<0>", path)


def format_of(path: str, otherwise: str) -> tuple[str, str | None]:
    """The format that the ending of a path tells, or else another one; and the codec of compressed lines."""
    stem, ending = posixpath.splitext(path.rstrip("/"))
    inner = FORMATS.get(posixpath.splitext(stem)[1].lower())
    if ending.lower() in _CODECS and inner in ("json", "csv"):
        return inner, _CODECS[ending.lower()]
    return FORMATS.get(ending.lower(), otherwise), None


def without_ending(path: str) -> tuple[str, str]:
    """A path without the ending that tells its format, and that ending."""
    path = path.rstrip("/")
    found = re.search(
        rf"({'|'.join(map(re.escape, FORMATS))})({'|'.join(map(re.escape, _CODECS))})?$", path, re.IGNORECASE
    )
    return (path, "") if found is None or path[: found.start()].endswith("/") else (path[: found.start()], found[0])


def demand_one_format(paths: Sequence[str], otherwise: str) -> str:
    """The format of paths that are read together.

    Raises:
        OptionError: they have several.
    """
    found = {format_of(path, otherwise)[0]: path for path in paths}
    if len(found) > 1:
        shown = ", ".join(f"{path} ({name})" for name, path in found.items())
        raise OptionError(
            f"All inputs must have one format, and these differ: {shown}. Write them in one format first."
        )
    return next(iter(found))


def read(session: Any, paths: Sequence[str], otherwise: str) -> Any:
    """A frame of paths that Spark reads: of files, folders or globs. Columns of CSV are strings.

    Raises:
        OptionError: they have several formats.
        InputError: Spark cannot read them.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.utils import IllegalArgumentException

    name = demand_one_format(paths, otherwise)
    try:
        return session.read.format(name).options(**_READING.get(name, {})).load(list(paths))
    except (PySparkException, IllegalArgumentException) as problem:
        line = str(problem).strip().splitlines()[0]
        raise InputError(
            f"Spark cannot read {', '.join(paths)} as {name}: {line} Give paths that exist, and `format` where no ending tells it."
        ) from problem


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


def demand_free(session: Any, outputs: Sequence[str], *, overwrite: bool) -> None:
    """Refuse outputs that exist.

    Raises:
        InputError: one does.
    """
    for path in outputs:
        system, place = _found(session, path)
        if not overwrite and system.exists(place):
            raise InputError(f"{path} exists. Choose another path, or replace it with `overwrite=True`.")


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
    places = [_place(session, path) for path in written]
    reading = {_plain(name) for frame in frames for name in frame.inputFiles()} | {
        _place(session, path) for path in given
    }
    for at, (path, place) in enumerate(zip(written, places, strict=True)):
        if any(_overlap(place, other) for other in reading):
            raise InputError(f"{path} is to be written, and is, holds, or lies in what is read. Choose another path.")
        for other in range(at):
            if _overlap(place, places[other]):
                raise InputError(
                    f"{path} and {written[other]} are both to be written, and overlap. Choose other paths."
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


def _place(session: Any, path: str) -> str:
    return _plain(_found(session, path)[1].toUri().toString())


def _plain(url: str) -> str:
    """A URL as others write it: `file:///a` and `file:/a` are one."""
    return re.sub(r":/+", ":/", unquote(url), count=1).rstrip("/")


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
