"""What is told of columns that files lack: once for all files that have the same ones, with the option that names the column."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from neardup.display import counted
from neardup.errors import InputError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import Shard

_MAX_LISTED_FILES = 3
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


def told_once(
    problems: Sequence[MissingColumnError],
    columns: Columns,
    named_by: str = "",
    others: Sequence[Shard] = (),
    nested: str = "",
) -> str:
    """One message for files that lack the same column and have the same ones.

    `named_by`: put before the names of options; `others`: the inputs that have the column; `nested`: what to do if the path
    leads into a list.
    """
    first = problems[0]
    files = ", ".join(each.file for each in problems[:_MAX_LISTED_FILES])
    if len(problems) > _MAX_LISTED_FILES:
        files += f" and {counted(len(problems) - _MAX_LISTED_FILES, 'more file')}"
    has, it_has, its = ("has", "It has", "its") if len(problems) == 1 else ("have", "They have", "their")
    where = first.where.replace(" its ", f" {its} ")
    remedy = (
        _leave_out(problems, others) if len(others) >= len(problems) else nested or _remedy(first, columns, named_by)
    )
    return f'{files} {has} no column "{first.column}"{where}. {it_has}: {first.there}. {remedy}'


def nearest_name(column: str, names: Sequence[str]) -> str | None:
    """The name that is meant by another one; None if none is like it."""
    folded = {name.casefold(): name for name in names}
    return next(iter(difflib.get_close_matches(column, names, 1, 0.6)), folded.get(column.casefold()))


def _leave_out(problems: Sequence[MissingColumnError], others: Sequence[Shard]) -> str:
    """What to do about files that may be no documents, since most inputs have what they lack."""
    have = f"{counted(len(others), 'other input')} {'has' if len(others) == 1 else 'have'} it"
    is_one = len(problems) == 1
    name, so, them, their = (
        ("this file is", "it is", "it", "its column")
        if is_one
        else ("these files are", "they are", "them", "their column")
    )
    near = nearest_name(problems[0].column, problems[0].names)
    column = f'{their} "{near}"' if near else f"{their}{'' if is_one else 's'}"
    return (
        f"{have}. If {name} not of the corpus, leave {them} out{_instead(problems, others)}; if {so}, rename {column}."
    )


def _instead(problems: Sequence[MissingColumnError], others: Sequence[Shard]) -> str:
    """How the other inputs are named, if an ending tells them apart."""
    endings = {"".join(Path(each.relative).suffixes[-2:]) for each in others}
    if len(others) == 1:
        return f": name {others[0].name}"
    if len(endings) > 1 or any(problem.file.endswith(tuple(endings)) for problem in problems):
        return ""
    folders = {os.path.dirname(each.name) for each in others}
    below = os.path.commonpath(folders) if "" not in folders else ""
    stars = "*" if len(folders) == 1 else "**/*"
    return f": name '{os.path.join(below, stars)}{next(iter(endings))}'"


def _remedy(problem: MissingColumnError, columns: Columns, named_by: str) -> str:
    """Which option names the column, and the name that may be meant."""
    option, near = _option(problem.column, columns), nearest_name(problem.column, problem.names)
    if option is None:
        return f'Did you mean "{near}"?' if near else "Name the one that is meant."
    option, _, before = (named_by + option).partition("=")
    if near:
        return f"Did you mean `{option}={before + near!r}`?"
    return f"Name the one that is meant with `{option}{f'={before}COLUMN' if before else ''}`."


def _option(column: str, columns: Columns) -> str | None:
    """The option that names a column, with what stands before the name; None if several may have done so."""
    if column == columns.vector:
        return "vector"
    if column == columns.stored:
        return "fingerprint"
    if column in columns.text:
        return "elements" if columns.of_elements else "text"
    return "id" if column == columns.id else columns.asked_by.get(column)
