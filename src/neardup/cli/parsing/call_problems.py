"""What is wrong with a call, of what click finds: click's own words, or better ones with what is allowed and what may be meant."""

import re
from collections.abc import Iterable
from typing import Any

import click

from neardup.recipe.tables.spellings import meant_name

_KINDS = {"integer": "an integer", "float": "a number"}
"""What is given to an option whose value is called by a letter."""
_PYTHON = re.compile(r", as in [^;]*")
"""The part of a purpose that names functions."""
_NOT_A_CHOICE = re.compile(r"^'(.*?)' is not one of ", re.DOTALL)


def call_problem(problem: click.ClickException, command: click.Command) -> str:
    """The message of a call that click refuses; `command`: the one that is called."""
    context = getattr(problem, "ctx", None)
    told = _of_no_such_option(problem, command) or _of_no_value(problem, command) or _of_choice(problem)
    hint = f"\nTry '{context.command_path} --help'." if context else ""
    return (told or problem.format_message()) + hint


def nearest(given: str, allowed: Iterable[str]) -> str:
    """A question with the most similar allowed word, or nothing."""
    near = meant_name(given, list(allowed))
    return f" Did you mean {near}?" if near else ""


def _of_no_such_option(problem: click.ClickException, command: click.Command) -> str:
    if not isinstance(problem, click.NoSuchOption) or not problem.option_name.startswith("--"):
        return ""
    from neardup.options import PURPOSES, ReferenceOptions, WholeClusterOptions, meant_option

    flags = {flag[2:].replace("-", "_"): flag for each in command.params for flag in each.opts}
    given = problem.option_name[2:].replace("-", "_")
    of_whole_runs = (
        purpose
        for kind, purpose in PURPOSES
        if kind in (ReferenceOptions, WholeClusterOptions) and given in kind.__annotations__
    )
    if (purpose := next(of_whole_runs, None)) is not None:
        told = _PYTHON.sub(", in `neardup dedup`", purpose).replace("`keep`", "--keep")
        return f"No such option {problem.option_name!r}: it {told}."
    meant = meant_option(given, flags)
    # click's own words vary by version
    return f"No such option {problem.option_name!r}." + (f" Did you mean {flags[meant]!r}?" if meant else "")


def _of_no_value(problem: click.ClickException, command: click.Command) -> str:
    """An option without its value, or no word for an argument that has choices."""
    if isinstance(problem, click.MissingParameter) and isinstance(problem.param, click.Argument):
        choices = problem.param.type
        return (
            f"Give {problem.param.metavar or problem.param.name.upper()}: one of {_listed(choices)}."
            if _has_choices(choices)
            else ""
        )
    if not isinstance(problem, click.BadOptionUsage) or "requires" not in problem.message:
        return ""
    flag = problem.option_name
    option = next((each for each in command.params if flag in each.opts), None)
    if option is None:
        return ""
    if _has_choices(option.type):
        return f"{flag}: give one of {_listed(option.type)} after it."
    named = option.metavar or option.type.name.upper()
    return f"{flag}: give {_KINDS.get(option.type.name, named) if len(named) == 1 else named} after it."


def _of_choice(problem: click.ClickException) -> str:
    """A word that is none of the choices of an option or an argument."""
    found = _NOT_A_CHOICE.match(problem.message) if isinstance(problem, click.BadParameter) else None
    param = getattr(problem, "param", None)
    if found is None or param is None or not _has_choices(param.type):
        return ""
    name = min(param.opts, key=len) if isinstance(param, click.Option) else ""
    given = f"{name} {found[1]}".strip()
    return f"{given}: give one of {_listed(param.type)}.{nearest(found[1], param.type.choices)}"


def _has_choices(kind: Any) -> bool:
    return isinstance(kind, click.Choice)


def _listed(kind: Any) -> str:
    return ", ".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else kind.name
