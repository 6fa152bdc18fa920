"""Draw the charts of docs/choosing.md from benchmarks/results: distances and thresholds.

python tools/make_curves.py
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.recipe.presets import RECIPES

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))
from chart_style import PALE, new_figure, save  # noqa: E402 - lies there

RESULTS = ROOT / "benchmarks/results"
FIGURES = ROOT / "docs/figures"
DRAWN = ("default", "default-64", "textbook")
NAMES = {
    "en_pep_revisions_even": "PEP revisions",
    "zh_laws_national": "Chinese laws",
    "en_spdx_licenses": "licenses",
}


@dataclass(frozen=True)
class Curve:
    """By distance 0, 1, …: the share of reference pairs within it, and how many unlike pairs come with each."""

    name: str
    found: list[float]
    unlike: list[float]


def curves() -> Iterator[Curve]:
    """Of the three open sets together, means over draws of the hash."""
    recipes: list[dict[str, Any]] = json.loads((RESULTS / "recipes.json").read_text(encoding="utf-8"))["recipes"]
    for name in DRAWN:
        wanted = RECIPES[name].recipe.as_dict().items()
        [sets] = [each["sets"].values() for each in recipes if each["recipe"].items() <= wanted]
        similar = [sum(counts) for counts in zip(*(each["similar"] for each in sets), strict=True)]
        unlike = [sum(counts) for counts in zip(*(each["unlike"] for each in sets), strict=True)]
        pairs = sum(each["all_similar"] for each in sets)
        yield Curve(
            name,
            [count / pairs for count in similar],
            [wrong / max(1, right) for wrong, right in zip(unlike, similar, strict=True)],
        )


def similarity_after(edited: float, shingle: int) -> float:
    """The Jaccard coefficient to expect when that share of the tokens is replaced, each by itself."""
    kept = (1 - edited) ** shingle
    return kept / (2 - kept)


def draw() -> None:
    """Write the charts."""
    figure = new_figure("choosing", 10, 3.8)
    left, right = figure.subplots(1, 2)
    for number, curve in enumerate(curves()):
        usual, color = RECIPES[curve.name].recipe.max_distance, f"C{number}"
        assert usual is not None
        left.plot(range(len(curve.found)), curve.found, color=color, label=curve.name)
        left.plot(usual, curve.found[usual], "o", color=color)
        missed = [1 - found for found in curve.found]
        right.plot(missed, curve.unlike, color=color, label=curve.name)
        right.plot(missed[usual], curve.unlike[usual], "o", color=color)
    left.set(xlabel="distance", ylabel="share of the 799 pairs within it", xlim=(0, 32), ylim=(0, 1.02))
    left.set_title("What a distance finds")
    left.legend(loc="lower right")
    right.set(xlabel="share of the 799 pairs missed", ylabel="unlike pairs for each that is found")
    right.set(xscale="log", yscale="log", xlim=(0.8, 0.0015), ylim=(0.005, 30))
    right.set_title("What it costs: pairs to look at and reject")
    save(figure, FIGURES / "distances.svg")

    figure = new_figure("choosing", 10, 3.8)
    left, right = figure.subplots(1, 2)
    record = json.loads((RESULTS / "thresholds.json").read_text(encoding="utf-8"))
    for number, each in enumerate(record["sets"]):
        documents, color = each["texts"]["documents"], f"C{number}"
        for cluster, style in (("star", "-"), ("components", ":")):
            shares = [count / documents for count in each["removed"][cluster]]
            label = NAMES[each["texts"]["name"]] if cluster == "star" else None
            left.plot(record["thresholds"], shares, style, marker=".", color=color, label=label)
    left.set(xlabel="--min-similarity", ylabel="share of the documents removed", ylim=(0, None))
    left.set_title("What a threshold removes (dotted: components)")
    left.legend()
    edits = [percent / 1000 for percent in range(201)]
    for shingle, label in ((3, "words: shingles of 3"), (5, "Han and Kana: shingles of 5")):
        right.plot([100 * each for each in edits], [similarity_after(each, shingle) for each in edits], label=label)
    right.axhline(0.8, color=PALE, linewidth=0.8, zorder=0)
    right.set(
        xlabel="tokens replaced, one here and one there, %", ylabel="Jaccard coefficient", ylim=(0, 1.02), xlim=(0, 20)
    )
    right.set_title("What a similarity means")
    right.legend()
    save(figure, FIGURES / "thresholds.svg")


if __name__ == "__main__":
    draw()
