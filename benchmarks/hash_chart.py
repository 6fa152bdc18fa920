"""Draw `results/hashes.svg` from the record of `hashes.py`."""

from pathlib import Path
from typing import Any

from neardup.recipe.hashes import HASHES

SHOWN = {"fnv1_64": "C3", "fnv1a_64": "C1", "lookup3": "C2", "xxh3_64": "C0"}


def draw(record: dict[str, Any], path: Path) -> None:
    """Left: how often each bit changes with a word's last letter. Right: the error of the angle by 64 bits, by hash."""
    import matplotlib

    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hashes", "font.size": 9})
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    english = record["features"]["English words"]
    for name, color in SHOWN.items():
        shares = english["bits"][name]["avalanche"]["last character"]["by_bit_from_the_lowest"]
        left.plot(range(64), shares, marker=".", color=color, label=name)
    left.axhline(0.5, color="0.7", linewidth=0.8, zorder=0)
    left.set(xlabel="bit, 0 the lowest", ylabel="share of words whose bit changes", ylim=(-0.02, 0.6))
    left.set_title("Another last letter", loc="left")
    left.legend(frameon=False, loc="center right")

    names = ["random bits", *reversed(HASHES)]
    for texts, color, shift in zip(english["errors"], ("C0", "C1"), (-0.15, 0.15), strict=True):
        for place, name in enumerate(names):
            each = texts[name]["64"]
            right.plot([each["from"], each["to"]], [place + shift] * 2, color=color, linewidth=1.5)
            right.plot(each["rms_degrees"], place + shift, marker="o", color=color, markersize=4)
        right.plot([], [], marker="o", color=color, label=texts["texts"]["name"].split(", ", 1)[1])
    right.set_yticks(range(len(names)), names)
    right.set(xlabel="error of the angle, degrees", xlim=(0, None))
    right.set_title("64 bits: rms, and range of draws", loc="left")
    right.legend(frameon=False, loc="lower right")
    figure.savefig(path, metadata={"Date": None})
