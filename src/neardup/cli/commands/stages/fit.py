"""The command `neardup fit`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import tell
from neardup.display import counted
from neardup.io.corpora.shards import demand_present
from neardup.options import OnError


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT]...", type=values.FILE)
@click.option("-o", "--output", required=True, type=values.FILE, help="A .parquet file.")
@click.option(
    "--merge",
    multiple=True,
    type=values.FILE,
    help="Add the counts of this file, which `neardup fit` wrote for the same tokens; repeatable. Documents in several files are "
    "counted several times.",
)
@options.reading
@options.recipe
@options.overwrite
@options.on_error
@options.memory
@options.threads
@options.temporary_files
@options.shown
def command(
    inputs: tuple[str, ...], output: str, merge: tuple[str, ...], recipe: str, overwrite: bool, on_error: OnError,
    memory: str | None, threads: int | None, temp_dir: str | None, temp_limit: str | None, quiet: bool, **reading: Any,
) -> None:  # fmt: skip
    """Count in how many documents each feature occurs.

    Recipes with weights = "tfidf" take the file as document_frequencies (docs/weights.md). Such a recipe must make the same tokens
    as the recipe here. --merge combines the counts of parts of a corpus, or adds later documents; INPUT is then optional.
    """
    demand_present(inputs)
    from neardup.jobs.stages.fit import fit_files
    from neardup.recipe.presets import find_recipe

    found = fit_files(
        inputs,
        output,
        recipe=find_recipe(recipe),
        merge=merge,
        on_error=on_error,
        memory=memory,
        threads=threads,
        temp_dir=temp_dir,
        temp_limit=temp_limit,
        overwrite=overwrite,
        progress=options.progress(quiet),
        **reading,
    )
    lines = [("read", counted(found.documents, "document")), ("counted", counted(found.features, "feature"))]
    tell([*lines, ("output", output)], quiet=quiet)
