"""Print an evaluation as tables of aligned text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from neardup.display import counted, similarity_text, threshold_text
from neardup.judging.evaluation.recommendation import figures, named
from neardup.judging.evaluation.result import DistanceScore, Evaluation, MethodScore, ThresholdScore, Trial
from neardup.judging.evaluation.truth import BANDS

TICKS = 12
"""Approximate number of distances shown, up to twice the one in use."""


@dataclass(frozen=True, slots=True)
class TableOfScores:
    """A title, column names and rows with one cell per column; the first column is left-aligned, the others right-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def headline(result: Evaluation) -> Iterator[str]:
    """Describe what was evaluated."""
    yield (
        f"{counted(result.documents, 'document')}: {result.equal_texts:,} with the text of an earlier one, "
        f"{result.short:,} short, {result.few_tokens:,} under 50 tokens"
    )
    if result.truth == "labels":
        others = "any other pair is false" if result.complete else "other pairs count neither for nor against"
        pairs = counted(result.labeled_pairs, "pair")
        yield f"truth from labels: {pairs}, {result.labeled_positive:,} of them near-duplicates; {others}"
    else:
        every = not result.is_estimate
        size = "every document" if every else f"{counted(result.sampled_documents, 'document')} (seed {result.seed})"
        yield f"truth from a sample: {size} compared with all others of different text"
        near = f"{result.near_duplicates:,.0f}"
        if not every:
            near = f"about {near} [{result.near_duplicates_low:,.0f}, {result.near_duplicates_high:,.0f}]"
        yield f"pairs of similarity {threshold_text(result.min_similarity)} or more: {near}"
        yield f"share of documents that have such a near-duplicate: {result.with_near_duplicate}"
    yield "[intervals]: Wilson's, 95 %, for what other documents of this kind would give"


def _shown(scores: Sequence[DistanceScore], marks: set[int], in_use: int) -> list[DistanceScore]:
    step = max(1, 2 * in_use // TICKS)
    return [
        score
        for score in scores
        if score.max_distance in marks or (score.max_distance <= 2 * in_use and score.max_distance % step == 0)
    ]


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _alike(similarity: float | None, least: float) -> str:
    return "–" if similarity is None else similarity_text(similarity, least)


def _scores(score: MethodScore | DistanceScore | ThresholdScore | Trial) -> list[str]:
    """Format recall, precision and F1 as cells."""
    return [str(score.recall), str(score.precision), str(score.f1)]


def tables(result: Evaluation) -> Iterator[TableOfScores]:
    """All tables, most useful first."""
    yield _methods(result)
    if bands := [name for name in BANDS if any(score.bands[name].of for score in result.methods)]:
        yield _methods_by_similarity(result, bands)
    yield _distances(result)
    if result.thresholds:
        yield _thresholds(result)
    if result.strata:
        yield _strata(result)
    yield _recipes(result)
    if result.trials:
        yield _trials(result)
    if result.removal:
        yield _removal(result)


def _methods(result: Evaluation) -> TableOfScores:
    columns = ["method", "recall", "precision", "F1", "found"]
    rows = [[score.method, *_scores(score), f"{score.found:,}"] for score in result.methods]
    if result.truth == "labels" and not result.complete:
        columns.append("unlabeled")
        rows = [[*row, f"{score.unlabeled:,}"] for row, score in zip(rows, result.methods, strict=True)]
    return TableOfScores(f"Methods, at similarity {threshold_text(result.min_similarity)}", columns, rows)


def _methods_by_similarity(result: Evaluation, bands: Sequence[str]) -> TableOfScores:
    rows = [[score.method, *(str(score.bands[name]) for name in bands)] for score in result.methods]
    return TableOfScores("Recall of methods, by similarity of the pair", ["method", *bands], rows)


def _distances(result: Evaluation) -> TableOfScores:
    in_use = result.recipe["max_distance"]
    shown = _shown(result.distances, {in_use, result.recipes[0].max_distance or 0}, in_use)
    return TableOfScores(
        f"Fingerprints alone, recipe {result.recipe['name']}, by Hamming distance (in use: {in_use})",
        ["distance", "recall", "precision", "F1", "pairs within"],
        [[f"{score.max_distance}", *_scores(score), f"{score.pairs:,.0f}"] for score in shown],
    )


def _thresholds(result: Evaluation) -> TableOfScores:
    """Scores at similarities from 0.5 to 1 in steps of 0.05."""
    return TableOfScores(
        "Similarity of the texts, among the labeled pairs",
        ["at least", "recall", "precision", "F1"],
        [[f"{score.min_similarity:.2f}", *_scores(score)] for score in result.thresholds[49::5]],
    )


def _strata(result: Evaluation) -> TableOfScores:
    return TableOfScores(
        "Pairs by Hamming distance, and the similarity of some of them",
        ["distance", "pairs", "near-duplicates", "share of them", "read", "median", "highest"],
        [
            [
                part.distance,
                f"{part.pairs:,.0f}",
                f"{part.pairs * (part.similar.value or 0):,.0f}",
                str(part.similar),
                f"{part.sampled:,}",
                _alike(part.median, result.min_similarity),
                _alike(part.highest, result.min_similarity),
            ]
            for part in result.strata
        ],
    )


def _recipes(result: Evaluation) -> TableOfScores:
    return TableOfScores(
        f"Recipes: the distance that finds {result.target_recall:g} of the near-duplicates",
        ["recipe", "bits", "distance", "recall", "false per true", "usual distance", "recall there"],
        [
            [
                score.recipe,
                f"{score.bits}",
                _number(score.max_distance, "d"),
                str(score.recall) if score.max_distance is not None else "–",
                _number(score.false_per_true, ",.1f"),
                _number(score.usual_distance, "d"),
                str(score.usual_recall),
            ]
            for score in result.recipes
        ],
    )


def _trials(result: Evaluation) -> TableOfScores:
    rows = [
        [
            score.method,
            "–" if score.similarity is None else f"{score.similarity} {threshold_text(score.min_similarity)}",
            "–" if score.max_distance is None else f"{score.recipe} {score.max_distance}",
            *_scores(score),
            f"{score.found:,}",
        ]
        for score in result.trials
    ]
    columns = ["method", "similarity", "distance", "recall", "precision", "F1", "found"]
    return TableOfScores("Tried, each at its best threshold", columns, rows)


def _removal(result: Evaluation) -> TableOfScores:
    """The removed share by threshold, with a column for each similarity."""
    names = list(dict.fromkeys(score.similarity for score in result.removal))
    shares = {(score.min_similarity, score.similarity): score.share.value for score in result.removal}
    thresholds = sorted({score.min_similarity for score in result.removal})
    most = ", at most" if result.is_estimate else ""
    return TableOfScores(
        f"Share of documents removed{most}, by threshold of similarity",
        ["at least", *names],
        [[f"{at:g}", *(_number(shares.get((at, name)), ".3f") for name in names)] for at in thresholds],
    )


def advice(result: Evaluation, wording: Callable[[str], str] = str) -> Iterator[str]:
    """What to use and what it finds, or that nothing reaches the target, then the reasons and what was left out.

    `wording` changes sentences before they are shown; commands stay as they are.
    """
    recommendation, reasons = result.recommendation, list(map(wording, result.recommendation.reasons))
    best, label = recommendation.best, "Recommended"
    if best is not None and recommendation.threshold_is_given:
        label = f"Recommended method at the given threshold, {threshold_text(best.min_similarity)}"
    if not recommendation.reaches_target:
        label = "Nearest"
        yield reasons.pop(0)
    if best is not None:
        words = recommendation.commands or (wording(named(best)),)
        yield f"{label}: {words[0]}"
        yield f"  {figures(best)}"
        if recommendation.removed is not None:
            share = recommendation.removed / result.documents
            yield f"To remove {recommendation.removed:,} of {counted(result.documents, 'document')} ({share:.1%}): {words[-1]}"
    yield from (f"  {line}" for line in reasons)
    yield from (f"Left out: {wording(line)}" for line in result.left_out)


def plain_table(table: TableOfScores) -> str:
    """Format a table as aligned text."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    lines = [table.title]
    for row in (table.columns, *table.rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  " + "  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def plain_report(result: Evaluation, *, wording: Callable[[str], str] = str) -> str:
    """The whole report as text; `wording` changes sentences before they are shown."""
    parts = ["\n".join(headline(result)), *map(plain_table, tables(result))]
    parts.append("\n".join(advice(result, wording)))
    parts += [f"Warning: {wording(line)}" for line in result.warnings]
    return "\n\n".join(parts)
