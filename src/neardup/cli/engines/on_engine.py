"""What the commands on engines have in common: the flags of `neardup dedup`, by that command's own declarations, and some more."""

import contextlib
import copy
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import click

from neardup.cli.commands import dedup
from neardup.cli.parsing import values


def _refuse(engine: str, refused: Mapping[str, str], _: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value not in (None, False):
        flag = parameter.opts[0]
        raise click.UsageError(f"On {engine}, {flag} is not taken. {refused[parameter.name or '']}")


def declared(
    engine: str, refused: Mapping[str, str], changed: Mapping[str, Mapping[str, Any]]
) -> Iterator[click.Parameter]:
    """The parameters of `neardup dedup`, as they are on an engine.

    Args:
        engine: its name.
        refused: the options that are not taken, with what to do instead.
        changed: those that are taken, with what they declare otherwise.
    """
    for each in dedup.command.params:
        name = each.name or ""
        if name in refused and isinstance(each, click.Option):
            names = [*each.opts, name]
            call = partial(_refuse, engine, refused)
            yield click.Option(names, is_flag=each.is_flag, hidden=True, expose_value=False, callback=call)
        elif name in changed:
            ours = copy.copy(each)
            for field, value in changed[name].items():
                setattr(ours, field, value)
            yield ours


def demand_possible(
    engine: str, output: str | None, text: Sequence[str], given: Sequence[str | None], *, plans: bool
) -> None:
    """Refuse a call that no engine can do. `given`: all paths; `plans`: whether nothing is to run.

    Raises:
        click.UsageError: it is one.
    """
    if output is None and not plans:
        raise click.UsageError("Give -o OUT, or --plan to run nothing.")
    if "-" in (*given, output):
        raise click.UsageError(
            f"A cluster has no standard input and output: give paths that {engine} reads and writes."
        )
    if len(text) != 1:
        raise click.UsageError(f"--text: on {engine}, texts are in one column. Join several first, and name that one.")


@contextlib.contextmanager
def logged(*, quiet: bool) -> Iterator[None]:
    """Show the plan and each stage, as the logger tells of them."""
    logger, lines = logging.getLogger("neardup"), _Lines()
    before = logger.level
    if not quiet:
        logger.addHandler(lines)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(lines)
        logger.setLevel(before)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        click.echo(record.getMessage(), err=True)


def engine_options(*, formats: Sequence[str], workers: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put the options to a function that all commands on engines have. `workers`: what runs tasks, in the words of the engine."""
    found = [
        click.option(
            "--order",
            multiple=True,
            metavar="COLUMN",
            type=values.COLUMN,
            help="Column by which the documents are in order, then by id; repeatable (the paths of files, and the rows in them).",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(list(formats)),
            default="parquet",
            show_default=True,
            help="Format of paths whose ending tells none; json is JSON lines.",
        ),
        click.option(
            "--work",
            metavar="DIR",
            type=values.FILE,
            help=f"Folder that all {workers} read and write, for what goes from stage to stage; it stays (OUT without its ending + "
            ".work, which is removed at the end).",
        ),
        click.option("--plan", "plan_only", is_flag=True, help="Show what the job takes, and run nothing."),
    ]

    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(found):
            function = option(function)
        return function

    return put
