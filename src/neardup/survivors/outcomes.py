"""What became of rows, as the columns of audits and of results ask for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from neardup.arrays import Array, Bools, Int64s
from neardup.survivors.decisions import NONE, Decisions

Locate = Callable[[Any], tuple[list[str], Any]]
"""From rows of a reference (int64[n], counted in it from 0) to the names of their files, and their rows there (int64[n])."""


class Names(Protocol):
    """How the rows of decisions are named; they are documents, or units of documents. A negative row has no name."""

    def ids(self, rows: Int64s) -> Any:
        """Arrow: the ids of the documents; null where there is none."""

    def document_rows(self, rows: Int64s) -> Int64s:
        """The rows of the documents, over all inputs; -1 where it is none of the inputs."""

    def units(self, rows: Int64s) -> Int64s:
        """The numbers of the units in their documents; -1 of whole documents."""


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """Rows are documents.

    Attributes:
        of_rows: Arrow array, the ids of the inputs, followed by those of a reference if there is one.
        inputs: how many rows the inputs have.
    """

    of_rows: Any
    inputs: int

    def ids(self, rows: Int64s) -> Any:
        """See `Names`."""
        return self.of_rows.take(pa.array(rows, mask=rows < 0))

    def document_rows(self, rows: Int64s) -> Int64s:
        """See `Names`."""
        return np.where(rows < self.inputs, rows, NONE)

    def units(self, rows: Int64s) -> Int64s:
        """See `Names`."""
        return np.full(len(rows), NONE)


@dataclass(frozen=True)
class Outcomes:
    """What became of some rows. What a column gives of them has one value for each, in this order.

    Attributes:
        decisions: of all rows of the inputs.
        at: which rows: int64[n], or a slice.
        names: of the rows.
        locate: for a run against files of a reference.
        emptied: bool[n], of units: the whole document is removed, for nothing is left of it.
        texts: of units: the beginning of each text.
    """

    decisions: Decisions
    at: Int64s | slice
    names: Names
    locate: Locate | None = None
    emptied: Bools | None = None
    texts: Sequence[str] = ()

    def of(self, values: Array) -> Array:
        """What an array of the decisions says of these rows."""
        return values[self.at]

    @cached_property
    def rows(self) -> Int64s:
        """int64[n]."""
        return np.arange(self.at.start, self.at.stop) if isinstance(self.at, slice) else self.at

    @cached_property
    def survivors(self) -> Int64s:
        """int64[n]; from `len(decisions.survivor)` on they are of the reference; -1 where a row was rejected."""
        return self.of(self.decisions.survivor)

    @cached_property
    def matched(self) -> Int64s:
        """int64[n]; -1 of survivors."""
        return self.of(self.decisions.matched)

    @property
    def removed(self) -> Bools:
        """bool[n]."""
        removed: Bools = (self.survivors >= 0) & (self.survivors != self.rows)
        return removed

    @cached_property
    def references(self) -> tuple[list[str | None], Int64s]:
        """The files of the reference that survivors are in, and their rows there; None and -1 where they are of the inputs.

        Without `locate` rows are counted over the whole reference, and files are None.
        """
        rows = np.maximum(self.survivors - len(self.decisions.survivor), NONE)
        files: list[str | None] = [None] * len(rows)
        if self.locate is not None:
            inside = np.flatnonzero(rows >= 0)
            names, rows[inside] = self.locate(rows[inside])
            for place, name in zip(inside.tolist(), names, strict=True):
                files[place] = name
        return files, rows


class FilterOutcomes(NamedTuple):
    """Documents that `filter` did not pass on.

    Attributes:
        ids: Arrow large_string[n], JSON values.
        rows: int64[n], over all inputs.
        matched: of each the id of the document that it matched.
        distances: int64[n], of each to that document.
    """

    ids: Any
    rows: Int64s
    matched: Sequence[int | str]
    distances: Int64s
