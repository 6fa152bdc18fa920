"""Shards as files of the stages remember them, so that a later stage knows which rows are whose."""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.io.shards import Shard

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class StoredShard:
    """A shard that rows came from.

    Attributes:
        name, relative, size: as in `neardup.io.shards.Shard`.
        rows: all its rows, rejected ones too.
    """

    name: str
    relative: str
    rows: int
    size: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)


def stored_shards(shards: Sequence[Shard], starts: Sequence[int]) -> tuple[StoredShard, ...]:
    """What is remembered of shards; `starts`: the first row of each and, last, the number of all rows."""
    return tuple(
        StoredShard(shard.name, shard.relative, last - first, shard.size)
        for shard, (first, last) in zip(shards, itertools.pairwise(starts), strict=True)
    )


def starts_of(shards: Iterable[StoredShard]) -> Array:
    """int64[shards + 1]: the first row of each among all and, last, their number."""
    return np.array([0, *itertools.accumulate(shard.rows for shard in shards)], np.int64)
