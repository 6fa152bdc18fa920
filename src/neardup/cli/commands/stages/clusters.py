"""The command `neardup clusters`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.next_command import after_clusters
from neardup.cli.shown.terminal import tell_result


@click.command()
@click.argument("pairs", nargs=-1, required=True, metavar="PAIRS...", type=values.FILE)
@click.option("-o", "--output", required=True, type=values.FILE, help="A .parquet file.")
@click.option(
    "--documents",
    multiple=True,
    required=True,
    metavar="FINGERPRINTS",
    type=values.FILE,
    help="The fingerprint files of all documents, in the order of the rows; repeatable.",
)
@click.option(
    "--rethreshold",
    type=values.NUMBER,
    metavar="J",
    help="Match at this similarity, at or above that of the pairs (that of the pairs).",
)
@click.option("--partial", is_flag=True, help="Decide even if some shards were not compared, and list those shards.")
@options.survivors(sources="shards", within=", stored by `neardup fingerprint --value`.")
@options.whole_clusters
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on standard output.")
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="Stop at a value that does not fit --keep-as, or count it as missing.",
)
@options.overwrite
@options.shown
def command(
    pairs: tuple[str, ...], output: str, documents: tuple[str, ...], as_json: bool, quiet: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Decide which documents survive, from pairs and fingerprints.

    PAIRS: files that `neardup pairs` wrote, with their summaries beside them. Output: id, cluster_id, survivor_id and the columns
    that `neardup apply` needs, for the documents in clusters of two or more. No text is read.
    """
    from neardup.jobs.stages.clusters import cluster_files

    done = cluster_files(pairs, output, documents=documents, progress=options.progress(quiet), **chosen)
    tell_result(done, after_clusters, quiet=quiet, as_json=as_json)
