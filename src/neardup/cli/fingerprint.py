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
@options.overwrite
@options.threads
@options.temp_dir
@options.quiet
def command(
    inputs: tuple[str, ...], output: str, recipe: str,
    overwrite: bool, threads: int | None, temp_dir: str | None, quiet: bool, **reading: Any,
) -> None:  # fmt: skip
    """Write the fingerprint of every document.

    Parquet with the columns id, fingerprint (uint64; above 64 bits fixed-size binary, big-endian) and short; the recipe is in the
    file's metadata.
    """
    from neardup.jobs.fingerprint import fingerprint_files
    from neardup.recipe import find_recipe

    progress = options.progress(quiet)
    total = fingerprint_files(
        inputs,
        output,
        recipe=find_recipe(recipe),
        threads=threads,
        temp_dir=temp_dir,
        overwrite=overwrite,
        progress=progress,
        **reading,
    )
    progress.say(f"{total:,} fingerprints: {output}")
