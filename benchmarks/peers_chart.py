"""The chart of the home page from the record of `dedup_peers.py`: a table of HTML with bars, in the colors of the page."""

import re
from html import escape

from cells import Record, number, share
from comparison_chart import label_of

LOW = 0.9
"""Recall and precision below this are marked."""


def peers(record: Record) -> str:
    """A row for each contender that lists pairs, the fastest first."""
    done = [(name, of) for name, of in record["results"].items() if "processor_seconds" in of and "pairs" in of]
    done = sorted(
        (each for each in done if each[0] != "neardup auto, pairs"), key=lambda each: each[1]["processor_seconds"]
    )
    most = max(of["processor_seconds"] for _, of in done)
    rows = "\n".join(_row(label_of(name), of, most) for name, of in done)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("tool", "CPU seconds", "recall", "precision"))
    return f'<table class="peers">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>'


def _row(name: str, of: Record, most: float) -> str:
    kind = ' class="ours"' if name.startswith("neardup") else ""
    bar = f'<span class="bar" style="--share: {of["processor_seconds"] / most:.3f}"></span>{number(of["processor_seconds"])}'
    found = "".join(_quality(of["pairs"][quality]) for quality in ("recall", "precision"))
    label = re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", escape(name))  # on phones, names of classes are divided at words
    return f'<tr{kind}><th scope="row">{label}</th><td class="time">{bar}</td>{found}</tr>'


def _quality(value: float) -> str:
    kind = ' class="low"' if value < LOW else ""
    return f"<td{kind}>{share(value)}</td>"
