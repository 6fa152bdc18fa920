"""The outcomes of rows, in the form that the columns of audits and results need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from neardup.arrays import Array, Bools, Int64s
from neardup.survivors.decisions import NONE, Decisions

Locate = Callable[[Any], tuple[list[str], Any]]
"""Maps rows of a reference (int64[n], counted from 0 within it) to the names of their files and their rows there (int64[n])."""


class Names(Protocol):
    """Names the rows of decisions, which are documents or units of documents. A negative row has no name."""

    def ids(self, rows: Int64s) -> Any:
        """The ids of the documents, as an Arrow array; null where there is none."""

    def document_rows(self, rows: Int64s) -> Int64s:
        """The rows of the documents, counted over all inputs; -1 for documents outside the inputs."""

    def units(self, rows: Int64s) -> Int64s:
        """The numbers of the units in their documents; -1 for whole documents."""


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """Names for rows that are documents.

    Attributes:
        of_rows: Arrow array, the ids of the inputs, followed by those of a reference if there is one.
        inputs: the number of rows in the inputs.
    """

    of_rows: Any
    inputs: int

    def ids(self, rows: Int64s) -> Any:
        return self.of_rows.take(pa.array(rows, mask=rows < 0))

    def document_rows(self, rows: Int64s) -> Int64s:
        return np.where(rows < self.inputs, rows, NONE)

    def units(self, rows: Int64s) -> Int64s:
        return np.full(len(rows), NONE)


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of some rows. A column computes one value for each of them, in this order.

    Attributes:
        decisions: for all rows of the inputs.
        at: the rows: int64[n], or a slice.
        names: names the rows.
        locate: for a run against files of a reference.
        emptied: bool[n], for units: the whole document is removed because nothing is left of it.
        texts: for units: the beginning of each text.
        inputs: the number of rows of the inputs, if the decisions are for rows of a reference, too.
    """

    decisions: Decisions
    at: Int64s | slice
    names: Names
    locate: Locate | None = None
    emptied: Bools | None = None
    texts: Sequence[str] = ()
    inputs: int | None = None

    def of(self, values: Array) -> Array:
        """The values of these rows in an array of the decisions."""
        return values[self.at]

    @property
    def clusters(self) -> Int64s:
        """The cluster of each row, int64[n]; of one that matches nothing, its own row, so that every document is in one."""
        found = self.of(self.decisions.cluster)
        return np.where((found < 0) & (self.of(self.decisions.survivor) >= 0), self.rows, found)

    @cached_property
    def rows(self) -> Int64s:
        """The rows: int64[n]."""
        return np.arange(self.at.start, self.at.stop) if isinstance(self.at, slice) else self.at

    @cached_property
    def survivors(self) -> Int64s:
        """The survivors' rows: int64[n]; rows of the reference count from `len(decisions.survivor)`; -1 for rejected rows, -2 where
        none stays.
        """
        return self.of(self.decisions.survivor)

    @cached_property
    def matched(self) -> Int64s:
        """The rows of the matches that brought them in: int64[n]; -1 for survivors."""
        return self.of(self.decisions.matched)

    @property
    def removed(self) -> Bools:
        """Whether each row is removed: bool[n]."""
        removed: Bools = (self.survivors != NONE) & (self.survivors != self.rows)
        return removed

    @property
    def survivors_of_removed(self) -> Int64s:
        """The survivors' rows where the row is removed: int64[n]; -1 elsewhere."""
        return np.where(self.removed, self.survivors, NONE)

    @cached_property
    def references(self) -> tuple[list[str | None], Int64s]:
        """The reference files that hold the survivors, and their rows there; None and -1 for survivors in the inputs.

        Without `locate`, rows are counted over the whole reference, and files are None.
        """
        first = len(self.decisions.survivor) if self.inputs is None else self.inputs
        rows = np.maximum(self.survivors - first, NONE)
        files: list[str | None] = [None] * len(rows)
        if self.locate is not None:
            inside = np.flatnonzero(rows >= 0)
            names, rows[inside] = self.locate(rows[inside])
            for place, name in zip(inside.tolist(), names, strict=True):
                files[place] = name
        return files, rows


class FilterOutcomes(NamedTuple):
    """The documents that `filter` did not pass on; or those that it passed on, and that replaced others.

    Attributes:
        ids: Arrow large_string[n], JSON values.
        rows: int64[n], over all inputs.
        matched: the id of the document that each one matched, or replaced.
        distances: int64[n], from each document to the one it matched.
        similarities: float64[n], to the one it matched, NaN where unknown; None if an index decided.
        exact: bool[n], whether the normalized texts are equal; None if an index decided, and for those that replaced others.
        status: what became of each document, as answers of a store say; none if an index decided.
        only_digits: int32[n], as `Decisions.only_digits`; None as `exact`.
    """

    ids: Any
    rows: Int64s
    matched: Sequence[int | str]
    distances: Int64s
    similarities: Array | None = None
    exact: Bools | None = None
    status: Sequence[str] = ()
    only_digits: Array | None = None
