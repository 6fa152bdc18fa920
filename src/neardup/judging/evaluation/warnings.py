"""WARNINGS: where fingerprints fail on a corpus, and what works there."""

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.judging.evaluation.scoring.intervals import Share
from neardup.judging.evaluation.scoring.sampled_corpus import FEW_TOKENS, DocumentCounts, SampledCorpus
from neardup.judging.evaluation.scoring.truth import Truth
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.methods import MEASURED, METHODS

SMALLER = str(Similarity(word_shingle=1, cjk_shingle=1))
"""A similarity of short texts."""
WARNED_SHARE = 0.05
"""From this share of documents with few tokens on, a warning is worthwhile."""


def warnings_of(corpus: SampledCorpus, truth: Truth, within: Array, *, max_distance: int) -> tuple[str, ...]:
    """List the warnings; within: bool[p], the judged pairs that fingerprints find at `max_distance`."""
    tokens, counts = corpus.documents.tokens, corpus.counts
    few = np.minimum(tokens[truth.left], tokens[truth.right]) < FEW_TOKENS
    found = [
        *([] if counts.scripts is None else [f"{counts.scripts}."]),
        *warnings_of_short(counts, corpus.recipe.min_tokens),
        *warnings_of_few(
            counts,
            max_distance=max_distance,
            recall_of_few=truth.recall(within, few),
            recall_of_others=truth.recall(within, ~few),
        ),
    ]
    if not truth.positive.any():
        documents = counted(counts.documents, "document")
        found.append(f"No near-duplicate is known among {documents}: nothing can be said about recall.")
    return tuple(found)


def others_than_fingerprints() -> str:
    """The alternatives to distances, as code."""
    return " or ".join(f"`method={name!r}`" for name in MEASURED if not METHODS[name].is_by_distance)


def warnings_of_short(counts: DocumentCounts, min_tokens: int) -> list[str]:
    """Warn, in one sentence or none, about documents with fewer tokens than the recipe's minimum."""
    short, documents = counts.short, counts.documents
    if not short:
        return []
    return [
        f"{counted(short, 'document')} of {documents:,} ({short / documents:.1%}) "
        f"{'has' if short == 1 else 'have'} fewer than {min_tokens} tokens: "
        f"by fingerprint they match only where their texts are equal. {others_than_fingerprints()} finds their near copies."
    ]


def warnings_of_few(
    counts: DocumentCounts, *, max_distance: int, recall_of_few: Share, recall_of_others: Share
) -> list[str]:
    """Warn about documents with few tokens, if there are many or if fewer of their near-duplicates are found than of others."""
    few, documents = counts.few_tokens, counts.documents
    worse = (
        recall_of_few.high is not None
        and recall_of_others.low is not None
        and recall_of_few.high < recall_of_others.low
    )
    if few <= WARNED_SHARE * documents and not worse:
        return []
    measured = "of the near-duplicates with such a text none is known"
    if recall_of_few.value is not None:
        measured = f"within distance {max_distance} are {recall_of_few} of the near-duplicates with such a text"
        if recall_of_others.value is not None:
            measured += f", {recall_of_others} of the others"
    instead = others_than_fingerprints()
    return [
        f"{counted(few, 'document')} of {documents:,} ({few / documents:.1%}) "
        f"{'has' if few == 1 else 'have'} fewer than {FEW_TOKENS} tokens, where distances spread: {measured}. "
        f"What works there is {instead}, by the similarity of the texts; for the shortest also smaller shingles, such as "
        f"`similarity={SMALLER!r}`."
    ]
