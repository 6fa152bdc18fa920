"""FOLDER of a job on Spark: its notes are lines of JSON. Spark alone appends and reads them, so any path will do."""

import json
import re
from collections.abc import Mapping
from typing import Any

from neardup.engines.job.checkpoint import parsed_notes

_PATTERN = re.compile(r"[][{}*?\\]")


def literal(path: str) -> str:
    """A path as Spark reads it, which takes some characters for patterns; it writes paths as they are."""
    return _PATTERN.sub(r"\\\g<0>", path)


def removed(session: Any, path: str) -> bool:
    """Remove a folder, or a file, of any path that Spark writes. Returns whether it was there."""
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    return bool(place.getFileSystem(session._jsc.hadoopConfiguration()).delete(place, True))


class Folder:
    """The folder of a job, which Spark alone writes and reads, by appending and never by renaming."""

    def __init__(self, session: Any, path: str) -> None:
        self._session, self._path = session, path.rstrip("/")

    def __str__(self) -> str:
        return self._path

    def notes(self, name: str) -> "Notes":
        """The notes of a name."""
        return Notes(self._session, self._path, name)

    def other_file(self) -> str | None:
        """A file in the folder, if it has any."""
        from pyspark.errors import AnalysisException

        files = self._session.read.format("binaryFile").option("recursiveFileLookup", "true")
        try:
            found = files.load(literal(self._path)).select("path").limit(1).collect()
        except AnalysisException as problem:
            if problem.getCondition() == "PATH_NOT_FOUND":
                return None
            raise
        return found[0].path if found else None


class Notes:
    """The notes of one name.

    Attributes:
        folder: that of the job.
    """

    def __init__(self, session: Any, folder: str, name: str) -> None:
        self._session, self.folder, self._path = session, folder, f"{folder}/{name}"

    def add(self, note: Mapping[str, Any]) -> None:
        """Write a note."""
        frame = self._session.createDataFrame([(json.dumps(note),)], "value string").coalesce(1)
        frame.write.mode("append").text(self._path)

    def read(self) -> list[dict[str, Any]]:
        """All notes, in no order; none, if nothing was noted.

        Raises:
            DataError: they are damaged.
        """
        from pyspark.errors import AnalysisException

        try:
            lines = [row.value for row in self._session.read.text(literal(self._path)).collect()]
        except AnalysisException as problem:
            if problem.getCondition() == "PATH_NOT_FOUND":
                return []
            raise
        return parsed_notes(self.folder, lines)
