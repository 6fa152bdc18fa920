"""What a method of finding candidates is to an engine."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.candidates.groups import Pairs
from neardup.engines.schemas import POSTINGS
from neardup.engines.stage import Output
from neardup.engines.work import Work
from neardup.kernels.store.prefixes import Order
from neardup.store.texts import Texts


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        keys: the rows of texts, by the work, their documents (int64[n]), their groups (int64[n]) and the order of elements.
        code: what documents with a common key must allow, see `neardup.kernels.engines.groups`; None if `pairs` finds them.
        postings: the rows that bring documents with a common key together.
        pairs: the pairs of documents in a bucket that may match, int64[p] and int64[p]; some may come several times.
        needs_order: whether keys depend on an order of elements that is learned from a sample.
        proposes: which pairs (int64[p], int64[p], places in texts) the method compares, of those with a common key; None for all.
    """

    keys: Callable[[Work, Texts, Array, Array, Order], pa.Table]
    code: Callable[[Work], int] | None = None
    postings: Output = POSTINGS
    pairs: Callable[[Work, pa.Table], Pairs] | None = None
    needs_order: bool = False
    proposes: Callable[..., Any] | None = None
