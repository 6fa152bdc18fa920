"""The command `neardup pairs`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import tell
from neardup.display import counted
from neardup.io.corpora.shards import demand_present
from neardup.options import OnError


@click.command()
@options.inputs
@click.option(
    "-o", "--output", required=True, type=values.FILE, help="A file: .jsonl, plain or compressed, or .parquet."
)
@click.option(
    "--against",
    multiple=True,
    metavar="OTHER",
    type=values.FILE,
    help="List only pairs between INPUT and these inputs, which are of the same kind; repeatable.",
)
@click.option(
    "--distinct",
    is_flag=True,
    help="List only the first of several equal texts on each side; `neardup clusters` finds the others.",
)
@options.reading_or_elements
@options.near
@options.recipe_or_default("A name that `neardup recipes` lists, or a .toml file (default; the fingerprints' own).")
@options.overwrite
@options.on_error
@options.resources
@options.shown
def command(
    inputs: tuple[str, ...], output: str, against: tuple[str, ...], distinct: bool, recipe: str | None, on_error: OnError,
    overwrite: bool, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """List the pairs of near-duplicate documents.

    INPUT: texts, or fingerprint files that `neardup fingerprint` wrote. Output: left_id, right_id, distance, similarity (null if
    unknown), and the file and the row of both documents. FILE.summary.json beside it has the options, for `neardup clusters`.
    """
    demand_present(inputs)
    from neardup.jobs.stages.pairs import pair_files
    from neardup.recipe.presets import find_recipe

    if not options.is_given("min_similarity"):
        del chosen["min_similarity"]  # fingerprint files have no similarity, so they refuse this option
    total = pair_files(
        inputs,
        output,
        recipe=find_recipe(recipe) if recipe else None,
        against=against,
        distinct=distinct,
        on_error=on_error,
        overwrite=overwrite,
        progress=options.progress(quiet),
        **chosen,
    )
    tell([("found", counted(total, "pair")), ("output", output)], quiet=quiet)
