"""Draw `results/store_growth.svg` from the record of `store_growth.py`: speed, answers, memory and disk by documents."""

from pathlib import Path
from typing import Any

from chart_style import AMBER, TEAL, new_figure, save

COLORS = {"exact": TEAL, "minhash": AMBER}
MILLION = 1e6


def draw(record: dict[str, Any], path: Path) -> None:
    """A line for each method."""
    figure = new_figure("store_growth", 10, 6)
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
        speed: "Documents a second, durably; dotted: load (right)",
        answers: "Microseconds of `check`, the slowest kind",
        memory: "Memory that no file backs, MB",
        disk: "Bytes on disk for each kept document",
    }
    for axes, title in titles.items():
        axes.set_title(title)
        axes.set(xlim=(0, None), ylim=(0, None))
        axes.grid()
        axes.legend()
        for side in axes.spines.values():
            side.set_visible(False)
    answers.set_ylim(0, 1.4 * answers.get_ylim()[1])  # room for the names
    load.set(ylim=(0, None))
    for side in load.spines.values():
        side.set_visible(False)
    for axes in (memory, disk):
        axes.set_xlabel("million documents of 200 bytes given")
    save(figure, path)
