"""Draw `results/hashes.svg` from the record of `hashes.py`."""

from pathlib import Path
from typing import Any

from chart_style import AMBER, BLUE, PALE, ROSE, TEAL, new_figure, save
from neardup.recipe.tables.hashes import HASHES

SHOWN = {"fnv1_64": ROSE, "fnv1a_64": AMBER, "lookup3": BLUE, "xxh3_64": TEAL}


def draw(record: dict[str, Any], path: Path) -> None:
    """Left: how often each bit changes with a word's last letter. Right: the error of the angle by 64 bits, by hash."""
    figure = new_figure("hashes", 10, 3.8)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    english = record["features"]["English words"]
    for name, color in SHOWN.items():
        shares = english["bits"][name]["avalanche"]["last character"]["by_bit_from_the_lowest"]
        left.plot(range(64), shares, marker=".", color=color, label=name)
    left.axhline(0.5, color=PALE, linewidth=0.8, zorder=0)
    left.set(xlabel="bit, 0 the lowest", ylabel="share of words whose bit changes", ylim=(-0.02, 0.6))
    left.set_title("Another last letter")
    left.legend(loc="center right")

    measured = english["errors"][0]
    names = ["random bits", *(name for name in reversed(HASHES) if name in measured)]
    for texts, color, shift in zip(english["errors"], (TEAL, AMBER), (-0.15, 0.15), strict=True):
        for place, name in enumerate(names):
            each = texts[name]["64"]
            right.plot([each["from"], each["to"]], [place + shift] * 2, color=color, linewidth=1.5)
            right.plot(each["rms_degrees"], place + shift, marker="o", color=color, markersize=4)
        right.plot([], [], marker="o", color=color, label=texts["texts"]["name"].split(", ", 1)[1])
    right.set_yticks(range(len(names)), names)
    right.set(xlabel="error of the angle, degrees", xlim=(0, None))
    right.set_title("64 bits: rms, and range of draws")
    right.legend(loc="lower right")
    save(figure, path)
