"""LISTING: every pair of a similarity by `exact`, as long as it takes a bounded time, and the scores of each threshold."""

import contextlib
import dataclasses
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.judging.evaluation.methods import judged_places
from neardup.judging.evaluation.scoring.intervals import UNKNOWN, f1_of, wilson
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.judging.evaluation.scoring.scores import Trial
from neardup.judging.evaluation.scoring.truth import Truth
from neardup.matching.candidates.auto import choose
from neardup.matching.candidates.costs import Size, exact_at_most
from neardup.matching.candidates.task import Task
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import Matches, list_matches
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.similarity import Similarity, measure_of
from neardup.recipe.tables.similarities import SimilarityName

BUDGET_SECONDS = 20.0
"""What one similarity may take by estimate, in seconds of the reference machine; so the same is tried on every machine."""
MAX_PAIRS = 10_000_000
"""Of so many pairs, 24 bytes each are held at a time."""
LEAST_TRIED, USUAL = 0.1, (0.3, 0.5)
"""Below the first, texts match that have little in common. The others are tried where less takes too long."""
WORD_SECONDS = 5e-9
"""An edit distance, for 64 tokens of one text beside one of the other."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Pairs of one similarity.

    Attributes:
        least: all pairs of at least this similarity are listed.
        matches: the pairs; None if nothing was listed.
        left_out: what was not listed, and why, in sentences.
    """

    least: float
    matches: Matches | None
    left_out: tuple[str, ...]


def list_pairs(corpus: SampledCorpus, similarity: Similarity | SimilarityName, least: float, given: float) -> Listing:
    """List the pairs of at least `least`, or where that takes too long, of a higher threshold; `given`: what is asked for."""
    options = dataclasses.replace(corpus.options, method="exact", similarity=similarity, max_distance=None)
    left_out: list[str] = []
    lowest = max(least, LEAST_TRIED)
    for threshold in sorted({lowest, *(max(lowest, each) for each in (*USUAL, given))}):
        chosen = dataclasses.replace(options, min_similarity=threshold)
        seconds = _seconds(corpus, chosen)
        if seconds > BUDGET_SECONDS:
            why = f"by estimate it takes {seconds:,.0f} s of the reference machine, more than {BUDGET_SECONDS:g}"
        else:
            matches = collected(corpus, chosen)
            if matches is not None:
                return Listing(threshold, matches, tuple(left_out[-1:]))
            why = f"more than {MAX_PAIRS:,} pairs match"
        left_out.append(
            f"`similarity={str(similarity)!r}` was not tried at `min_similarity={threshold!r}` or less: {why}."
        )
    return Listing(1.0, None, tuple(left_out[-1:]))


def collected(corpus: SampledCorpus, options: DedupOptions, *, distinct: bool = False) -> Matches | None:
    """The pairs that `pair_files` writes with these options; None if there are more than MAX_PAIRS."""
    parts, total = [], 0
    matches = list_matches(
        corpus.corpus, corpus.documents, corpus.recipe, options=options, progress=Progress(), distinct=distinct
    )
    with contextlib.closing(matches):  # type: ignore[type-var]
        for part in matches:
            parts.append(part)
            total += len(part)
            if total > MAX_PAIRS:
                return None
    nothing = np.empty(0, np.int64)
    parts.append(Matches(nothing, nothing, nothing, np.empty(0)))
    left, right, distance, similarity = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "distance", "similarity")
    )
    return Matches(left, right, distance, similarity)


def _seconds(corpus: SampledCorpus, options: DedupOptions) -> float:
    """By estimate, on the reference machine."""
    documents = corpus.documents
    rows = np.flatnonzero(documents.valid & (documents.tokens >= 1))
    size = Size(len(rows), int(documents.tokens[rows].sum()))
    most = exact_at_most(size) + edit_seconds(corpus, len(rows) ** 2 / 2, options.compared_by)
    if most <= BUDGET_SECONDS:
        return most
    task = Task(
        corpus=corpus.corpus,
        documents=documents,
        rows=rows,
        representative=exact_representatives(documents, rows),
        recipe=corpus.recipe,
        options=options,
        progress=Progress(),
    )
    exact = next(each for each in choose(task).estimates if each.method == "exact")
    return exact.seconds + edit_seconds(corpus, exact.candidates, options.compared_by)


def edit_seconds(corpus: SampledCorpus, pairs: float, similarity: Similarity | SimilarityName) -> float:
    """What the edit distances of so many pairs take besides, 0 for other similarities."""
    if measure_of(similarity) != "edit" or not corpus.counts.documents:
        return 0.0
    tokens = corpus.documents.tokens[corpus.documents.valid].astype(np.float64)
    return pairs * float((tokens**2).mean()) / 64 * WORD_SECONDS


def trials_by_threshold(
    corpus: SampledCorpus, truth: Truth, similarity: Similarity | SimilarityName, listing: Listing, recipe: str
) -> list[Trial]:
    """Score each threshold in steps of 0.01 from `listing.least`, the highest first; truth from labels."""
    if listing.matches is None:
        return []
    matches, first = listing.matches, round(listing.least * 100)
    grid = sorted({listing.least, *(percent / 100 for percent in range(first, 101) if percent / 100 > listing.least)})
    reached = np.searchsorted(grid, matches.similarity, side="right")
    at = judged_places(truth, matches.left, matches.right, len(corpus.documents))
    judged = at >= 0
    positive = judged & truth.positive[at] if len(truth) else judged
    all_found, true, known = (_reaching(reached[these], len(grid)) for these in (judged | ~judged, positive, judged))
    any_false, positives = truth.complete or not truth.positive.all(), int(truth.positive.sum())
    trials = []
    for place, threshold in reversed(list(enumerate(grid))):
        total, right = int(all_found[place]), int(true[place])
        counted = total if truth.complete else int(known[place])
        trials.append(
            Trial(
                method="exact",
                similarity=similarity,
                min_similarity=threshold,
                recipe=recipe,
                bits=corpus.recipe.bits,
                max_distance=None,
                recall=wilson(right, positives),
                precision=wilson(right, counted) if any_false else UNKNOWN,
                f1=f1_of(wilson(right, counted + positives - right)) if any_false else UNKNOWN,
                found=total,
                unlabeled=0 if truth.complete else total - counted,
            )
        )
    return trials


def _reaching(reached: Array, size: int) -> Array:
    """int64[size]: how many reach each threshold, from how many thresholds each reaches."""
    counts = np.bincount(reached, minlength=size + 1)
    found: Array = counts[::-1].cumsum()[::-1][1:]
    return found
