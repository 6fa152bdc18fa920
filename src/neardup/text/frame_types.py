"""What holds texts, as type checkers know it: what comes back as the same kind of thing, and what comes back as a list or as Arrow.

These are protocols, because none of the packages is imported, and because a class without types is `Any`, which all would match.
`neardup.text.frames` tells the same kinds apart when it runs; tests/typing holds both to one list.
"""

from typing import Any, Protocol, TypeVar

import numpy as np


class _Pandas(Protocol):
    """A data frame or a column of pandas."""

    @property
    def iloc(self) -> Any: ...


class _PolarsFrame(Protocol):
    """A data frame of polars, lazy or not."""

    @property
    def with_columns(self) -> Any: ...

    @property
    def lazy(self) -> Any: ...


class _PolarsSeries(Protocol):
    """A column of polars."""

    @property
    def to_frame(self) -> Any: ...

    @property
    def to_arrow(self) -> Any: ...


class _Arrow(Protocol):
    """An Arrow table, batch or column."""

    @property
    def to_pylist(self) -> Any: ...


class _Dataset(Protocol):
    """A dataset of Hugging Face that is no stream."""

    @property
    def select_columns(self) -> Any: ...

    def __len__(self) -> int: ...


Item = TypeVar("Item")
"""What a list, a tuple or an iterator holds: strings, or dicts."""

Rows = TypeVar("Rows", bound=_Pandas | _PolarsFrame | _PolarsSeries | _Arrow | _Dataset | np.ndarray[Any, Any])
"""What comes back as the same kind of thing."""


class _ArrowStream(Protocol):
    """What has Arrow's C stream."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _ArrowArray(Protocol):
    """What has Arrow's C array."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class _Relation(Protocol):
    """A relation of DuckDB."""

    @property
    def to_arrow_table(self) -> Any: ...


class _ArrowDataset(Protocol):
    """A dataset of Arrow."""

    @property
    def to_table(self) -> Any: ...


Streamed = _ArrowStream | _ArrowArray | _Relation | _ArrowDataset
"""What comes back as an Arrow table or column: it is read to its end, and there is nothing of its kind to give back."""
