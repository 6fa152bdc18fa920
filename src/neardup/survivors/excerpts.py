"""Excerpts of the largest clusters of a run in memory: the beginnings of some of their texts, for notebooks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.io.corpora.table_corpus import TableCorpus
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.parts import VERSION
from neardup.survivors.decisions import Decisions

CLUSTERS = 3
"""Clusters of which texts are kept."""

DUPLICATES = 3
"""Duplicates of each of these clusters whose texts are kept: the least similar to the survivor."""

CHARACTERS = 10_000
"""Characters kept of a text."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text, and the number of its characters in all."""

    id: Any
    beginning: str
    characters: int


@dataclass(frozen=True, slots=True)
class Removed:
    """A document that was removed. `similarity` is NaN, and `distance` -1, if not known."""

    excerpt: Excerpt
    similarity: float
    distance: int
    exact: bool


@dataclass(frozen=True, slots=True)
class ClusterExcerpt:
    """A survivor, and some of its duplicates, the least similar first.

    Attributes:
        survivor: the document that is kept; `of_reference`: it is in the reference.
        removed: at most `DUPLICATES` of the documents removed in its favor.
        duplicates: the number of all documents removed in its favor.
    """

    survivor: Excerpt
    of_reference: bool
    removed: tuple[Removed, ...]
    duplicates: int


@dataclass(frozen=True, slots=True)
class Excerpts:
    """The largest clusters, the number of all clusters, and the normalizers and the version of the recipe."""

    largest: tuple[ClusterExcerpt, ...] = ()
    clusters: int = 0
    normalize: tuple[Any, ...] = ()
    version: int = VERSION


def largest_clusters(
    decisions: Decisions, ids: Any, corpus: TableCorpus, reference: TableCorpus | None, recipe: Recipe
) -> Excerpts:
    """The clusters with the most duplicates; none if the documents are given sets or lists. `ids`: as in `duplicates_table`."""
    duplicates = decisions.duplicates
    duplicates = duplicates[decisions.survivor[duplicates] >= 0]
    if corpus.of_elements or not len(duplicates):
        return Excerpts()
    survivors, counts = np.unique(decisions.survivor[duplicates], return_counts=True)
    order = np.lexsort((survivors, -counts))[:CLUSTERS]
    members = {int(survivors[place]): _least_similar(decisions, duplicates, survivors[place]) for place in order}
    inputs = len(decisions.survivor)
    rows = {row for survivor, some in members.items() for row in (survivor, *some)}
    texts = corpus.texts_of([row for row in rows if row < inputs])
    if reference is not None:
        found = reference.texts_of([row - inputs for row in rows if row >= inputs])
        texts |= {row + inputs: text for row, text in found.items()}
    largest = (
        _cluster(decisions, survivor, some, int(count), _excerpts((survivor, *some), texts, ids))
        for (survivor, some), count in zip(members.items(), counts[order], strict=True)
    )
    return Excerpts(tuple(largest), len(survivors), tuple(recipe.normalize), recipe.version)


def _least_similar(decisions: Decisions, duplicates: Any, survivor: int) -> list[int]:
    rows = duplicates[decisions.survivor[duplicates] == survivor]
    similarity = np.where(np.isnan(decisions.similarity[rows]), 2.0, decisions.similarity[rows])
    order = np.lexsort((rows, -decisions.distance[rows], similarity, decisions.exact[rows]))
    found: list[int] = rows[order[:DUPLICATES]].tolist()
    return found


def _excerpts(rows: Iterable[int], texts: Mapping[int, str], ids: Any) -> list[Excerpt]:
    return [Excerpt(ids[row].as_py(), texts[row][:CHARACTERS], len(texts[row])) for row in rows]


def _cluster(
    decisions: Decisions, survivor: int, rows: list[int], duplicates: int, excerpts: list[Excerpt]
) -> ClusterExcerpt:
    removed = (
        Removed(excerpt, float(decisions.similarity[row]), int(decisions.distance[row]), bool(decisions.exact[row]))
        for row, excerpt in zip(rows, excerpts[1:], strict=True)
    )
    return ClusterExcerpt(excerpts[0], survivor >= len(decisions.survivor), tuple(removed), duplicates)
