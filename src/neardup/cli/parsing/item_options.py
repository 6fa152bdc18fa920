"""The flags of commands that look for the items of a reference in documents."""

from collections.abc import Callable

import click

from neardup.cli.parsing.options import Function, several
from neardup.cli.parsing.values import NUMBER, REFERENCE_COLUMN
from neardup.matching.contamination.options import DecontaminationOptions

DEFAULTS = DecontaminationOptions()


def columns_against(of: str) -> Callable[[Function], Function]:
    """The flags for the columns of a reference that has others than the inputs; `of`: whose they are, for the help texts."""
    return several(
        click.option(
            "--against-text",
            multiple=True,
            type=REFERENCE_COLUMN,
            help=f"Column of {of} text (that of --text); several are joined by a newline; repeatable.",
        ),
        click.option("--against-id", type=REFERENCE_COLUMN, help=f"Column of {of} id (that of --id)."),
    )


def contained(share: str, run: str, tokens: str) -> Callable[[Function], Function]:
    """The flags for when a passage is one of an item, with their help texts."""
    return several(
        click.option(
            "--min-share", type=NUMBER, default=DEFAULTS.min_share, show_default=True, metavar="S", help=share
        ),
        click.option("--min-run", type=int, default=DEFAULTS.min_run, show_default=True, metavar="TOKENS", help=run),
        click.option(
            "--min-tokens", type=int, default=DEFAULTS.min_tokens, show_default=True, metavar="TOKENS", help=tokens
        ),
    )
