"""FIND the side of every document: what matches stays together, and is dealt; what was dealt before stays where it is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.arrays import Array
from neardup.dedup import find_duplicates
from neardup.io.corpora.protocol import SourcedCorpus
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.kernels.compilation import described
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import similarity_to_store
from neardup.survivors.decisions import Findings
from neardup.survivors.records.counting import versions
from neardup.survivors.splits.deal import FREE, Units, deal
from neardup.survivors.splits.options import SplitOptions
from neardup.survivors.splits.summary import SplitSummary, counts_of_sides, counts_of_strata, warnings_of
from neardup.survivors.splits.units import row_keys, strata_of, together
from neardup.text.html import html_versions
from neardup.text.preference import NO_VALUE, named_groups

if TYPE_CHECKING:
    from neardup.jobs.splits.previous import Previous

REJECTED = -1


@dataclass(frozen=True, slots=True)
class SplitFindings:
    """What was found of a split.

    Attributes:
        found: the documents and their matches; `how`: how they are dealt.
        sides: int64[rows], the number of the side of each row; REJECTED for a row that is no document, `conflicts` for a document
            that matches two sides.
        labels: int64[rows], the first row of what each document stays with; REJECTED as above.
        dealt_before: how many documents were dealt before.
        strata: int64[rows], the stratum of each document; `values`: of each stratum.
    """

    found: Findings
    how: SplitOptions
    sides: Array
    labels: Array
    dealt_before: int
    strata: Array
    values: list[str | None]

    @property
    def conflicts(self) -> int:
        """The side of documents in conflict."""
        return len(self.how.sides)

    def on(self, side: int, rows: slice) -> Array:
        """bool[n]: whether each row of a slice is on a side."""
        found: Array = self.sides[rows] == side
        return found


def find_sides(
    corpus: SourcedCorpus,
    recipe: Recipe,
    options: DedupOptions,
    how: SplitOptions,
    progress: Progress,
    *,
    before: "Previous | None" = None,
    groups: Array | None = None,
    strata: Array | None = None,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> SplitFindings:
    """Find the side of every document of a corpus.

    Args:
        corpus: gives the values of `columns_with(options, how.columns)`; see `neardup.dedup`.
        recipe, options: which documents match; see `neardup.jobs.splits.matching.matching_of`.
        how: how they are dealt.
        before: an earlier split, in which nothing moves.
        groups, strata: int64[rows], instead of the columns `how.group` and `how.stratify`; a negative group is none.
    """
    found = find_duplicates(corpus, recipe, options, progress, checkpoints=checkpoints, columns=how.columns)
    documents = found.documents
    with progress.stage("deal"):
        rows = np.flatnonzero(documents.valid)
        if groups is None:
            groups = np.full(len(documents), NO_VALUE)
            if how.group is not None:
                groups = named_groups(documents.values[how.group])[0]
        values: list[str | None] = [None]
        if strata is not None:
            of_rows, values = strata[rows], [None] * (int(strata.max(initial=0)) + 1)
        elif how.stratify is not None:
            of_rows, values = strata_of(documents.values[how.stratify], rows)
        else:
            of_rows = np.zeros(len(rows), np.int64)
        label = rows[together(len(rows), found.decisions.survivor[rows], groups[rows])] if len(rows) else rows
        side = np.full(len(rows), FREE)
    if before is not None:
        with progress.stage("previous"):
            label, side = before.fix(corpus, recipe, options, documents, label, groups, progress)
    with progress.stage("deal"):
        keys = row_keys(documents, rows, how.seed, options.grouped_by)
        free = side != len(how.sides)  # conflicts are on no side
        side[free] = dealt(label[free], of_rows[free], keys[free], how, side[free])
    sides, labels = (np.full(len(documents), REJECTED) for _ in range(2))
    sides[rows], labels[rows] = side, label
    every = np.zeros(len(documents), np.int64)
    every[rows] = of_rows
    known = 0 if before is None else before.known
    return SplitFindings(found, how, sides, labels, known, every, values)


def dealt(label: Array, strata: Array, keys: Array, how: SplitOptions, side: Array) -> Array:
    """int64[n]: the side of each document; all arrays are by document, and `side` has those of what was dealt before."""
    if not len(label):
        return side
    first, numbers = np.unique(label, return_index=True, return_inverse=True)[1:]
    smallest = np.full(len(first), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(smallest, numbers, keys)
    found: Array = deal(Units(numbers, strata, smallest), how.fractions, side[first])[numbers]
    return found


def summarize_split(
    split: SplitFindings,
    recipe: Recipe,
    options: DedupOptions,
    progress: Progress,
    *,
    html: str | None = None,
) -> SplitSummary:
    """Count the outcomes. `html`: how HTML became text, if the texts were HTML."""
    found, how, documents = split.found, split.how, split.found.documents
    rows = np.flatnonzero(documents.valid)
    sides, labels = split.sides[rows], split.labels[rows]
    on_side = np.where(sides == split.conflicts, FREE, sides)
    counts = counts_of_sides(how, on_side, labels)
    largest = max(counts, key=lambda each: each.largest)
    taken = {name: value for name, value in options.as_dict().items() if name in _RECORDED}
    return SplitSummary(
        rows=len(documents),
        documents=len(rows),
        rejected=len(documents) - len(rows),
        conflicts=int(np.count_nonzero(sides == split.conflicts)),
        dealt_before=split.dealt_before,
        sides=counts,
        strata=counts_of_strata(how, on_side, split.strata[rows], split.values),
        units=len(np.unique(labels)),
        largest=largest.largest,
        largest_side=largest.side if largest.documents else None,
        warnings=warnings_of(counts, how.group),
        short=int(np.count_nonzero(documents.tokens[rows] < found.found.min_tokens)),
        min_tokens=found.found.min_tokens,
        candidates=found.candidates,
        matches=found.matches,
        min_similarity=options.min_similarity,
        options=taken | {"similarity": similarity_to_store(options.similarity)} | how.as_dict(),
        recipe=recipe.stored() | {"digest": recipe.digest()},
        **progress.costs(),
        peak_temporary_bytes=options.resources.files.peak,
        versions=versions() | {"kernels": described()} | html_versions(html),
    )


_RECORDED = ("min_similarity", "similarity", "within", "threads", "memory", "temp_dir", "temp_limit")
"""The options of the search that a summary has: the others are the same for every split."""
