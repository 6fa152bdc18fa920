"""Draw an evaluation as a picture; needs matplotlib, from the extra `report`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import InputError, MissingExtra
from neardup.judging.evaluation.intervals import Share
from neardup.judging.evaluation.result import Evaluation
from neardup.judging.evaluation.truth import BANDS

FORMATS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
COLORS = {"recall": "#0072b2", "precision": "#d55e00", "F1": "#009e73"}
"""Colors that people with any color vision can distinguish (Okabe and Ito 2008)."""

SIMILARITY_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")

LEAST_SIMILARITY = 0.3
"""Texts below this similarity have little in common, so the curves are flat."""


def check_plot(path: str | Path) -> None:
    """Refuse a picture that cannot be drawn, before any work.

    Raises:
        InputError: the file name's ending belongs to no picture format.
        MissingExtra: matplotlib is not installed.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(f"{path}: a plot is written to a file that ends in {', '.join(FORMATS)}.")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra("A plot needs matplotlib, which is not installed: pip install 'neardup[report]'") from None


def _curve(axes: Any, x: Sequence[float], shares: Sequence[Share], name: str) -> None:
    known = [(at, s.value, s.low, s.high) for at, s in zip(x, shares, strict=True) if s.value is not None]
    if not known:
        return
    at, value, low, high = np.array(known, float).T
    axes.plot(at, value, color=COLORS[name], label=name, linewidth=1.8)
    axes.fill_between(at, low, high, color=COLORS[name], alpha=0.18, linewidth=0)


def _methods(axes: Any, result: Evaluation) -> None:
    groups = ["all", *(name for name in BANDS if any(score.bands[name].of for score in result.methods))]
    step = 0.6 / max(1, len(result.methods))
    lowest = 1.0
    for number, score in enumerate(result.methods):
        shares = [score.recall, *(score.bands[name] for name in groups[1:])]
        known = [(at, s.value, s.low, s.high) for at, s in enumerate(shares) if s.value is not None]
        if not known:
            continue
        at, value, low, high = np.array(known, float).T
        place = at - 0.3 + step * (number + 0.5)
        axes.errorbar(place, value, [value - low, high - value], fmt="o", capsize=4, label=score.method)
        for x, y, top in zip(place, value, high, strict=True):
            near = {"textcoords": "offset points", "fontsize": 8, "rotation": 90, "ha": "center", "va": "bottom"}
            axes.annotate(f"{y:.3f}", (x, top), (0, 7), **near)
        lowest = min(lowest, float(low.min()))
    axes.set_xticks(range(len(groups)), groups)
    height = max(0.004, 1 - lowest)
    axes.set(xlim=(-0.5, len(groups) - 0.5), ylim=(lowest - 0.08 * height, 1 + 0.2 * height))
    axes.set(title="Recall of methods", xlabel="similarity of the pair")


def _removal(axes: Any, result: Evaluation) -> None:
    """Draw the removed share by threshold, a line for each similarity."""
    names = list(dict.fromkeys(score.similarity for score in result.removal))
    for name, color in zip(names, SIMILARITY_COLORS, strict=False):
        scores = [score for score in result.removal if score.similarity == name]
        known = [(s.min_similarity, s.share.value, s.share.low, s.share.high) for s in scores if s.share.of]
        if known:
            at, value, low, high = np.array(known, float).T
            axes.plot(at, value, color=color, label=name, linewidth=1.8, marker=".")
            axes.fill_between(at, low, high, color=color, alpha=0.1, linewidth=0)
    most = ", at most" if result.is_estimate else ""
    axes.set(title=f"Documents removed{most}", xlabel="similarity, at least", ylabel="share", ylim=(0, 1.03))


def draw(result: Evaluation, path: str | Path, *, kind: str) -> None:
    """Write the picture to `path` as `kind`, one of the values of FORMATS."""
    from matplotlib.figure import Figure

    panels = 2 + bool(result.thresholds) + bool(result.removal)
    figure = Figure(figsize=(5.2 * panels, 4.5), layout="constrained")
    axes = figure.subplots(1, panels)
    _methods(axes[0], result)

    in_use = result.recipe["max_distance"]
    shown = [score for score in result.distances if score.max_distance <= max(3 * in_use, 8)]
    x = [float(score.max_distance) for score in shown]
    _curve(axes[1], x, [score.recall for score in shown], "recall")
    _curve(axes[1], x, [score.precision for score in shown], "precision")
    _curve(axes[1], x, [score.f1 for score in shown], "F1")
    axes[1].axvline(in_use, color="black", linestyle=":", linewidth=1, label="in use")
    axes[1].set(
        title=f"Fingerprints alone, recipe {result.recipe['name']}", xlabel="Hamming distance, at most", ylim=(0, 1.03)
    )

    if result.thresholds:
        known = [score for score in result.thresholds if score.min_similarity >= LEAST_SIMILARITY]
        x = [score.min_similarity for score in known]
        _curve(axes[2], x, [score.recall for score in known], "recall")
        _curve(axes[2], x, [score.precision for score in known], "precision")
        _curve(axes[2], x, [score.f1 for score in known], "F1")
        axes[2].axvline(result.min_similarity, color="black", linestyle=":", linewidth=1, label="in use")
        axes[2].set(title="Similarity, among the labeled pairs", xlabel="similarity, at least", ylim=(0, 1.03))
    if result.removal:
        _removal(axes[-1], result)
    for panel in axes:
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, format=kind, dpi=130, metadata={"Date": None} if kind == "svg" else None)
