"""The PAGE of two runs: counts, options that differ, and samples with their texts side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from neardup.judging.reports.page import rendered
from neardup.judging.reports.run_facts import value_in_words
from neardup.judging.reports.shown_pairs import Side
from neardup.judging.reports.texts import READ_CHARACTERS
from neardup.judging.runs.counts import KINDS
from neardup.judging.runs.recorded import RecordedRun
from neardup.judging.runs.result import RunDiff
from neardup.judging.runs.samples import DiffSample, SamplePair
from neardup.recipe.tables.parts import VERSION
from neardup.text.side_by_side.rows import Row, aligned_rows
from neardup.text.side_by_side.visible import language, name_of, plainly
from neardup.version import __version__

MOST_SHOWN = 60
"""Samples of each kind on a page."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair that decided in a run, aligned; `rows` is empty if the texts cannot be read."""

    run: str
    line: dict[str, Any]
    sides: tuple[Side, Side] | None
    rows: list[Row]


def diff_page(found: RunDiff, runs: Sequence[RecordedRun]) -> bytes:
    """Return the page as UTF-8."""
    titles = {
        "only_a": f"Removed by A only: {found.only_a:,}",
        "only_b": f"Removed by B only: {found.only_b:,}",
        "other_survivor": f"Removed by both, for different {found.unit}s: {found.other_survivor:,}",
    }
    parts = [(kind, titles[kind], [each for each in found.samples if each.kind == kind][:MOST_SHOWN]) for kind in KINDS]
    return rendered(
        "diff.html",
        found=found,
        options=[(each.name, value_in_words(each.a), value_in_words(each.b)) for each in found.options],
        parts=[(kind, title, [(each, _pairs(each, runs)) for each in some]) for kind, title, some in parts],
        most=max([max(pair) for pair in found.bands.values()], default=1),
        reason=plainly(found.without_texts),
        read_characters=READ_CHARACTERS,
        thresholds={"a": runs[0].summary["min_similarity"], "b": runs[1].summary["min_similarity"]},
        version=__version__,
    )


def _pairs(sample: DiffSample, runs: Sequence[RecordedRun]) -> list[ShownPair]:
    return [_pair(each, runs["ab".index(each.run)]) for each in sample.pairs]


def _pair(pair: SamplePair, run: RecordedRun) -> ShownPair:
    line = pair.line
    if pair.texts is None:
        return ShownPair(pair.run, line, None, [])
    steps = run.summary["recipe"].get("normalize")
    plain = steps if isinstance(steps, list) and all(isinstance(each, str) for each in steps) else None
    how: dict[str, Any] = {}
    if plain is not None:
        how = {"steps": tuple(plain), "version": run.summary["recipe"].get("version", VERSION)}
    left, right = (text[:READ_CHARACTERS] for text in pair.texts)
    how["cut"] = len(left) < len(pair.texts[0]), len(right) < len(pair.texts[1])
    rows = aligned_rows(left, right, **how)
    return ShownPair(
        pair.run,
        line,
        (
            _side("Kept", line["survivor_id"], _place_of_survivor(line, run.unit), pair.texts[0]),
            _side("Removed", line["id"], _place(line["row"], line.get("unit"), run.unit), pair.texts[1]),
        ),
        rows,
    )


def _side(role: str, name: Any, place: str, text: str) -> Side:
    return Side(role, name, place, len(text), language(text))


def _place(row: int, number: int | None, unit: str) -> str:
    return f"row {row:,}" + (f", {unit} {number:,}" if number is not None else "")


def _place_of_survivor(line: dict[str, Any], unit: str) -> str:
    if line["survivor_row"] is None:
        return name_of(f"row {line['reference_row']:,} of {line['reference']}, in the reference", 200)
    return _place(line["survivor_row"], line.get("survivor_unit"), unit)
