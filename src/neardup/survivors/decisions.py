"""SURVIVORS: the only code that decides what is kept."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.hamming.near import hamming_distances
from neardup.io.resume.codecs import codec
from neardup.matching.candidates.task import Found
from neardup.options import DedupOptions
from neardup.recipe.tables.keeps import By
from neardup.resources.scratch import IN_MEMORY, Scratch, parts_of
from neardup.survivors.clusters import Clustering
from neardup.text.preference import NO_VALUE, ranks_of

NONE = -1


@codec(
    "decisions",
    1,
    survivor="int64[rows]",
    similarity="float64[rows]",
    distance="int64[rows]",
    exact="bool[rows]",
    cluster="int64[rows]",
    cluster_size="int64[rows]",
    matched="int64[rows]",
    matched_similarity="float64[rows]",
)
@dataclass(frozen=True, slots=True)
class Decisions:
    """The outcome of each row. All arrays are indexed by row; rejected rows have survivor -1.

    Attributes:
        survivor: int64, the row that represents this one: the row itself if it is kept.
        similarity: float64, to the survivor; NaN where there is none or it is not known.
        distance: int64, between the two fingerprints; -1 for survivors.
        exact: bool, the normalized text equals the survivor's.
        cluster: int64, the smallest row of the cluster; -1 for a document in no cluster.
        cluster_size: int64, documents in the cluster; 1 for a document in no cluster, 0 for a rejected row.
        matched: int64, the row whose match brought this one in; -1 for survivors.
        matched_similarity: float64, to the matched row.
    """

    survivor: Array
    similarity: Array
    distance: Array
    exact: Array
    cluster: Array
    cluster_size: Array
    matched: Array
    matched_similarity: Array

    def kept_of(self, rows: slice) -> Array:
        """bool[n]: whether each row of a slice survives."""
        found: Array = self.survivor[rows] == np.arange(rows.start, rows.stop)
        return found

    @property
    def kept(self) -> Array:
        """bool[rows]: the row survives."""
        found = np.empty(len(self.survivor), np.bool_)
        for part in parts_of(len(found)):
            found[part] = self.kept_of(part)
        return found

    def of_first(self, rows: int) -> "Decisions":
        """The decisions for the first `rows` rows."""
        return Decisions(*(getattr(self, field.name)[:rows] for field in dataclasses.fields(self)))

    @property
    def duplicates(self) -> Array:
        """The rows that are duplicates, ascending."""
        found = (_removed(self.survivor, part) for part in parts_of(len(self.survivor)))
        return np.concatenate([np.empty(0, np.int64), *found])


def _removed(survivor: Array, part: slice) -> Array:
    """The rows of a part that neither survive nor were rejected."""
    here, rows = survivor[part], np.arange(part.start, part.stop)
    found: Array = rows[(here >= 0) & (here != rows)]
    return found


@dataclass(frozen=True, slots=True)
class Findings:
    """What `neardup.dedup.find_duplicates` found.

    Attributes:
        documents: what the first pass kept of each row; rows of a reference come last.
        inputs: the number of rows in the corpus itself.
        decisions: the outcome of each row.
        found: the candidates, and how they were found.
        short: documents with fewer tokens than the method needs; they have exact duplicates only.
        candidates: pairs of documents that were compared.
        matches: pairs that matched.
    """

    documents: Documents
    inputs: int
    decisions: Decisions
    found: Found
    short: int
    candidates: int
    matches: int

    @property
    def of_inputs(self) -> Decisions:
        """The decisions for the rows of the corpus itself; their survivors may be rows of a reference."""
        return self.decisions.of_first(self.inputs)


def in_order_of_preference(
    documents: Documents, options: DedupOptions, *, sources: Array | None = None, inputs: int | None = None
) -> Array:
    """The rows that are documents, the most preferred first; ties go to the earlier row.

    Rows of a reference, which start at `inputs`, come before all others, in their own order. The other rows are ordered by source
    (`sources`, int64[rows], 0 being the most preferred), and then by `options.keep`.
    """
    inputs = len(documents) if inputs is None else inputs
    rows, reference = np.flatnonzero(documents.valid[:inputs]), inputs + np.flatnonzero(documents.valid[inputs:])
    preference = options.preference
    if preference.by is By.ORDER and preference.greatest_first:
        rows = rows[::-1]
    cost = _cost(documents, options)
    if cost is not None:
        rows = rows[np.argsort(cost[rows], kind="stable")]
    if sources is not None:
        rows = rows[np.argsort(sources[rows], kind="stable")]
    return np.concatenate([reference, rows]) if len(reference) else rows


def _cost(documents: Documents, options: DedupOptions) -> Array | None:
    """int64[rows], smaller is preferred; None if the order of the rows decides alone."""
    preference = options.preference
    if preference.by is By.LENGTH:
        return -documents.lengths if preference.greatest_first else documents.lengths
    if options.preferred_by is None:
        return None
    return cost_of_values(documents.values[options.preferred_by], options, documents.ids)


def cost_of_values(tokens: Any, options: DedupOptions, ids: Any = None) -> Array:
    """int64[rows], smaller is preferred: of the values that `keep` compares, Arrow large_string[rows] of JSON; none come last.

    Raises:
        DataError: some values are numbers or dates, and others are not; it names rows, and ids (as `tokens`) if they are given.
    """
    assert options.preferred_by is not None
    ranks = ranks_of(tokens, options.preferred_by, ids).ranks
    return np.where(ranks == NO_VALUE, len(ranks), -ranks if options.preference.greatest_first else ranks)


def decide(
    documents: Documents,
    preferred: Array,
    representative: Array,
    near: Array,
    clustering: Clustering,
    *,
    scratch: Scratch = IN_MEMORY,
) -> Decisions:
    """Combine exact and near duplicates: a row whose text equals a representative's shares the representative's outcome.

    `near` holds the rows that `clustering` is about, in its order; the other representatives survive.
    """
    n = len(documents)
    survivor, matched = scratch.full(n, NONE, np.int64), scratch.full(n, NONE, np.int64)
    similarity, matched_similarity = (scratch.full(n, np.nan, np.float64) for _ in range(2))
    survivor[preferred] = preferred
    for part in parts_of(len(near)):
        rows, places = near[part], clustering.survivor[part]
        survivor[rows] = near[places]
        similarity[rows], matched_similarity[rows] = clustering.similarity[part], clustering.matched_similarity[part]
        removed = places != np.arange(part.start, part.stop)
        matched[rows[removed]] = near[clustering.matched[part][removed]]

    exact = scratch.zeros(n, np.bool_)
    for part in parts_of(len(preferred)):
        copies = preferred[part] != representative[part]
        rows, originals = preferred[part][copies], representative[part][copies]
        survivor[rows] = survivor[originals]
        exact[rows] = survivor[originals] == originals
        similarity[rows] = np.where(exact[rows], 1.0, similarity[originals])
        matched[rows], matched_similarity[rows] = originals, 1.0

    distance = scratch.full(n, NONE, np.int64)
    for part in parts_of(n):
        rows = _removed(survivor, part)
        distance[rows] = hamming_distances(documents.fingerprints, rows, survivor[rows])

    smallest, size = scratch.full(n, n, np.int64), scratch.zeros(n, np.int64)
    for part in parts_of(n):
        rows = np.flatnonzero(survivor[part] >= 0) + part.start
        np.minimum.at(smallest, survivor[rows], rows)
        np.add.at(size, survivor[rows], 1)
    cluster, cluster_size = scratch.full(n, NONE, np.int64), scratch.zeros(n, np.int64)
    for part in parts_of(n):
        rows = np.flatnonzero(survivor[part] >= 0) + part.start
        cluster_size[rows] = size[survivor[rows]]
        several = rows[cluster_size[rows] > 1]
        cluster[several] = smallest[survivor[several]]
    return Decisions(survivor, similarity, distance, exact, cluster, cluster_size, matched, matched_similarity)
