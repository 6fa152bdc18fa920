"""The command `neardup fingerprint`."""

from typing import Any

import click

from neardup.cli import options


@click.command()
@options.inputs
@click.option(
    "-o", "--output", required=True, metavar="FILE|DIR/", help="A .parquet file, or a folder: one file for each input."
)
@options.reading
@options.recipe
@click.option(
    "--value",
    multiple=True,
    metavar="COLUMN",
    help="Store this column, too, for `neardup clusters` to choose by (--keep, --within); repeatable.",
)
@options.overwrite
@options.on_error
@options.threads
@options.temp_dir
@options.quiet
def command(
    inputs: tuple[str, ...], output: str, recipe: str, value: tuple[str, ...], on_error: str,
    overwrite: bool, threads: int | None, temp_dir: str | None, quiet: bool, **reading: Any,
) -> None:  # fmt: skip
    """Write the fingerprint of every document.

    Parquet with the columns id, fingerprint (uint64; above 64 bits fixed-size binary, big-endian), short and what later stages
    need (docs/files.md); the recipe and the shards are in the file's metadata.
    """
    from neardup.jobs.fingerprint import fingerprint_files
    from neardup.recipe import find_recipe

    progress = options.progress(quiet)
    total = fingerprint_files(
        inputs,
        output,
        recipe=find_recipe(recipe),
        value=value,
        on_error=on_error,
        threads=threads,
        temp_dir=temp_dir,
        overwrite=overwrite,
        progress=progress,
        **reading,
    )
    progress.say(f"{total:,} fingerprints: {output}")
