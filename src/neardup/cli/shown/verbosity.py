"""Whether a command was asked to tell how its work is done."""

import click

_KEY = "neardup.verbose"


def keep_verbose(context: click.Context, _: click.Parameter, given: bool) -> None:
    """Keep the value of `--verbose`, of which no function of a command needs to know."""
    context.meta[_KEY] = given


def is_verbose() -> bool:
    """Whether the current command has `--verbose`."""
    return bool(click.get_current_context().meta.get(_KEY))
