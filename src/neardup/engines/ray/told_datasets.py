"""TOLD DATASETS: Datasets that are computed when their rows are asked for, and tell what fails then in our words.

Datasets that others are made of tell it in the same words, but within those of Ray.
"""

from typing import Any

from neardup.engines.lazy import telling
from neardup.engines.ray.failures import translated_errors

_COMPUTES = (
    *(
        "count",
        "iter_batches",
        "iter_rows",
        "iter_torch_batches",
        "materialize",
        "show",
        "take",
        "take_all",
        "take_batch",
    ),
    *("to_arrow_refs", "to_numpy_refs", "to_pandas", "to_pandas_refs"),
    *("write_csv", "write_datasink", "write_json", "write_numpy", "write_parquet"),
)
"""The methods of a Dataset that compute its rows."""


def told(dataset: Any) -> Any:
    """A Dataset whose errors are told in our words."""
    dataset.__class__ = telling(type(dataset), _COMPUTES, translated_errors)
    return dataset
