"""The command `neardup filter`."""

from typing import Any

import click

from neardup.cli import options
from neardup.cli.store import given_options
from neardup.display import counted
from neardup.io.shards import demand_present
from neardup.recipe.presets import RECIPES

ONLY_INDEX: dict[str, Any] = {"integer_ids": False}
ONLY_STORE: dict[str, Any] = {
    "method": None,
    "min_similarity": None,
    "similarity": None,
    "floor": None,
    "keep": None,
    "texts": None,
    "metadata": (),
    "window": None,
    "wait": 0.0,
}
"""The options that go with one of the two, and their values if they are not given."""


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option(
    "--store", metavar="FOLDER", help="Decide by the similarity of texts; the store is created if there is none."
)
@click.option(
    "--index",
    metavar="PATH",
    help="Decide by the Hamming distance of fingerprints alone, without comparing texts; the index is created if there is none.",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="A file of lines, not compressed (standard output).")
@click.option(
    "--audit",
    metavar="FILE",
    help="File for the duplicates: id, row, and by a store survivor_id, similarity, distance and exact, by an index matched_id and "
    "distance (OUT without its ending + .duplicates.jsonl).",
)
@options.reading
@click.option(
    "--recipe",
    metavar="NAME|FILE.toml",
    help=f"Recipe of a new store or index: one of {', '.join(RECIPES)}, or a file (default). One that is there has its own.",
)
@options.matching_of_store
@click.option(
    "--max-distance",
    type=int,
    metavar="N",
    help="With --index: Hamming distance up to which a document is a duplicate (the index's; for a new index that of a recipe of "
    "your own, and for named recipes the one that is safe by measurement). With --store: of a new store, as in `neardup store "
    "create`.",
)
@click.option(
    "--window",
    metavar="TIME",
    help="With --store: before and during the run, remove the documents that were not seen for so long: 12h, 30d, 4w …",
)
@options.metadata
@options.wait
@click.option(
    "--integer-ids", is_flag=True, help="For a new index: all ids are integers; otherwise they are stored as strings."
)
@click.option(
    "--give-up",
    is_flag=True,
    help="If a run of another command was interrupted, end it, and publish its outputs with the lines so far.",
)
@options.overwrite
@options.on_error
@options.threads
@options.quiet
def command(inputs: tuple[str, ...], store: str | None, index: str | None, quiet: bool, **chosen: Any) -> None:
    """Pass on new documents, remember them in a store or an index, and set the others aside.

    INPUT: JSON lines, or text files with --lines (standard input). Documents that match no document of the store go to the output,
    byte for byte and in their order, with the decisions of dedup. If a run from files to a file is interrupted, the same command
    continues it, and no line is lost or passed on twice; to a pipe, none is lost.
    """
    from neardup.errors import InputError

    if (store is None) == (index is None):
        raise InputError(
            "Give either --store FOLDER, to decide by similarity, or --index PATH, by the distance of fingerprints."
        )
    demand_present(inputs)
    others = ONLY_INDEX if store is not None else ONLY_STORE
    if given := [name for name, absent in others.items() if chosen[name] != absent]:
        kind, other = ("store", "index") if store is not None else ("index", "store")
        raise InputError(f"`{given[0]}` is for `{other}`, not for `{kind}`. Leave it out.")
    (by_index if store is None else by_store)(str(store or index), inputs or "-", options.progress(quiet), chosen)


def by_store(path: str, inputs: Any, progress: Any, chosen: dict[str, Any]) -> None:
    """Filter by similarity."""
    from neardup.jobs.filter_store import filter_with_store

    del chosen["integer_ids"]
    matching = given_options(chosen)
    output = chosen.pop("output")
    found = filter_with_store(path, inputs, output, progress=progress, **matching, **chosen)
    progress.say(f"{_counts(found)}: {path}")


def by_index(path: str, inputs: Any, progress: Any, chosen: dict[str, Any]) -> None:
    """Filter by the distance of fingerprints."""
    from neardup.jobs.filter import filter_files

    for name in ("window", "wait", "metadata"):
        del chosen[name]
    output = chosen.pop("output")
    matching = given_options(chosen)
    found = filter_files(path, inputs, output, progress=progress, **matching, **chosen)
    progress.say(f"{_counts(found)} (by the distance of fingerprints; --store decides by similarity): {path}")


def _counts(found: Any) -> str:
    said = f"{found.passed:,} of {found.rows:,} documents are new, {found.duplicates:,} are duplicates"
    return said + (f"; {counted(found.rejected, 'row')} could not be read" if found.rejected else "")
