"""LISTING: the pairs that a run finds, and what the run takes by estimate, so that it is left out where it takes too long."""

import contextlib
import math

import numpy as np

from neardup.judging.evaluation.scoring.compared import WORD_SECONDS
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus
from neardup.matching.candidates.auto import choose
from neardup.matching.candidates.costs import Size, exact_at_most
from neardup.matching.candidates.task import Task
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import Matches, list_matches
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.similarity import Similarity, measure_of

BUDGET_SECONDS = 10.0
"""What one run may take by estimate, in seconds of the reference machine; so the same is run on every machine."""
MAX_PAIRS = 10_000_000
"""Of so many pairs, 24 bytes each are held at a time."""
CHARACTERS = 6
"""Of a word, in texts whose words have spaces between them."""


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


def run_seconds(corpus: SampledCorpus, options: DedupOptions) -> float:
    """What a run of `exact` or `minhash` takes by estimate, on the reference machine; of little text, `exact` at most."""
    documents, similarity = corpus.documents, options.compared_by
    rows = np.flatnonzero(documents.valid & (documents.tokens >= 1))
    units = documents.tokens[rows].astype(np.float64)
    if isinstance(similarity, Similarity) and similarity.segmenter == "characters":
        units *= CHARACTERS
    edit = 0.0
    if measure_of(similarity) == "edit" and len(units):
        edit = float((units**2).mean()) / 64 * WORD_SECONDS
    size = Size(len(rows), int(units.sum()))
    most = exact_at_most(size) + edit * len(rows) ** 2 / 2
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
    found = next((each for each in choose(task).estimates if each.method == options.method), None)
    return math.inf if found is None else found.seconds + edit * found.candidates
