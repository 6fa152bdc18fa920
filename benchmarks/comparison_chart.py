"""Draw `results/comparison.svg` from the record of `dedup_peers.py`: CPU seconds against the recall of pairs, tool by tool."""

from pathlib import Path
from typing import Any

from chart_style import INK, PALE, TEAL, new_figure, save

OURS, THEIRS = TEAL, PALE
NAMES = {"text-dedup minhash": "text-dedup MinHash", "text-dedup simhash": "text-dedup SimHash"}


def label_of(name: str) -> str:
    """As short as it can be told from the others."""
    return NAMES.get(name, name.removesuffix(", pairs").removesuffix(" all_pairs"))


def draw(record: dict[str, Any], path: Path) -> None:
    """A point for each contender that lists pairs or clusters."""
    shown = [(name, of) for name, of in record["results"].items() if "processor_seconds" in of and "pairs" in of]
    shown = [(name, of) for name, of in shown if name != "neardup auto, pairs"]  # it takes one of the others
    shown.sort(key=lambda item: item[1]["processor_seconds"])
    figure = new_figure("comparison", 8, 0.42 * len(shown) + 1.4, font_size=10)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(8, 5))
    places = range(len(shown))
    colors = [OURS if name.startswith("neardup") else THEIRS for name, _ in shown]
    seconds = [of["processor_seconds"] for _, of in shown]
    left.barh(places, seconds, color=colors, height=0.62)
    for place, (_, of) in zip(places, shown, strict=True):
        left.text(of["processor_seconds"] + max(seconds) / 60, place, f"{of['processor_seconds']:.3g} s", va="center")
    left.set(xlim=(0, max(seconds) * 1.2))
    left.set_yticks(places, [label_of(name) for name, _ in shown])
    left.invert_yaxis()
    left.set_title(f"CPU seconds for {record['documents']:,} documents")
    for quality, marker, size in (("precision", "D", 80), ("recall", "o", 22)):  # the one is seen around the other
        values = [of["pairs"][quality] for _, of in shown]
        inside = colors if quality == "recall" else "none"
        right.scatter(values, places, marker=marker, c=inside, edgecolors=colors, s=size, linewidths=1.3, zorder=3)
        inside = INK if quality == "recall" else "none"
        right.scatter([], [], marker=marker, c=inside, edgecolors=INK, s=size, label=quality)
    right.set(xlim=(-0.03, 1.05))
    right.set_title("Pairs at 0.8 or more")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=2)
    for axes in (left, right):
        axes.tick_params(which="both", left=False)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        for side in axes.spines.values():
            side.set_visible(False)
    save(figure, path)
