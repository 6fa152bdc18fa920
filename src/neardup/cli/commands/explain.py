"""The command `neardup explain`."""

import json
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.parsing import values
from neardup.cli.shown.difference_lines import difference_lines, legend
from neardup.cli.shown.next_command import next_of
from neardup.cli.shown.terminal import line_width
from neardup.display import counted, printable, similarity_text

if TYPE_CHECKING:
    from neardup.judging.difference import Difference


def _named(id: object) -> str:  # noqa: A002
    return json.dumps(id, ensure_ascii=False)


def _alike(similarity: float | None, min_similarity: float) -> str:
    if similarity is None:
        return "similarity not computed"
    return f"similarity {similarity_text(similarity, min_similarity)}"


def _place(line: dict[str, Any]) -> str:
    if line["survivor_row"] is None:
        return f"row {line['reference_row']} of {line['reference']}, in the reference"
    return f"row {line['survivor_row']}"


def _which(audit: str) -> str:
    """Asks for an id, with one that the audit has."""
    from neardup.io.storage.places import place_of
    from neardup.survivors.records.audit_files import read_audit

    removed = next(read_audit(place_of(audit)), None)
    if removed is None:
        return f"Give the ID of a document. {audit} has none: nothing was removed."
    name = str(removed["id"])
    call = next_of(["explain", *(["--"] if name[:1] == "-" else []), audit, name])
    return f"Give the ID of a document after the audit. Of the first that was removed: `{call}`."


@click.command()
@click.argument("audit", type=values.FILE)
@click.argument("id", metavar="ID", required=False)
@click.option(
    "--recipe",
    metavar="FILE.toml",
    type=values.FILE,
    help="The run's own recipe, in case that a large file of it (over 64 KiB) is not where it was.",
)
@click.option(
    "--diff",
    is_flag=True,
    help="Read the inputs again, and mark the words in which the document and its survivor differ, or the nearest document if it "
    "was kept. Han characters and Kana are compared one by one.",
)
def command(audit: str, id: str | None, recipe: str | None, diff: bool) -> None:  # noqa: A002
    """Say why a document was removed, or why it was not; or which passages were cut out of it.

    AUDIT: the .duplicates.jsonl or .passages.jsonl file of a run, or a folder of such files. ID: the document's id. If the document
    was kept, the inputs are read again, and its nearest documents are shown, each with the reason why it did not match. Nearest
    means by fingerprint after a run with simhash, and by similarity after other runs. Passages are shown beside their copies.
    """
    from neardup.io.storage.places import place_of
    from neardup.survivors.repeats.records.cut_log_files import is_cut_log

    if is_cut_log(place_of(audit)):
        _show_cuts(audit, id, recipe, diff=diff)
        return
    from neardup.judging.explanation import explain

    if id is None:
        raise click.UsageError(_which(audit))
    found = explain(audit, id, recipe=recipe, diff=diff)
    min_similarity = found.min_similarity
    for number, line in enumerate(found.removed):
        inside = f" of {line['file']}, in the reference" if "file" in line else ""
        of_document = f"{_named(line['id'])} (row {line['row']}{inside})"
        if "unit" in line:
            emptied = ", the document with it, for nothing was left" if line["emptied"] else ""
            click.echo(f"unit {line['unit']} of {of_document} was removed{emptied}: {_named(line['text'])}")
        else:
            click.echo(f"{of_document} {'does not stay' if inside else 'was removed'}.")
        if line["survivor_id"] is None:
            link = _alike(line["matched_similarity"], min_similarity)
            click.echo("  survivor  none: all documents that match another were removed")
            click.echo(f"  link      {_named(line['matched_id'])}: {link}")
            click.echo(f"  cluster   {line['cluster_id']}")
            continue
        equal = "an exact duplicate" if line["exact"] else _alike(line["similarity"], min_similarity)
        part = f"unit {line['survivor_unit']} of " if "unit" in line else ""
        click.echo(
            f"  survivor  {part}{_named(line['survivor_id'])} ({_place(line)}): {equal}, distance {line['distance']}"
        )
        if "matched_id" in line:
            link = _alike(line["matched_similarity"], min_similarity)
            click.echo(f"  link      {_named(line['matched_id'])}: {link}")
        click.echo(f"  cluster   {line['cluster_id']}")
        if diff:
            _show_difference(found.differences[number], "its survivor")
    if found.removed and all("file" in line for line in found.removed):
        click.echo("note: no document of the inputs with this id was removed.")
    if found.compared_as:
        click.echo(f"note: keep {printable(found.keep or '')} compares {found.compared_as}")
    if found.repeated_ids:
        click.echo("note: the inputs repeat some ids; documents of this id that were kept, if any, are not shown.")
    if not found.removed:
        nearest = {"distance": "Nearest fingerprints", "similarity": "Most similar"}[found.nearest_by]
        click.echo(f"{_named(found.id)} (row {found.row}) was kept. {nearest}:")
        for neighbor in found.neighbors:
            click.echo(
                f"  {_named(neighbor.id)} (row {neighbor.row}): distance {neighbor.distance}, "
                f"{_alike(neighbor.similarity, min_similarity)}: {neighbor.verdict}"
            )
        for difference in found.differences:
            _show_difference(difference, "the nearest")


def _show_difference(found: "Difference", other: str) -> None:
    """Show where the texts differ, in color where a terminal is."""
    first, second = _named(found.first), f"{other}, {_named(found.second)}"
    click.echo("\n" + (legend(first, second) if found.places else f"{first} and {second}:"))
    for line in difference_lines(found, line_width()):
        click.echo(line)


def _show_cuts(log: str, id: str | None, recipe: str | None, *, diff: bool) -> None:  # noqa: A002
    """Say which passages were cut out of a document."""
    from neardup.judging.cut_explanation import explain_cuts, first_id

    given = [flag for flag, value in (("--recipe", recipe), ("--diff", diff)) if value]
    if given:
        raise click.UsageError(f"{' and '.join(given)}: {log} is a log of cuts, which names every copy. Leave it out.")
    if id is None:
        name = first_id(log)
        if name is None:
            raise click.UsageError(f"Give the ID of a document. {log} has none: nothing was cut.")
        call = next_of(["explain", *(["--"] if name[:1] == "-" else []), log, name])
        raise click.UsageError(f"Give the ID of a document after the log. Of the first that loses a passage: `{call}`.")
    for document in explain_cuts(log, id):
        named = f"{_named(document.id)} (row {document.row})"
        if not document.cuts:
            click.echo(f"{named}: nothing was cut.")
            continue
        number = counted(len(document.cuts), "passage")
        removed = ", and the document was removed: too little was left" if document.is_removed else ""
        click.echo(f"{named}: {number} {'was' if len(document.cuts) == 1 else 'were'} cut{removed}.")
        for each in document.cuts:
            line = each.line
            column = f" of {printable(line['column'])}" if "column" in line else ""
            place = f"row {line['copy_row']}"
            if line["copy_row"] is None:
                place = f"row {line['reference_row']} of {line['reference']}, in the reference"
            of_copy = f" of {printable(line['copy_column'])}" if "copy_column" in line else ""
            later = ", some of which is cut itself, for a copy that stood earlier still" if line["copy_is_cut"] else ""
            click.echo(
                f"  characters {line['start']} to {line['end']}{column}, {counted(line['tokens'], 'token')}: a copy of "
                f"{_named(line['copy_id'])} ({place}), characters {line['copy_start']} to {line['copy_end']}{of_copy}{later}"
            )
            click.echo(f"    cut   {each.passage.in_a_line()}")
            click.echo(f"    copy  {each.copy.in_a_line()}")
