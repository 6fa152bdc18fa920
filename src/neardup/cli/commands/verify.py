"""The command `neardup verify`."""

import sys
from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.parsing.options import DEFAULTS, described
from neardup.cli.shown.terminal import fitting
from neardup.io.corpora.shards import demand_present
from neardup.options import CLUSTERS, OnError
from neardup.recipe.tables.similarities import SIMILARITIES


@click.command()
@click.argument("output", metavar="OUT", type=values.FILE)
@click.argument("inputs", nargs=-1, metavar="[INPUT...]", type=values.FILE)
@click.option(
    "--audit",
    metavar="FILE|DIR/",
    type=values.FILE,
    help="The audit of the run (the one beside OUT, if there is one; else none is used).",
)
@click.option(
    "--strict", is_flag=True, help="Fail for every two survivors that match, even if the method promises less."
)
@options.min_similarity("Similarity from which texts match, above 0.")
@options.similarity(f"{described(SIMILARITIES)}.")
@click.option("--within", type=values.COLUMN, help="Only documents with equal values in this column match.")
@options.guard("What must be equal besides (nothing)")
@click.option(
    "--cluster",
    type=click.Choice(list(CLUSTERS)),
    default=DEFAULTS.cluster,
    show_default=True,
    help=described(CLUSTERS),
)
@click.option(
    "--against", multiple=True, metavar="REFERENCE", type=values.FILE, help="The reference, which stays; repeatable."
)
@options.recipe
@options.reading_or_elements
@options.on_error_without_rejects
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@options.resources
@options.shown
def command(
    output: str, inputs: tuple[str, ...], audit: str | None, strict: bool, on_error: OnError, recipe: str, as_json: bool,
    quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Prove a finished run, ours or another tool's.

    OUT: the output of a run, a file or a folder. INPUT: its inputs (those that the summary beside the audit names). Nothing is
    missing or twice, every removal is as similar to its survivor as stated, the survivor is in the output, and no two survivors
    match. Without an audit, every document that is not in OUT must match one that is.

    The options from --min-similarity to --on-error are for runs without a summary: the summary has those of its run. Exit code 0:
    proven; 1: failures; 2: refused.
    """
    demand_present((output, *inputs))
    from neardup.jobs.verification.verify import verify_files
    from neardup.recipe.presets import find_recipe

    done = verify_files(
        output,
        inputs,
        audit=audit,
        strict=strict,
        against=chosen.pop("against"),
        recipe=find_recipe(recipe) if options.is_given("recipe") else None,
        on_error=on_error,
        progress=options.progress(quiet),
        **{name: value for name, value in chosen.items() if options.is_given(name)},
    )
    if as_json:
        click.echo(done.to_json(), nl=False)
    elif not quiet or not done.proven:
        click.echo(fitting(str(done), sys.stdout))
    if not done.proven:
        click.get_current_context().exit(1)
