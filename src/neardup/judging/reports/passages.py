"""The page of a run that cut passages: what was cut most often, what each file lost, and a sample of cuts."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import NeardupError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.judging.cut_texts import ShownCut, places_of, read_texts, shown_cuts
from neardup.judging.reports.page import passages_page
from neardup.judging.reports.run_inputs import RunInputs
from neardup.judging.reports.sources import Sources, shown_sources, sources_by_column, sources_by_file
from neardup.progress import Progress
from neardup.survivors.repeats.records.cut_log_reader import CutLine
from neardup.text.side_by_side.visible import language, plainly

SHOWN_PASSAGES, SHOWN_CUTS = 25, 40
HELD_PASSAGES = 1 << 20
"""So many copies are counted at a time; beyond, those that were cut once so far are dropped."""


@dataclass(slots=True)
class Cuts:
    """What a log has.

    Attributes:
        lost: bool[rows], the documents that lose something.
        often: how often passages with the same copy were cut, and how many tokens that is; by the copy, and the passage's tokens.
        first: the first line of each of these.
        sample: lines, evenly spaced.
        lines: how many there are.
    """

    lost: Array
    often: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    first: dict[tuple[Any, ...], CutLine] = field(default_factory=dict)
    sample: list[CutLine] = field(default_factory=list)
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was cut: how often, with its first cut."""

    count: int
    tokens: int
    cut: ShownCut | None
    line: CutLine


def passages_report(
    summary: dict[str, Any],
    lines: Callable[[], Iterable[CutLine]],
    inputs: RunInputs,
    progress: Progress,
    *,
    report_by: str | None = None,
) -> tuple[bytes, str]:
    """Return the page as UTF-8, and the reason if it shows no texts.

    Args:
        summary: the run's summary, with its files.
        lines: the lines of the log.
        inputs: the run's inputs.
        progress: follows the pass over the inputs.
        report_by: a column of the inputs.
    """
    found = _count(lines(), summary["rows"], summary["passages"])
    most = sorted(found.often.items(), key=lambda each: (-each[1], -each[0][-1]))[:SHOWN_PASSAGES]
    told = [*(found.first[key] for key, _ in most), *found.sample]
    shown, reason, sources = None, inputs.reason, None
    if inputs.corpus is not None:
        try:
            with progress.stage("read for the report", inputs.rows):
                shown = shown_cuts(told, read_texts(inputs, places_of(told)), summary["files"]["text"])
                sources = _sources(inputs.corpus, found.lost, report_by)
        except NeardupError as problem:
            reason = str(problem)
    passages = [
        Passage(count, key[-1], None if shown is None else shown[i], told[i]) for i, (key, count) in enumerate(most)
    ]
    sample = [
        (line, None if shown is None else shown[len(most) + i], _lang(shown, len(most) + i))
        for i, line in enumerate(found.sample)
    ]
    made = passages_page(
        summary,
        passages=passages,
        all_passages=len(found.often),
        sample=sample,
        sources=None if sources is None else shown_sources(sources),
        reason=plainly(reason),
        folder=plainly(shlex.quote(summary["files"]["folder"])),
    )
    return made, reason


def _lang(shown: list[ShownCut] | None, i: int) -> str:
    return "" if shown is None else language(shown[i].passage.passage)


def _count(lines: Iterable[CutLine], rows: int, expected: int) -> Cuts:
    """Count the lines of a log, of which the summary has counted so many."""
    found, step = Cuts(np.zeros(rows, np.bool_)), max(1, expected // SHOWN_CUTS)
    for number, line in enumerate(lines):
        if line["row"] < rows:
            found.lost[line["row"]] = True
        names = ("copy_row", "reference", "reference_row", "copy_column", "copy_start", "copy_end", "tokens")
        key = tuple(line.get(name) for name in names)
        found.often[key] += 1
        found.first.setdefault(key, line)
        if number % step == 0 and len(found.sample) < SHOWN_CUTS:
            found.sample.append(line)
        if len(found.often) > HELD_PASSAGES:
            for seldom in [each for each, count in found.often.items() if count == 1]:
                del found.often[seldom], found.first[seldom]
        found.lines += 1
    return found


def _sources(corpus: FileCorpus, lost: Array, column: str | None) -> Sources:
    """How many documents of each file, or of each value of a column, lose something."""
    documents = [np.empty(0, np.bool_)]
    for _, valid in corpus.map(lambda batch: batch.texts.is_valid().to_numpy(zero_copy_only=False)):
        documents.append(valid)
    valid, none = np.concatenate(documents), np.empty(0, np.int64)
    if len(valid) != len(lost):
        raise NeardupError("The inputs have another number of rows than when the log was written.")
    if column is None:
        return sources_by_file(corpus, valid, lost, none)
    return sources_by_column(corpus, column, valid, lost, none)
