"""Draw the worked examples of docs/simhash.md and its translations, docs/figures/*.svg, from what the package computes of them.

python tools/make_figures.py
"""

import math
import random
import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

import neardup
from neardup.judging.comparison import Comparison, FingerprintSteps

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs/figures"
LABELS = ROOT / "tools/figure_labels.toml"
EXAMPLES = ROOT / "tests/golden/worked_examples"

INK, PALE, FAINT, ONE, ZERO = "#1f2933", "#5f6b76", "#c3ccd4", "#00695c", "#9a3412"
ONE_GROUND, ZERO_GROUND = "#cfebe6", "#fbe3d2"
ON_DARK = {
    INK: "#e3e9ef",
    PALE: "#9aa7b4",
    FAINT: "#4b5661",
    ONE: "#5eead4",
    ZERO: "#fdba74",
    ONE_GROUND: "#134e48",
    ZERO_GROUND: "#5b2f17",
}
"""By the color on a light page, that on a dark one: the page passes on which it is."""
DARK = "".join(f"[{kind}='{light}']{{{kind}:{dark}}}" for light, dark in ON_DARK.items() for kind in ("fill", "stroke"))
CELL, ROW, MARGIN = 62, 36, 20
BITS = 12
"""The width of a bit of a hash, in monospaced digits."""


@dataclass(frozen=True)
class Labels:
    """What stands in the figures besides their values, in one language; a table of `figure_labels.toml`.

    Attributes:
        ending: of the names of the files, before `.svg`.
        language: of the letters, by which browsers choose a font.
        word, weight, dimensions, value, hash, votes: headings of columns.
        steps: the second and the third, as they are numbered.
        dimension: the name of one, by its number.
        pair: a fingerprint, the other, and the number of bits in which they differ.
        angle: the planes, those between the vectors, the differing bits, and the estimated and the true angle.
        titles: of the figures, in the order of `figures`.
    """

    ending: str
    language: str
    word: str
    weight: str
    dimensions: str
    value: str
    hash: str
    votes: str
    steps: list[str]
    dimension: str
    pair: list[str]
    angle: list[str]
    titles: list[str]


def every_language() -> list[Labels]:
    """The labels of the figures, English first."""
    return [Labels(**table) for table in tomllib.loads(LABELS.read_text(encoding="utf-8")).values()]


class Drawing:
    """An SVG without a ground, whose colors follow a light or a dark page."""

    def __init__(self, width: float, height: float, title: str, language: str) -> None:
        self.width, self.height, self.title, self.language = width, height, title, language
        self.parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        color: str = INK,
        size: int = 15,
        anchor: str = "start",
        mono: bool = False,
        bold: bool = False,
        language: str | None = None,
    ) -> None:
        """Text whose middle line is at y, in the language of the figure if none is given."""
        spoken = f' xml:lang="{language}"' if language not in (None, self.language) else ""
        family = ' font-family="ui-monospace, monospace"' if mono else ""
        weight = ' font-weight="700"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y + 0.35 * size:.4g}" font-size="{size}" fill="{color}" '
            f'text-anchor="{anchor}"{family}{weight}{spoken}>{escape(text)}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """A rectangle with round corners."""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}"/>')

    def line(self, x: float, y: float, x2: float, y2: float, color: str = PALE, width: float = 1) -> None:
        """A straight line."""
        self.parts.append(
            f'<line x1="{x:.4g}" y1="{y:.4g}" x2="{x2:.4g}" y2="{y2:.4g}" stroke="{color}" stroke-width="{width:g}"/>'
        )

    def svg(self) -> str:
        """The whole of it, as text."""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" xml:lang="{self.language}" viewBox="0 0 {self.width:g} {self.height:g}" '
                f'width="{self.width:g}" height="{self.height:g}" font-family="system-ui, sans-serif" role="img">',
                f"<title>{escape(self.title)}</title>",
                f"<style>@media (prefers-color-scheme: dark){{{DARK}}}</style>",
                *self.parts,
                "</svg>",
                "",
            ]
        )


def _signed(vote: object) -> str:
    return str(vote) if str(vote).startswith("-") or str(vote) == "0" else f"+{vote}"


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def votes(steps: FingerprintSteps, title: str, labels: Labels, *, words: bool) -> str:
    """Hashes, votes, sums, signs: a row for each feature, a column for each bit, the steps numbered at the left.

    Features are Chinese words, or the dimensions of a vector.
    """
    bits, rows = len(steps.bits), len(steps.features)
    name_at, weight_at, hash_at = MARGIN + 26, MARGIN + 170, MARGIN + 196
    votes_at = hash_at + bits * BITS + 34
    figure = Drawing(votes_at + bits * CELL + MARGIN, (rows + 3) * ROW + 2 * MARGIN + 10, title, labels.language)
    y = MARGIN + ROW / 2
    headings = (
        (name_at, labels.word if words else labels.dimensions, "start"),
        (weight_at, labels.weight if words else labels.value, "end"),
        (hash_at, labels.hash, "start"),
    )
    for x, heading, anchor in headings:
        figure.text(x, y, heading, color=PALE, size=13, anchor=anchor)
    figure.text(votes_at + 4, y, labels.votes, color=PALE, size=13)
    for number, feature in enumerate(steps.features):
        y = MARGIN + (number + 1.5) * ROW
        if number == 0:
            figure.text(MARGIN, y, "①", color=PALE)
        name, language = (feature.name, "zh") if words else (labels.dimension.format(number + 1), None)
        figure.text(name_at, y, name, language=language)
        figure.text(weight_at, y, f"{feature.weight:g}", anchor="end")
        for bit, value in enumerate(feature.hash):
            figure.text(hash_at + bit * BITS, y, value, color=ONE if value == "1" else ZERO, mono=True)
            x = votes_at + bit * CELL
            figure.box(x + 2, y - 14, CELL - 4, 28, ONE_GROUND if value == "1" else ZERO_GROUND)
            vote = feature.weight if value == "1" else -feature.weight
            figure.text(
                x + CELL / 2, y, _minus(_signed(vote)), color=ONE if value == "1" else ZERO, size=13, anchor="middle"
            )
    y = MARGIN + (rows + 1) * ROW + 4
    figure.line(name_at, y, figure.width - MARGIN, y)
    for step, label, cells in (
        ("②", labels.steps[0], [_minus(f"{total:g}") for total in steps.sums]),
        ("③", labels.steps[1], list(steps.bits)),
    ):
        y += ROW if step == "③" else ROW / 2 + 4
        figure.text(MARGIN, y, step, color=PALE)
        figure.text(name_at, y, label)
        for bit, cell in enumerate(cells):
            one = steps.bits[bit] == "1"
            figure.text(
                votes_at + (bit + 0.5) * CELL,
                y,
                cell,
                color=ONE if one else ZERO,
                size=14 if step == "②" else 18,
                anchor="middle",
                mono=step == "③",
                bold=step == "③",
            )
    return figure.svg()


def difference(found: Comparison, title: str, labels: Labels) -> str:
    """Two fingerprints, one below the other, and what differs."""
    bits = len(found.left.bits)
    start = MARGIN + 130
    figure = Drawing(start + bits * 40 + MARGIN, 3 * ROW + 2 * MARGIN, title, labels.language)
    differs = "".join("1" if a != b else "0" for a, b in zip(found.left.bits, found.right.bits, strict=True))
    one, other, differ = labels.pair
    for row, (label, shown) in enumerate(
        ((one, found.left.bits), (other, found.right.bits), (differ.format(found.distance), differs))
    ):
        y = MARGIN + (row + 0.5) * ROW
        figure.text(MARGIN, y, label, bold=row == 2)
        for bit, value in enumerate(shown):
            x = start + bit * 40
            if differs[bit] == "1":
                figure.box(x + 2, y - 16, 36, 32, ZERO_GROUND)
            color = ZERO if differs[bit] == "1" else PALE
            figure.text(x + 20, y, value, color=color, size=18, anchor="middle", mono=True, bold=row == 2)
    figure.line(MARGIN, MARGIN + 2 * ROW, figure.width - MARGIN, MARGIN + 2 * ROW)
    return figure.svg()


def angle(degrees: float, planes: int, title: str, labels: Labels) -> str:
    """Two vectors and random planes through the origin: those that part the vectors are the bits that differ."""
    chance = random.Random(1)
    directions = np.array([[math.cos(a), math.sin(a)] for a in (chance.uniform(0, math.tau) for _ in range(planes))])
    vectors = np.array(
        [[math.cos(math.radians(a)), math.sin(math.radians(a))] for a in (90 - degrees / 2, 90 + degrees / 2)]
    )
    values = neardup.fingerprint_vectors(vectors, planes=directions.T)
    distance = neardup.distance(values[0], values[1])
    middle, top, radius = 190.0, 200.0, 160.0
    figure = Drawing(640, 400, title, labels.language)
    for x, y in directions:
        parts = bool(np.sign(vectors[0] @ (x, y)) != np.sign(vectors[1] @ (x, y)))
        ends = (middle - radius * y, top - radius * x, middle + radius * y, top + radius * x)
        figure.line(*ends, color=ZERO if parts else FAINT, width=2 if parts else 1)
    for x, y in vectors:
        figure.line(middle, top, middle + radius * x, top - radius * y, color=ONE, width=4)
    between, parting, differing, angles = labels.angle
    lines = (
        (between.format(planes), PALE),
        (parting.format(distance), ZERO),
        (differing.format(distance), ZERO),
        (angles.format(180 * distance / planes, degrees), ONE),
    )
    for number, (line, color) in enumerate(lines):
        figure.text(370, 140 + 34 * number, line, color=color, size=15)
    return figure.svg()


def figures() -> dict[str, str]:
    """Every figure in every language, by the name of its file."""

    def steps(name: str) -> FingerprintSteps:
        found = neardup.replay(EXAMPLES / f"{name}.json")
        assert isinstance(found, FingerprintSteps)
        return found

    def pair(name: str) -> Comparison:
        found = neardup.replay(EXAMPLES / f"{name}.json")
        assert isinstance(found, Comparison)
        return found

    drawn: dict[str, str] = {}
    for labels in every_language():
        six, eight, distance, distance_six, hashed, hyperplanes, parted = labels.titles
        in_language = {
            "six-bits": votes(steps("six_bits"), six, labels, words=True),
            "eight-bits": votes(steps("eight_bits"), eight, labels, words=True),
            "distance": difference(pair("distance_of_8_bits"), distance, labels),
            "distance-six": difference(pair("distance_of_6_bits"), distance_six, labels),
            "hashed-dimensions": votes(steps("hashed_dimensions"), hashed, labels, words=False),
            "hyperplanes": votes(steps("hyperplanes"), hyperplanes, labels, words=False),
            "angle": angle(40, 72, parted, labels),
        }
        drawn |= {f"{name}{labels.ending}.svg": content for name, content in in_language.items()}
    return drawn


if __name__ == "__main__":
    FIGURES.mkdir(exist_ok=True)
    for name, content in figures().items():
        (FIGURES / name).write_text(content, encoding="utf-8")
