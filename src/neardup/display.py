"""How results are shown: numbers in sentences, and small HTML tables in notebooks, every text of them escaped."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

SHOWN_ROWS = 10
"""Rows of a table that are shown."""

SHOWN_CHARACTERS = 80
"""Characters of a value that are shown."""


def counted(number: int, noun: str) -> str:
    """`1 pair`, `2,000 pairs`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def html_table(names: Iterable[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """Rows under their names as an HTML table; `total`: of so many rows, if those are but the first."""
    shown = [_row("td", row) for row in rows]
    head, body = _row("th", names), "".join(shown)
    more = "" if total is None or total <= len(shown) else f"<p>… and {total - len(shown):,} more</p>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _row(kind: str, values: Iterable[Any]) -> str:
    return "<tr>" + "".join(f"<{kind}>{_cell(value)}</{kind}>" for value in values) + "</tr>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
    text = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return html.escape(text)
