"""The command `neardup fingerprint`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.next_command import after_fingerprints
from neardup.cli.shown.terminal import tell
from neardup.display import counted
from neardup.errors import OptionError
from neardup.io.corpora.shards import demand_present
from neardup.recipe.plain_recipe import MAX_BITS
from neardup.recipe.programs import DIGITS
from neardup.recipe.vectors import METHODS


@click.command()
@options.inputs
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE|DIR/",
    type=values.FILE,
    help="A .parquet file, or a folder: one file for each input. For other programs: .csv, .tsv, .jsonl or .txt, also compressed.",
)
@options.reading_or_elements
@options.recipe
@click.option(
    "--max-distance", type=int, metavar="N", help="Distance that later commands take by default (the recipe's)."
)
@click.option(
    "--value",
    multiple=True,
    type=values.COLUMN,
    help="Also store this column, for the options --keep and --within of `neardup clusters`; repeatable.",
)
@click.option(
    "--vector",
    type=values.COLUMN,
    help="Fingerprint the numeric vectors (lists of numbers) in this column of Parquet or Arrow files instead of texts.",
)
@click.option("--seed", type=int, metavar="N", help="With --vector: the random seed of the planes (0).")
@click.option(
    "--method", type=click.Choice(list(METHODS)), help=f"With --vector: {options.described(METHODS)} (signs)."
)
@click.option(
    "--fingerprint",
    type=values.COLUMN,
    help="Bring in the fingerprints of another program from this column; from lines, with --lines and --digits instead. "
    "--recipe then says that the recipe makes the same bits.",
)
@click.option(
    "--digits",
    type=click.Choice(list(DIGITS)),
    help=f"How other programs write fingerprints: {options.described(DIGITS)} (the column's type; in outputs, hexadecimal).",
)
@click.option(
    "--program",
    metavar="NAME",
    help="With --fingerprint, without --recipe: a name for the program; fingerprints of two programs are never compared, those "
    "without a name count as of one.",
)
@click.option(
    "--bits",
    type=int,
    metavar="N",
    help=f"With --vector or --fingerprint: the width, 1 to {MAX_BITS} (64; what the fingerprints show).",
)
@options.overwrite
@options.on_error
@options.threads_and_files
@options.shown
def command(
    inputs: tuple[str, ...], output: str, vector: str | None, fingerprint: str | None, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Write the fingerprint of every document or vector, or bring in fingerprints of another program.

    Writes Parquet with the columns id, fingerprint (uint64; above 64 bits fixed-size binary, big-endian), short, and others for
    later stages (docs/files.md). The file's metadata has the recipe and the shards. INPUT may be such files, too, to write their
    fingerprints for other programs.
    """
    if vector is not None and fingerprint is not None:
        raise OptionError("--vector, --fingerprint: give one of them.")
    progress = options.progress(quiet)
    if vector is not None:
        total = _of_vectors(inputs, output, vector, chosen, progress)
    elif fingerprint is not None or _reads_digits(output, chosen):
        total = _of_program(inputs, output, fingerprint, chosen, progress)
    else:
        total = _of_texts(inputs, output, chosen, progress)
    following = after_fingerprints(output)
    lines = [("made", counted(total, "fingerprint")), ("output", output)]
    tell([*lines, *([("next", following)] if following else [])], quiet=quiet)


_SHARED = ("max_distance", "value", "digits", "overwrite", "on_error", "threads", "temp_dir", "temp_limit", "id")
_READING = ("lines", "encoding", "dialect", "max_document_bytes")
_OF_TEXTS = ("text", "elements", "html")


def _reads_digits(output: str, chosen: dict[str, Any]) -> bool:
    """Whether lines are fingerprints, because the output has no digits."""
    if not chosen["lines"] or chosen["digits"] is None:
        return False
    from neardup.fingerprints.files.digit_file import digit_format

    return digit_format(output) is None


def _of_texts(inputs: tuple[str, ...], output: str, chosen: dict[str, Any], progress: Any) -> int:
    of_others = ("bits", "seed", "method", "program")
    _refuse(of_others, "for --vector or --fingerprint only; of texts, the recipe says it")
    demand_present(inputs)
    from neardup.jobs.stages.fingerprint import fingerprint_files

    given = {name: chosen[name] for name in (*_SHARED, *_READING, *_OF_TEXTS)}
    return fingerprint_files(inputs, output, recipe=_recipe(chosen), progress=progress, **given)


def _of_vectors(inputs: tuple[str, ...], output: str, vector: str, chosen: dict[str, Any], progress: Any) -> int:
    _refuse((*_OF_TEXTS, *_READING, "recipe"), "for texts, not for --vector")
    _refuse(("program",), "for --fingerprint, not for --vector")
    demand_present(inputs)
    from neardup.jobs.stages.vectors import fingerprint_vector_files

    given = {name: chosen[name] for name in _SHARED}
    given |= {name: chosen[name] for name in ("bits", "seed", "method") if chosen[name] is not None}
    return fingerprint_vector_files(inputs, output, vector=vector, progress=progress, **given)


def _of_program(
    inputs: tuple[str, ...], output: str, fingerprint: str | None, chosen: dict[str, Any], progress: Any
) -> int:
    _refuse(_OF_TEXTS, "for texts, not for --fingerprint")
    _refuse(("seed", "method"), "for --vector, not for --fingerprint")
    demand_present(inputs)
    from neardup.jobs.stages.imported_fingerprints import import_fingerprint_files

    given = {name: chosen[name] for name in (*_SHARED, *_READING, "bits", "program")}
    return import_fingerprint_files(
        inputs, output, fingerprint=fingerprint, recipe=_recipe(chosen), progress=progress, **given
    )


def _recipe(chosen: dict[str, Any]) -> Any:
    """The recipe that is given; None for the default."""
    from neardup.recipe.presets import find_recipe

    return find_recipe(chosen["recipe"]) if options.is_given("recipe") else None


def _refuse(names: tuple[str, ...], why: str) -> None:
    """Refuse options that are given but have no effect."""
    given = ["--" + name.replace("_", "-") for name in filter(options.is_given, names)]
    if given:
        raise OptionError(f"{', '.join(given)}: {why}. Leave it out.")
