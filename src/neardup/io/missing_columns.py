"""What is told of columns that files lack: once for all files that have the same ones, with the option that names the column."""

import difflib
from collections.abc import Sequence

from neardup.display import counted
from neardup.errors import InputError
from neardup.io.batch import Columns

LISTED = 3
"""Files that are named."""


class MissingColumnError(InputError):
    """A file lacks a column.

    Attributes:
        file: its name.
        column: the column that was asked for.
        there: the columns that it has, as a list for a message.
        names: the same as names.
        where: where the column was searched, as ` in its first rows`.
    """

    def __init__(
        self, file: str, column: str, names: Sequence[str], *, there: str, where: str = "", read_with: str = ""
    ) -> None:
        super().__init__(
            f'{file} has no column "{column}"{where}. It has: {there}{read_with}. Name the one that is meant.'
        )
        self.file, self.column, self.names = file, column, tuple(names)
        self.there, self.where = there + read_with, where


def told_once(problems: Sequence[MissingColumnError], columns: Columns, named_by: str = "") -> str:
    """One message for files that lack the same column and have the same ones; `named_by` is put before the names of options."""
    first = problems[0]
    files = ", ".join(each.file for each in problems[:LISTED])
    if len(problems) > LISTED:
        files += f" and {counted(len(problems) - LISTED, 'more file')}"
    has, it_has, its = ("has", "It has", "its") if len(problems) == 1 else ("have", "They have", "their")
    where = first.where.replace(" its ", f" {its} ")
    return (
        f'{files} {has} no column "{first.column}"{where}. {it_has}: {first.there}. {_remedy(first, columns, named_by)}'
    )


def _remedy(problem: MissingColumnError, columns: Columns, named_by: str) -> str:
    """Which option names the column, and the name that may be meant."""
    option = _option(problem.column, columns)
    near = difflib.get_close_matches(problem.column, problem.names, 1, 0.6)
    if not near:
        folded = {name.casefold(): name for name in problem.names}
        near = [folded[problem.column.casefold()]] if problem.column.casefold() in folded else []
    if option is None:
        return f'Did you mean "{near[0]}"?' if near else "Name the one that is meant."
    option = named_by + option
    if near:
        return f"Did you mean `{option}={near[0]!r}`?"
    return f"Name the one that is meant with `{option}`."


def _option(column: str, columns: Columns) -> str | None:
    """The option that names a column; None if several may have done so."""
    if column == columns.vector:
        return "vector"
    if column == columns.stored:
        return "fingerprint"
    if column in columns.text:
        return "elements" if columns.of_elements else "text"
    return "id" if column == columns.id else None
