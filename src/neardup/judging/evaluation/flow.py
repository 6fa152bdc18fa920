"""The whole of an evaluation in one function, `evaluate_corpus`; and `evaluate`, for texts in memory.

read → FINGERPRINT                              documents.py
→ SAMPLE documents                              evaluation/survey.py
→ TRUTH: labels, or what the sample is near     evaluation/labels.py, survey.py → truth.py
→ run every METHOD                              evaluation/methods.py
→ CURVES by distance, similarity and recipe     evaluation/curves.py
→ STRATA: what pairs at a distance look like    evaluation/strata.py
→ RECOMMENDATION and warnings                   evaluation/recommendation.py
"""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Unpack

import numpy as np

from neardup.display import counted
from neardup.errors import OptionError
from neardup.fingerprints.documents import read_documents
from neardup.io.corpora import Corpus
from neardup.io.ids import plain_ids
from neardup.io.table_corpus import TableCorpus
from neardup.judging.evaluation.curves import distance_scores, recipe_score, survey, threshold_scores
from neardup.judging.evaluation.given_labels import Labeled, labels_of
from neardup.judging.evaluation.intervals import UNKNOWN, wilson
from neardup.judging.evaluation.labels import LabelRows, check_labels
from neardup.judging.evaluation.methods import method_score
from neardup.judging.evaluation.recommendation import FEW_TOKENS, recommend, warnings
from neardup.judging.evaluation.result import Evaluation
from neardup.judging.evaluation.strata import strata
from neardup.judging.evaluation.survey import choose
from neardup.judging.evaluation.truth import labeled_truth, sampled_truth
from neardup.matching.equal_texts import exact_representatives
from neardup.options import SAMPLE, DedupOptions, EvaluateOptions, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.methods import MEASURED, METHODS, MeasuredMethod
from neardup.recipe.presets import RECIPES, RecipeLike, recipe_of, usual_distance
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import in_order_of_preference
from neardup.survivors.summary import versions


def _methods(options: DedupOptions) -> Sequence[MeasuredMethod]:
    """Those that serve the similarity."""
    rows = {name: METHODS[name] for name in MEASURED if METHODS[name].is_for(options.similarity)}
    return [name for name, row in rows.items() if options.min_similarity > 0 or not row.needs_similarity]


def _check(target_recall: float, sample: int, seed: int, methods: Sequence[str]) -> None:
    problems = []
    if isinstance(target_recall, bool) or not isinstance(target_recall, Real) or not 0 < target_recall <= 1:
        problems.append(f"target_recall={target_recall!r}: give a number above 0, up to 1")
    for name, value, least in (("sample", sample, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            problems.append(f"{name}={value!r}: give an integer from {least} up")
    problems += [
        f"method {name!r} cannot be measured: give one of {', '.join(MEASURED)}"
        for name in methods
        if name not in MEASURED
    ]
    if problems:
        raise OptionError("; ".join(problems) + ".")


def evaluate_corpus(
    corpus: Corpus,
    *,
    recipe: Recipe,
    options: DedupOptions,
    ids: Any = None,
    pairs: LabelRows | None = None,
    complete: bool = False,
    methods: MeasuredMethod | Sequence[MeasuredMethod] = (),
    target_recall: float = 0.99,
    sample: int = SAMPLE,
    seed: int = 0,
    progress: Progress,
) -> Evaluation:
    """Evaluate methods, distances and similarities on a corpus; see `neardup.evaluate_files`."""
    asked: tuple[MeasuredMethod, ...] = (methods,) if isinstance(methods, str) else tuple(methods)
    _check(target_recall, sample, seed, asked)
    least = options.min_similarity
    if pairs is None and least == 0:
        raise OptionError(
            "min_similarity=0: without labels the similarity says which pairs are near; give one above 0."
        )
    if pairs is None and options.similarity != "jaccard":
        raise OptionError(
            f"similarity={options.similarity!r}: without labels near-duplicates are looked for by jaccard. "
            "Give labels, or leave it out."
        )
    if pairs is None and complete:
        raise OptionError("complete=True says something of labels, and none are given. Give pairs, or leave it out.")
    if pairs is not None:
        check_labels(pairs)

    with progress.stage("fingerprint"):
        documents = read_documents(corpus, recipe, progress=progress, resources=options.resources)
    everything = in_order_of_preference(documents, DedupOptions())
    distinct = everything[exact_representatives(documents, everything) == everything]
    among = np.zeros(len(documents), np.bool_)
    among[distinct if pairs is None else everything] = True

    sampled = choose(np.flatnonzero(among), sample, seed)
    with progress.stage("truth"):
        if pairs is None:
            truth = sampled_truth(corpus, among, options, sampled)
        else:
            names = plain_ids(documents.ids) if ids is None else ids
            truth = labeled_truth(corpus, documents, recipe, names.to_pylist(), pairs, options, sampled, complete)

    with progress.stage("distances"):
        own = survey(truth, documents, recipe, among, threads=options.threads)
        scores = distance_scores(truth, own, recipe.bits)
    recipes, name_of_own = [], "the given recipe"
    with progress.stage("recipes"):
        for name, named in RECIPES.items():
            if named.recipe.digest() == recipe.digest():
                name_of_own = name
                continue
            if named.recipe.is_of_other_tool:
                continue
            others = read_documents(corpus, named.recipe, progress=Progress(), resources=options.resources)
            found = survey(truth, others, named.recipe, among, threads=options.threads)
            curve = distance_scores(truth, found, named.recipe.bits)
            recipes.append(recipe_score(name, named.recipe, truth, found, curve, target_recall))
            del others, found
    recipes.insert(0, recipe_score(name_of_own, recipe, truth, own, scores, target_recall))

    limits = (options.max_distance, usual_distance(recipe), recipes[0].max_distance, recipe.bits // 8)
    max_distance = min(next(limit for limit in limits if limit is not None), recipe.bits)
    with progress.stage("methods"):
        measured = tuple(
            method_score(name, corpus, documents, recipe, truth, max_distance=max_distance, options=options)
            for name in asked or _methods(options)
        )
    thresholds = threshold_scores(truth) if pairs is not None else ()
    with progress.stage("strata"):
        seen = strata(corpus, truth, own, documents, recipe, max_distance, options, seed) if pairs is None else ()

    tokens = documents.tokens[documents.valid]
    few = np.minimum(documents.tokens[truth.left], documents.tokens[truth.right]) < FEW_TOKENS
    within = own.reach <= max_distance
    size = len(sampled)
    having = np.unique(truth.ends(truth.positive)[0])
    warned = warnings(
        len(tokens),
        int(np.count_nonzero(tokens < recipe.min_tokens)),
        int(np.count_nonzero(tokens < FEW_TOKENS)),
        min_tokens=recipe.min_tokens,
        max_distance=max_distance,
        recall_of_few=truth.recall(within, few),
        recall_of_others=truth.recall(within, ~few),
    )
    positives = int(truth.positive.sum())
    if positives == 0:
        warned += (
            f"No near-duplicate is known among {counted(len(tokens), 'document')}: nothing can be said about recall.",
        )
    near, near_low, near_high = truth.pairs()
    return Evaluation(
        truth=truth.source,
        documents=len(tokens),
        equal_texts=len(everything) - len(distinct),
        short=int(np.count_nonzero(tokens < recipe.min_tokens)),
        few_tokens=int(np.count_nonzero(tokens < FEW_TOKENS)),
        min_similarity=least,
        target_recall=float(target_recall),
        labeled_pairs=len(truth) if pairs is not None else 0,
        labeled_positive=positives if pairs is not None else 0,
        complete=complete,
        sampled_documents=size,
        seed=int(seed),
        near_duplicates=near,
        near_duplicates_low=near_low,
        near_duplicates_high=near_high,
        with_near_duplicate=wilson(len(having), size) if pairs is None else UNKNOWN,
        recipe=recipe.as_dict() | {"digest": recipe.digest(), "name": name_of_own, "max_distance": max_distance},
        methods=measured,
        distances=scores,
        thresholds=thresholds,
        strata=seen,
        recipes=tuple(recipes),
        recommendation=recommend(measured, recipes, thresholds, min_similarity=least, target=target_recall),
        warnings=warned,
        seconds=dict(progress.seconds),
        versions=versions(),
    )


def evaluate(
    data: Any,
    *,
    text: str | Iterable[str] = "text",
    id: str | None = None,  # noqa: A002 - the same name as the flag
    recipe: RecipeLike | None = None,
    pairs: Labeled | None = None,
    complete: bool = False,
    methods: MeasuredMethod | Sequence[MeasuredMethod] = (),
    target_recall: float = 0.99,
    sample: int = SAMPLE,
    seed: int = 0,
    progress: Watcher = None,
    **options: Unpack[EvaluateOptions],
) -> Evaluation:
    """Say how much of what is near each method finds, at which distance and similarity, for texts in memory.

    Args:
        data, text, id, recipe, progress: as in `deduplicate`.
        pairs: labels: the path of a file as in `evaluate_files`, or a list of (left_id, right_id), with a similarity (a float) or a
            label (0, 1, False or True) after them if there are any, a list of dicts, or a table with the columns of such a file.
            Without an id, documents are known by row.
        complete, methods, target_recall, sample, seed: as in `evaluate_files`.
        **options: min_similarity, similarity, max_distance, threads, memory, temp_dir of `DedupOptions`.

    Raises:
        OptionError: an option has a value that is not allowed, or `pairs` are none.
        InputError: there is no such column or file of labels, or labels name unknown ids.
        DataError: a text is null or no string, or a label says nothing clear.

    >>> rhyme = "There was a crooked man, and he walked a crooked mile, and he found a crooked sixpence beside a crooked stile"
    >>> evaluate([rhyme, rhyme + ", he said", "Nothing of the kind is told of the other man, who walked no mile at all."])
    Evaluation(3 documents, truth from sample, recommended: method=exact)
    """
    chosen = options_of(**options)
    corpus = TableCorpus(data, text=text, id=id, resources=chosen.resources)
    return evaluate_corpus(
        corpus,
        recipe=recipe_of(recipe),
        options=chosen,
        ids=corpus.ids.cast("large_string"),
        pairs=None if pairs is None else labels_of(pairs),
        complete=complete,
        methods=methods,
        target_recall=target_recall,
        sample=sample,
        seed=seed,
        progress=progress_of(progress),
    )
