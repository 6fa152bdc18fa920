"""SUMMARY of an evaluation in labeled lines: what to use and what it finds first, then what that rests on."""

from collections.abc import Iterator

from neardup.display import ToldLine, counted, threshold_text
from neardup.judging.evaluation.recommendation import options_text
from neardup.judging.evaluation.result import Evaluation
from neardup.judging.evaluation.scoring.scores import Trial


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
    yield "use" if found.reaches_target else "nearest", options_text(found.best, usual=False) + given
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
    precision = "" if best.precision.value is None else f", precision {best.precision}"
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
