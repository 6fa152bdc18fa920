"""Display of results: numbers in sentences, labeled lines, and small HTML tables for notebooks, with all text escaped."""

import contextlib
import html
import itertools
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

SHOWN_ROWS = 10
"""Rows of a table that a notebook shows."""

SHOWN_CHARACTERS = 80
"""Characters of a value that a notebook shows."""

SHOWN_REASONS = 5
"""Reasons that a message lists."""

DIGITS, MAX_DIGITS = 4, 17
"""Digits of a similarity after the point, and so many where that is not enough; a double between 0.1 and 1 has no more."""


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BYTES = re.compile("[\udc80-\udcff]")
"""What Python makes of bytes in names of files that are not UTF-8."""


SPACE = re.compile(r" (?=(?:[^`]*`[^`]*`)*[^`]*$)")
"""A space at which a line may be broken: none in backticks."""


def printable(text: str) -> str:
    """Text for a terminal: control characters, which may stand in names of files, are shown and do nothing."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", with_bytes(text))


def say_aside(text: str, end: str = "\n") -> None:
    """Print on standard error. That it is closed, or takes no more, is no reason to stop."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(text, end=end, file=sys.stderr, flush=True)


def with_bytes(text: str) -> str:
    r"""Text in which names of files are shown that are not UTF-8: `caf\xe9`."""
    return _BYTES.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", text)


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: `1 pair`, `2,000 pairs`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def reasons_text(reasons: Mapping[str, int]) -> str:
    """The most frequent reasons, with how often each occurs: `900: its column "text" is null; 17: malformed JSON`."""
    shown = [f"{number:,}: {reason}" for reason, number in itertools.islice(reasons.items(), SHOWN_REASONS)]
    others = sum(itertools.islice(reasons.values(), SHOWN_REASONS, None))
    return "; ".join(shown + ([f"{others:,}: other reasons"] if others else []))


def size_text(size: float) -> str:
    """A number of bytes, in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} TiB"


def allowed_text(memory: int, temporary: int) -> str:
    """What a run may take, in bytes."""
    return f"{size_text(memory)} of memory, {size_text(temporary)} of temporary files"


def duration(seconds: float) -> str:
    """Format a duration in the unit that fits it: `40 s`, `12 minutes`, `3.5 hours`, `2.1 days` or `45 years`."""
    for limit, unit, size in ((120, "s", 1.0), (7_200, "minutes", 60.0)):
        if seconds < limit:
            return f"{seconds / size:,.0f} {unit}"
    if seconds < 172_800:
        return f"{seconds / 3_600:,.1f} hours"
    days = seconds / 86_400
    return f"{days:,.1f} days" if days < 10 else f"{days:,.0f} days" if days < 1_000 else f"{days / 365.25:,.0f} years"


def about(seconds: float) -> str:
    """An estimated duration: `less than 1 s`, `about 40 s`."""
    return "less than 1 s" if seconds < 1 else f"about {duration(seconds)}"


def share_text(part: int, whole: int) -> str:
    """A part of a whole in percent, in parentheses after its number: ` (27.8 %)`; nothing where there is no whole."""
    return f" ({100 * part / whole:.1f} %)" if whole else ""


def similarity_text(value: float, threshold: float = 0.0) -> str:
    """A similarity with four digits after the point, rounded; with more where it would seem to be on another side of a bound.

    The bounds are 0, 1 and the threshold: what is below 1 is never shown as 1, and what is below the threshold never as the
    threshold. `similarity` in the page's `language.js` is the same function.

    >>> similarity_text(2 / 3), similarity_text(0.79996), similarity_text(0.79996, threshold=0.8)
    ('0.6667', '0.8000', '0.79996')
    """
    exact = Decimal(float(value))
    for digits in range(DIGITS, MAX_DIGITS + 1):
        shown = f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"
        if _sides(float(shown), threshold) == _sides(value, threshold):
            return shown
    return repr(float(value))


def threshold_text(value: float) -> str:
    """A threshold as it was given: with all digits that it has.

    >>> threshold_text(0.8), threshold_text(1.0)
    ('0.8', '1')
    """
    return repr(float(value)).removesuffix(".0")


def _sides(value: float, threshold: float) -> tuple[bool, bool, bool]:
    return value > 0, value >= 1, value >= threshold


ToldLine = tuple[str, str]
"""A line of what was done: its label, such as `read`, `kept`, `removed` or `output`, and what it says."""

LABEL_WIDTH = 9
"""Columns of a label with the space behind it."""


def labeled(lines: Iterable[ToldLine]) -> str:
    """Lines with labels as text: the labels in a column, and beside them what each says. Without a label, a line goes on."""
    return "\n".join(f"{label:<{LABEL_WIDTH}}{text}" if text else label for label, text in lines)


def display_width(text: str) -> int:
    """Columns that a terminal shows a text in: wide and full-width characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def broken(words: Iterable[str], width: int, indent: str | None = None) -> Iterator[str]:
    """Words as lines, as many in one as fit. Further lines are indented; without `indent`, no line begins with spaces."""
    line, begin = list[str](), ""
    for word in words:
        if any(line) and display_width(begin + " ".join([*line, word])) > width:
            yield begin + " ".join(line)
            line, begin = [], indent or ""
        line = [word] if indent is None and not any(line) else [*line, word]
    yield begin + " ".join(line)


def cut(text: str, columns: int) -> str:
    """The beginning of a text that fits in this many columns of a terminal."""
    if display_width(text) <= columns:
        return text
    taken = 0
    for place, character in enumerate(text):
        taken += _columns_of(character)
        if taken > columns:
            return text[:place]
    return text


def shortened(value: object, most: int = 60) -> str:
    """A value of the data in a message: its first characters, since ids and numbers may be as long as a text."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}…"


def as_code(names: Iterable[str], joint: str = ", ") -> str:
    """Format names of options as code in backticks, as every message has them."""
    return joint.join(f"`{name}`" for name in names)


def html_sentence(text: str) -> str:
    """A sentence as HTML: escaped, and what is in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def html_table(names: Iterable[str], rows: Iterable[Sequence[Any]], total: int | None = None, *, kind: str = "") -> str:
    """Format rows as an HTML table with column names.

    `total` is the number of all rows if only the first are shown; `kind` is the class of the table.
    """
    shown = [_row("td", row) for row in rows]
    head, body = _row("th", names), "".join(shown)
    more = "" if total is None or total <= len(shown) else f"<p>… and {total - len(shown):,} more</p>"
    opening = f"<table class='{kind}'>" if kind else "<table>"
    return f"{opening}<thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _row(kind: str, values: Iterable[Any]) -> str:
    return "<tr>" + "".join(f"<{kind}>{_cell(value)}</{kind}>" for value in values) + "</tr>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
    text = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return html.escape(text)
