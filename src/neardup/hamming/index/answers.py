"""The results of an index: neighbors of queries, pairs and groups of documents, and facts about the index."""

from dataclasses import dataclass
from typing import Any

from neardup.arrays import Array
from neardup.display import counted
from neardup.hamming.index.ids import listed


@dataclass(frozen=True)
class Neighbors:
    """The documents near each of q queries, nearest first; at equal distance, the one added first comes first.

    Attributes:
        offsets: int64[q + 1]; query i has ids[offsets[i]:offsets[i + 1]].
        ids: int64[h], or an Arrow array of strings.
        distances: int64[h], Hamming distances to the query.
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
        return list(zip(listed(self.ids[span]), self.distances[span].tolist(), strict=True))

    def __repr__(self) -> str:
        return f"Neighbors({counted(len(self.distances), 'neighbor')} of {len(self):,} queries)"


@dataclass(frozen=True)
class IdPairs:
    """Pairs of documents of an index within its distance.

    Attributes:
        left, right: int64[p], or Arrow arrays of strings. The document on the left was added first.
        distances: int64[p], Hamming distances.
    """

    left: Any
    right: Any
    distances: Array

    def __len__(self) -> int:
        return len(self.distances)


@dataclass(frozen=True)
class Groups:
    """Documents of an index with equal fingerprints: one group for each fingerprint that several documents have.

    Attributes:
        offsets: int64[g + 1]; group i has ids[offsets[i]:offsets[i + 1]], in the order of adding. Groups are in the order of
            their first documents.
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
        return listed(self.ids[slice(*self.offsets[group % len(self) :][:2].tolist())])

    def __repr__(self) -> str:
        return f"Groups({counted(len(self), 'group')} of {counted(len(self.ids), 'document')})"


@dataclass(frozen=True, kw_only=True)
class IndexInfo:
    """Facts about an index.

    Attributes:
        documents: the number of documents that can be found.
        short: the number of texts too short for a fingerprint, which are found by their digest.
        removed: the number of removed documents that still take room.
        bits, max_distance, method, is_exact: those of the index.
        options: the options of the method, for each segment.
        segments: the number of documents in each segment, the buffer last.
        nbytes: bytes of all arrays, in memory or mapped.
        recipe: digest of the recipe; None if the recipe is unknown.
        recipe_fields: fields of the recipe; None if the recipe is unknown.
        short_rule: the version of the rule by which texts are short.
        ids: `integers` or `strings`; None while there are no ids.
        damaged: the numbers of the damaged pages, by file; None if pages were not verified.
        hit_probability: the probability that a document at max_distance is found; see `Index.hit_probability`. 0 if pages
            were verified and are damaged: queries are refused.
        methods: method of each segment; for an index with method `auto`, the methods that `auto` chose.
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
    short_rule: int
    ids: str | None
    damaged: dict[str, list[int]] | None
    hit_probability: float
    methods: tuple[str, ...]
