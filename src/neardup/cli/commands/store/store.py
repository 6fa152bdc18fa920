"""The commands `neardup store …`."""

import json
import textwrap
from pathlib import Path
from typing import Any

import click

from neardup.cli.commands.store import store_copies, store_lists, store_upkeep
from neardup.cli.commands.store.store_upkeep import ids_output, path
from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import line_width, tell
from neardup.display import counted, size_text
from neardup.io.corpora.shards import demand_present

ids = click.argument("ids", nargs=-1, metavar="ID...")
ids_file = click.option(
    "--ids",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A text file (UTF-8) with one id per line.",
)
answers = "A file for the answers: .jsonl, plain or compressed, or - for standard output"


MAX_LISTED_IDS = 5
"""Ids in a message, at most."""


@click.group()
def command() -> None:
    """Keep a store of documents on disk: decide documents by similarity, as dedup does, and remember them.

    Begin with `create`, or with `build` if there is a run of dedup; then `add` documents, or `check` whether they are new. To pass
    on new documents in a pipe, use `neardup filter --store`.

    STORE is a folder, to which one process writes at a time, while others read; or postgresql://HOST/DATABASE, where several
    services on several machines decide as one. What was answered is durable: a crash loses nothing of it.
    """


def given_options(chosen: dict[str, Any]) -> dict[str, Any]:
    """The options of a new store that were given, taken out of all options; the recipe is looked up."""
    from neardup.recipe.presets import find_recipe

    names = (
        "recipe",
        "method",
        "min_similarity",
        "similarity",
        "max_distance",
        "guard",
        "floor",
        "keep",
        "keep_as",
        "texts",
    )
    found = {name: value for name in names if (value := chosen.pop(name)) is not None}
    return found | ({"recipe": find_recipe(found["recipe"])} if "recipe" in found else {})


def given_ids(ids: tuple[str, ...], file: Path | None) -> list[str]:
    """The ids of the command line, or of the lines of the file that are not empty."""
    from neardup.errors import InputError

    if bool(ids) == (file is not None):
        raise InputError("Give either ID..., or --ids FILE.")
    try:
        if file is None:
            return list(ids)
        # an id may have other separators
        return [line for line in file.read_text(encoding="utf-8-sig").split("\n") if line]
    except UnicodeDecodeError as problem:
        raise InputError(f"{file} is not UTF-8: {problem.reason} (byte {problem.start}).") from None


@command.command()
@path
@options.of_new_store
@options.quiet
def create(path: str, quiet: bool, **chosen: Any) -> None:
    """Create an empty store.

    A folder must be empty, or not there. The options stay as they are.
    """
    from neardup.jobs.store_places import create_store, told_of_options
    from neardup.store.back_ends import shown_place

    found = create_store(path, **given_options(chosen))
    lines = [("made", f"an empty store, {told_of_options(found)}"), ("store", shown_place(path))]
    tell(lines, quiet=quiet)


@command.command()
@path
@options.inputs
@click.option("-o", "--output", type=values.FILE, help=f"{answers} (none).")
@options.reading
@options.metadata
@options.ttl
@options.wait
@click.option(
    "--give-up", is_flag=True, help="If this command was interrupted before, begin anew, and forget the answers so far."
)
@options.overwrite
@options.on_error_without_rejects
@options.threads_and_files
@options.shown
def add(path: str, inputs: tuple[str, ...], quiet: bool, **chosen: Any) -> None:
    """Decide documents in their order, and keep those that are new.

    Answers have id, is_new, duplicate_of, similarity, distance, exact, status and replaces: the ids of the documents that were
    removed for this one, by the `--keep` of the store. The status is new, unchanged, updated or duplicate. A known id with another
    text is an update: it replaces its earlier text, and its answer also has is_update. A document without an id is kept as row:N,
    where N counts such documents over all runs. If a run from files is interrupted, the same command continues it, unless its
    answers go to standard output or to a compressed file.
    """
    demand_present(inputs)
    from neardup.jobs.stores.store_add import add_to_store, told_of_added
    from neardup.store.back_ends import shown_place

    counts = add_to_store(path, inputs, progress=options.progress(quiet), **chosen)
    answers = [("output", chosen["output"])] if chosen["output"] not in (None, "-") else []
    tell([*told_of_added(counts), *answers, ("store", shown_place(path))], quiet=quiet)


@command.command()
@path
@click.argument("inputs", nargs=-1, metavar="INPUT...", type=values.FILE)
@click.option("-o", "--output", default="-", type=values.FILE, help=f"{answers} (standard output).")
@click.option("--literal", "texts", multiple=True, metavar="TEXT", help="Text to ask about; repeatable.")
@options.reading
@options.overwrite
@options.on_error_without_rejects
@options.threads_and_files
@options.shown
def check(path: str, inputs: tuple[str, ...], output: str, quiet: bool, **chosen: Any) -> None:
    """Ask about documents without adding them.

    Answers are those of `add`, with `matches`: all kept documents that match, best first.
    """
    demand_present(inputs)
    from neardup.jobs.stores.store_checks import check_with_store, told_of_checked

    counts = check_with_store(path, inputs, output, progress=options.progress(quiet), **chosen)
    if output != "-":
        tell([*told_of_checked(counts), ("output", output)], quiet=quiet)


@command.command()
@path
@ids
@ids_file
@ids_output
@options.overwrite
@options.wait
@options.quiet
def remove(path: str, ids: tuple[str, ...], file: Path | None, quiet: bool, **chosen: Any) -> None:
    """Forget documents, and their duplicates.

    Later copies of these are decided anew. The ID 17 means the integer and the string.
    """
    from neardup.jobs.store_places import remove_from_store
    from neardup.jobs.stores.store_answers import told_of_orphans
    from neardup.store.back_ends import shown_place

    removed, unknown = remove_from_store(path, given_ids(ids, file), **chosen)
    orphans = told_of_orphans(removed.orphans.count, removed.orphans.not_compared)
    lines = [("removed", counted(removed, "document")), *orphans]
    if unknown:
        shown = ", ".join(map(repr, unknown[:MAX_LISTED_IDS])) + (" …" if len(unknown) > MAX_LISTED_IDS else "")
        lines.append(("note", f"{counted(len(unknown), 'id')} not there ({shown})"))
    tell([*lines, ("store", shown_place(path))], quiet=quiet)


@command.command()
@path
@ids
@ids_file
@options.quiet
def get(path: str, ids: tuple[str, ...], file: Path | None, quiet: bool) -> None:  # noqa: ARG001
    """Show what is known of kept documents.

    One JSON line for each: when it was seen first and last and when it expires, in seconds since 1970; its number of tokens; its
    fingerprint; its metadata; and its text, if the store was made with --texts.
    """
    from neardup.jobs.store_places import documents_in_store

    for document in documents_in_store(path, given_ids(ids, file)):
        click.echo(json.dumps(document, ensure_ascii=False))


@command.command()
@path
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.quiet
def info(path: str, as_json: bool, quiet: bool) -> None:  # noqa: ARG001
    """Show the contents of a store.

    documents: those that are kept. removed: texts that were not kept, each once, and that are remembered; also those whose survivor
    was removed since, which `neardup store compact` forgets. gone: documents that were removed, and whose room it gives up. Then
    the options, and the bytes of each kind of file.
    """
    import dataclasses

    from neardup.jobs.store_places import opened_store
    from neardup.recipe.short_rule import told_of_short_rule
    from neardup.recipe.similarity import recorded_in_words

    with opened_store(path, "r") as store:
        facts = dataclasses.asdict(store.info())
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    facts["similarity"] = recorded_in_words(facts["similarity"])
    width = max(map(len, facts))
    for name, value in facts.items():
        if name == "bytes":
            total = sum(value.values())
            for label, size, kind in (
                (name, total, f"in all, {size_text(total)}"),
                *(("", *row[::-1]) for row in value.items()),
            ):
                click.echo(f"{label:{width}}  {size:>14,}  {kind}")
            continue
        columns = line_width() - width - 2
        wrapped = textwrap.wrap(_shown(value), columns, break_long_words=False, break_on_hyphens=False)
        for number, line in enumerate(wrapped or [""]):
            click.echo(f"{'' if number else name:{width}}  {line}")
    if older := told_of_short_rule(facts["short_rule"], "; `neardup store build` makes one by the present rule"):
        click.echo(f"note: the store was {older}")


def _shown(value: Any) -> str:
    """A value of `info`."""
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:,}" if isinstance(value, int) else str(value)


for each in (*store_upkeep.COMMANDS, *store_lists.COMMANDS, *store_copies.COMMANDS):
    command.add_command(each)
