"""The command `neardup recipes`."""

from typing import Any

import click

from neardup.profiles.names import NOT_DECIDED
from neardup.recipe import RECIPES


@click.command()
def command() -> None:
    """List the named recipes, what each is for, and its digest."""
    for name, named in RECIPES.items():
        click.echo(f"{name}  ({named.recipe.digest()})\n    {named.purpose}")
        known = named.recipe.as_dict() | {"max_distance": named.recipe.max_distance}
        if named.recipe.profile is not None:
            known = {field: known[field] for field in NOT_DECIDED}
        click.echo("    " + ", ".join(f"{field}={shown(value)}" for field, value in known.items()))


def shown(value: Any) -> str:
    """A field's value, the name of what is more than a name."""
    if isinstance(value, list):
        return ",".join(map(shown, value)) or "none"
    return str(value.get("name", value)) if isinstance(value, dict) else str(value)
