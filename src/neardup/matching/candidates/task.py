"""The input and the output of every candidate method."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.hamming.candidate_graph import CandidateGraph, within_groups
from neardup.io.corpora.protocol import Corpus
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.io.resume.codecs import codec
from neardup.matching.similarities.element_store import ElementStore
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.methods import METHODS
from neardup.recipe.tables.parts import COUNTED
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.resources.resources import Resources
from neardup.resources.scratch import Scratch, parts_of


def min_tokens_of(method: str, recipe: Recipe, options: DedupOptions) -> int:
    """The fewest tokens of a document that a method takes.

    0 if it joins elements of tokens that the recipe does not count: then the number of elements tells.
    """
    if METHODS[method].min_tokens is not None and _has_other_tokens(recipe, options):
        return 0
    return METHODS[method].tokens_needed(recipe.min_tokens)


def _has_other_tokens(recipe: Recipe, options: DedupOptions) -> bool:
    """Whether a text without tokens by the recipe may have elements: one of stop words only, or one in which no feature votes."""
    if SIMILARITIES[options.measure].shingles is None:
        return False
    cuts_otherwise = recipe.segmenter != "words" or bool(recipe.stop_words) or recipe.profile is not None
    return cuts_otherwise or recipe.weights not in COUNTED or isinstance(options.compared_by, Similarity)


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """The documents among which to find candidates.

    Attributes:
        corpus, documents: the texts, and the results of one pass over them.
        rows: int64[m], the documents, in order of preference.
        representative: int64[m], for each document the first of `rows` with an equal normalized text; only these texts are read.
        recipe, options, progress: of the run.
        sides: uint8[rows of the corpus], 1, 2, or 3 for both. Only pairs across the two sides are needed, but a method may return
            others.
        groups: int64[rows of the corpus]; if given, only documents of equal groups are candidates.
        kept: the elements of all documents, if the first pass kept them; else texts are read again.
        checkpoints: the run's checkpoints, for passes over the corpus.
        survivors_first: whether only pairs with a survivor are listed where there are very many (survivors/families.py).
    """

    corpus: Corpus
    documents: Documents
    rows: Array
    representative: Array
    recipe: Recipe
    options: DedupOptions
    progress: Progress
    sides: Array | None = None
    groups: Array | None = None
    kept: ElementStore | None = None
    checkpoints: Checkpoints = NO_CHECKPOINTS
    survivors_first: bool = False

    def at_least(self, tokens: int) -> "Task":
        """Return the same task for documents of at least this many tokens."""
        return self if tokens == 0 else self.only(self.documents.tokens[self.rows] >= tokens)

    def only(self, chosen: Array) -> "Task":
        """Return the same task for the documents where `chosen` (bool[m]) is true."""
        return replace(self, rows=self.rows[chosen], representative=self.representative[chosen])

    def min_tokens(self, method: str) -> int:
        """The fewest tokens of a document that this method takes; see `min_tokens_of`."""
        return min_tokens_of(method, self.recipe, self.options)

    @property
    def wanted(self) -> Array:
        """bool[rows of the corpus]: the texts to read."""
        wanted = np.zeros(len(self.documents), np.bool_)
        wanted[self.representative] = True
        return wanted

    def read_as(self, wanted: Array) -> Array:
        """int64[m]: for each of `rows`, the number, in reading order, of the `wanted` text that it equals."""
        read, found = self.scratch.keep(np.flatnonzero(wanted)), self.scratch.zeros(len(self.representative), np.int64)
        for part in parts_of(len(found)):
            found[part] = np.searchsorted(read, self.representative[part])
        return found

    def of_groups(self, candidates: CandidateGraph, rows: Array) -> CandidateGraph:
        """The candidates among `rows` (int64[n]) that are of one group; all of them, if there are no groups."""
        if self.groups is None:
            return candidates
        return within_groups(candidates, self.groups[rows], resources=self.resources)

    @property
    def fingerprints(self) -> Array:
        """uint64[m, words]: the fingerprints of `rows`."""
        return self.scratch.take(self.documents.fingerprints, self.rows)

    @property
    def resources(self) -> Resources:
        """The resources that the options allow."""
        return self.options.resources

    @property
    def scratch(self) -> Scratch:
        """Makes arrays by row, in memory or in files."""
        return self.resources.scratch


@codec(
    "found",
    1,
    rows="int64[n]",
    candidates="value",
    min_tokens="value",
    method="value",
    reason="value",
    max_distance="value",
    costs="value",
)
@dataclass(frozen=True, slots=True)
class Found:
    """Candidates, and how they were found.

    Attributes:
        rows: int64[n], the documents that candidates refer to: those long enough for the method, in order of preference.
        candidates: the candidates, by their positions in `rows`.
        min_tokens: documents with fewer tokens were left out.
        method: the method used; `reason`: why, if it was chosen automatically.
        max_distance: the distance used, if any.
        costs: counts of the work: postings, passes …
    """

    rows: Array
    candidates: CandidateGraph
    min_tokens: int
    method: str
    reason: str | None = None
    max_distance: int | None = None
    costs: dict[str, Any] = field(default_factory=dict)
