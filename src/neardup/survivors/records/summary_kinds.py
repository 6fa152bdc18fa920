"""Which command wrote a summary, and where the summary is that belongs to a file or a folder."""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NotRequired, TypedDict

import msgspec

from neardup.errors import DECODER_ERRORS, DataError, InputError
from neardup.io.endings import SUMMARY_ENDING
from neardup.io.outputs.output_names import stem
from neardup.io.storage.places import Place, place_of
from neardup.survivors.records.audit_files import summary_path


class _Asked(TypedDict):
    command: str
    annotate: bool
    list: bool
    on_error: str


class _Files(TypedDict):
    inputs: list[str]
    folder: str
    output: str | None
    lines: NotRequired[bool]
    audit: NotRequired[str | None]
    rejects: NotRequired[str | None]
    items: NotRequired[str | None]
    clusters: NotRequired[str]
    against: NotRequired[list[str]]
    previous: NotRequired[list[str]]
    content: NotRequired[dict[str, str | None] | None]
    asked: NotRequired[_Asked]
    written: NotRequired[dict[str, str | None]]


class _Summary(TypedDict):
    files: _Files
    options: dict[str, Any]
    versions: dict[str, str]


_OF_OLDER = (
    ("sides", "split"),
    ("strengths", "leaks"),
    ("benchmarks", "decontaminate"),
    ("cut_tokens", "passages"),
    ("duplicates", "dedup"),
    ("removed_units", "dedup"),
)
"""A count that only the summaries of a command have."""
SPLIT = f"split{SUMMARY_ENDING}"


def command_of_summary(summary: Mapping[str, Any]) -> str | None:
    """The command that wrote a summary; None if it is none."""
    files = summary.get("files")
    if not isinstance(files, Mapping):
        return None
    asked = files.get("asked")
    if isinstance(asked, Mapping) and isinstance(asked.get("command"), str):
        return str(asked["command"])
    return "apply" if "clusters" in files else next((name for count, name in _OF_OLDER if count in summary), None)


def find_summary(given: Place) -> Place:
    """The summary that is given, or that lies beside an audit or an output, or in the folder of a split.

    Raises:
        InputError: there is none.
    """
    if given.name.endswith(SUMMARY_ENDING) and given.is_file():
        return given
    beside = place_of(stem(str(given)) + SUMMARY_ENDING)
    places: list[Place] = [summary_path(given), beside]
    for path in [*places, given / SPLIT] if given.is_dir() else places:
        if path.is_file():
            return path
    if given.name.endswith(".json") and given.is_file():
        return given
    how = f"Give the summary of a run, such as OUT{SUMMARY_ENDING}, which `neardup dedup -o OUT.jsonl` writes"
    if not (given.is_file() or given.is_dir()):
        raise InputError(f"There is no {str(given)!r}. {how}.")
    raise InputError(f"{given} is no summary, and {beside}, which would be the one of it, is missing. {how}.")


def place_of_recorded(summary: Place, name: str) -> Place | None:
    """A file or a folder that a summary names: beside it, for both may have moved, or else where it was; None if it is gone."""
    beside = summary.parent / PurePath(name.rstrip("/")).name
    return next((place for place in (beside, place_of(name)) if place.is_file() or place.is_dir()), None)


def parsed_summary(path: Place) -> tuple[str, dict[str, Any]]:
    """The command that wrote a summary, and its values.

    Raises:
        DataError: the file is not the summary of a run.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        command = command_of_summary(values)
        msgspec.convert(values, _Summary)
        if command is None:
            raise ValueError
    # In old releases of msgspec, its error is no ValueError.
    except (msgspec.ValidationError, *DECODER_ERRORS):
        raise DataError(f"{path} is not the summary of a run that read files.{_of_engine(path)}") from None
    return command, values


def _of_engine(path: Place) -> str:
    """That Spark or Ray wrote it, if it has their stages."""
    try:
        is_of_engine = {"stages", "duplicates"} <= json.loads(path.read_text(encoding="utf-8")).keys()
    except DECODER_ERRORS:
        return " Give one that `neardup` wrote."
    if not is_of_engine:
        return " Give one that `neardup` wrote."
    return " It has the counts of a run on Spark or Ray, which does not record its inputs. Run `neardup dedup` on the files."
