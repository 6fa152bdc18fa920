"""How figures are written in the tables: significant digits, ranges in brackets, and where they come from."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from measure import table

Record = Mapping[str, Any]
BUSY = 0.5
"""A load average from which other work counted."""


def number(value: float | None, digits: int = 3) -> str:
    """To so many significant digits, whole ones with commas; nothing for None."""
    if value is None:
        return ""
    if abs(value) >= 10 ** (digits - 1):
        return f"{float(f'{value:.{digits}g}'):,.0f}"
    return f"{value:.{digits}g}"


def share(value: float | None) -> str:
    """A share to three digits; more of them rather than a 1 that it is not."""
    if value is None:
        return ""
    short = f"{value:.3g}"
    return short if value == 1 or float(short) < 1 else f"{value:.6g}"


def percent(value: float, digits: int = 3) -> str:
    """The same in per cent, without the sign: 0.9972 as 99.7."""
    short = f"{100 * value:.{digits}g}"
    return short if value == 1 or float(short) < 100 else f"{100 * value:.6g}"


def ranged(median: float, values: Sequence[float], digits: int = 3) -> str:
    """A median with the least and greatest of all in brackets, if there were several."""
    if min(values) == max(values):
        return number(median, digits)
    return f"{number(median, digits)} ({number(min(values), digits)}-{number(max(values), digits)})"


def spread(record: Record, name: str, digits: int = 3) -> str:
    """The same of a record that has `min` and `max`; older ones have one run and neither."""
    return ranged(record[name], [record.get(end, record[name]) for end in ("min", "max")], digits)


def provenance(file: str, record: Record) -> str:
    """The machine, the versions, the day and the commit of a result file, as a line below its table."""
    about = record.get("environment", record)
    machine = about["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    commit = f", commit {about['commit'][:7]}" if about.get("commit") else ""
    if about.get("uncommitted_changes"):  # no commit has that code
        commit = ", code between two commits"
    load = about.get("load_average", 0)
    others = f", while other work ran (load average {number(load, 2)})" if load > BUSY else ""
    return (
        f"*`{file}.json`: {machine['processor']} ({machine['compiled_for']}), {machine['processors']} processors, "
        f"{machine['memory_bytes'] / 1e9:.0f} GB{others}; {versions}; {about['date']}{commit}.*"
    )


def ranked(
    head: Sequence[str],
    rows: Sequence[tuple[str, Sequence[tuple[float | None, str]]]],
    best: Sequence[int],
    ours: str = "neardup",
) -> str:
    """A table with the best value of each column in bold, and a line that names the peers that beat every one of ours.

    Args:
        head: of the columns, the first is of the names.
        rows: names, and of each column the value to compare and how it is written; None takes no part.
        best: of each column 1 if more is better, -1 if less is.
    """
    bold: set[tuple[int, int]] = set()
    won = []
    for column, sign in enumerate(best):
        values = {row: cells[column][0] for row, (_, cells) in enumerate(rows)}
        given = {row: sign * value for row, value in values.items() if value is not None}
        bold |= {(row, column) for row, value in given.items() if value == max(given.values())}
        own = max((value for row, value in given.items() if rows[row][0].startswith(ours)), default=-math.inf)
        names = [rows[row][0] for row, value in given.items() if value > own]
        if names:
            won.append(f"{head[column + 1]} ({', '.join(names)})")
    lines = [
        [
            name,
            *(
                f"**{written}**" if written and (row, column) in bold else written
                for column, (_, written) in enumerate(cells)
            ),
        ]
        for row, (name, cells) in enumerate(rows)
    ]
    said = f"Peers win: {'; '.join(won)}." if won else "No peer is better in any column."
    return f"{table(head, lines)}\n\nThe best of each column in bold. {said}"


ERROR = re.compile(r":? \w*(?:Error|Exception): .*", re.DOTALL)
"""What Python says of an error, which is in the result file, and no use to a reader."""


def absent(results: Mapping[str, Record]) -> str:
    """What did not run, or not to the end, and why: a line below the table, or nothing."""
    reasons: dict[str, list[str]] = {}
    for name, record in results.items():
        for how in ("skipped", "stopped", "failed"):
            if how in record:
                reasons.setdefault(f"{how}: {ERROR.sub('', str(record[how]))}", []).append(name)
    return "\n\n".join(f"{', '.join(names)} {reason}" for reason, names in reasons.items())
