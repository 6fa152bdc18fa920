"""NOTES in the folder of a job, as lines of JSON. Spark alone appends and reads them, so any path that Spark knows will do."""

import json
from collections.abc import Mapping
from typing import Any

from neardup.engines.spark.files import literal
from neardup.errors import DataError


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
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise DataError(
                f"The record in {self.folder} is damaged. Give another folder as `work=`, and the job begins anew."
            ) from None
