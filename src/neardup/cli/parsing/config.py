"""The option `--config` of every command, which reads the command's options from a TOML file."""

import click

from neardup.cli.parsing.values import FILE
from neardup.cli.shown.terminal import TerminalContext

HELP = (
    "Read options from this TOML file. Names have - or _, flags are true or false, repeatable options are lists. Keys in a table "
    "such as [dedup] or [index.build] are for that command only and override keys at the top; the command line overrides both."
)


def add_config(command: click.Command) -> None:
    """Add the option to a command, or to all commands of a group, unless they have it."""
    command.context_class = TerminalContext
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            add_config(inner)
    elif all(each.name != "config" for each in command.params):
        command.params.append(
            click.Option(
                ["--config"],
                multiple=True,
                is_eager=True,  # the defaults of the other options come from it
                expose_value=False,
                callback=_take,
                metavar="FILE.toml",
                type=FILE,
                help=HELP,
            )
        )


def _take(context: click.Context, _: click.Parameter, files: tuple[str, ...]) -> None:
    """Use the values of the file as defaults of the command's options."""
    if not files or context.resilient_parsing:
        return
    from neardup.cli.parsing.config_file import read_config  # on first use: `--help` loads no options

    context.default_map = read_config(context, files)
