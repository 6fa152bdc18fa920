"""The command `neardup recipes`."""

from typing import Any

import click

from neardup.recipe.presets import RECIPES
from neardup.recipe.tables.profiles import NOT_DECIDED


@click.command()
def command() -> None:
    """List the named recipes with their purposes and digests."""
    for name, named in RECIPES.items():
        click.echo(f"{name}  ({named.recipe.digest()})\n    {named.purpose}")
        known: dict[str, Any] = {}
        for field, value in named.recipe.as_dict().items():
            known |= {field: value}
            if field == "min_tokens":
                known |= {"max_distance": named.recipe.max_distance}
        if named.recipe.profile is not None:
            known = {field: known[field] for field in NOT_DECIDED if field in known}
        click.echo("    " + ", ".join(f"{field}={shown(value)}" for field, value in known.items()))


def shown(value: Any) -> str:
    """Format the value of a field; a part with several properties is shown by its name."""
    if isinstance(value, list):
        return ",".join(map(shown, value)) or "none"
    return str(value.get("name", value)) if isinstance(value, dict) else str(value)
