"""Read the logs of cuts, and the summaries beside them, and check both."""

import json
from collections.abc import Iterator
from typing import Any, NotRequired, TypedDict

import msgspec

from neardup.errors import DECODER_ERRORS, DataError, InputError, OptionError, is_integer
from neardup.io.corpora.reading import stored_reading
from neardup.io.endings import PASSAGES_ENDING
from neardup.io.storage.compression import open_for_reading
from neardup.io.storage.compressions import compression_of_name
from neardup.io.storage.places import Place
from neardup.recipe.similarity import stored_similarity
from neardup.survivors.records.audit_files import summary_paths
from neardup.survivors.records.audit_reader import kind_of
from neardup.survivors.records.audit_schema import REFERENCE
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.records.cut_log import CUT_COLUMNS, SEVERAL
from neardup.survivors.repeats.records.cut_log_files import log_files
from neardup.survivors.repeats.records.summary import PassagesSummary

CutLine = dict[str, Any]
"""A line of the log: column names and their values."""

_LAYOUTS = [
    frozenset(each.name for each in CUT_COLUMNS if each.only not in absent)
    for absent in ((), (SEVERAL,), (REFERENCE,), (SEVERAL, REFERENCE))
]
_IN_ALL = frozenset.intersection(*_LAYOUTS)
_TYPES = {
    each.name: kind_of(each.type.parsed) | None if each.nullable else kind_of(each.type.parsed) for each in CUT_COLUMNS
}
_make: Any = TypedDict  # made from a table; type checkers expect a literal
_decode = msgspec.json.Decoder(
    _make("_CutLine", {name: kind if name in _IN_ALL else NotRequired[kind] for name, kind in _TYPES.items()})
).decode


def read_cut_log(log: Place) -> Iterator[CutLine]:
    """The lines of a log of cuts.

    Raises:
        InputError: there is no such file.
        DataError: a line is not of a log of cuts: it lacks a column, or a value has the wrong type.
    """
    for path in log_files(log):
        if not path.is_file():
            raise InputError(
                f"There is no log {str(path)!r}. Give the {PASSAGES_ENDING} file that `neardup passages` wrote."
            )
        with open_for_reading(path, compression_of_name(path.name)) as lines:
            names = None
            for number, text in enumerate(lines, 1):
                try:
                    line: CutLine = _decode(text)
                except (msgspec.DecodeError, *DECODER_ERRORS) as problem:
                    raise _no_line(path, number, str(problem)) from None
                if frozenset(line) not in _LAYOUTS or line.keys() != (names or line.keys()):
                    raise _no_line(path, number, "it has other columns")
                names = line.keys()
                yield line


def _no_line(path: Place, number: int, why: str) -> DataError:
    return DataError(
        f"{path}, line {number}: this is no line of a log of cuts: {why[:1].lower()}{why[1:].rstrip('.')}. Give the "
        f"{PASSAGES_ENDING} file that `neardup passages` wrote."
    )


def read_cut_summary(log: Place) -> dict[str, Any]:
    """The summary beside a log of cuts: the values of a `PassagesSummary` by name, and `files`.

    Raises:
        InputError: there is none.
        DataError: the file is no such summary.
    """
    paths = summary_paths(log)
    if not paths:
        raise InputError(
            f"{log} has no summary beside it, which has the options of the run. Give the log where the run wrote it."
        )
    try:
        summary: dict[str, Any] = json.loads(paths[0].read_text(encoding="utf-8"))
        msgspec.convert(summary, PassagesSummary)
        msgspec.convert([summary["files"][name] for name in ("inputs", "against")], list[list[str]])
        msgspec.convert([summary["files"][name] for name in ("output", "audit")], list[str | None])
        msgspec.convert(summary["files"]["folder"], str)
        stored_reading(summary["files"])
        functions_in(summary)
        _options(summary)
        if any(is_integer(count) and not 0 <= count < 1 << 63 for count in summary.values()):
            raise ValueError
    except (OptionError, msgspec.ValidationError, *DECODER_ERRORS):
        raise DataError(
            f"{paths[0]} is not the summary of a run of `neardup passages`. Give the log of another run, or run again."
        ) from None
    return summary


def options_of(summary: dict[str, Any], **resources: Any) -> PassageOptions:
    """The options of a run that cuts passages, with other resources.

    Raises:
        OptionError: one of them was a function, of which only the name is known.
    """
    for name in functions_in(summary):
        raise OptionError(
            f"`{name}={summary['options'][name]!r}`: only its name is known here, not the function. Use a column to have runs that "
            "can be verified."
        )
    return _options(summary, **resources)


def functions_in(summary: dict[str, Any]) -> list[str]:
    """The options of a run that were functions."""
    return [name for name in ("keep", "within") if str(summary["options"][name]).endswith("()")]


def _options(summary: dict[str, Any], **resources: Any) -> PassageOptions:
    given = dict(summary["options"])
    for name in ("threads", "memory", "temp_dir", "temp_limit"):
        given.pop(name, None)
    for name in functions_in(summary):
        given[name] = None if name == "within" else "first"
    given["similarity"] = stored_similarity(given["similarity"])
    return PassageOptions(**given, **resources)
