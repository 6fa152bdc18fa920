"""Types of inputs for type checkers: which inputs come back as the same type, and which as a list or Arrow data.

These are protocols, because none of the packages is imported, and because a class without types is `Any`, which would match
everything. `neardup.text.frames` distinguishes the same inputs at run time; tests/type_checks checks both against one list.
"""

from typing import Any, Protocol, TypeVar

import numpy as np


class _Pandas(Protocol):
    """A pandas data frame or column."""

    @property
    def iloc(self) -> Any: ...


class _PolarsFrame(Protocol):
    """A polars data frame, lazy or not."""

    @property
    def with_columns(self) -> Any: ...

    @property
    def lazy(self) -> Any: ...


class _PolarsSeries(Protocol):
    """A polars column."""

    @property
    def to_frame(self) -> Any: ...

    @property
    def to_arrow(self) -> Any: ...


class _Arrow(Protocol):
    """An Arrow table, batch or column."""

    @property
    def to_pylist(self) -> Any: ...


class _Dataset(Protocol):
    """A Hugging Face dataset that is not a stream."""

    @property
    def select_columns(self) -> Any: ...

    def __len__(self) -> int: ...


Item = TypeVar("Item")
"""The items of a list, a tuple or an iterator: strings, or dicts."""

Rows = TypeVar("Rows", bound=_Pandas | _PolarsFrame | _PolarsSeries | _Arrow | _Dataset | np.ndarray[Any, Any])
"""Inputs that come back as the same type."""


class _ArrowStream(Protocol):
    """An object with Arrow's C stream interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _ArrowArray(Protocol):
    """An object with Arrow's C array interface."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class _Relation(Protocol):
    """A DuckDB relation."""

    @property
    def to_arrow_table(self) -> Any: ...


class _ArrowDataset(Protocol):
    """An Arrow dataset."""

    @property
    def to_table(self) -> Any: ...


Streamed = _ArrowStream | _ArrowArray | _Relation | _ArrowDataset
"""Inputs that come back as an Arrow table or column: they are read to the end, so none of their own type is left to return."""
