"""The command `neardup filter`."""

from typing import Any

import click

from neardup.cli.commands.store.store import given_options
from neardup.cli.parsing import options, values
from neardup.cli.shown.next_command import next_of
from neardup.cli.shown.terminal import tell
from neardup.display import ToldLine, counted, share_text
from neardup.io.corpora.shards import demand_present
from neardup.recipe.presets import RECIPES

ONLY_INDEX: dict[str, Any] = {"integer_ids": False}
ONLY_STORE: dict[str, Any] = {
    "method": None,
    "min_similarity": None,
    "similarity": None,
    "guard": None,
    "floor": None,
    "keep": None,
    "keep_as": None,
    "texts": None,
    "metadata": (),
    "ttl": None,
    "window": None,
    "wait": 0.0,
}
"""The options that go with one of the two, and their values if they are not given."""


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT...]", type=values.FILE)
@click.option(
    "--store",
    metavar="FOLDER",
    type=values.FILE,
    help="Decide by the similarity of texts, with the documents of this store.",
)
@click.option(
    "--index",
    metavar="PATH",
    type=values.FILE,
    help="Decide by the Hamming distance of fingerprints alone, without comparing texts, with the documents of this index.",
)
@click.option(
    "-o", "--output", default="-", type=values.FILE, help="A file of lines, not compressed (standard output)."
)
@click.option(
    "--audit",
    type=values.FILE,
    help="File for the duplicates: id, row, and by a store survivor_id, similarity, distance and exact, by an index matched_id and "
    "distance (OUT without its ending + .duplicates.jsonl).",
)
@options.reading
@options.recipe_or_default(
    f"Recipe of a new store or index: one of {', '.join(RECIPES)}, or a file (default). One that is there has its own."
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
@options.ttl
@options.wait
@click.option(
    "--integer-ids", is_flag=True, help="For a new index: all ids are integers; otherwise they are stored as strings."
)
@click.option(
    "--give-up",
    is_flag=True,
    help="If a run of another command was interrupted, end it, and publish its outputs with the lines so far.",
)
@click.option(
    "--create", is_flag=True, help="Make the store or the index if there is none; without this, that is an error."
)
@options.overwrite
@options.on_error
@options.threads
@options.shown
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
    place, output = str(store or index), chosen["output"]
    audit = chosen["audit"]
    found = (by_index if store is None else by_store)(place, inputs or "-", options.progress(quiet), chosen)
    from neardup.jobs.streams.filter_run import filter_paths  # loaded by now

    paths = filter_paths(output, audit, with_rejects=False)
    files = [("output", output)] if output != "-" else []
    files += [("audit", str(paths.audit))] if paths.audit else []
    kind = "index" if store is None else "store"
    made = [("made", f"a new {kind}, as there was none")] if found.created else []
    lines = [*_counts(found), *files, *made, (kind, place)]
    if index is not None:
        lines.append(("note", "decided by the distance of fingerprints; --store decides by similarity"))
    tell([*lines, ("next", next_of([kind, "info", place]))], quiet=quiet)


def by_store(path: str, inputs: Any, progress: Any, chosen: dict[str, Any]) -> Any:
    """Filter by similarity."""
    from neardup.jobs.streams.filter_store import filter_with_store

    del chosen["integer_ids"]
    matching = given_options(chosen)
    output = chosen.pop("output")
    return filter_with_store(path, inputs, output, progress=progress, **matching, **chosen)


def by_index(path: str, inputs: Any, progress: Any, chosen: dict[str, Any]) -> Any:
    """Filter by the distance of fingerprints."""
    from neardup.jobs.streams.filter import filter_files

    for name in ("window", "wait", "metadata", "ttl"):
        del chosen[name]
    output = chosen.pop("output")
    matching = given_options(chosen)
    return filter_files(path, inputs, output, progress=progress, **matching, **chosen)


def _counts(found: Any) -> list[ToldLine]:
    from neardup.jobs.results import advice_on_digits, told_of_digits
    from neardup.jobs.stores.store_answers import told_of_orphans, told_of_updates, told_of_values

    documents, new = found.rows - found.rejected, found.passed - found.updated
    removed = counted(found.duplicates, "duplicate") + share_text(found.duplicates, documents)
    lines = [
        ("read", counted(documents, "document")),
        ("new", counted(new, "document") + share_text(new, documents)),
        ("removed", removed + told_of_digits(found.only_digits)),
        *advice_on_digits(found.only_digits),
        *told_of_updates(found.updated, found.dropped, found.repeated_ids),
        *told_of_orphans(found.orphans),
        *told_of_values(found.compared_as, found.unfit_values),
    ]
    return lines + ([("skipped", f"{counted(found.rejected, 'row')} could not be read")] if found.rejected else [])
