"""SORTED RUNS: whether the rows of the parts of an input ascend, in few runs that follow one another, as files written in order do.

A document then is its place: no row need be sorted, and none sent to where its place is known.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array

Runs = Mapping[int, Sequence[tuple[int, int]]]
"""Where the runs of each part with rows begin, and the numbers that they have, in the order of their rows."""
RUNS_PER_PART, RUNS_IN_ALL = 256, 1 << 16
"""Of a part: 128 MB, which is what Spark reads by default, are then files of half a megabyte or more; and of many together."""
FILE = "file"
"""The column that differs between files: rows of others may come between those of two."""
ENDS = ("first", "last")


def runs_in(part: int, batches: Iterator[pa.RecordBatch], *, is_strict: bool, most: int) -> Iterator[pa.RecordBatch]:
    """The runs of a part, each of one file: where it begins, its first row and its last.

    One row without, if a value is null or there are more runs than that.

    Args:
        part: its number.
        batches: of the columns by which documents are in order, and FILE.
        is_strict: whether a row must come after the one before; else it may equal it.
        most: runs.
    """
    first: list[pa.RecordBatch] = []
    last: list[pa.RecordBatch] = []
    begins: list[int] = []
    before, row = None, 0
    for batch in batches:
        if not len(batch):
            continue
        both = batch if before is None else pa.concat_batches([before, batch])
        file = both.column(FILE).to_numpy()
        goes_on = (file[1:] == file[:-1]) & _ascends(both.drop_columns(FILE).columns, is_strict=is_strict)
        starts = 1 + np.flatnonzero(~goes_on)
        last.append(both.take(starts - 1))
        if before is None:
            starts = np.append(0, starts)
        first.append(both.take(starts))
        begins += (row + len(batch) - len(both) + starts).tolist()
        if len(begins) > most or any(column.null_count for column in batch.columns):
            nothing = pa.RecordBatch.from_arrays([pa.nulls(1, kind) for kind in batch.schema.types], batch.schema.names)
            yield _ends(part, [None], [nothing], [nothing])
            return
        before, row = batch.slice(len(batch) - 1), row + len(batch)
    if before is not None:
        yield _ends(part, begins, first, [*last, before])


def _ends(part: int, begins: Sequence[int | None], *ends: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Where runs begin, and their first and last rows."""
    columns = {"part": pa.array([part] * len(begins), pa.int32()), "row": pa.array(begins, pa.int64())}
    for end, rows in zip(ENDS, map(pa.concat_batches, ends), strict=True):
        columns |= {f"{name}_{end}": rows.column(name) for name in rows.schema.names if name != FILE}
    return pa.RecordBatch.from_pydict(columns)


def _ascends(columns: Sequence[pa.Array], *, is_strict: bool) -> Array:
    """bool[n - 1]: whether each row but the first comes after the one before; or may equal it, if that is not strict."""
    pairs = [(column.slice(0, len(column) - 1), column.slice(1)) for column in columns]
    found = pa.array(np.full(len(columns[0]) - 1, not is_strict))
    for one, other in reversed(pairs):
        found = pc.or_(pc.less(one, other), pc.and_(pc.equal(one, other), found))
    ascends: Array = found.fill_null(False).to_numpy(zero_copy_only=False)
    return ascends


def numbers_of_runs(runs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Runs | None:
    """The runs of all parts, by numbers in the order of documents; None if rows are in another order, or too many runs.

    Args:
        runs: what `runs_in` gave, row by row.
        names: of the columns.
    """
    if any(run["row"] is None for run in runs):
        return None
    spans = sorted(
        (*(tuple(run[f"{name}_{end}"] for name in names) for end in ENDS), run["part"], run["row"]) for run in runs
    )
    if any(before[1] >= after[0] for before, after in pairwise(spans)):
        return None
    found: dict[int, list[tuple[int, int]]] = {}
    for number, (_, _, part, row) in enumerate(spans):
        found.setdefault(part, []).append((row, number))
    return {part: sorted(runs) for part, runs in found.items()}


def most_runs(parts: int) -> int:
    """How many runs each of so many parts may have."""
    return max(1, min(RUNS_PER_PART, RUNS_IN_ALL // max(1, parts)))


def numbered_part(number: int, first: int, numbers: Runs | None) -> tuple[int, list[tuple[int, int]]]:
    """The number of a part, and where its runs begin, each with its own number; see `Part`.

    Args:
        number: which part of its input it is.
        first: the number of the first part of that.
        numbers: of runs; none where parts are in order.
    """
    runs = numbers or {}
    own = [(row, first + run) for row, run in runs.get(number, ())]
    of_none = first + number + sum(map(len, runs.values()))
    return own[0][1] if own else of_none, own
