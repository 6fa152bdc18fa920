"""Draw `results/vectors.svg` from the record of `vectors.py`."""

from pathlib import Path
from typing import Any

import numpy as np

from chart_style import AMBER, INK, TEAL, new_figure, save


def draw(record: dict[str, Any], path: Path) -> None:
    """Estimated beside true cosines, with two standard errors of the true one to both sides."""
    figure = new_figure("vectors", 10, 4)
    for axes, (name, parts) in zip(figure.subplots(1, 2), record["cosines"].items(), strict=True):
        lowest = min(min(each["true"]) for each in parts)
        cosines = np.linspace(-1 if lowest < -0.5 else 0, 1, 201)
        shares = np.arccos(cosines) / np.pi
        for each, color in zip(parts, (TEAL, AMBER), strict=True):
            bits = each["bits"]
            error = np.pi * np.sin(np.pi * shares) * np.sqrt(shares * (1 - shares) / bits)
            axes.fill_between(cosines, cosines - 2 * error, cosines + 2 * error, color=color, alpha=0.2, linewidth=0)
            axes.plot(each["true"], each["estimated"], ".", color=color, markersize=2.5, label=f"{bits} bits")
        axes.plot(cosines, cosines, color=INK, linewidth=0.8)
        axes.set(xlabel="true cosine", ylabel="cos(π · distance / bits)")
        axes.set_title(f"{name}; bands: ± 2 standard errors")
        axes.legend(loc="upper left", markerscale=3)
    save(figure, path)
