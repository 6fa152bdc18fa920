"""The command `neardup recipes`."""

import dataclasses

import click

from neardup.recipe import RECIPES


@click.command()
def command() -> None:
    """List the named recipes, what each is for, and its digest."""
    for name, named in RECIPES.items():
        click.echo(f"{name}  ({named.recipe.digest()})\n    {named.purpose}")
        fields = dataclasses.asdict(named.recipe)
        click.echo("    " + ", ".join(f"{field}={value}" for field, value in fields.items()))
