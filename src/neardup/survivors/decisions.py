"""SURVIVORS: the only code that decides what is kept."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import shortened
from neardup.errors import DataError
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
DROPPED = -2
"""In the place of a survivor: the document goes, and none stays for it."""
SHOWN_OF_CLUSTER = 5
"""Documents of a refused cluster that are named."""


@codec(
    "decisions",
    2,
    survivor="int64[rows]",
    similarity="float64[rows]",
    distance="int64[rows]",
    exact="bool[rows]",
    cluster="int64[rows]",
    cluster_size="int64[rows]",
    matched="int64[rows]",
    matched_similarity="float64[rows]",
    only_digits="int32[rows]",
)
@dataclass(frozen=True, slots=True)
class Decisions:
    """The outcome of each row. All arrays are indexed by row; rejected rows have survivor -1.

    Attributes:
        survivor: int64, the row that represents this one: the row itself if it is kept; DROPPED if none stays for it.
        similarity: float64, to the survivor; NaN where there is none or it is not known.
        distance: int64, between the two fingerprints; -1 for survivors.
        exact: bool, the normalized text equals the survivor's.
        cluster: int64, the smallest row of the cluster; -1 for a document in no cluster.
        cluster_size: int64, documents in the cluster; 1 for a document in no cluster, 0 for a rejected row.
        matched: int64, the row whose match brought this one in; -1 for survivors.
        matched_similarity: float64, to the matched row.
        only_digits: int32, of duplicates: 1 if the normalized text differs from the survivor's in digits only (see
            `digests_without_figures`), 0 if not, -1 if that is not known.
    """

    survivor: Array
    similarity: Array
    distance: Array
    exact: Array
    cluster: Array
    cluster_size: Array
    matched: Array
    matched_similarity: Array
    only_digits: Array

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
    found: Array = rows[(here != NONE) & (here != rows)]
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
        matching_reference: documents of the inputs that match one of the reference, whatever else they match; 0 if `together`.
        together: documents of the reference were ordered together with those of the inputs, and may be removed as these.
    """

    documents: Documents
    inputs: int
    decisions: Decisions
    found: Found
    short: int
    candidates: int
    matches: int
    matching_reference: int = 0
    together: bool = False

    @property
    def superseded(self) -> Array:
        """The rows of the reference that do not stay, ascending; none unless it was ordered together with the inputs."""
        rows = self.decisions.duplicates if self.together else np.empty(0, np.int64)
        found: Array = rows[rows >= self.inputs]
        return found

    @property
    def of_inputs(self) -> Decisions:
        """The decisions for the rows of the corpus itself; their survivors may be rows of a reference."""
        return self.decisions.of_first(self.inputs)


def in_order_of_preference(
    documents: Documents,
    options: DedupOptions,
    *,
    sources: Array | None = None,
    inputs: int | None = None,
    skips: bool | None = None,
    together: bool = False,
) -> Array:
    """The rows that are documents, the most preferred first; ties go to the earlier row.

    Rows of a reference, which start at `inputs`, come before all others, in their own order. The other rows are ordered by source
    (`sources`, int64[rows], 0 being the most preferred), and then by `options.keep`. `skips`: see `ranks_of`. With `together`, all
    rows are ordered so; those of the reference are then the earlier ones.
    """
    inputs = len(documents) if inputs is None else inputs
    rows, reference = np.flatnonzero(documents.valid[:inputs]), inputs + np.flatnonzero(documents.valid[inputs:])
    if together:
        rows, reference = np.concatenate([reference, rows]), reference[:0]
    preference = options.preference
    if preference.by is By.ORDER and preference.greatest_first:
        rows = rows[::-1]
    cost = _cost(documents, options, skips=skips)
    if cost is not None:
        rows = rows[np.argsort(cost[rows], kind="stable")]
    if sources is not None:
        rows = rows[np.argsort(sources[rows], kind="stable")]
    return np.concatenate([reference, rows]) if len(reference) else rows


def _cost(documents: Documents, options: DedupOptions, *, skips: bool | None) -> Array | None:
    """int64[rows], smaller is preferred; None if the order of the rows decides alone."""
    preference = options.preference
    if preference.by is By.LENGTH:
        return -documents.lengths if preference.greatest_first else documents.lengths
    if options.preferred_by is None:
        return None
    return cost_of_values(documents.values[options.preferred_by], options, documents.ids, skips=skips)


def cost_of_values(tokens: Any, options: DedupOptions, ids: Any = None, *, skips: bool | None = None) -> Array:
    """int64[rows], smaller is preferred: of the values that `keep` compares, Arrow large_string[rows] of JSON; none come last.

    `skips`: see `ranks_of`.

    Raises:
        DataError: values do not fit `keep_as`, or one another; it names rows, and ids (as `tokens`) if they are given.
    """
    assert options.preferred_by is not None
    ranks = ranks_of(tokens, options.preferred_by, ids, keep_as=options.keep_as, skips=skips).ranks
    return np.where(ranks == NO_VALUE, len(ranks), -ranks if options.preference.greatest_first else ranks)


def differ_in_digits(figures: Array, of_survivors: Array, exact: Array) -> Array:
    """int32[n], see `Decisions.only_digits`: by the digests of documents and their survivors, and whether they are equal."""
    known = exact | ((figures != 0) & (of_survivors != 0))
    found: Array = np.where(known, (figures == of_survivors) & ~exact, NONE).astype(np.int32)
    return found


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

    distance, only_digits = scratch.full(n, NONE, np.int64), scratch.zeros(n, np.int32)
    for part in parts_of(n):
        rows = _removed(survivor, part)
        only_digits[rows] = differ_in_digits(documents.figures[rows], documents.figures[survivor[rows]], exact[rows])
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
    return Decisions(
        survivor, similarity, distance, exact, cluster, cluster_size, matched, matched_similarity, only_digits
    )


def chosen(decisions: Decisions, preferred: Array, options: DedupOptions, *, inputs: int) -> Decisions:
    """The same clusters, of which other documents stay: by `keep_most` or `drop_matched`.

    `preferred`: int64[documents], all rows that are documents, the most preferred first. `inputs`: rows from there on are a
    reference, and stay.
    """
    if options.drop_matched:
        return _without_matched(decisions, inputs)
    if options.keep_most is None or options.keep_most == 1:
        return decisions
    rows = preferred[decisions.cluster_size[preferred] > 1]
    firsts = decisions.survivor[rows]
    rows, firsts = rows[firsts < inputs], firsts[firsts < inputs]
    order = np.argsort(firsts, kind="stable")  # so of each cluster, the most preferred come first
    rows, firsts = rows[order], firsts[order]
    begins = np.flatnonzero(np.r_[True, firsts[1:] != firsts[:-1]]) if len(rows) else np.empty(0, np.int64)
    place = np.arange(len(rows)) - np.repeat(begins, np.diff(np.r_[begins, len(rows)]))
    return _with(decisions, rows[place < options.keep_most])


def _with(decisions: Decisions, rows: Array) -> Decisions:
    """The decisions, but these rows stay."""
    found = dataclasses.replace(
        decisions, **{field.name: getattr(decisions, field.name).copy() for field in dataclasses.fields(decisions)}
    )
    more = rows[found.survivor[rows] != rows]
    found.survivor[more] = more
    found.similarity[more] = found.matched_similarity[more] = np.nan
    found.distance[more] = found.matched[more] = NONE
    found.exact[more], found.only_digits[more] = False, 0
    return found


def _without_matched(decisions: Decisions, inputs: int) -> Decisions:
    """The decisions, but no row of the inputs stays that is in a cluster of several; each names one that it matches."""
    survivor, matched = decisions.survivor.copy(), decisions.matched.copy()
    alike = decisions.matched_similarity.copy()
    gone = np.flatnonzero(decisions.cluster_size[:inputs] > 1)
    links = np.flatnonzero((decisions.matched >= 0) & (decisions.cluster_size > 1))[::-1]
    firsts = links[survivor[matched[links]] == matched[links]]  # what matches the first of its cluster
    matched[matched[firsts]], alike[matched[firsts]] = firsts, decisions.matched_similarity[firsts]
    survivor[gone] = DROPPED
    similarity, distance, exact, only_digits = (
        getattr(decisions, name).copy() for name in ("similarity", "distance", "exact", "only_digits")
    )
    similarity[gone], distance[gone], exact[gone], only_digits[gone] = np.nan, NONE, False, NONE
    return dataclasses.replace(
        decisions,
        survivor=survivor,
        similarity=similarity,
        distance=distance,
        exact=exact,
        matched=matched,
        matched_similarity=alike,
        only_digits=only_digits,
    )


def demand_small_clusters(decisions: Decisions, ids: Any, options: DedupOptions) -> None:
    """Refuse a cluster that has a larger share of the documents than `max_cluster`. `ids`: Arrow large_string[rows], JSON values.

    Raises:
        DataError: there is one; it names the cluster, its size, and some of its documents.
    """
    if options.max_cluster is None or not len(decisions.cluster):
        return
    documents, cluster = int(np.count_nonzero(decisions.cluster_size)), int(np.argmax(decisions.cluster_size))
    size = int(decisions.cluster_size[cluster])
    if size <= 1 or size <= options.max_cluster * documents:
        return
    first = int(decisions.cluster[cluster])
    rows = np.flatnonzero(decisions.cluster == first)
    some = rows[np.unique(np.linspace(0, len(rows) - 1, SHOWN_OF_CLUSTER).astype(np.int64))]
    given = zip(some.tolist(), ids.take(some).to_pylist(), strict=True)
    names = ", ".join(f"row {row}" if name is None else shortened(name) for row, name in given)
    raise DataError(
        f"One cluster has {size:,} of {documents:,} documents ({size / documents:.1%}), more than "
        f"`max_cluster={options.max_cluster:g}` allows: cluster {first}, with {names}{' …' if len(rows) > len(some) else ''}. "
        "Nothing was written. Look at some of them: if they only share a passage, remove it with `unit='paragraph'` first, raise "
        "`min_similarity`, or compare within a column (`within`); components chain matches, `cluster='star'` does not. If they are "
        "duplicates, allow more."
    )
