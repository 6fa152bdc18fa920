"""Draw an evaluation as a figure for a paper; needs matplotlib, from the extra `report`.

Panels are as wide as a column of two, type is 6 to 8 points, PDF has TrueType fonts. Colors are told apart with any color vision
(Okabe and Ito 2008), and in grey by their lines and markers.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import InputError, MissingExtra
from neardup.io.storage.places import path_text
from neardup.judging.evaluation.result import Evaluation
from neardup.judging.evaluation.scoring.curves import STEPS
from neardup.judging.evaluation.scoring.intervals import Share
from neardup.judging.evaluation.scoring.truth import BANDS

FORMATS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}

BLUE, VERMILION, GREEN, PURPLE, ORANGE, BLACK = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000"
LINES = {"recall": (BLUE, "-"), "precision": (VERMILION, "--"), "F1": (BLACK, ":")}
IN_USE: dict[str, Any] = {"color": "#555555", "linewidth": 0.7, "label": "in use"}
SERIES = ((BLUE, "-", "o"), (VERMILION, "--", "s"), (GREEN, "-.", "^"), (PURPLE, ":", "D"), (ORANGE, "-", "v"))
"""Color, line and marker of each similarity or method."""

STYLE: dict[str, Any] = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7,
    "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.linewidth": 0.6, "lines.linewidth": 1.3, "lines.markersize": 3.5, "hatch.linewidth": 0.5,
    "axes.grid": True, "grid.alpha": 0.3, "grid.linewidth": 0.4, "pdf.fonttype": 42, "svg.hashsalt": "neardup",
}  # fmt: skip

WIDTH, HEIGHT = 3.4, 2.5
"""Inches of a panel."""

LEAST_SIMILARITY = 0.3
"""Texts below this similarity have little in common, so the curves are flat."""

LOGARITHMIC = 50
"""The scale of counts is logarithmic if the largest is so many times the smallest."""


def check_plot(path: str | Path) -> None:
    """Refuse a picture that cannot be drawn, before any work.

    Raises:
        InputError: the file name's ending belongs to no picture format.
        MissingExtra: matplotlib is not installed.
    """
    if Path(path_text(path)).suffix.lower() not in FORMATS:
        raise InputError(f"{path}: a plot is written to a file that ends in {', '.join(FORMATS)}.")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra("A plot needs matplotlib, which is not installed: pip install 'neardup[report]'") from None


def _curve(axes: Any, x: Sequence[float], shares: Sequence[Share], name: str, look: tuple[str, ...]) -> None:
    """Draw shares with their intervals; `look`: color and line, and a marker for single points."""
    known = [(at, s.value, s.low, s.high) for at, s in zip(x, shares, strict=True) if s.value is not None]
    if not known:
        return
    at, value, low, high = np.array(known, float).T
    marker = look[2] if len(look) > 2 else None
    axes.plot(at, value, color=look[0], linestyle=look[1], marker=marker, label=name)
    axes.fill_between(at, low, high, color=look[0], alpha=0.15, linewidth=0)


def _scores(axes: Any, x: Sequence[float], scores: Sequence[Any], in_use: float) -> None:
    for name, look in LINES.items():
        _curve(axes, x, [getattr(score, name.lower()) for score in scores], name, look)
    axes.axvline(in_use, **IN_USE)
    axes.set(ylabel="share", ylim=(0, 1.03))


def _removal(axes: Any, result: Evaluation) -> None:
    """Draw the removed share by threshold, a line for each similarity."""
    names = list(dict.fromkeys(score.similarity for score in result.removal))
    for name, look in zip(names, SERIES, strict=False):
        scores = [score for score in result.removal if score.similarity == name and score.share.of]
        _curve(axes, [score.min_similarity for score in scores], [score.share for score in scores], name, look)
    most = " (at most)" if result.is_estimate else ""
    axes.set(title=f"Documents removed{most}", xlabel="threshold of similarity", ylabel="share of documents")
    axes.set_ylim(bottom=0)


def _thresholds(axes: Any, result: Evaluation) -> None:
    known = [score for score in result.thresholds if score.min_similarity >= LEAST_SIMILARITY]
    _scores(axes, [score.min_similarity for score in known], known, result.min_similarity)
    axes.set(title="Precision and recall, labeled pairs", xlabel="threshold of similarity")


def _similarities(axes: Any, result: Evaluation) -> None:
    """Draw the number of pairs by similarity: near-duplicates, and on top of them the others."""
    at = np.array([count.least for count in result.similarities]) + 0.5 / STEPS
    near = np.array([count.near for count in result.similarities])
    others = np.array([count.others for count in result.similarities])
    axes.bar(at, near, 1 / STEPS, color=BLUE, edgecolor="white", linewidth=0.3, label="near-duplicates")
    if others.any():
        look = {"color": "white", "edgecolor": BLACK, "linewidth": 0.4, "hatch": "////"}
        axes.bar(at, others, 1 / STEPS, bottom=near, label="others", **look)
    axes.axvline(result.min_similarity, **IN_USE)
    total = (near + others)[near + others > 0]
    if total.max() >= LOGARITHMIC * total.min():
        axes.set_yscale("log")
        axes.set_ylim(0.7, 6 * total.max())
    else:
        axes.set_ylim(0, 1.25 * total.max())  # room for the legend
    kind = "labeled pairs" if result.truth == "labels" else "pairs of sampled documents"
    axes.set(title="Similarity of pairs", xlabel="similarity", ylabel=kind)


def _distances(axes: Any, result: Evaluation) -> None:
    in_use = result.recipe["max_distance"]
    shown = [score for score in result.distances if score.max_distance <= max(3 * in_use, 8)]
    _scores(axes, [float(score.max_distance) for score in shown], shown, in_use)
    axes.set(title=f"Fingerprints alone, recipe {result.recipe['name']}", xlabel="threshold of Hamming distance")


def _methods(axes: Any, result: Evaluation) -> None:
    groups = ["all", *(name for name in BANDS if any(score.bands[name].of for score in result.methods))]
    step = 0.6 / max(1, len(result.methods))
    lowest = 1.0
    for number, (score, look) in enumerate(zip(result.methods, SERIES, strict=False)):
        shares = [score.recall, *(score.bands[name] for name in groups[1:])]
        known = [(at, s.value, s.low, s.high) for at, s in enumerate(shares) if s.value is not None]
        if not known:
            continue
        at, value, low, high = np.array(known, float).T
        place = at - 0.3 + step * (number + 0.5)
        spans = np.maximum([value - low, high - value], 0)
        axes.errorbar(place, value, spans, color=look[0], fmt=look[2], capsize=2, linewidth=0.8, label=score.method)
        for x, y, top in zip(place, value, high, strict=True):
            near = {"textcoords": "offset points", "fontsize": 6, "rotation": 90, "ha": "center", "va": "bottom"}
            axes.annotate(f"{y:.3f}", (x, top), (0, 4), **near)
        lowest = min(lowest, float(low.min()))
    axes.set_xticks(range(len(groups)), groups)
    height = max(0.004, 1 - lowest)
    axes.set(xlim=(-0.5, len(groups) - 0.5), ylim=(lowest - 0.08 * height, 1 + 0.25 * height))
    axes.set_yticks([tick for tick in axes.get_yticks() if lowest - 0.08 * height <= tick <= 1 + 1e-9])
    axes.set(title="Recall of methods", xlabel="similarity of the pair", ylabel="recall")


Panel = Callable[[Any, Evaluation], None]


def _panels(result: Evaluation) -> Iterator[Panel]:
    """The panels that there are numbers for."""
    if result.removal:
        yield _removal
    if result.thresholds:
        yield _thresholds
    if result.similarities:
        yield _similarities
    yield _distances
    yield _methods


def draw(result: Evaluation, path: str | Path, *, kind: str) -> None:
    """Write the picture to `path` as `kind`, one of the values of FORMATS."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    panels = list(_panels(result))
    columns, rows = min(2, len(panels)), -(-len(panels) // 2)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows), layout="constrained")
        places = figure.subplots(rows, columns, squeeze=False).flat
        for letter, axes, panel in zip("abcde", places, panels, strict=False):
            panel(axes, result)
            axes.set_title(f"({letter}) {axes.get_title()}", loc="left")
            axes.set_title("")
            if axes.get_legend_handles_labels()[0]:
                if panel is _similarities:  # the line of the threshold goes up behind the legend, not through its words
                    solid = {"frameon": True, "framealpha": 1, "edgecolor": "none"}
                    axes.legend(loc="upper center", ncols=3, handlelength=2.6, **solid)
                else:
                    axes.legend(loc="best", handlelength=2.6)
        for axes in places:
            axes.set_axis_off()
        figure.savefig(path, format=kind, dpi=300, metadata={"Date": None} if kind == "svg" else None)
