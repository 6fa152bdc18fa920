"""The command `neardup apply`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.next_command import after_removal
from neardup.cli.shown.terminal import tell_result
from neardup.io.corpora.shards import demand_present


@click.command()
@click.argument("clusters", metavar="CLUSTERS", type=values.FILE)
@options.inputs
@options.documents_output(required=True)
@options.reading_or_elements
@click.option("--annotate", is_flag=True, help="Write all rows, with columns that show the decision on each.")
@options.audit
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on standard output.")
@options.overwrite
@options.threads_and_files
@options.shown
def command(
    clusters: str, inputs: tuple[str, ...], output: str, as_json: bool, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Write the survivors of shards, from their clusters.

    CLUSTERS: a file that `neardup clusters` wrote. INPUT: all or some of the shards, with the names under which they were
    fingerprinted.
    """
    demand_present(inputs)
    from neardup.jobs.removal.apply import apply_files

    options.demand_one_output(as_json, output)
    done = apply_files(clusters, inputs, output, progress=options.progress(quiet), **chosen)
    tell_result(done, after_removal, quiet=quiet, as_json=as_json)
