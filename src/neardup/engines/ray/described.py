"""DESCRIBED: what Ray tells of a dataset without reading it, by which a job is known, and a change of its files is noticed."""

import hashlib
from collections.abc import Mapping
from typing import Any

from neardup.engines.ray.sources import Source
from neardup.engines.reading.unchanged_input import REMEDY
from neardup.errors import DataError

FILES, BYTES, DIGEST = "files", "files' bytes", "files' names, sizes and times"


def described(source: Source) -> Mapping[str, Any]:
    """The columns of a dataset, and its files, if that is all there is; else the names of the steps that make it."""
    found: dict[str, Any] = {"columns": {field.name: str(field.type) for field in source.schema}}
    if source.step is None:
        return found | {"steps in Ray": _steps(source.dataset._logical_plan.dag)}
    return found | {"rows": source.step.filters or "all"} | _of_files(source)


def demand_unchanged(name: str, source: Source, before: Mapping[str, Any]) -> None:
    """Refuse a dataset whose files are not those that they were. `before`: what was `described`.

    Raises:
        DataError: they have changed.
    """
    if FILES in before and any(before[each] != value for each, value in _of_files(source).items()):
        raise DataError(f"The files of the {name} have changed since the job began. {REMEDY}")


def _of_files(source: Source) -> dict[str, Any]:
    files = source.step.states() if source.step is not None else []
    lines = "\n".join(" ".join(map(str, each)) for each in files)
    digest = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {FILES: len(files), DIGEST: digest, BYTES: sum(size for _, size, _ in files)}


def _steps(step: Any) -> str:
    """The names of steps, the last one first."""
    before = ", ".join(_steps(each) for each in step.input_dependencies)
    return f"{step.name}({before})"
