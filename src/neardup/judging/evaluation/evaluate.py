"""A whole evaluation in one function, `evaluate_corpus`; and `evaluate`, for texts in memory.

REQUEST, checked                                evaluation/request.py
→ read, FINGERPRINT and SAMPLE documents        scoring/sampled_corpus.py
→ TRUTH: labels, or the sample's neighbors      evaluation/labels.py, scoring/sampling.py → truth.py
→ CURVES by distance and similarity             scoring/curves.py
→ RECIPES: the distance that each one needs     evaluation/recipe_scores.py
→ run every METHOD                              evaluation/methods.py
→ STRATA: what pairs at a distance look like    scoring/curves.py
→ TRIALS of similarities, methods and recipes   scoring/trials.py, held.py → compared.py, listing.py
→ REMOVAL: what each threshold removes          evaluation/removal.py
→ RECOMMENDATION, run as it is; and warnings    evaluation/recommendation.py, warnings.py
"""

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np

from neardup.io.corpora.protocol import Corpus
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.io.ids import plain_ids
from neardup.judging.evaluation.given_labels import Labeled, labels_of
from neardup.judging.evaluation.methods import method_score
from neardup.judging.evaluation.options import MIN_PRECISION, SAMPLE, TARGET_RECALL, EvaluateOptions
from neardup.judging.evaluation.recipe_scores import recipe_results
from neardup.judging.evaluation.recommendation import Definition, recommend
from neardup.judging.evaluation.request import EvaluationRequest, similarities_of
from neardup.judging.evaluation.result import Evaluation
from neardup.judging.evaluation.scoring.curves import (
    distance_histogram,
    distance_scores,
    similarity_counts,
    strata,
)
from neardup.judging.evaluation.scoring.intervals import UNKNOWN, wilson
from neardup.judging.evaluation.scoring.sampled_corpus import SampledCorpus, sample_corpus
from neardup.judging.evaluation.scoring.sampling import SimilarPairs
from neardup.judging.evaluation.scoring.scores import RecipeScore
from neardup.judging.evaluation.scoring.trials import Trials
from neardup.judging.evaluation.scoring.truth import Truth, labeled_truth, sampled_truth
from neardup.judging.evaluation.warnings import warnings_of
from neardup.options import DedupOptions, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of, usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.methods import MeasuredMethod
from neardup.survivors.records.counting import versions


def evaluate_corpus(
    corpus: Corpus,
    *,
    recipe: Recipe,
    options: DedupOptions,
    request: EvaluationRequest,
    ids: Any = None,
    progress: Progress,
) -> Evaluation:
    """Evaluate methods, distances and similarities on a corpus; see `neardup.evaluate_files`.

    Args:
        corpus: read several times.
        recipe: the recipe of the fingerprints to measure.
        options: min_similarity, similarity, max_distance and resources.
        request: labels or the size of a sample, and what to measure.
        ids: an Arrow array of strings by which labels name documents; the corpus' own ids if not given.
        progress: follows each stage.

    Raises:
        OptionError, InputError, DataError: as `EvaluationRequest.check` and `read_labels`.
    """
    request.check(options)
    sampled = sample_corpus(corpus, recipe, options, request, progress)
    with progress.stage("truth"):
        truth, similar = _truth(sampled, request, ids)
    with progress.stage("distances"):
        own = distance_histogram(truth, sampled)
        distances = distance_scores(truth, own, recipe.bits)
    with progress.stage("recipes"):
        recipes = recipe_results(sampled, truth, own, distances, request.target_recall, of_elements=request.of_elements)
    max_distance = _distance_in_use(options, recipes[0].score, recipe)
    with progress.stage("methods"):
        names = request.measured_methods(options)
        methods = tuple(method_score(name, sampled, truth, max_distance=max_distance) for name in names)
    with progress.stage("strata"):
        by_sample = truth.source == "sample"
        parts = strata(sampled, truth, own, max_distance=max_distance, seed=request.seed) if by_sample else ()
    similarities = (
        similarity_counts(truth.similarity, truth.positive)
        if similar is None
        else similarity_counts(similar.similarity, similar.similarity >= options.min_similarity)
    )
    trials = Trials(sampled, truth, request, recipes, max_distance, progress)
    if similar is not None:
        tried = trials.of_sample(methods, similar)
    else:
        tried = trials.of_definition(methods) if truth.judged_by == "similarity" else trials.of_labels()
    recipe_scores = tuple(each.score for each in recipes)
    with progress.stage("run as recommended"):
        best = recommend(
            tried.trials,
            recipe_scores,
            target=request.target_recall,
            min_precision=request.min_precision,
            documents=sampled.counts.documents,
            definition=_definition(truth, options),
            is_stated=truth.judged_by == "other similarity",
            run=trials.run,
        )
    by_labels, counts = truth.source == "labels", sampled.counts
    of_recipe = {"digest": recipe.digest(), "name": recipe_scores[0].recipe, "max_distance": max_distance}
    near, near_low, near_high = truth.pairs()
    size, having = len(sampled.sampled), len(np.unique(truth.ends(truth.positive)[0]))
    return Evaluation(
        truth=truth.source,
        documents=counts.documents,
        equal_texts=counts.equal_texts,
        short=counts.short,
        few_tokens=counts.few_tokens,
        min_similarity=options.min_similarity,
        target_recall=float(request.target_recall),
        min_precision=float(request.min_precision),
        labeled_pairs=len(truth) if by_labels else 0,
        labeled_positive=int(truth.positive.sum()) if by_labels else 0,
        complete=request.complete,
        judged_by=truth.judged_by,
        sampled_documents=size,
        seed=int(request.seed),
        near_duplicates=near,
        near_duplicates_low=near_low,
        near_duplicates_high=near_high,
        with_near_duplicate=UNKNOWN if by_labels else wilson(having, size),
        recipe=recipe.as_dict() | of_recipe,
        methods=methods,
        distances=distances,
        thresholds=tried.thresholds,
        strata=parts,
        recipes=recipe_scores,
        trials=tried.trials,
        removal=tried.removal,
        similarities=similarities,
        left_out=tried.left_out,
        recommendation=best,
        warnings=warnings_of(sampled, truth, own.reach <= max_distance, max_distance=max_distance),
        seconds=dict(progress.seconds),
        versions=versions(),
    )


def _truth(corpus: SampledCorpus, request: EvaluationRequest, ids: Any) -> tuple[Truth, SimilarPairs | None]:
    """The truth and, if it is from a sample, all pairs of sampled documents that were found."""
    if request.labels is None:
        return sampled_truth(corpus)
    names = plain_ids(corpus.documents.ids) if ids is None else ids
    return labeled_truth(corpus, request.labels, names.to_pylist(), complete=request.complete), None


def _definition(truth: Truth, options: DedupOptions) -> Definition | None:
    """The similarity and the threshold that define near-duplicates; None if labels say by themselves what is near."""
    if truth.judged_by != "similarity":
        return None
    return Definition(options.compared_by, options.min_similarity, truth.source == "labels")


def _distance_in_use(options: DedupOptions, score: RecipeScore, recipe: Recipe) -> int:
    """The distance that was given, else the recipe's own, else the one needed for the target, else an eighth of the bits."""
    limits = (options.max_distance, usual_distance(recipe), score.max_distance, recipe.bits // 8)
    return min(next(limit for limit in limits if limit is not None), recipe.bits)


def evaluate(
    data: Any,
    *,
    text: str | Iterable[str] = "text",
    id: str | None = None,  # noqa: A002 - the same name as the flag
    elements: str | None = None,
    html: Html | None = None,
    recipe: RecipeLike | None = None,
    pairs: Labeled | None = None,
    complete: bool = False,
    methods: MeasuredMethod | Sequence[MeasuredMethod] = (),
    target_recall: float = TARGET_RECALL,
    min_precision: float = MIN_PRECISION,
    sample: int = SAMPLE,
    seed: int = 0,
    progress: Watcher = None,
    **options: Unpack[EvaluateOptions],
) -> Evaluation:
    """Measure the precision and recall of methods, distances and similarities, for texts in memory.

    Args:
        data, text, id, elements, html, recipe, progress: as in `deduplicate`.
        pairs: labels: the path of a file as in `evaluate_files`; a list of (left_id, right_id), optionally followed by a
            similarity (a float) or a label (0, 1, False or True); a list of dicts; or a table with the columns of such a file.
            Without an id, documents are named by row.
        complete, methods, target_recall, min_precision, sample, seed: as in `evaluate_files`.
        **options: min_similarity, similarity (all if it is not given, with labels), max_distance, threads, memory, temp_dir,
            temp_limit of `DedupOptions`.

    Raises:
        OptionError: an option has a value that is not allowed, or `pairs` are not labels.
        InputError: there is no such column or file of labels, or labels name unknown ids.
        DataError: a text is null or not a string, or a label is unclear.

    >>> rhyme = "There was a crooked man, and he walked a crooked mile, and he found a crooked sixpence beside a crooked stile"
    >>> evaluate([rhyme, rhyme + ", he said", "Nothing of the kind is told of the other man, who walked no mile at all."])
    Evaluation(3 documents, truth from sample, recommended: method=exact)
    """
    chosen, progress = options_of(options, evaluate), progress_of(progress)
    corpus = TableCorpus(
        data, text=text, id=id, elements=elements, html=html, resources=chosen.resources, say=progress.say
    )
    used, chosen = corpus.fitted(recipe_of(recipe, chosen.version), chosen)
    return evaluate_corpus(
        corpus,
        recipe=used,
        options=chosen,
        request=EvaluationRequest(
            labels=None if pairs is None else labels_of(pairs),
            complete=complete,
            methods=methods,
            similarities=similarities_of(options),
            of_elements=corpus.of_elements,
            have_sets=corpus.has_sets,
            target_recall=target_recall,
            min_precision=min_precision,
            sample=sample,
            seed=seed,
        ),
        ids=corpus.ids.cast("large_string"),
        progress=progress,
    )
