"""The commands `neardup store …` of upkeep: of one store, of what is similar in it, of copies, and of the tables of a database."""

from typing import Any

import click

from neardup.cli import options, values
from neardup.cli.terminal import tell
from neardup.display import ToldLine, counted

path = click.argument("path", metavar="STORE", type=values.FILE)
target = click.argument("target", metavar="TARGET", type=values.FILE)
least = options.min_similarity(
    "Similarity from which documents are listed (that of matches); not below the floor of the store.", default=None
)
NOTHING_SIMILAR = "no two kept documents are so similar"
NOTHING_JUDGED = "nobody has judged a pair yet; pairs are judged on the page of `neardup serve`"
lines = click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    type=values.FILE,
    help="A file: .jsonl, .jsonl.gz or .jsonl.zst, or - for standard output (standard output).",
)


def _listed(total: int, noun: str, output: str, if_none: str = NOTHING_SIMILAR) -> list[ToldLine]:
    """What is told of pairs or clusters that were listed; `if_none`: why there may be none."""
    files = [("output", output)] if output != "-" else []
    return [("found", counted(total, noun) + ("" if total else f": {if_none}")), *files]


@click.command()
@path
@click.option(
    "--older-than",
    metavar="TIME",
    help="Remove what was seen longer ago: 90s, 15m, 12h, 30d, 4w, or a number of seconds.",
)
@click.option("--newest", type=int, metavar="N", help="Keep only the last N documents that were added.")
@click.option(
    "--by",
    type=click.Choice(["last-seen", "first-seen"]),
    default="last-seen",
    show_default=True,
    help="last-seen: when a document, or one that matches it, came last; first-seen: when it was added.",
)
@options.wait
@options.quiet
def expire(path: str, by: str, quiet: bool, **chosen: Any) -> None:
    """Remove old documents, and their duplicates.

    Documents that were added with a time at which they expire are removed once it is over; --older-than and --newest remove
    others, too. Later copies of what is removed are decided anew.
    """
    from neardup.jobs.store_upkeep import expire_in_store
    from neardup.store.postgresql.places import shown_place

    seen: Any = by.replace("-", "_")
    removed = expire_in_store(path, by=seen, **chosen)
    tell([("removed", counted(removed, "document")), ("store", shown_place(path))], quiet=quiet)


@click.command()
@path
@options.wait
@options.quiet
def compact(path: str, wait: float, quiet: bool) -> None:
    """Give up the room of documents that were removed.

    Takes the room of what stays, once more, until it is done. If it is interrupted, the store is the old one or the new one.
    """
    from neardup.jobs.store_upkeep import compact_store
    from neardup.store.postgresql.places import shown_place

    found = compact_store(path, wait=wait)
    said = "nothing to give up" if found is None else f"{found[0]:,} bytes before, {found[1]:,} after"
    tell([("done", said), ("store", shown_place(path))], quiet=quiet)


@click.command()
@path
@click.option(
    "--repair",
    is_flag=True,
    help="Remove the documents that are damaged, and make damaged files anew that are made of others.",
)
@options.wait
@options.quiet
def verify(path: str, repair: bool, wait: float, quiet: bool) -> None:
    """Read every byte of a store, and compare it with its checksum.

    Prints what is wrong. Exit code 0: the store is sound, or was repaired; 1: it is not.
    """
    from neardup.jobs.store_upkeep import repair_store, told_of_check, verify_store
    from neardup.store.postgresql.places import shown_place

    found = left = verify_store(path)
    if repair and not found.is_sound:
        found, left = repair_store(path, wait=wait)
    for line in told_of_check(found):
        click.echo(line)
    if found.is_sound and left.is_sound:
        verdict = [("sound", counted(found.documents, "document"))]
    elif left.is_sound:
        verdict = [
            ("mended", counted(left.documents, "document")),
            ("removed", counted(len(found.damaged), "document")),
        ]
    elif repair:
        for line in told_of_check(left):
            click.echo(line)
        verdict = [("damaged", "not repaired: restore the store from a backup")]
    else:
        verdict = [("damaged", "run the command with --repair, or restore a backup")]
    tell([*verdict, ("store", shown_place(path))], quiet=quiet)
    if not left.is_sound:
        click.get_current_context().exit(1)


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
    from neardup.jobs.store_upkeep import match_line, neighbors_in_store

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
    from neardup.jobs.store_upkeep import pairs_of_store

    total = pairs_of_store(path, output, **chosen)
    if output != "-" or not total:
        tell(_listed(total, "pair", output), quiet=quiet)


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
    from neardup.jobs.store_upkeep import clusters_of_store

    total = clusters_of_store(path, output, **chosen)
    if output != "-" or not total:
        tell(_listed(total, "cluster", output), quiet=quiet)


@click.command()
@path
@lines
@click.option(
    "--documents",
    metavar="FILE",
    type=values.FILE,
    help="Also write the texts that the pairs name, with id and text, from a store with --texts: .jsonl, .jsonl.gz or .jsonl.zst.",
)
@options.overwrite
@options.shown
def judgements(path: str, output: str, documents: str | None, overwrite: bool, quiet: bool) -> None:
    """List the pairs that people have judged.

    JSON lines with left_id, right_id, label (1: the same, 0: not), similarity and kind: labeled pairs, as `neardup evaluate
    --pairs` reads them. A text whose id is not known, or that has the id of another text, is named text:DIGEST.
    """
    from neardup.jobs.store_judgements import judgements_of_store

    total = judgements_of_store(path, output, documents=documents, overwrite=overwrite)
    if output != "-" or not total:
        texts = [("texts", documents)] if documents is not None else []
        tell([*_listed(total, "judged pair", output, NOTHING_JUDGED), *texts], quiet=quiet)


@click.command()
@path
@target
@options.quiet
def export(path: str, target: str, quiet: bool) -> None:
    """Write a store as Parquet and JSON for other programs.

    `neardup store import` reads it, too. TARGET: a folder that is empty, or not there.
    """
    from neardup.jobs.store_upkeep import export_store

    written = export_store(path, target)
    tell([("wrote", counted(written, "document")), ("output", target)], quiet=quiet)


@click.command("import")
@path
@click.argument("source", metavar="SOURCE", type=values.FILE)
@options.threads
@options.quiet
def import_(path: str, source: str, threads: int | None, quiet: bool) -> None:
    """Make a store of what `neardup store export` wrote.

    STORE: the new store, a folder that is empty or not there, or a place in PostgreSQL. SOURCE: the folder of the export.
    """
    from neardup.jobs.store_upkeep import import_store
    from neardup.store.postgresql.places import shown_place

    read = import_store(path, source, threads=threads)
    tell([("read", counted(read, "document")), ("store", shown_place(path))], quiet=quiet)


@click.command()
@path
@click.argument("run", metavar="RUN", type=values.FILE)
@click.option(
    "--recipe",
    metavar="FILE.toml",
    type=values.FILE,
    help="The run's own recipe, if a large file of it (over 16 MiB) is not where it was.",
)
@options.texts
@options.threads
@options.shown
def build(path: str, run: str, recipe: str | None, texts: bool | None, threads: int | None, quiet: bool) -> None:
    """Make a store of a finished run of `neardup dedup`.

    Nothing is decided again. STORE: a folder that is empty or not there. RUN: the output or the audit of the run, with the summary
    beside it; the inputs are read again. The store answers as if they had been added to it. It takes runs with --cluster star and
    --keep first, without --within, --prefer-source, --against, --elements and --unit.
    """
    from neardup.jobs.store_upkeep import build_store
    from neardup.recipe.presets import find_recipe
    from neardup.store.postgresql.places import shown_place

    progress = options.progress(quiet)
    given = find_recipe(recipe) if recipe else None
    found = build_store(path, run, recipe=given, texts=bool(texts), threads=threads, progress=progress)
    lines = [("kept", counted(found.documents, "document")), ("removed", counted(found.removed, "text"))]
    tell([*lines, ("store", shown_place(path))], quiet=quiet)


@click.command()
@path
@target
@options.quiet
def backup(path: str, target: str, quiet: bool) -> None:
    """Copy a store, while another process may write.

    TARGET: a folder that is empty, or not there; it is a store. A store in PostgreSQL is backed up with its database.
    """
    from neardup.jobs.store_upkeep import backup_store

    copied = backup_store(path, target)
    tell([("copied", counted(copied, "document")), ("output", target)], quiet=quiet)


@click.command()
@path
@options.quiet
def upgrade(path: str, quiet: bool) -> None:
    """Bring the tables of stores in PostgreSQL to this version of neardup.

    Stop the services before; those of the older version are refused afterwards. The role must own the tables. A store in a folder
    is exported by the older version, and imported by this one.
    """
    from neardup.jobs.store_upkeep import upgrade_tables
    from neardup.store.postgresql.places import shown_place

    before, after = upgrade_tables(path)
    said = f"of version {after} already" if before == after else f"from version {before} to {after}"
    tell([("tables", said), ("store", shown_place(path))], quiet=quiet)


COMMANDS = (build, expire, compact, verify, neighbors, pairs, clusters, judgements, export, import_, backup, upgrade)
