"""The command `neardup leaks`."""

from typing import Any

import click

from neardup.cli.parsing import item_options, options, values
from neardup.cli.parsing.options import described
from neardup.cli.shown.terminal import tell_result
from neardup.recipe.tables.similarities import SIMILARITIES

EXIT_LEAKS = 3


@click.command()
@options.inputs
@click.option(
    "--against",
    multiple=True,
    required=True,
    metavar="TEST",
    type=values.FILE,
    help="Test set: a file, folder or glob; repeatable.",
)
@click.option(
    "-o", "--output", metavar="OUT", type=values.FILE, help="List of leaks: .jsonl, plain or compressed, or -."
)
@options.reading
@item_options.columns_against("the test set's")
@options.min_similarity("Similarity from which a test document is a near-duplicate, above 0, up to 1.")
@options.similarity(f"{described(SIMILARITIES)}.")
@options.recipe
@item_options.contained(
    "Share of a test document's shingles that a passage has if it is contained, above 0, up to 1.",
    "A run of so many tokens in both is enough; at least 5.",
    "Test documents of fewer tokens are not searched for in passages; at least 5.",
)
@click.option(
    "--fail-over",
    type=values.PERCENTAGE,
    metavar="SHARE",
    help="Exit with 3 if more of the test set is leaked: 0.1% or 0.001; 0 for any.",
)
@click.option("--report", metavar="FILE.html", type=values.FILE, help="Also write a page; needs neardup[report].")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on standard output.")
@options.overwrite
@options.on_error_without_rejects
@options.resources
@options.shown
def command(
    inputs: tuple[str, ...],
    output: str | None,
    recipe: str,
    fail_over: float | None,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Find test documents that are in the training set.

    INPUT: the training set: files (.jsonl, .csv, .tsv, .txt, .warc, also compressed; .parquet, .arrow), folders, globs, or - for
    standard input. Each test document is looked for by itself: as an exact copy, as a near-duplicate, and as a passage. The list
    says where it is. Nothing is removed: `neardup dedup --against` and `neardup decontaminate` do that.

    Exit code 0: done; 3: more of the test set is leaked than --fail-over allows.
    """
    from neardup.jobs.leaks.leak_files import leak_files
    from neardup.recipe.presets import find_recipe

    options.demand_one_output(as_json, output)
    chosen["against_text"] = chosen["against_text"] or None
    done = leak_files(
        inputs,
        output,
        recipe=find_recipe(recipe) if options.is_given("recipe") else None,
        progress=options.progress(quiet),
        **chosen,
    )
    tell_result(done, quiet=quiet, as_json=as_json)
    if fail_over is not None and done.summary.share > fail_over:
        click.get_current_context().exit(EXIT_LEAKS)
