"""The command `neardup reproduce`."""

import sys
from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import fitting


@click.command()
@click.argument("summary", metavar="SUMMARY", type=values.FILE)
@click.option(
    "-o", "--output", metavar="DIR", type=values.FILE, help="Keep the new files in this folder, which is new or empty."
)
@options.recipe_or_default("The run's own recipe, if a large file of it (over 64 KiB) is not where it was.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@options.resources
@options.shown
def command(summary: str, output: str | None, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """Run again what a summary records, and compare every byte with what the run wrote.

    \b
    neardup reproduce out.summary.json
    neardup reproduce out.summary.json -o again/
    neardup reproduce splits/ --json

    SUMMARY: the .summary.json file of a run of `neardup dedup`, `apply`, `passages`, `decontaminate` or `split`; its audit, its
    output or the folder of a split stands for it. Run this in the folder of the run. Nothing is replaced: the new files go to a
    temporary folder. What changed is named: inputs, recipe, versions, or a file that was edited since.

    Exit code 0: the same bytes; 1: not the same; 2: refused.
    """  # noqa: D301 - the backspace tells click to leave lines as they are
    from neardup.jobs.reproduction.reproduce import reproduce

    done = reproduce(summary, output, progress=options.progress(quiet), **chosen)
    if as_json:
        click.echo(done.to_json(), nl=False)
    elif not quiet or not done.same:
        click.echo(fitting(str(done), sys.stdout))
    if not done.same:
        click.get_current_context().exit(1)
