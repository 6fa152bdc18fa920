"""SAMPLE: the documents to evaluate, their fingerprints, and those that are compared with all others."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents, FirstPass, read_documents
from neardup.io.corpora.protocol import Corpus
from neardup.judging.evaluation.request import EvaluationRequest
from neardup.judging.evaluation.scoring.sampling import choose
from neardup.matching.equal_texts import exact_representatives
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import in_order_of_preference
from neardup.text.scripts import ScriptCount

FEW_TOKENS = 50
"""With fewer tokens distances spread, because one changed word changes many of the bits."""


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """Document counts.

    Attributes:
        documents: number in the input.
        equal_texts: number with the same normalized text as an earlier one.
        short: number under the recipe's minimum of tokens.
        few_tokens: number under FEW_TOKENS, short ones included.
        scripts: advice for scripts of the texts, or None.
    """

    documents: int
    equal_texts: int
    short: int
    few_tokens: int
    scripts: str | None = None


@dataclass(frozen=True, slots=True)
class SampledCorpus:
    """A corpus fingerprinted by one recipe, and the documents sampled from it.

    Attributes:
        corpus: source for reading texts again.
        recipe, documents: the recipe, and the fingerprints of all rows made by it.
        options: similarity, distance and resources of joins.
        among: bool[rows], the documents whose pairs count; with truth from a sample one for each distinct text.
        sampled: int64[s], the rows that are compared with all others, ascending.
        counts: counts of its documents.
    """

    corpus: Corpus
    recipe: Recipe
    documents: Documents
    options: DedupOptions
    among: Array
    sampled: Array
    counts: DocumentCounts

    def by_recipe(self, recipe: Recipe) -> "SampledCorpus":
        """Fingerprint the same documents by another recipe, reading the corpus again; `counts` stay those of the first."""
        documents = read_documents(self.corpus, recipe, progress=Progress(), resources=self.options.resources)
        return dataclasses.replace(self, recipe=recipe, documents=documents)


def sample_corpus(
    corpus: Corpus, recipe: Recipe, options: DedupOptions, request: EvaluationRequest, progress: Progress
) -> SampledCorpus:
    """Read and fingerprint a corpus, and sample the documents to compare with all others.

    Raises:
        RowError, DataError: a row cannot be read.
    """
    scripts = ScriptCount.wanted(recipe, options.compared_by)
    with progress.stage("fingerprint"):
        how = FirstPass(scripts=scripts)
        documents = read_documents(corpus, recipe, progress=progress, resources=options.resources, how=how)
    everything = in_order_of_preference(documents, DedupOptions())
    unique = everything[exact_representatives(documents, everything) == everything]
    among = np.zeros(len(documents), np.bool_)
    among[unique if request.labels is None else everything] = True
    tokens = documents.tokens[documents.valid]
    counts = DocumentCounts(
        documents=len(tokens),
        equal_texts=len(everything) - len(unique),
        short=int(np.count_nonzero(tokens < recipe.min_tokens)),
        few_tokens=int(np.count_nonzero(tokens < FEW_TOKENS)),
        scripts=None if scripts is None else scripts.advice(recipe),
    )
    sampled = choose(np.flatnonzero(among), request.sample, request.seed)
    return SampledCorpus(corpus, recipe, documents, options, among, sampled, counts)
