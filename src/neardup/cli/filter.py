"""The command `neardup filter`."""

from typing import Any

import click

from neardup.cli import options
from neardup.recipe.presets import RECIPES


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option("--index", "path", required=True, metavar="PATH", help="A folder; the index is made if it is not there.")
@click.option("-o", "--output", default="-", metavar="FILE", help="A plain file of lines (standard output).")
@click.option(
    "--audit",
    metavar="FILE",
    help="Where to write the duplicates: id, row, matched_id, distance (OUT without its ending + .duplicates.jsonl).",
)
@options.reading
@click.option(
    "--recipe",
    metavar="NAME|FILE.toml",
    help=f"Of a new index: one of {', '.join(RECIPES)}, or a file (default). An index that is there has its own.",
)
@click.option(
    "--max-distance",
    type=int,
    metavar="N",
    help="Hamming distance up to which a document is a duplicate (the index's; of a new one the recipe's).",
)
@click.option(
    "--integer-ids", is_flag=True, help="Of a new index: all ids are integers; else they are kept as strings."
)
@click.option(
    "--give-up",
    is_flag=True,
    help="If a run of another command was interrupted, end it: its outputs appear with what they have.",
)
@options.overwrite
@options.on_error
@options.threads
@options.quiet
def command(inputs: tuple[str, ...], output: str, recipe: str | None, quiet: bool, **chosen: Any) -> None:
    """Pass on documents that are new, remember them, and set the others aside.

    INPUT: JSON lines, or text files with --lines (standard input). The bytes of documents near which none was kept go to the
    output, in their order. From files to a file, a run that was interrupted is continued by the same command.
    """
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
