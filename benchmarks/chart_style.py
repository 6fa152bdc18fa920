"""The style of charts: drawn without a ground, in colors that a dark page changes to lighter ones, with the fonts of the reader.

A page that shows a chart as an image passes on whether it is light or dark, and the style sheet inside the chart follows.
"""

import io
from pathlib import Path
from typing import Any

INK, PALE = "#24303a", "#66727d"
TEAL, AMBER, BLUE, ROSE = "#0f766e", "#b45309", "#2563eb", "#be123c"
ON_DARK = {
    INK: "#e3e9ef",
    PALE: "#9aa7b4",
    TEAL: "#2dd4bf",
    AMBER: "#f5a524",
    BLUE: "#86aaff",
    ROSE: "#fb7f96",
}
"""By the color on a light page, that on a dark one."""


def new_figure(salt: str, width: float, height: float, *, font_size: float = 9.5) -> Any:
    """A figure of matplotlib with our colors; `salt` makes the names inside the file the same every time."""
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    inks = ("axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color")
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": salt,
            "font.family": "sans-serif",
            "font.size": font_size,
            "axes.facecolor": "none",
            "axes.prop_cycle": cycler(color=(TEAL, AMBER, BLUE, ROSE)),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlelocation": "left",
            "axes.titlesize": font_size + 0.5,
            "axes.titleweight": "bold",
            "grid.color": PALE,
            "grid.alpha": 0.25,
            "legend.frameon": False,
            **dict.fromkeys(inks, INK),
        }
    )
    return Figure(figsize=(width, height), layout="constrained", facecolor="none")


def save(figure: Any, path: Path) -> None:
    """Write the figure as an SVG that follows the page."""
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None}, transparent=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(with_dark_colors(drawn.getvalue()), encoding="utf-8")


def with_dark_colors(svg: str) -> str:
    """The same chart with the reader's fonts and a style sheet for dark pages."""
    rules = "".join(
        f"[style*='{kind}: {light}']{{{kind}:{dark}!important}}"
        for light, dark in ON_DARK.items()
        for kind in ("fill", "stroke")
        if f"{kind}: {light}" in svg
    )
    fonts = "text{font-family:system-ui,-apple-system,'Segoe UI',sans-serif!important}"
    style = f"<style>{fonts}@media (prefers-color-scheme: dark){{{rules}}}</style>"
    head, closed, rest = svg.partition("</metadata>")
    return f"{head}{closed}\n {style}{rest}"
