"""WALK two audits side by side: the removals of two runs, in the order of the rows, in one pass and without keeping them."""

from collections.abc import Iterator

from neardup.errors import DataError
from neardup.judging.runs.recorded import RecordedRun
from neardup.survivors.records.audit_files import audit_files, files_of_folder, read_audit
from neardup.survivors.records.audit_reader import Line

Key = tuple[int, int]
"""A document by its row, or a line or paragraph by the row and its number there; for documents, the number is 0."""


def key_of(line: Line) -> Key:
    """What a line of an audit says was removed."""
    return line["row"], line.get("unit", 0)


def survivor_of(line: Line) -> tuple[object, ...] | None:
    """What stays in its place, comparable between runs of the same inputs; None if nothing does."""
    if line["survivor_id"] is None:
        return None
    if line["survivor_row"] is None:
        return line.get("reference"), line.get("reference_row"), 0
    return "", line["survivor_row"], line.get("survivor_unit", 0)


def walk(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[Key, Line | None, Line | None]]:
    """What either run removed, ascending, with the line of each that removed it.

    Raises:
        DataError: an audit is damaged, or not of a run on so many rows.
    """
    left, right = _lines(a), _lines(b)
    end: tuple[Key, Line | None] = ((1 << 63, 0), None)  # behind all rows
    here, there = next(left, end), next(right, end)
    while here is not end or there is not end:
        if here[0] == there[0]:
            yield here[0], here[1], there[1]
            here, there = next(left, end), next(right, end)
        elif here[0] < there[0]:
            yield here[0], here[1], None
            here = next(left, end)
        else:
            yield there[0], None, there[1]
            there = next(right, end)


def _lines(run: RecordedRun) -> Iterator[tuple[Key, Line | None]]:
    """The lines of an audit with what they are about, checked to be ascending and as many as the summary counts."""
    before, count, rows, of_units = (-1, 0), 0, run.rows, run.unit != "document"
    expected = run.summary["duplicates" if "duplicates" in run.summary else "removed_units"]
    for line in _in_order(run) if expected else ():
        key = key_of(line)
        if key <= before or key[0] >= rows or ("unit" in line) != of_units:
            raise DataError(
                f"{run.audit} is not the audit of this run, which removed {run.unit}s of {run.rows:,} rows: after row {before[0]}, "
                f"it names row {key[0]}. Give the audit and the summary of one run, both whole."
            )
        yield key, line
        before, count = key, count + 1
    if count != expected:
        raise DataError(
            f"{run.audit} has {count:,} removals, but its summary counts {expected:,}. Give the audit and the summary of one run, "
            "both whole."
        )


def _in_order(run: RecordedRun) -> Iterator[Line]:
    """The lines of all files, those of the first rows first: each file has the rows of one shard."""
    files = files_of_folder(run.audit) if run.audit.is_dir() else []
    if len(files) < 2:
        yield from read_audit(run.audit)
        return
    firsts = ((next(read_audit(path), None), number) for number, path in enumerate(audit_files(run.audit)))
    for _, number in sorted((key_of(line), number) for line, number in firsts if line is not None):
        yield from read_audit(files[number])
