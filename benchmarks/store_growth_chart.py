"""Draw `results/store_growth.svg` from the record of `store_growth.py`: speed, answers, memory and disk by documents."""

from pathlib import Path
from typing import Any

COLORS = {"exact": "#2f81f7", "minhash": "#db6d28"}
GRAY = "#818b98"
"""Readable on white and on black alike, as the page behind is."""
MILLION = 1e6


def draw(record: dict[str, Any], path: Path) -> None:
    """A line for each method."""
    import matplotlib

    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "store_growth", "font.size": 9})
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained", facecolor="none")
    (speed, answers), (memory, disk) = figure.subplots(2, 2, sharex=True)
    load = speed.twinx()
    for method, color in COLORS.items():
        of = record["methods"][method]
        sizes = [part["documents"] / MILLION for part in of["parts"]]
        speed.plot(sizes, [part["a_second"] for part in of["parts"]], color=color, label=method, linewidth=1.2)
        load.plot(sizes, [part["load"] for part in of["parts"]], ":", color=color, linewidth=1)
        memory.plot(sizes, [part["anonymous_mb"] for part in of["parts"]], color=color, label=method, linewidth=1.2)
        stops = [int(stop) / MILLION for stop in of["stops"]]
        for figure_name, style in (("median", "o-"), ("p99", "o:")):
            worst = [max(each[figure_name] for each in stop["check"].values()) for stop in of["stops"].values()]
            answers.plot(stops, worst, style, color=color, label=f"{method}, {figure_name}", markersize=4)
        bytes_each = [sum(stop["bytes"].values()) / stop["kept"] for stop in of["stops"].values()]
        disk.plot(stops, bytes_each, "o-", color=color, label=method, markersize=4)
    titles = {
        speed: "documents a second, durably; dotted: load (right)",
        answers: "microseconds of `check`, the slowest kind of question",
        memory: "memory that no file backs, MB",
        disk: "bytes on disk for each kept document",
    }
    for axes, title in titles.items():
        axes.set_title(title, loc="left", fontsize=9, color=GRAY)
        axes.set(xlim=(0, None), ylim=(0, None), facecolor="none")
        axes.tick_params(colors=GRAY, which="both")
        axes.grid(color=GRAY, alpha=0.25)
        axes.legend(frameon=False, labelcolor=GRAY)
        for side in axes.spines.values():
            side.set_visible(False)
    load.set(ylim=(0, None))
    load.tick_params(colors=GRAY)
    for side in load.spines.values():
        side.set_visible(False)
    for axes in (memory, disk):
        axes.set_xlabel("million documents of 200 bytes given", color=GRAY)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None}, transparent=True)
