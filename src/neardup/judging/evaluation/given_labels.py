"""LABELS given in memory, as a list of pairs or a table, turned into the rows of a file of labels."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import OptionError
from neardup.judging.evaluation.labels import LABEL_COLUMN, SCORE_COLUMNS, LabelFile, LabelRows
from neardup.text.frame_types import Streamed
from neardup.text.frames import Frame, frame_of

ALLOWED = (
    "a list of (left_id, right_id), with a similarity or a label after them if there are any; a list of dicts or a table with "
    "these columns; or the path of a file"
)

Labeled = str | os.PathLike[str] | Iterable[Any] | Streamed
"""What labels may be given as; see `labels_of`."""


@dataclass(frozen=True)
class GivenLabels:
    """Rows of labels in memory.

    Attributes:
        rows: dicts with the columns of a file of labels.
    """

    given: Sequence[Mapping[str, Any]]

    def __str__(self) -> str:
        return "pairs"

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """The rows, in order."""
        return self.given


def labels_of(pairs: Labeled) -> LabelRows:
    """Take labels as given: the path of a file, or pairs in memory.

    A tuple is a left id, a right id and optionally a value for how alike the two are. The values are similarities if any of
    them is a floating-point number, else labels.

    Raises:
        OptionError: `pairs` is neither.

    >>> list(labels_of([("a", "b", 0.9)]).rows())
    [{'left_id': 'a', 'right_id': 'b', 'similarity': 0.9}]
    """
    if isinstance(pairs, str | os.PathLike):
        return LabelFile(Path(pairs))
    try:
        frame = frame_of(pairs, "pairs")
    except OptionError:
        raise OptionError(f"pairs is a {type(pairs).__name__}; give {ALLOWED}.") from None
    if frame.dicts is not None:
        return GivenLabels(frame.dicts)
    return GivenLabels(_of_columns(frame) if frame.has_columns else _of_tuples(list(frame.texts)))


def _of_columns(frame: Frame) -> list[dict[str, Any]]:
    columns = [frame.column(name, "labels") for name in frame.names]
    values = [column if isinstance(column, list) else column.to_pylist() for column in columns]
    return [dict(zip(frame.names, row, strict=True)) for row in zip(*values, strict=True)]


def _of_tuples(items: list[Any]) -> list[dict[str, Any]]:
    rows = [
        tuple(item) if isinstance(item, Sequence | np.ndarray) and not isinstance(item, str) else () for item in items
    ]
    sizes = {len(row) for row in rows}
    if not sizes <= {2, 3} or len(sizes) > 1:
        number, item = next(
            (n, items[n]) for n, row in enumerate(rows) if len(row) not in (2, 3) or len(row) != len(rows[0])
        )
        raise OptionError(
            f"pairs has {str(item)[:80]} at place {number} (counted from 0), unlike others; give {ALLOWED}."
        )
    are_similarities = any(isinstance(value, float | np.floating) for row in rows for value in row[2:])
    names = ("left_id", "right_id", SCORE_COLUMNS[0] if are_similarities else LABEL_COLUMN)
    return [dict(zip(names, row, strict=False)) for row in rows]
