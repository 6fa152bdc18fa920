"""Histograms: as SVG that takes its colors from the page, and of the lengths of documents as a table."""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import threshold_text
from neardup.judging.reports.tally import STEPS, Tally
from neardup.judging.reports.texts import Texts

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 460, 216, 44, 38, 16
MAX_BARS = 50


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its label on the axis, and its counts; `equal`: documents of equal text."""

    label: str
    count: int
    equal: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn histogram, with its numbers for readers who prefer a table."""

    svg: str
    bars: tuple[Bar, ...]


def similarity_chart(counts: Tally, threshold: float) -> Chart | None:
    """Chart duplicates by similarity to the survivor; None if no similarity is known."""
    steps = counts.similarities
    if not steps.sum() and not (counts.exact and threshold > 0):
        return None
    low = int(np.flatnonzero(steps)[0]) if steps.any() else STEPS
    low = max(0, min(low, int(threshold * STEPS + 1e-9)))
    width = max(1, -(-(STEPS - low) // MAX_BARS))
    low -= low % width
    bars = []
    for begin in range(low, STEPS, width):
        end = min(STEPS, begin + width)
        bars.append(Bar(f"{begin / STEPS:.2f} to {end / STEPS:.2f}", int(steps[begin:end].sum())))
    bars.append(Bar("1, not equal", int(steps[STEPS])))
    bars += [Bar("", 0), Bar("", 0), Bar("equal", counts.exact, equal=True)]
    span = STEPS - low
    every = next(each for each in (1, 2, 5, 10, 20, 25, 50) if span / each <= 5)
    ticks = [((at - low) / width, f"{at / STEPS:.2f}") for at in range(low + -low % every, STEPS - every // 2, every)]
    ticks += [(len(bars) - 3.5, "1"), (len(bars) - 0.5, "equal")]
    mark = ((threshold * STEPS - low) / width, f"asked for: {threshold_text(threshold)}") if threshold > 0 else None
    return Chart(_draw(bars, ticks, mark, "similarity to the survivor"), tuple(bars))


def distance_chart(counts: Tally, most: int | None) -> Chart | None:
    """Chart duplicates by Hamming distance to the survivor; None if there are none."""
    if not counts.duplicates:
        return None
    known = np.flatnonzero(counts.distances)
    end = max(
        int(known[-1]) if known.size else 0, 8 if most is None else min(most, 4 * (int(known[-1]) if known.size else 2))
    )
    width = -(-(end + 1) // MAX_BARS)
    bars = [Bar("equal", counts.exact, equal=True), Bar("", 0), Bar("", 0)]
    for begin in range(0, end + 1, width):
        last = min(end, begin + width - 1)
        label = str(begin) if width == 1 else f"{begin} to {last}"
        bars.append(Bar(label, int(counts.distances[begin : last + 1].sum())))
    every = next(each for each in (1, 2, 5, 10, 20, 50, 100, 200) if (end + 1) / each <= 9)
    ticks = [(3 + (at + 0.5) / width if width == 1 else 3 + at / width, str(at)) for at in range(0, end + 1, every)]
    ticks.insert(0, (0.5, "equal"))
    mark = None if most is None or most >= end + 1 else (3 + (most + 1) / width, f"at most {most}")
    return Chart(_draw(bars, ticks, mark, "Hamming distance to the survivor"), tuple(bars))


def _nice(top: int) -> tuple[int, int]:
    """Return a round number that is at least `top`, and the step between its four or five grid lines."""
    step = 1
    while step * 5 < top:
        step = step * 2 if str(step)[0] in "15" else step * 5 // 2
    return step * -(-max(1, top) // step), step


def _draw(bars: list[Bar], ticks: list[tuple[float, str]], mark: tuple[float, str] | None, title: str) -> str:
    near = max(bar.count for bar in bars if not bar.equal)
    top, step = _nice(near or max(bar.count for bar in bars))
    wide, high = (WIDTH - LEFT - 8) / len(bars), HEIGHT - TOP - BOTTOM
    floor = HEIGHT - BOTTOM
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Duplicates by {escape(title)}">'
    ]
    for value in range(0, top + 1, step):
        y = floor - high * value / top
        kind = "axis" if value == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>')
    broken: list[tuple[float, int]] = []
    for number, bar in enumerate(bars):
        tall = high * min(1.0, bar.count / top)
        if bar.count:
            tall = max(tall, 1.5)
        gap = min(2.0, wide * 0.15)
        if bar.count > top:
            broken.append((LEFT + wide * number, bar.count))
        parts.append(
            f'<rect class="{"equal" if bar.equal else "near"}" x="{LEFT + wide * number + gap / 2:.2f}" y="{floor - tall:.2f}" '
            f'width="{wide - gap:.2f}" height="{tall:.2f}"><title>{escape(bar.label)}: {bar.count:,}</title></rect>'
        )
    for x, count in broken:  # far higher than the others: cut, with its number
        parts.append(
            f'<path class="break" d="M{x - 3:.1f} {TOP + 16} l{wide + 6:.1f} -6"/>'
            f'<text class="marked" x="{x + wide / 2:.1f}" y="{TOP - 4}" text-anchor="{"end" if x > WIDTH / 2 else "start"}" '
            f'dx="{wide / 2 if x > WIDTH / 2 else -wide / 2:.1f}">{count:,}</text>'
        )
    for place, label in ticks:
        parts.append(
            f'<text x="{LEFT + wide * place:.1f}" y="{floor + 15}" text-anchor="middle">{escape(label)}</text>'
        )
    if mark:
        x = LEFT + wide * mark[0]
        near_end = x > WIDTH * 0.7
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{floor}"/>')
        parts.append(
            f'<text class="marked" x="{x + (-5 if near_end else 5):.1f}" y="{TOP}" '
            f'text-anchor="{"end" if near_end else "start"}">{escape(mark[1])}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 5}" text-anchor="middle">{escape(title)}</text></svg>'
    )
    return "".join(parts)


def _short(value: int) -> str:
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if value >= size:
            unit = 1000 if letter == "k" else size
            return f"{value / unit:g}{letter}"
    return f"{value:,}"


def _length_label(power: int) -> str:
    """Label of a length class in `ReadAgain.lengths`, such as `64 – 127`."""
    return "0 – 1" if power == 0 else f"{2**power:,} – {2 ** (power + 1) - 1:,}"


def _spread(lengths: Array) -> range:
    """The length classes from the shortest to the longest that has a document."""
    known = np.flatnonzero(lengths.sum(axis=1))
    return range(int(known[0]), int(known[-1]) + 1) if known.size else range(0)


def lengths_of(texts: Texts) -> list[dict[str, Any]]:
    """Kept and removed documents by length, in powers of two of characters."""
    if texts.read is None:
        return []
    table = texts.read.lengths
    most = int(table.sum(axis=1).max(initial=1))
    return [
        {"label": _length_label(power), "kept": int(table[power, 0]), "removed": int(table[power, 1]), "most": most}
        for power in _spread(table)
    ]
