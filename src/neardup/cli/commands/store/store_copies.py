"""The commands `neardup store …` that make a store of a run or of an export, and copy one."""

import click

from neardup.cli.commands.store.store_upkeep import path
from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import tell
from neardup.display import counted

target = click.argument("target", metavar="TARGET", type=values.FILE)


@click.command()
@path
@target
@options.quiet
def export(path: str, target: str, quiet: bool) -> None:
    """Write a store as Parquet and JSON for other programs.

    `neardup store import` reads it, too. TARGET: a folder that is empty, or not there.
    """
    from neardup.jobs.stores.store_upkeep import export_store

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
    from neardup.jobs.stores.store_upkeep import import_store
    from neardup.store.back_ends import shown_place

    read = import_store(path, source, threads=threads)
    tell([("read", counted(read, "document")), ("store", shown_place(path))], quiet=quiet)


@click.command()
@path
@target
@options.quiet
def backup(path: str, target: str, quiet: bool) -> None:
    """Copy a store, while another process may write.

    TARGET: a folder that is empty, or not there; it is a store. A store in PostgreSQL is backed up with its database.
    """
    from neardup.jobs.stores.store_upkeep import backup_store

    copied = backup_store(path, target)
    tell([("copied", counted(copied, "document")), ("output", target)], quiet=quiet)


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
    from neardup.jobs.stores.store_upkeep import build_store
    from neardup.recipe.presets import find_recipe
    from neardup.store.back_ends import shown_place

    progress = options.progress(quiet)
    given = find_recipe(recipe) if recipe else None
    found = build_store(path, run, recipe=given, texts=bool(texts), threads=threads, progress=progress)
    lines = [("kept", counted(found.documents, "document")), ("removed", counted(found.removed, "text"))]
    tell([*lines, ("store", shown_place(path))], quiet=quiet)


COMMANDS = (export, import_, backup, build)
