"""Read summaries of runs, and check that each is one."""

import dataclasses
import json
from typing import Annotated, Any, TypedDict

import msgspec

from neardup.errors import DECODER_ERRORS, DataError, InputError, is_integer
from neardup.io.corpora.reading import stored_reading
from neardup.io.storage.places import Place
from neardup.options import DedupOptions
from neardup.recipe.similarity import stored_similarity
from neardup.survivors.records.audit_files import summary_paths
from neardup.survivors.records.summary import Summary

RunSummary = dict[str, Any]
"""The values of a `Summary` by name, and `files`."""


class _Options(TypedDict):
    similarity: str | dict[str, Any]
    cluster: str
    keep: str
    within: str | None


_Value = str | float | bool | list[str] | None


class _Files(TypedDict):
    inputs: list[str]
    folder: str
    output: str | None
    audit: str | None
    rejects: str | None
    text: list[str]
    id: str | None
    html: str | None
    lines: bool
    encoding: str
    dialect: str | None
    max_document_bytes: int


class _MoreFiles(TypedDict, total=False):
    elements: str | None
    against: list[str]
    prefer: str
    superseded: str | None
    clusters: str
    report: str | None
    report_by: str
    content: dict[str, str | None] | None


class _Recipe(TypedDict):
    bits: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    digest: str


class _Versions(TypedDict):
    neardup: str


class _Total(TypedDict):
    total: float


_PARTS = {"options": _Options, "recipe": _Recipe, "versions": _Versions, "seconds": _Total, "written_bytes": _Total}
"""What parts of a `Summary` must hold that its types do not say."""

_OPTIONS = {field.name for field in dataclasses.fields(DedupOptions)}


def read_summaries(audit: Place) -> list[tuple[Place, RunSummary]]:
    """Read the summaries that belong to an audit; in a folder of audits of one run in stages, those of all its parts.

    A summary of a run that removed lines or paragraphs has `unit`, and counts of its own.

    Raises:
        InputError: the summaries are of several runs.
        DataError: a file is not the summary of a run.
    """
    found = [(path, read_summary(path)) for path in summary_paths(audit)]
    for path, summary in found[1:]:
        clusters = summary["files"].get("clusters")
        if clusters is None or clusters != found[0][1]["files"].get("clusters"):
            raise InputError(
                f"The audits in {audit} are of several runs, as {found[0][0]} and {path} say. Give the audit of one."
            )
    return found


def no_summary(path: Place) -> DataError:
    """The error for a file that is not the summary of a run."""
    return DataError(f"{path} is not the summary of a run. Give the audit of another run, or run again.")


def read_summary(path: Place) -> RunSummary:
    """Read a summary of a run of `dedup` or `apply`.

    Raises:
        DataError: the file is not one.
    """
    try:
        summary: RunSummary = json.loads(path.read_text(encoding="utf-8"))
        files = summary["files"]
        if "unit" not in summary:
            msgspec.convert(summary, Summary)
            options = {name: value for name, value in summary["options"].items() if name != "similarity"}
            if not msgspec.convert(options, dict[str, _Value]).keys() <= _OPTIONS:
                raise ValueError
            stored_similarity(summary["options"]["similarity"])
            for name, part in _PARTS.items():
                msgspec.convert(summary[name], part)
        for part in (_Files, _MoreFiles):
            msgspec.convert(files, part)
        if any(is_integer(count) and not 0 <= count < 1 << 63 for count in summary.values()):
            raise ValueError
        stored_reading(files)
    # In old releases of msgspec, its error is no ValueError.
    except (msgspec.ValidationError, *DECODER_ERRORS):
        raise no_summary(path) from None
    return summary
