"""What an index answers: neighbors of queries, pairs of documents, and what it holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import counted


@dataclass(frozen=True)
class Neighbors:
    """What is near each of q queries, nearest first; of equal distances, what was added first.

    Attributes:
        offsets: int64[q + 1]; query i has ids[offsets[i]:offsets[i + 1]].
        ids: int64[h], or an Arrow array of strings.
        distances: int64[h].
    """

    offsets: Array
    ids: Any
    distances: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> list[tuple[Any, int]]:
        """The ids and distances of one query."""
        if not -len(self) <= query < len(self):
            raise IndexError(f"query {query} of {len(self)}")
        span = slice(*self.offsets[query % len(self) :][:2].tolist())
        ids = self.ids[span]
        return list(
            zip(
                ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist(),
                self.distances[span].tolist(),
                strict=True,
            )
        )

    def __repr__(self) -> str:
        return f"Neighbors({counted(len(self.distances), 'neighbor')} of {len(self):,} queries)"


@dataclass(frozen=True)
class IdPairs:
    """Pairs of documents of an index within its distance.

    Attributes:
        left, right: int64[p], or Arrow arrays of strings; the one that was added first is on the left.
        distances: int64[p].
    """

    left: Any
    right: Any
    distances: Array

    def __len__(self) -> int:
        return len(self.distances)


@dataclass(frozen=True)
class Groups:
    """Documents of an index with equal fingerprints: a group for each fingerprint that several have.

    Attributes:
        offsets: int64[g + 1]; group i has ids[offsets[i]:offsets[i + 1]], as they were added; groups by their first.
        ids: int64[], or an Arrow array of strings.
    """

    offsets: Array
    ids: Any

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, group: int) -> list[Any]:
        """The ids of one group."""
        if not -len(self) <= group < len(self):
            raise IndexError(f"group {group} of {len(self)}")
        ids = self.ids[slice(*self.offsets[group % len(self) :][:2].tolist())]
        return list(ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist())

    def __repr__(self) -> str:
        return f"Groups({counted(len(self), 'group')} of {counted(len(self.ids), 'document')})"


@dataclass(frozen=True, kw_only=True)
class IndexInfo:
    """What an index holds.

    Attributes:
        documents: that are there; short: texts besides that are known by their digest; removed: that still take room.
        bits, max_distance, method, is_exact: as of the index; options: of the method, a segment.
        segments: documents of each, the buffer last.
        nbytes: of all arrays, in memory or mapped.
        recipe: the digest of the recipe, and recipe_fields: its fields; None if it is not known.
        ids: `integers` or `strings`; None as long as there are none.
        damaged: by file, the numbers of damaged pages; if they were looked at.
        hit_probability: that a document at max_distance is found; see `Index.hit_probability`.
        methods: of the segments; those that `auto` took, if it is the index's.
    """

    documents: int
    short: int
    removed: int
    bits: int
    max_distance: int
    method: str
    is_exact: bool
    options: tuple[dict[str, int], ...]
    segments: tuple[int, ...]
    nbytes: int
    recipe: str | None
    recipe_fields: dict[str, Any] | None
    ids: str | None
    damaged: dict[str, list[int]]
    hit_probability: float
    methods: tuple[str, ...]
