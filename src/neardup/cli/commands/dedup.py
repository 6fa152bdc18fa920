"""The command `neardup dedup`."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.parsing.options import described
from neardup.cli.shown.next_command import after_removal
from neardup.cli.shown.terminal import tell_result
from neardup.options import PREFERS, UNITS, Unit

if TYPE_CHECKING:
    from neardup.jobs.results import FileResult, UnitResult


@click.command()
@options.inputs
@options.documents_output()
@options.reading_or_elements
@options.near
@options.recipe_or_default(
    "A name that `neardup recipes` lists, or a .toml file (default; that of a --against of fingerprints); one with a "
    "max_distance implies --method simhash, except default, all-scripts and unmarked."
)
@options.survivors(sources="inputs", within=": language, host, snapshot …")
@options.whole_clusters
@click.option(
    "--against",
    multiple=True,
    metavar="REFERENCE",
    type=values.FILE,
    help="Remove documents near this reference, which is not changed: texts like INPUT, fingerprint files, or a store "
    "(`neardup store`) with the same recipe and options; repeatable.",
)
@click.option(
    "--prefer", type=click.Choice(list(PREFERS)), default="against", show_default=True, help=described(PREFERS)
)
@click.option("--unit", type=click.Choice(list(UNITS)), default="document", show_default=True, help=described(UNITS))
@click.option("--annotate", is_flag=True, help="Write all rows, with columns that show the decision on each.")
@click.option(
    "--dry-run", is_flag=True, help="Estimate the cost from a sample, then do all the work and write nothing."
)
@options.audit
@click.option(
    "--report",
    metavar="FILE.html",
    type=values.FILE,
    help="Also write an HTML report of the run; needs neardup[report].",
)
@options.report_by
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on standard output.")
@options.overwrite
@click.option(
    "--resume", is_flag=True, help="Keep finished work in OUT.resume/, and continue an interrupted run from there."
)
@options.on_error
@options.resources
@options.shown
def command(
    inputs: tuple[str, ...], output: str | None, recipe: str | None, unit: Unit, report: str | None, report_by: str | None,
    annotate: bool, dry_run: bool, audit: str | None, as_json: bool, overwrite: bool, on_error: str, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Remove near-duplicate documents from a corpus.

    INPUT: files (.jsonl, .csv, .tsv, .txt, .warc, also compressed; .parquet, .arrow), folders, globs, or - for standard input.
    Survivors are written unchanged. The audit lists every removed document with its survivor and their similarity.
    With --unit, repeated lines or paragraphs are removed from the documents, and the rest of each document is written.
    """
    from neardup.jobs.removal.dedup import deduplicate_files
    from neardup.recipe.presets import find_recipe

    options.demand_one_output(as_json, output)
    if unit != "document" and (report is not None or report_by is not None):
        from neardup.judging.report import of_units

        raise of_units(unit)
    work: Callable[..., FileResult | UnitResult] = partial(deduplicate_files, report=report, report_by=report_by)
    if unit != "document":
        from neardup.jobs.removal.units import deduplicate_units

        work = partial(deduplicate_units, unit=unit)
    done = work(
        inputs,
        output,
        recipe=find_recipe(recipe) if recipe else None,
        annotate=annotate,
        dry_run=dry_run,
        audit=audit,
        overwrite=overwrite,
        on_error=on_error,
        progress=options.progress(quiet),
        **chosen,
    )
    tell_result(done, after_removal, quiet=quiet, as_json=as_json)
