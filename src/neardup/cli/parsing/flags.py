"""Messages for users of the command line, with options as flags.

Outside this folder, messages name options as in Python, as code in backticks: `` `overwrite=True` ``, `` `max_distance` ``.
"""

import ast
import re
import shlex
from collections.abc import Sequence
from typing import Any

import click

_VALUE = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^`'"])+"""
_OPTION = re.compile(rf"(?<![^\s(\[])`([a-z_]+)(?:=({_VALUE})?)?`(?!\.?[\w/`-])")


def in_flags(message: str, command: click.Command) -> str:
    """The message with the command's options as flags: `--on-error skip` for `` `on_error='skip'` ``.

    Arguments become their metavar, `INPUT` for `` `inputs` ``. Code that names no parameter of the command stays as it is.
    """
    named = _parameters(command)
    return _OPTION.sub(lambda span: _shown(named[span[1]], span[2]) if span[1] in named else span[0], message)


def called(command: click.Command, words: Sequence[str]) -> click.Command:
    """The command that the first words of a command line name below `command`."""
    for word in words:
        if not isinstance(command, click.Group):
            break
        if not word.startswith("-"):
            found = command.get_command(click.Context(command), word)
            if found is None:
                break
            command = found
    return command


def _parameters(command: click.Command) -> dict[str, click.Parameter]:
    """The parameters by the names of their flags, and by their names in Python, which come first."""
    by_flag = {flag[2:].replace("-", "_"): each for each in command.params for flag in each.opts if flag[:2] == "--"}
    return by_flag | {each.name: each for each in command.params if each.name}


def _shown(parameter: click.Parameter, value: str | None) -> str:
    """The flag, or the metavar of an argument; with the value, if the message has one."""
    if isinstance(parameter, click.Option):
        name = min(parameter.opts, key=len)  # -o rather than --output
    else:
        name = (parameter.metavar or (parameter.name or "").upper()).strip("[].")
    if value is None:
        return name
    try:
        given = ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # as its documentation lists them
        return f"{name} {value}"
    return _with_value(parameter, name, given)


def _with_value(parameter: click.Parameter, name: str, given: Any) -> str:
    if given is None or given is False or given == () or given == []:
        return next(iter(parameter.secondary_opts), f"without {name}")
    if given is True:
        return name
    if not isinstance(given, list | tuple):
        return f"{name} {shlex.quote(str(given))}"
    words = [shlex.quote(str(each)) for each in given]
    if parameter.multiple:
        return " ".join(f"{name} {word}" for word in words)
    return f"{name} {' '.join(words) if parameter.nargs != 1 else ','.join(words)}"
