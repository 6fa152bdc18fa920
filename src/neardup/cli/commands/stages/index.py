"""The commands `neardup index …`."""

from pathlib import Path
from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.next_command import next_of
from neardup.cli.shown.terminal import tell
from neardup.display import counted
from neardup.hamming.index.methods.table import AUTO, METHODS, option_meanings
from neardup.io.corpora.shards import demand_present
from neardup.recipe.presets import RECIPES
from neardup.recipe.programs import DIGITS

path = click.argument("path", metavar="PATH", type=values.FILE)

METHOD_OPTIONS = option_meanings()

same_recipe = click.option(
    "--recipe",
    metavar="FILE.toml",
    type=values.FILE,
    help="The index's own recipe, in case that a large file of it (over 16 MiB) is not where it was.",
)


method_options = options.several(
    *(click.option(f"--{name}", type=int, metavar="N", help=meaning) for name, meaning in METHOD_OPTIONS.items())
)


@click.group()
def command() -> None:
    """Keep a Hamming index on disk: build it, add documents, remove documents, search it.

    PATH is a folder. One process writes at a time while others read. After a crash, the index is the old one or the new one.
    """


@command.command()
@path
@options.inputs
@click.option(
    "--max-distance", type=int, metavar="N", help="Largest Hamming distance of later searches (the recipe's)."
)
@click.option(
    "--method",
    type=click.Choice([AUTO, *METHODS]),
    default=AUTO,
    show_default=True,
    help="Search method; auto chooses an exact method by the size of the index (docs/hamming-index.md describes each).",
)
@method_options
@options.recipe_or_default(
    f"One of {', '.join(RECIPES)}, or a file (default; the fingerprints' own). The index keeps it, with its files."
)
@click.option("--integer-ids", is_flag=True, help="All ids are integers; otherwise they are stored as strings.")
@options.reading_or_elements
@click.option("--overwrite", is_flag=True, help="Replace an existing index once the new one is complete.")
@options.on_error
@options.threads_and_files
@options.shown
def build(path: str, inputs: tuple[str, ...], recipe: str | None, quiet: bool, **chosen: Any) -> None:
    """Build an index of texts, or of fingerprint files that `neardup fingerprint` wrote."""
    demand_present(inputs)
    from neardup.jobs.indexes.index import build_index
    from neardup.recipe.presets import find_recipe

    progress = options.progress(quiet)
    given: Any = {name: value for name in METHOD_OPTIONS if (value := chosen.pop(name)) is not None}
    total = build_index(
        path, inputs, recipe=find_recipe(recipe) if recipe else None, method_options=given, progress=progress, **chosen
    )
    tell(
        [("added", counted(total, "document")), ("index", path), ("next", next_of(["index", "info", path]))],
        quiet=quiet,
    )


@command.command()
@path
@options.inputs
@same_recipe
@options.reading_or_elements
@options.on_error
@options.threads_and_files
@options.shown
def add(path: str, inputs: tuple[str, ...], quiet: bool, **chosen: Any) -> None:
    """Add texts, or fingerprint files, to an index, with the recipe of the index."""
    demand_present(inputs)
    from neardup.jobs.indexes.index import add_to_index

    progress = options.progress(quiet)
    total = add_to_index(path, inputs, progress=progress, **chosen)
    tell([("added", counted(total, "document")), ("index", path)], quiet=quiet)


@command.command()
@path
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option(
    "--ids",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A text file (UTF-8) with one id per line.",
)
@options.quiet
def remove(path: str, ids: tuple[str, ...], file: Path | None, quiet: bool) -> None:
    """Remove all documents that have one of these ids."""
    from neardup.errors import InputError
    from neardup.jobs.indexes.index import remove_from_index

    if bool(ids) == (file is not None):
        raise InputError("Give either ID..., or --ids FILE.")
    try:
        given = list(ids) if file is None else file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as problem:
        raise InputError(f"{file} is not UTF-8: {problem.reason} (byte {problem.start}).") from None
    removed = remove_from_index(path, given)
    tell([("removed", counted(removed, "document")), ("index", path)], quiet=quiet)


@command.command()
@path
@click.argument("inputs", nargs=-1, metavar="INPUT...", type=values.FILE)
@click.option(
    "-o", "--output", default="-", type=values.FILE, help="A file: .jsonl, plain or compressed (standard output)."
)
@click.option("--literal", "texts", multiple=True, metavar="TEXT", help="Text to search for; repeatable.")
@click.option(
    "--fingerprint",
    "fingerprints",
    multiple=True,
    metavar="DIGITS",
    help="Fingerprint to search for, in the digits that --digits says; repeatable.",
)
@click.option(
    "--digits",
    type=click.Choice([name for name in DIGITS if name != "bytes"]),
    default="hexadecimal",
    show_default=True,
    help="How --fingerprint is written.",
)
@click.option(
    "--max-distance", type=int, metavar="N", help="Hamming distance of the search, at most the index's (the index's)."
)
@same_recipe
@options.reading_or_elements
@options.overwrite
@options.on_error
@options.threads_and_files
@options.shown
def query(path: str, inputs: tuple[str, ...], output: str, quiet: bool, **chosen: Any) -> None:
    """List the neighbors of each document in an index, nearest first.

    INPUT: texts, or fingerprint files. Output: JSON lines with id, neighbor_id, distance; no line for a document without neighbors.
    """
    demand_present(inputs)
    from neardup.jobs.indexes.index_queries import query_index

    progress = options.progress(quiet)
    total = query_index(path, inputs, output, progress=progress, **chosen)
    if output != "-":
        tell([("found", counted(total, "neighbor")), ("output", output)], quiet=quiet)


@command.command()
@path
@click.option("--verify", is_flag=True, help="Read every page and compare it with its checksum.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(path: str, verify: bool, as_json: bool) -> None:
    """Show the contents of an index; with --verify, exits with 1 if pages are damaged."""
    import dataclasses
    import json

    from neardup.errors import DataError
    from neardup.hamming.index.index import Index
    from neardup.recipe.short_rule import told_of_short_rule

    found = Index.open(path).info(verify=verify)
    facts = dataclasses.asdict(found)
    if as_json:
        click.echo(json.dumps(facts))
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            if name == "options":  # of each segment, "blocks=4"; or none
                named = [", ".join(f"{each}={number}" for each, number in some.items()) for some in value]
                value = "; ".join(filter(None, named)) or None
            shown = json.dumps(value) if isinstance(value, dict | list | tuple) else "–" if value is None else value
            click.echo(f"{name:{width}}  {shown}")
        if older := told_of_short_rule(found.short_rule, "; `neardup index build` makes one by the present rule"):
            click.echo(f"note: the index was {older}")
    if found.damaged:
        places = "; ".join(f"{name}: pages {', '.join(map(str, pages))}" for name, pages in found.damaged.items())
        raise DataError(f"{path} is damaged: {places} (of 1 MiB, counted from 0). Restore it, or build it anew.")
