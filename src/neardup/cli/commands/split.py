"""The command `neardup split`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.parsing.options import described
from neardup.cli.shown.terminal import tell_result
from neardup.recipe.tables.similarities import SIMILARITIES


@click.command()
@options.inputs
@click.option(
    "--shares",
    required=True,
    metavar="NAME=SHARE,…",
    help="Share of each side, together 1: train=0.8,val=0.1,test=0.1.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=values.FILE,
    help="Folder of the sides: train.jsonl … (with several inputs: train/ …).",
)
@options.reading_or_elements
@options.min_similarity("Similarity from which texts match, above 0, up to 1.")
@options.similarity(f"{described(SIMILARITIES)}.")
@options.recipe
@click.option(
    "--within", type=values.COLUMN, help="Match only documents with equal values in this column: language, host …"
)
@click.option(
    "--group",
    type=values.COLUMN,
    help="Keep documents with equal values in this column together: patient, repository …",
)
@click.option(
    "--stratify", type=values.COLUMN, help="Give each side its share of every value of this column: label, language …"
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another number deals differently.")
@click.option(
    "--previous",
    multiple=True,
    metavar="DIR",
    type=values.FILE,
    help="An earlier split, in which nothing moves. New documents that match two of its sides go to conflicts; repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Do all the work and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on standard output.")
@options.overwrite
@click.option(
    "--resume", is_flag=True, help="Keep finished work in DIR.resume/, and continue an interrupted run from there."
)
@options.on_error
@options.resources
@options.shown
def command(
    inputs: tuple[str, ...], output: str | None, recipe: str, as_json: bool, quiet: bool, **chosen: Any
) -> None:
    """Split documents into train and test without leaks.

    INPUT: files (.jsonl, .csv, .tsv, .txt, .warc, also compressed; .parquet, .arrow), folders, globs, or - for standard input.
    No two documents on different sides match, by an exact join. Rows are written unchanged. The sides depend on the texts and the
    seed, not on ids or the order of rows. `neardup verify DIR` proves a split.
    """
    from neardup.jobs.splits.split_files import split_files
    from neardup.recipe.presets import find_recipe

    done = split_files(
        inputs,
        output,
        recipe=find_recipe(recipe) if options.is_given("recipe") else None,
        progress=options.progress(quiet),
        **chosen,
    )
    tell_result(done, quiet=quiet, as_json=as_json)
