"""What a terminal shows: colors where one is, lines that fit it, and more of them with `--verbose`."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

import click

from neardup.cli.parsing.flags import in_flags
from neardup.display import LABEL_WIDTH, SPACE, ToldLine, broken, labeled, printable

if TYPE_CHECKING:
    from neardup.jobs.results import JobResult

_VERBOSE = "neardup.verbose"

COLORS = {
    "kept": "green",
    "use": "green",
    "nearest": "yellow",
    "new": "green",
    "match": "green",
    "no match": "yellow",
    "known": "red",
    "removed": "red",
    "marked": "red",
    "duplicates": "red",
    "skipped": "yellow",
    "warning": "yellow",
    "next": "cyan",
}
"""The colors of labels that have one."""

UNBROKEN = (
    "output",
    "audit",
    "report",
    "items",
    "summary",
    "chart",
    "index",
    "store",
    "texts",
    "plot",
    "run",
    "next",
    "pairs",
)
"""Labels of names and commands, which stay whole, so that they can be copied."""


def colors() -> bool | None:
    """Whether output is in color: as the environment says, or None for output that goes to a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return False if os.environ.get("TERM") == "dumb" else None


class TerminalContext(click.Context):
    """The context of every command, whose help is in color on a terminal."""

    def make_formatter(self) -> click.HelpFormatter:
        """See `click.Context`."""
        return _Help(width=self.terminal_width, max_width=self.max_content_width)


class _Help(click.HelpFormatter):
    """Help with colors, which `click.echo` leaves out where they do not belong."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, click.style("Usage:", bold=True) + " " if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        super().write_heading(click.style(heading, bold=True))

    def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(click.style(name, fg="cyan"), text) for name, text in rows], col_max, col_spacing)


def error_line(message: str) -> str:
    """An error as it is shown."""
    shown = fitting(f"neardup: error: {printable(message)}", sys.stderr)
    return shown.replace("error:", click.style("error:", fg="red", bold=True), 1)


def fitting(text: str, stream: TextIO | None) -> str:
    """A text broken between words where it goes to a terminal; what is in backticks stays whole, so that it can be copied.

    Further lines begin below the last column of a table: what follows the last two spaces.
    """
    if stream is None or stream.closed or not stream.isatty():  # None: it was closed before the program began
        return text
    width = columns(stream) - 1
    return "\n".join(each for line in text.split("\n") for each in _fitting(line, width))


def _fitting(line: str, width: int) -> Iterator[str]:
    column = line.rfind("  ") + 2
    indent = " " * (column if 2 <= column <= width // 2 else 0)
    return broken(SPACE.split(line), width, indent)


def tell(lines: Iterable[ToldLine], *, quiet: bool = False, err: bool = True, width: int | None = None) -> None:
    """Print what a command did, unless `quiet`: one labeled line for each fact.

    They are wrapped where they go to a terminal, and elsewhere only if a `width` is given.
    """
    if quiet:
        return
    stream = sys.stderr if err else sys.stdout
    command = click.get_current_context().command
    shown = ((label, in_flags(printable(text), command)) for label, text in lines)
    width = columns(stream) - 1 if stream.isatty() else width
    if width is not None:
        shown = (each for label, text in shown for each in _wrapped(label, text, width))
    click.echo(labeled(_colored(shown)), err=err)


def tell_result(
    done: "JobResult", next_command: Callable[[Any], str | None] | None = None, *, quiet: bool, as_json: bool
) -> None:
    """Print the result of a run, `as_json` on standard output.

    Otherwise, with `--verbose`, also how the work was done, and at the end the command that may come next.
    """
    if as_json:
        click.echo(done.to_json(), nl=False)
    elif not quiet:
        details = done.details() if is_verbose() else ()
        following = next_command(done) if next_command else None
        tell([*done.lines(), *details, *([("next", following)] if following else [])])


def columns(stream: TextIO) -> int:
    """The width of the terminal that a stream goes to; 80 where it goes elsewhere."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return shutil.get_terminal_size((80, 24)).columns


def line_width() -> int:
    """Columns of a line on standard output that does not wrap: one less than its terminal has, else 80."""
    return columns(sys.stdout) - 1 if sys.stdout.isatty() else 80


def _colored(lines: Iterable[ToldLine]) -> Iterator[ToldLine]:
    for label, text in lines:
        padded = f"{label:<{LABEL_WIDTH}}"
        yield click.style(padded, fg=COLORS.get(label), bold=True) if label else padded, text


def _wrapped(label: str, text: str, width: int) -> Iterator[ToldLine]:
    """A line as lines that fit, broken between words."""
    if label in UNBROKEN:
        yield label, text
        return
    for line in broken(text.split(" "), width - LABEL_WIDTH):
        yield label, line
        label = ""


def keep_verbose(context: click.Context, _: click.Parameter, given: bool) -> None:
    """Keep the value of `--verbose`, of which no function of a command needs to know."""
    context.meta[_VERBOSE] = given


def is_verbose() -> bool:
    """Whether the current command has `--verbose`."""
    return bool(click.get_current_context().meta.get(_VERBOSE))
