"""What a method of finding candidates is to an engine."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.job_options import Work
from neardup.kernels.store.prefixes import Order
from neardup.recipe.tables.methods import Method as MethodName


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        keys: rows of POSTINGS of texts (an Arrow array of large_string), by the work, the texts, their documents (int64[n]), their
            groups (int64[n]) and the order of elements.
        code: what documents with a common key must allow, see `neardup.kernels.engines.groups`.
        needs_order: whether keys depend on an order of elements that is learned from a sample.
        refined_by: the method whose keys the documents of large groups get, as most of their pairs do not match; it finds all pairs
            that this one does, or more.
        proposes: which pairs (int64[p], int64[p], places in texts) the method compares, of those with a common key; None for all.
        has_one_key: whether all documents have the same key, so that one task gets a row for each.
    """

    keys: Callable[[Work, pa.Array, Array, Array, Order], pa.Table]
    code: Callable[[Work], int]
    needs_order: Callable[[Work], bool] = lambda _: False
    refined_by: MethodName | None = None
    proposes: Callable[..., Any] | None = None
    has_one_key: Callable[[Work], bool] = lambda _: False
