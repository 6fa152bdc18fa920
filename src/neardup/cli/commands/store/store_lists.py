"""The commands `neardup store …` that list what is similar in a store, and what people have judged."""

from typing import Any

import click

from neardup.cli.commands.store.store_upkeep import path
from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import tell
from neardup.display import ToldLine, counted

least = options.min_similarity(
    "Similarity from which documents are listed (that of matches); not below the floor of the store.", default=None
)
NOTHING_SIMILAR = "no two kept documents are so similar"
NO_ORPHANS = "each skipped document still has a kept one that it matches"
NOTHING_JUDGED = "nobody has judged a pair yet; pairs are judged on the page of `neardup serve`"
lines = click.option(
    "-o",
    "--output",
    default="-",
    type=values.FILE,
    help="A file: .jsonl, plain or compressed, or - for standard output (standard output).",
)


def _tell_listed(
    total: int, noun: str, output: str, *files: ToldLine, quiet: bool, if_none: str = NOTHING_SIMILAR
) -> None:
    """Tell how many were listed and where, unless standard output has them; `if_none`: why there may be none."""
    if output == "-" and total:
        return
    places = [("output", output)] if output != "-" else []
    tell([("found", counted(total, noun) + ("" if total else f": {if_none}")), *places, *files], quiet=quiet)


@click.command()
@path
@click.option("--literal", "text", metavar="TEXT", help="The text.")
@click.option("--id", metavar="ID", help="The id of a kept document, instead of a text.")
@least
@options.quiet
def neighbors(path: str, quiet: bool, **chosen: Any) -> None:
    """List what is similar to a text or to a kept document.

    JSON lines with id, similarity and distance, best first. The ID 17 means the string, or if there is none, the integer.
    """
    from neardup.jobs.stores.store_upkeep import match_line, neighbors_in_store

    found = neighbors_in_store(path, **chosen)
    for match in found:
        click.echo(match_line(match))
    if not found:
        tell([("found", "0 neighbors: no kept document is so similar")], quiet=quiet)


@click.command()
@path
@lines
@least
@options.overwrite
@options.quiet
def pairs(path: str, output: str, quiet: bool, **chosen: Any) -> None:
    """List all pairs of similar documents.

    JSON lines with a, b (the ids, the earlier document first), similarity and distance. With `--keep first`, no two
    kept documents match, so give a --min-similarity below that of matches, down to the floor of the store.
    """
    from neardup.jobs.stores.store_upkeep import pairs_of_store

    total = pairs_of_store(path, output, **chosen)
    _tell_listed(total, "pair", output, quiet=quiet)


@click.command()
@path
@lines
@least
@options.overwrite
@options.quiet
def clusters(path: str, output: str, quiet: bool, **chosen: Any) -> None:
    """List the clusters of similar documents.

    JSON lines with ids, two or more, in the order of adding: all documents that pairs connect, however long the chain. See
    `neardup store pairs` for --min-similarity.
    """
    from neardup.jobs.stores.store_upkeep import clusters_of_store

    total = clusters_of_store(path, output, **chosen)
    _tell_listed(total, "cluster", output, quiet=quiet)


@click.command()
@path
@lines
@click.option(
    "--documents",
    type=values.FILE,
    help="Also write the texts that the pairs name, with id and text, from a store with --texts: .jsonl, plain or compressed.",
)
@options.overwrite
@options.shown
def judgements(path: str, output: str, documents: str | None, overwrite: bool, quiet: bool) -> None:
    """List the pairs that people have judged.

    JSON lines with left_id, right_id, label (1: the same, 0: not), similarity and kind: labeled pairs, as `neardup evaluate
    --pairs` reads them. A text whose id is not known, or that has the id of another text, is named text:DIGEST.
    """
    from neardup.jobs.stores.store_judgements import judgements_of_store

    total = judgements_of_store(path, output, documents=documents, overwrite=overwrite)
    texts = [("texts", documents)] if documents is not None else []
    _tell_listed(total, "judged pair", output, *texts, quiet=quiet, if_none=NOTHING_JUDGED)


@click.command()
@path
@lines
@options.overwrite
@options.quiet
def orphans(path: str, output: str, quiet: bool, overwrite: bool) -> None:
    """List skipped documents that no kept document matches.

    JSON lines with id, compared and orphaned: documents that were skipped as duplicates, and whose kept documents were updated,
    removed or replaced, or have expired. compared is false if the store has no text of a near-duplicate, and could not look for
    another match. Each is listed until it is added again, or given to `neardup store remove`.
    """
    from neardup.jobs.stores.store_upkeep import orphans_of_store

    total = orphans_of_store(path, output, overwrite=overwrite)
    _tell_listed(total, "orphan", output, quiet=quiet, if_none=NO_ORPHANS)


COMMANDS = (neighbors, pairs, clusters, judgements, orphans)
