"""The values of a file given with `--config`, checked like those of the command line."""

from typing import Any

import click

from neardup.errors import InputError, OptionError
from neardup.options import meant_option
from neardup.recipe.files.toml_file import toml_values


def read_config(context: click.Context, files: tuple[str, ...]) -> dict[str, Any]:
    """The values of the options of the context's command, by the names of its parameters.

    Raises:
        InputError: more than one file is given, or it cannot be read.
        OptionError: a key names no option, or a value is not allowed; the message lists all of them.
    """
    if len(files) > 1:
        raise InputError(f"--config is given {len(files)} times: {', '.join(files)}. Put all options into one file.")
    [name] = files
    values = toml_values(name, "configuration file", "Name an existing file.")
    known = {
        flag[2:].replace("-", "_"): each
        for each in context.command.params
        if isinstance(each, click.Option) and each.name != "config"
        for flag in each.opts
        if flag.startswith("--")
    }
    problems: list[str] = []
    found: dict[str, Any] = {}
    for place, keys in _levels(context, name, values):
        given: dict[str, str] = {}
        for key, value in keys.items():
            option = key.replace("-", "_")
            if option not in known:
                problems.append(_unknown(place, key, known))
            elif option in given:
                problems.append(f"{place}{key} is there twice, also as {given[option]}: leave one out")
            else:
                given[option] = key
                parameter = known[option]
                try:
                    found[parameter.name or ""] = _checked(context, parameter, value)
                except (click.BadParameter, ValueError) as problem:
                    problems.append(f"{place}{key} = {_shown(value)}: {_reason(problem)}")
    if problems:
        raise OptionError(f"{name}: {'; '.join(problems)}.")
    return found


def _levels(context: click.Context, name: str, values: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The names and keys of the top level and of each table on the path to the command; later ones override earlier ones.

    Tables of other commands are ignored.

    Raises:
        OptionError: a table belongs to no command.
    """
    contexts = [context]
    while contexts[0].parent is not None:
        contexts.insert(0, contexts[0].parent)
    levels, called = [], ""
    for outer, inner in zip(contexts, [*contexts[1:], None], strict=True):
        tables = {key: value for key, value in values.items() if isinstance(value, dict)}
        commands = outer.command.list_commands(outer) if isinstance(outer.command, click.Group) else []
        for table in tables:
            if table not in commands:
                meant = meant_option(table, commands)
                raise OptionError(
                    f"{name}: [{called}{table}] is a table of no command{f' (did you mean [{called}{meant}]?)' if meant else ''}. "
                    f"{'Tables are for ' + ', '.join(commands) if commands else 'Options here are no tables'}."
                )
        levels.append((f"[{called[:-1]}] " if called else "", {k: v for k, v in values.items() if k not in tables}))
        if inner is None or inner.info_name not in tables:
            break
        called, values = f"{called}{inner.info_name}.", tables[inner.info_name]
    return levels


def _unknown(place: str, key: str, known: dict[str, click.Option]) -> str:
    meant = meant_option(key.replace("-", "_"), known)
    hint = f" (did you mean {meant.replace('_', '-')}?)" if meant else ""
    return f"{place}{key}: the command has no option of this name{hint}"


def _checked(context: click.Context, option: click.Option, value: Any) -> Any:
    """Check a value, and convert it to what the command line would pass.

    Raises:
        ValueError: the value has another type.
        BadParameter: the value is not allowed.
    """
    if option.is_flag:
        if not isinstance(value, bool):
            raise ValueError("give true or false")
        return value
    if option.nargs > 1:
        if not isinstance(value, list) or len(value) != option.nargs:
            raise ValueError(f"give a list of {option.nargs}")
        return option.type_cast_value(context, [_word(each) for each in value])
    if isinstance(value, list) and not option.multiple and option.type.name == "names":
        return option.type_cast_value(context, [_word(each) for each in value])
    if option.multiple:
        words = [_word(each) for each in (value if isinstance(value, list) else [value])]
        option.type_cast_value(context, words)
        return words
    word = _word(value)
    option.type_cast_value(context, word)
    return word


def _word(value: Any) -> str:
    """The value as a word of the command line."""
    if isinstance(value, bool):
        raise ValueError("this is no flag; give its value")
    if isinstance(value, list):
        raise ValueError("give one value, not a list")
    if not isinstance(value, str | int | float):
        raise ValueError("give a string or a number")
    return str(value)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _reason(problem: Exception) -> str:
    text = problem.message if isinstance(problem, click.BadParameter) else str(problem)
    return text.rstrip(".")
