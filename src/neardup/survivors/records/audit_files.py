"""The place of an audit, a file or a folder with one file per shard, and its lines."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from neardup.errors import DataError, InputError
from neardup.io.endings import (
    AUDIT_ENDING,
    CONTAMINATION_ENDING,
    PARQUET_AUDIT_ENDING,
    RECORDS,
    SPLIT_SUMMARY,
    SUMMARY_ENDING,
    SUPERSEDED_ENDING,
)
from neardup.io.outputs.output_names import output_folder, stem
from neardup.io.storage.compression import open_for_reading
from neardup.io.storage.compressions import COMPRESSION_ENDINGS, compression_of_name, without_compression
from neardup.io.storage.places import Place, files_below, place_of
from neardup.survivors.records.audit_reader import Line, read_line


def summary_path(audit: str | Place) -> Place:
    """The place of the summary that belongs to an audit."""
    if output_folder(str(audit)) is not None:
        return place_of(stem(str(audit)) + SUMMARY_ENDING)
    name = without_compression(str(audit))
    for ending in (".jsonl", ".parquet", ".duplicates", ".contaminated", ".passages", ".superseded"):
        name = name.removesuffix(ending)
    return place_of(name + SUMMARY_ENDING)


def summary_paths(audit: Place) -> list[Place]:
    """The existing summaries of an audit; in a folder of audits that were written one by one, the summary of each."""
    beside = summary_path(audit)
    if beside.is_file():
        return [beside]
    return files_below(audit, (SUMMARY_ENDING,)) if audit.is_dir() else []


def files_of_folder(audit: Place) -> list[Place]:
    """The files of an audit in a folder; none if all inputs were text files that were kept."""
    return files_below(audit, _with_compressions(AUDIT_ENDING))


def audit_files(audit: Place) -> list[Place]:
    """The files of an audit, in the order of the shards.

    Raises:
        InputError: there is no such file, the folder holds none, or it is of a decontamination.
    """
    refuse_decontamination(audit)
    if audit.name.endswith(SUPERSEDED_ENDING):
        raise InputError(
            f"{audit} lists the documents of a reference that do not stay. Give the audit of the run, which lies beside it."
        )
    if audit.is_dir():
        files = files_of_folder(audit)
        if not files and (audit / SPLIT_SUMMARY).is_file():
            raise InputError(
                f"{audit} is a split: all its documents are there, on one side each, and no audit tells why. `neardup verify "
                f"{audit}` proves it, and `neardup pairs` with `--against` lists the matches of two files: of conflicts and a side."
            )
        if not files:
            raise InputError(f"There is no audit in the folder {str(audit)!r}. {_instead_of(audit)}")
        return files
    if not audit.is_file():
        raise InputError(f"There is no audit {str(audit)!r}. {_instead_of(audit)}")
    return [audit]


def is_audit(place: Place) -> bool:
    """Whether a file has the name of an audit, or a folder has audits and nothing else that documents may be in."""
    if not place.is_dir():
        return place.name.endswith((*_with_compressions(AUDIT_ENDING), PARQUET_AUDIT_ENDING))
    others = (each for each in files_below(place, ("",)) if not each.name.endswith((*RECORDS, SUMMARY_ENDING)))
    return bool(files_of_folder(place)) and next(others, None) is None


def refuse_decontamination(audit: Place) -> None:
    """Raise InputError if a file or folder has the audit of a decontamination, by its names."""
    endings = _with_compressions(CONTAMINATION_ENDING)
    if audit.name.endswith(endings) or (audit.is_dir() and not files_of_folder(audit) and files_below(audit, endings)):
        raise _of_decontamination(audit)


def _of_decontamination(audit: Place) -> InputError:
    return InputError(
        f"{audit} is an audit of `neardup decontaminate`: its lines have the item, the share and the passage for which each "
        "document was removed. Give an audit of `neardup dedup`."
    )


def _with_compressions(ending: str) -> tuple[str, ...]:
    return tuple(ending + compression for compression in ("", *COMPRESSION_ENDINGS))


def _instead_of(given: Place) -> str:
    """What to pass instead: the audit beside it, if an output or a summary was passed."""
    beside = audit_beside(str(given).replace(SUMMARY_ENDING, ".jsonl"))
    if beside.is_file():
        return f"Give the one beside it: {beside}"
    return f"Give the {AUDIT_ENDING} file that `neardup dedup` wrote, or a folder with such files."


def superseded_beside(audit: Place) -> Place:
    """The place of the list of superseded documents that belongs to an audit; see `neardup.survivors.records.superseded`."""
    return place_of(str(summary_path(audit)).removesuffix(SUMMARY_ENDING) + SUPERSEDED_ENDING)


def read_superseded(place: Place) -> Iterator[Line]:
    """The lines of a list of superseded documents: those of an audit, with `file`.

    Raises:
        DataError: a line is none of such a list.
    """
    with open_for_reading(place, "plain") as lines:
        for number, text in enumerate(lines, 1):
            try:
                line, file = read_line(text), json.loads(text).get("file")
                if not isinstance(file, str):
                    raise ValueError("it lacks 'file'")
            except ValueError as problem:
                raise DataError(
                    f"{place}, line {number}: this is no line of a list of superseded documents: {problem}."
                ) from None
            yield {**line, "file": file}


def read_audit(audit: Place) -> Iterator[Line]:
    """The lines of an audit of documents, lines or paragraphs.

    Raises:
        InputError: there is no audit, or it is of a decontamination.
        DataError: a line is not an audit line: it lacks a column, or a value has the wrong type.
    """
    for path in audit_files(audit):
        with _opened(path) as lines:
            names = None
            for number, line in enumerate(lines, 1):
                try:
                    found = read_line(line)
                    if names is not None and found.keys() != names:  # of each line, it may be that of an older version
                        raise ValueError("it has other columns than the lines before it")
                    names = found.keys()
                    yield found
                except ValueError as problem:
                    if b'"item_id"' in line and b'"benchmark"' in line:
                        raise _of_decontamination(path) from None
                    raise DataError(
                        f"{path}, line {number}: this is no line of an audit: {problem}. {_instead_of(path)}"
                    ) from None


@contextlib.contextmanager
def _opened(path: Place) -> Iterator[Iterable[bytes]]:
    """The lines of an audit file."""
    if path.name.endswith(".parquet"):
        from neardup.survivors.records.parquet_log import lines_of_parquet_log  # loads Arrow

        yield lines_of_parquet_log(path)
        return
    with open_for_reading(path, compression_of_name(path.name)) as lines:
        yield lines


def audit_beside(output: str) -> Place:
    """The place of the audit beside an output: that in Parquet, if there is one and no other."""
    usual, parquet = (place_of(stem(output) + ending) for ending in (AUDIT_ENDING, PARQUET_AUDIT_ENDING))
    return parquet if parquet.is_file() and not usual.is_file() else usual


def same_id(value: Any, doc_id: str) -> bool:
    """Whether `value` is the id `doc_id`, which is a string; an integer id is compared by its digits."""
    return value == doc_id or (not isinstance(value, str) and str(value) == doc_id)
