"""DESCRIBED: what Spark tells of a frame without reading it, by which a job is known, and a change of its files is noticed."""

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from neardup.engines.reading.unchanged_input import REMEDY
from neardup.engines.spark import settings
from neardup.engines.spark.files import literal
from neardup.engines.spark.plans import is_steady, steps_of
from neardup.errors import DataError

FILES, BYTES, DIGEST = "files", "files' bytes", "files' names, sizes and times"


def described(frame: Any) -> Mapping[str, Any]:
    """The columns of a frame, what is done to make it, and its files, if it has such."""
    with settings.taken(frame.sparkSession, {settings.SHOWN_FIELDS: str(1 << 30)}):
        steps = steps_of(frame)
    columns = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    found: dict[str, Any] = {"columns": columns, "steps in Spark": steps}
    return found | (_of_files(frame) if is_steady(frame) else {})


def demand_unchanged(name: str, frame: Any, before: Mapping[str, Any]) -> None:
    """Refuse a frame whose files are not those that they were. `before`: what was `described`.

    Raises:
        DataError: they have changed.
    """
    if FILES in before and any(before[each] != value for each, value in _of_files(frame).items()):
        raise DataError(f"The files of the {name} have changed since the job began. {REMEDY}")


def _of_files(frame: Any) -> dict[str, Any]:
    files = _listed(frame, sorted(frame.inputFiles()))
    lines = "\n".join(" ".join(map(str, each)) for each in files)
    digest = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {FILES: len(files), DIGEST: digest, BYTES: sum(each[1] for each in files)}


def _listed(frame: Any, names: list[str]) -> list[tuple[str, int, str]]:
    """The names, sizes and times of change of files; Spark lists them, and reads none."""
    if not names:
        return []
    paths = [literal(unquote(name)) for name in names]  # which Spark tells as URLs
    files = frame.sparkSession.read.format("binaryFile").load(paths)
    return sorted((row.path, row.length, row.changed) for row in files.selectExpr(
        "path", "length", "cast(unix_micros(modificationTime) as string) changed").collect())  # fmt: skip
