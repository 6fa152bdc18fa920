"""The command `neardup filter`."""

from typing import Any

import click

from neardup.cli import options
from neardup.io.shards import demand_present
from neardup.recipe.presets import RECIPES


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option(
    "--index", "path", required=True, metavar="PATH", help="A folder; the index is created if it does not exist."
)
@click.option("-o", "--output", default="-", metavar="FILE", help="A file of lines, not compressed (standard output).")
@click.option(
    "--audit",
    metavar="FILE",
    help="File for the duplicates: id, row, matched_id, distance (OUT without its ending + .duplicates.jsonl).",
)
@options.reading
@click.option(
    "--recipe",
    metavar="NAME|FILE.toml",
    help=f"Recipe of a new index: one of {', '.join(RECIPES)}, or a file (default). An existing index has its own.",
)
@click.option(
    "--max-distance",
    type=int,
    metavar="N",
    help="Hamming distance up to which a document is a duplicate (the index's; for a new index the recipe's).",
)
@click.option(
    "--integer-ids", is_flag=True, help="For a new index: all ids are integers; otherwise they are stored as strings."
)
@click.option(
    "--give-up",
    is_flag=True,
    help="If a run of another command was interrupted, end it, and publish its outputs with the lines so far.",
)
@options.overwrite
@options.on_error
@options.threads
@options.quiet
def command(inputs: tuple[str, ...], output: str, recipe: str | None, quiet: bool, **chosen: Any) -> None:
    """Pass on new documents, remember them in an index, and set the others aside.

    INPUT: JSON lines, or text files with --lines (standard input). Documents that are near no document of the index go to the
    output, byte for byte and in their order. If a run from files to a file is interrupted, the same command continues it.
    """
    demand_present(inputs)
    from neardup.jobs.filter import filter_files
    from neardup.recipe.presets import find_recipe

    progress = options.progress(quiet)
    path = chosen.pop("path")
    found = filter_files(
        path,
        inputs or "-",
        output,
        recipe=find_recipe(recipe) if recipe else None,
        progress=progress,
        **chosen,
    )
    progress.say(f"{found.passed:,} of {found.rows:,} documents are new, {found.duplicates:,} are duplicates: {path}")
