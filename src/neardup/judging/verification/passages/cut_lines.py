"""The log of cuts as arrays."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from neardup.arrays import Array
from neardup.survivors.decisions import NONE
from neardup.survivors.repeats.records.cut_log import END_BITS
from neardup.survivors.repeats.records.cut_log_reader import CutLine

CHUNK = 1 << 14
FIELDS = 12
"""Numbers of a line."""
_NUMBERS = ("row", "start", "end", "tokens", "copy_row", "copy_start", "copy_end", "copy_is_cut", "document_removed")


@dataclass(frozen=True, slots=True)
class Sides:
    """The documents, columns and characters of passages, or of their copies: int64[n] each.

    Attributes:
        rows: over the inputs and then the reference; NONE for no such row.
    """

    rows: Array
    columns: Array
    starts: Array
    ends: Array


@dataclass(frozen=True)
class CutLines:
    """The n lines of a log.

    Attributes:
        cuts, copies: where the passages and their copies are.
        tokens, copy_is_cut, document_removed: as stated.
        separated: bool[n], whether a space was put.
        names: the stated rows and ids, for messages.
        ids, copy_ids: as stated, as JSON.
        problems: what is wrong with single lines: the number of the line, and a sentence.
        columns: how many text columns there are.
    """

    cuts: Sides
    copies: Sides
    tokens: Array
    copy_is_cut: Array
    document_removed: Array
    separated: Array
    ids: list[bytes]
    copy_ids: list[bytes]
    problems: list[tuple[int, str]]
    columns: int

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def by_place(self) -> Array:
        """int64[n]: the lines in the order of rows, columns and characters."""
        found: Array = np.lexsort((self.cuts.starts, self.cuts.columns, self.cuts.rows))
        return found

    @cached_property
    def by_copy(self) -> Array:
        """int64[n]: the lines in the order of the rows of their copies."""
        return np.argsort(self.copies.rows, kind="stable")

    def of_row(self, row: int, *, copies: bool) -> list[int]:
        """The lines of a row, or those whose copies are in it."""
        order = self.by_copy if copies else self.by_place
        ranked = self._ranked_copies if copies else self._ranked
        found: list[int] = order[slice(*np.searchsorted(ranked, [row, row + 1]))].tolist()
        return found

    @cached_property
    def _ranked(self) -> Array:
        return self.cuts.rows[self.by_place]

    @cached_property
    def _ranked_copies(self) -> Array:
        return self.copies.rows[self.by_copy]

    def name(self, line: int) -> str:
        """A line in words."""
        cut = self.cuts
        return (
            f"line {line + 1}, {self.ids[line].decode()} (row {cut.rows[line]}), characters {cut.starts[line]} to "
            f"{cut.ends[line]}"
        )

    def are_cut(self) -> Array:
        """bool[n]: whether some of the copy is in a passage that is cut."""
        cut, copy = self.cuts, self.copies
        keys = [(side.rows * self.columns + side.columns) << END_BITS for side in (cut, copy)]
        begins = (keys[0] + cut.starts)[self.by_place]
        ends = (keys[0] + cut.ends)[self.by_place]
        after = np.searchsorted(ends, keys[1] + copy.starts, "right")
        found = np.zeros(len(self), np.bool_)
        some = after < len(self)
        found[some] = begins[after[some]] < (keys[1] + copy.ends)[some]
        return found


def cut_lines_of(
    lines: Iterable[CutLine], columns: Sequence[str], valid: Array, rows: int, rows_of: dict[str, tuple[int, int]]
) -> CutLines:
    """Read the lines of a log.

    Args:
        columns: the names of the text columns.
        valid: bool[rows of the inputs and the reference], which are documents.
        rows: of the inputs.
        rows_of: the first row of each file of the reference, over the inputs and the reference, and how many rows it has.
    """
    arrays, read = [np.empty((0, FIELDS), np.int64)], 0
    ids, copy_ids, problems = list[bytes](), list[bytes](), list[tuple[int, str]]()
    number_of = {name: number for number, name in enumerate(columns)}
    encode = msgspec.json.encode
    every = iter(lines)
    while chunk := list(itertools.islice(every, CHUNK)):
        numbers = list[tuple[Any, ...]]()
        for at, line in enumerate(chunk, read):
            row, copy_row = _row(line["row"], rows, valid), line["copy_row"]
            if copy_row is None:
                first, size = rows_of.get(line.get("reference") or "", (0, 0))
                inside = line.get("reference_row")
                copy_row = NONE if inside is None or inside >= size or not valid[first + inside] else first + inside
            else:
                copy_row = _row(copy_row, rows, valid)
                if line.get("reference") is not None or line.get("reference_row") is not None:
                    problems.append((at, "its copy is in the inputs and in a reference"))
            sides = [number_of.get(line[name], NONE) if name in line else 0 for name in ("column", "copy_column")]
            if (len(columns) > 1) != ("column" in line):
                problems.append((at, "it names a text column, or lacks it, unlike those of the run"))
            for what, value in (
                ("document", row),
                ("copy", copy_row),
                ("column", sides[0]),
                ("column of the copy", sides[1]),
            ):
                if value == NONE:
                    problems.append((at, f"its {what} does not exist"))
            if line["separator"] not in (None, " "):
                problems.append((at, "its separator is no space"))
            ids.append(encode(line["id"]))
            copy_ids.append(encode(line["copy_id"]))
            stated = (line[name] for name in _NUMBERS[1:] if name != "copy_row")
            numbers.append((row, copy_row, *sides, *stated, line["separator"] is not None))
        arrays.append(np.array(numbers, np.int64))
        read += len(chunk)
    columns_of = np.concatenate(arrays).T
    row, copy_row, column, copy_column, start, end, tokens, copy_start, copy_end, is_cut, removed, separated = (
        columns_of
    )
    return CutLines(
        Sides(row, column, start, end),
        Sides(copy_row, copy_column, copy_start, copy_end),
        tokens,
        is_cut > 0,
        removed > 0,
        separated > 0,
        ids,
        copy_ids,
        problems,
        len(columns),
    )


def _row(stated: int, rows: int, valid: Array) -> int:
    return stated if stated < rows and valid[stated] else NONE
