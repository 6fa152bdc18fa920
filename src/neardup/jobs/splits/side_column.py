"""A new column for data of any type that `neardup.text.frames` takes: of the kind of column that the data has."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa


def column_like(data: Any, values: Sequence[str], name: str) -> Any:
    """A column of strings, one for each row of `data`.

    It is a Series of pandas with the index of the data, a Series of polars, an array of NumPy, a list for a list, a tuple, an
    iterator or a Hugging Face dataset (`dataset.add_column` takes it), and an Arrow array for Arrow and all else.
    """
    packages = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    if "pandas" in packages and hasattr(data, "iloc"):
        return sys.modules["pandas"].Series(list(values), index=data.index, name=name, dtype="str")
    if "polars" in packages:
        return sys.modules["polars"].Series(name, list(values), dtype=sys.modules["polars"].String)
    if isinstance(data, np.ndarray):
        return np.array(values, dtype=np.str_)
    is_arrow = any(hasattr(data, each) for each in ("__arrow_c_stream__", "__arrow_c_array__", "to_arrow", "to_table"))
    if is_arrow and "datasets" not in packages:
        return pa.array(values, pa.string())
    return list(values)
