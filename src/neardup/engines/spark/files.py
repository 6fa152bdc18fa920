"""FILES: what a command on Spark reads and writes: the formats of paths, whether they exist, and which lie in one another."""

import contextlib
import re
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import unquote

from neardup.engines.job.checkpoint import Notes
from neardup.engines.job.paths import Files, demand_flat, demand_one_format, format_of, nothing_in
from neardup.engines.spark.failures import in_a_line, known_errors, translated_errors
from neardup.engines.spark.folder import Folder, removed
from neardup.errors import InputError

_CSV = {"header": "true", "quote": '"', "escape": '"'}
_READING = {"json": {"mode": "FAILFAST"}, "csv": {**_CSV, "multiLine": "true", "mode": "FAILFAST"}}
_WRITING = {"csv": _CSV}
_NESTED = ("array", "map", "struct", "binary")


class SparkFiles(Files):
    """Files of any path that Spark reads and writes."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def read(self, paths: Sequence[str], otherwise: str) -> Any:
        """Columns of CSV are strings; a malformed row or file is refused by DataError."""
        from pyspark.errors import PySparkException
        from pyspark.sql.utils import IllegalArgumentException

        name, shown = demand_one_format(paths, otherwise), ", ".join(paths)
        try:
            with known_errors():
                found = self._session.read.format(name).options(**_READING.get(name, {})).load(list(paths))
        except (PySparkException, IllegalArgumentException) as problem:
            if "[UNABLE_TO_INFER_SCHEMA]" not in str(problem):
                raise InputError(
                    f"Spark cannot read {shown} as {name}: {in_a_line(problem)}. Give paths that exist, and `format` where no "
                    "ending tells it."
                ) from problem
            found = None
        if found is None or not found.columns:
            raise nothing_in(shown, name)
        return found

    def columns(self, rows: Any) -> Sequence[str]:
        found: Sequence[str] = rows.columns
        return found

    def sources(self, rows: Any) -> Collection[str]:
        return {_plain(name) for name in rows.inputFiles()}

    def whole(self, path: str) -> str:
        return _plain(self._found(path)[1].toUri().toString())

    def exists(self, path: str) -> bool:
        system, place = self._found(path)
        return bool(system.exists(place))

    def remove(self, path: str) -> None:
        removed(self._session, path)

    def demand_writable(self, rows: Any, path: str, otherwise: str) -> None:
        kinds = {field.name: field.dataType.typeName() for field in rows.schema.fields}
        demand_flat(path, otherwise, [name for name, kind in kinds.items() if kind in _NESTED])

    def write(self, rows: Any, path: str, otherwise: str, *, overwrite: bool) -> None:
        name, codec = format_of(path, otherwise)
        writer = rows.write.format(name).options(**_WRITING.get(name, {}))
        writer = writer.mode("overwrite" if overwrite else "errorifexists")
        (writer if codec is None else writer.option("compression", codec)).save(path)

    def notes(self, folder: str, name: str) -> Notes:
        return Folder(self._session, folder).notes(name)

    def translated_errors(self) -> contextlib.AbstractContextManager[None]:
        return translated_errors(self._session)

    def _found(self, path: str) -> tuple[Any, Any]:
        """The file system of a path, and the whole path."""
        place = self._session._jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(self._session._jsc.hadoopConfiguration())
        return system, system.makeQualified(place)


def _plain(url: str) -> str:
    """A URL as others write it: `file:///a` and `file:/a` are one."""
    return re.sub(r":/+", ":/", unquote(url), count=1).rstrip("/")
