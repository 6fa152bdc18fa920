"""The commands `neardup store …` of upkeep: age, room, checks, and the tables of a database."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import tell
from neardup.display import counted

path = click.argument("path", metavar="STORE", type=values.FILE)
ids_output = click.option(
    "-o",
    "--output",
    type=values.FILE,
    help="A file for the ids of removed documents: .jsonl, plain or compressed, or - for standard output. [default: none]",
)


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
@ids_output
@options.overwrite
@options.wait
@options.quiet
def expire(path: str, by: str, quiet: bool, **chosen: Any) -> None:
    """Remove old documents, and their duplicates.

    Documents that were added with a time at which they expire are removed once it is over; --older-than and --newest remove
    others, too. Later copies of what is removed are decided anew.
    """
    from neardup.jobs.stores.store_answers import told_of_orphans
    from neardup.jobs.stores.store_upkeep import expire_in_store
    from neardup.store.back_ends import shown_place

    seen: Any = by.replace("-", "_")
    removed = expire_in_store(path, by=seen, **chosen)
    orphans = told_of_orphans(removed.orphans.count, removed.orphans.not_compared)
    tell([("removed", counted(removed, "document")), *orphans, ("store", shown_place(path))], quiet=quiet)


@click.command()
@path
@options.wait
@options.quiet
def compact(path: str, wait: float, quiet: bool) -> None:
    """Give up the room of documents that were removed.

    Takes the room of what stays, once more, until it is done. If it is interrupted, the store is the old one or the new one.
    """
    from neardup.jobs.stores.store_upkeep import compact_store
    from neardup.store.back_ends import shown_place

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
    from neardup.jobs.stores.store_upkeep import repair_store, told_of_check, verify_store
    from neardup.store.back_ends import shown_place

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
@options.quiet
def upgrade(path: str, quiet: bool) -> None:
    """Bring the tables of stores in PostgreSQL to this version of neardup.

    Stop the services before; those of the older version are refused afterwards. The role must own the tables. A store in a folder
    is exported by the older version, and imported by this one.
    """
    from neardup.jobs.stores.store_upkeep import upgrade_tables
    from neardup.store.back_ends import shown_place

    before, after = upgrade_tables(path)
    said = f"of version {after} already" if before == after else f"from version {before} to {after}"
    tell([("tables", said), ("store", shown_place(path))], quiet=quiet)


COMMANDS = (expire, compact, verify, upgrade)
