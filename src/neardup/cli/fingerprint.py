"""The command `neardup fingerprint`."""

from typing import Any

import click
from click.core import ParameterSource

from neardup.cli import options
from neardup.errors import OptionError
from neardup.io.shards import demand_present
from neardup.options import OnError
from neardup.recipe.vectors import METHODS, MOST_BITS


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
    help="Also store this column, for the options --keep and --within of `neardup clusters`; repeatable.",
)
@click.option(
    "--vector",
    metavar="COLUMN",
    help="Fingerprint the numeric vectors (lists of numbers) in this column of Parquet files instead of texts.",
)
@click.option("--bits", type=int, metavar="N", help=f"With --vector: the width, 1 to {MOST_BITS} (64).")
@click.option("--seed", type=int, metavar="N", help="With --vector: the random seed of the planes (0).")
@click.option(
    "--method", type=click.Choice(list(METHODS)), help=f"With --vector: {options.described(METHODS)} (signs)."
)
@options.overwrite
@options.on_error
@options.threads
@options.temp_dir
@options.quiet
def command(
    inputs: tuple[str, ...], output: str, recipe: str, value: tuple[str, ...], on_error: OnError,
    overwrite: bool, threads: int | None, temp_dir: str | None, quiet: bool, vector: str | None, bits: int | None,
    seed: int | None, method: str | None, **reading: Any,
) -> None:  # fmt: skip
    """Write the fingerprint of every document, or of every vector.

    Writes Parquet with the columns id, fingerprint (uint64; above 64 bits fixed-size binary, big-endian), short, and others for
    later stages (docs/files.md). The file's metadata has the recipe and the shards.
    """
    from neardup.recipe.presets import find_recipe

    given = {"bits": bits, "seed": seed, "method": method}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if vector is not None:
        _refuse_text_options(value)
        demand_present(inputs)
        from neardup.jobs.vectors import fingerprint_vector_files

        progress = options.progress(quiet)
        total = fingerprint_vector_files(
            inputs,
            output,
            vector=vector,
            id=reading["id"],
            on_error=on_error,
            threads=threads,
            temp_dir=temp_dir,
            overwrite=overwrite,
            progress=progress,
            **chosen,
        )
        progress.say(f"{total:,} fingerprints: {output}")
        return
    if chosen:
        raise OptionError(f"--{', --'.join(chosen)}: for --vector only; of texts, the recipe says it. Leave it out.")
    demand_present(inputs)
    from neardup.jobs.fingerprint import fingerprint_files

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


def _refuse_text_options(value: tuple[str, ...]) -> None:
    """Refuse options of how texts are read or hashed."""
    context = click.get_current_context()
    of_texts = ("text", "html", "lines", "encoding", "dialect", "max_document_bytes", "recipe")
    given = [name for name in of_texts if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    given += ["value"] * bool(value)
    if given:
        flags = ", ".join("--" + name.replace("_", "-") for name in given)
        raise OptionError(f"{flags}: for texts, not for --vector. Leave it out.")
