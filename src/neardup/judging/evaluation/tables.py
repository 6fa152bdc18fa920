"""SUMMARY of an evaluation in labeled lines: what to use and what it finds first, then what that rests on; and its TABLES, in lines
of aligned text that a terminal of 80 columns shows whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neardup.display import ToldLine, counted, similarity_text, threshold_text
from neardup.judging.evaluation.recommendation import options_text, precision_text
from neardup.judging.evaluation.result import Evaluation
from neardup.judging.evaluation.scoring.scores import DistanceScore, MethodScore, ThresholdScore, Trial
from neardup.judging.evaluation.scoring.truth import BANDS
from neardup.recipe.similarity import Similarity, measure_of

NONE = "–"
TICKS = 12
"""Approximate number of distances shown, up to twice the one in use."""


@dataclass(frozen=True, slots=True)
class TableOfScores:
    """A title, column names and rows with one cell per column; the first column is left-aligned, the others right-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def _shown(scores: Sequence[DistanceScore], marks: set[int], in_use: int) -> list[DistanceScore]:
    step = max(1, 2 * in_use // TICKS)
    return [
        score
        for score in scores
        if score.max_distance in marks or (score.max_distance <= 2 * in_use and score.max_distance % step == 0)
    ]


def _number(value: float | None, form: str) -> str:
    return NONE if value is None else format(value, form)


def _alike(similarity: float | None, least: float) -> str:
    return NONE if similarity is None else similarity_text(similarity, least)


def _scores(score: MethodScore | DistanceScore | ThresholdScore) -> list[str]:
    """Format recall and precision with their intervals, and F1, as cells."""
    return [str(score.recall), str(score.precision), _number(score.f1.value, ".3f")]


def _plain_scores(score: Trial) -> list[str]:
    return [_number(share.value, ".3f") for share in (score.recall, score.precision, score.f1)]


def tables(result: Evaluation) -> Iterator[TableOfScores]:
    """All tables, most useful first."""
    yield _methods(result)
    measured = [score for score in result.methods if not result.is_definition(score.method)]
    if bands := [name for name in BANDS if any(score.bands[name].of for score in measured)]:
        yield _methods_by_similarity(measured, bands)
    yield _distances(result)
    if result.thresholds and result.judged_by != "similarity":
        yield _thresholds(result)
    if result.strata:
        yield _strata(result)
    yield _recipes(result)
    if result.trials:
        yield _trials(result)
    if result.removal:
        yield _removal(result)


def _methods(result: Evaluation) -> TableOfScores:
    columns = ["method", "recall", "precision", "F1", "found", *_unlabeled(result)]
    right = ["by definition", NONE, NONE]
    rows = [
        [
            score.method,
            *(right if result.is_definition(score.method) else _scores(score)),
            f"{score.found:,}",
            *_unlabeled(result, score.unlabeled),
        ]
        for score in result.methods
    ]
    return TableOfScores(f"Methods, at similarity {threshold_text(result.min_similarity)}", columns, rows)


def _unlabeled(result: Evaluation, pairs: float | None = None) -> list[str]:
    """The cell of a column that only labels need that are not complete, or its name."""
    if result.truth != "labels" or result.complete:
        return []
    return ["unlabeled"] if pairs is None else [f"{pairs:,.0f}"]


def _methods_by_similarity(measured: Sequence[MethodScore], bands: Sequence[str]) -> TableOfScores:
    rows = [[score.method, *(str(score.bands[name]) for name in bands)] for score in measured]
    return TableOfScores("Recall of methods, by similarity of the pair", ["method", *bands], rows)


def _distances(result: Evaluation) -> TableOfScores:
    in_use = result.recipe["max_distance"]
    shown = _shown(result.distances, {in_use, result.recipes[0].max_distance or 0}, in_use)
    return TableOfScores(
        f"Fingerprints alone, recipe {result.recipe['name']}, by Hamming distance (in use: {in_use})",
        ["distance", "recall", "precision", "F1", "within", *_unlabeled(result)],
        [
            [f"{score.max_distance}", *_scores(score), f"{score.pairs:,.0f}", *_unlabeled(result, score.unlabeled)]
            for score in shown
        ],
    )


def _thresholds(result: Evaluation) -> TableOfScores:
    """Scores at similarities from 0.05 to 1 in steps of 0.05."""
    of_pairs = "all pairs" if result.complete else "the labeled pairs"
    return TableOfScores(
        f"Similarity of the texts, among {of_pairs}",
        ["at least", "recall", "precision", "F1", "found", *_unlabeled(result)],
        [
            [f"{score.min_similarity:.2f}", *_scores(score), f"{score.found:,}", *_unlabeled(result, score.unlabeled)]
            for score in result.thresholds[4::5]
        ],
    )


def _strata(result: Evaluation) -> TableOfScores:
    return TableOfScores(
        "Pairs by Hamming distance, the near-duplicates, and the similarity of some",
        ["distance", "pairs", "near", "share of them", "median", "highest"],
        [
            [
                part.distance,
                f"{part.pairs:,.0f}",
                f"{part.pairs * (part.similar.value or 0):,.0f}",
                str(part.similar),
                _alike(part.median, result.min_similarity),
                _alike(part.highest, result.min_similarity),
            ]
            for part in result.strata
        ],
    )


def _recipes(result: Evaluation) -> TableOfScores:
    return TableOfScores(
        f"Recipes: the distance that finds {result.target_recall:g} of the near-duplicates, and the usual one",
        ["recipe", "bits", "distance", "recall", "false/true", "usual", "recall"],
        [
            [
                score.recipe,
                f"{score.bits}",
                _number(score.max_distance, "d"),
                str(score.recall) if score.max_distance is not None else NONE,
                _number(score.false_per_true, ",.1f"),
                _number(score.usual_distance, "d"),
                _number(score.usual_recall.value, ".3f"),
            ]
            for score in result.recipes
        ],
    )


def _trials(result: Evaluation) -> TableOfScores:
    rows = [
        [
            score.method,
            ", ".join(_decided_by(score)),
            *(["by definition", NONE, NONE] if result.is_definition(score.method) else _plain_scores(score)),
            f"{score.found:,}",
            *_unlabeled(result, score.unlabeled),
        ]
        for score in result.trials
    ]
    columns = ["method", "by", "recall", "precision", "F1", "found", *_unlabeled(result)]
    is_given = result.judged_by == "similarity"
    at = f"at similarity {threshold_text(result.min_similarity)}" if is_given else "each at its best threshold"
    return TableOfScores(f"Tried, {at}", columns, rows)


def _decided_by(score: Trial) -> Iterator[str]:
    """What decides a trial: `jaccard 0.4`, `words of 1` or `default 18`."""
    if score.similarity is not None:
        yield f"{measure_of(score.similarity)} {threshold_text(score.min_similarity)}"
        if isinstance(score.similarity, Similarity):
            segmenter = score.similarity.segmenter
            yield f"{segmenter if isinstance(segmenter, str) else 'tokens'} of {score.similarity.word_shingle or 1}"
    if score.max_distance is not None:
        yield f"{score.recipe} {score.max_distance}"


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


def plain_table(table: TableOfScores) -> str:
    """Format a table as aligned text."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    lines = [table.title]
    for row in (table.columns, *table.rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  " + "  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def plain_tables(result: Evaluation) -> str:
    """All tables as text."""
    return "\n\n".join(map(plain_table, tables(result)))


def told(result: Evaluation) -> Iterator[ToldLine]:
    """The summary; options are named as in Python, in backticks, and the commands are whole."""
    yield from _advice(result)
    yield from _documents(result)
    yield from _truth(result)
    for line in result.recommendation.notes:
        yield "note", line
    for line in result.warnings:
        yield "warning", line


def told_reasons(result: Evaluation) -> Iterator[ToldLine]:
    """Why this is recommended, what else would do, and what was not tried."""
    for line in result.recommendation.reasons[0 if result.recommendation.reaches_target else 1 :]:
        yield "why", line
    for line in result.left_out:
        yield "left out", line


def _advice(result: Evaluation) -> Iterator[ToldLine]:
    found = result.recommendation
    if not found.reaches_target:
        yield "warning", found.reasons[0]
    if found.best is None:
        return
    given = " (the threshold as it is given)" if found.threshold_is_given else ""
    for line in found.withheld:
        yield "warning", line
    label = "tried" if found.withheld else "use" if found.reaches_target else "nearest"
    yield label, options_text(found.best, usual=False) + given
    yield "finds", _figures(result, found.best)
    if found.removed is not None:
        share = 100 * found.removed / result.documents
        yield "removes", f"{found.removed:,} of {counted(result.documents, 'document')} ({share:.1f} %)"
    if found.commands:
        list_pairs, remove = found.commands
        yield "next", remove
        yield "pairs", list_pairs


def _figures(result: Evaluation, best: Trial) -> str:
    """What the options find, with 95 % intervals in brackets."""
    if result.recommendation.by_definition:
        all_of = "every pair" if result.is_estimate else f"{counted(best.found, 'pair')}, all"
        return f"{all_of} of similarity {threshold_text(result.min_similarity)} or more: right by definition"
    of_sample = " among the sampled documents and what is near them" if result.recommendation.removed is None else ""
    precision = "" if best.precision.value is None else f", precision {precision_text(best)}"
    return f"{counted(best.found, 'pair')}{of_sample}: recall {best.recall}{precision}"


def _documents(result: Evaluation) -> Iterator[ToldLine]:
    yield "read", counted(result.documents, "document")
    if result.equal_texts == 1:
        yield "", "1 repeats an earlier one: its normalized text is equal"
    elif result.equal_texts:
        yield "", f"{result.equal_texts:,} repeat an earlier one: their normalized texts are equal"


def _truth(result: Evaluation) -> Iterator[ToldLine]:
    """What says which pairs are near-duplicates, and how many are."""
    alike = f"of similarity {threshold_text(result.min_similarity)} or more"
    if result.truth == "labels":
        near = alike if result.judged_by.endswith("similarity") else "of them near-duplicates"
        yield "truth", f"{counted(result.labeled_pairs, 'labeled pair')}, {result.labeled_positive:,} {near}"
        yield "", "any other pair is false" if result.complete else "other pairs count neither for nor against"
        return
    size, near = "every document", f"{result.near_duplicates:,.0f}"
    if result.is_estimate:
        size = f"{counted(result.sampled_documents, 'document')} (seed {result.seed}), each"
        near = f"about {near} [{result.near_duplicates_low:,.0f}, {result.near_duplicates_high:,.0f}]"
    yield "truth", f"{size} compared with all of other text"
    yield "", f"{near} pairs {alike}"
    yield "", f"{result.with_near_duplicate} of the documents are in such a pair"
