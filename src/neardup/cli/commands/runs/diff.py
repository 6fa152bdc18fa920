"""The command `neardup diff`."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.difference_lines import difference_lines, legend
from neardup.cli.shown.terminal import fitting, line_width
from neardup.display import similarity_text

if TYPE_CHECKING:
    from neardup.judging.runs.result import RunDiff
    from neardup.judging.runs.samples import DiffSample, SamplePair


@click.command()
@click.argument("a", metavar="SUMMARY_A", type=values.FILE)
@click.argument("b", metavar="SUMMARY_B", type=values.FILE)
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=values.FILE,
    help="Write a page with the samples; needs neardup[report].",
)
@click.option(
    "--list",
    "list_",
    metavar="FILE.jsonl",
    type=values.FILE,
    help="Write every document that the runs decided differently.",
)
@click.option(
    "--samples", type=int, default=5, show_default=True, metavar="N", help="Samples of each kind that are shown."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Another number shows other samples.")
@click.option(
    "--same-inputs",
    is_flag=True,
    help="Compare runs whose summaries do not prove that they read the same inputs, row by row: of standard input, of files that "
    "were compressed since …",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@options.overwrite
@options.threads
@options.shown
def command(a: str, b: str, output: str | None, list_: str | None, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """Compare two runs on the same inputs: what only one of them removed.

    \b
    neardup diff strict.summary.json loose.summary.json
    neardup diff strict.summary.json loose.summary.json -o diff.html
    neardup diff old/out.summary.json new/out.summary.json --list differing.jsonl --samples 0

    SUMMARY_A, SUMMARY_B: the .summary.json files of two runs of `neardup dedup` with other options, or of other versions; an audit
    or an output stands for the summary beside it. Of a run in stages, the folder with the audits of all its parts. Documents are
    known by their rows. The inputs are read again for the texts of the samples, if they are there.
    """  # noqa: D301 - the backspace tells click to leave lines as they are
    from neardup.judging.runs.diff import diff

    found = diff(a, b, output=output, list=list_, progress=options.progress(quiet), **chosen)
    if as_json:
        click.echo(found.to_json(), nl=False)
    elif not quiet:
        click.echo(fitting(str(found), sys.stdout))
        if output is None:
            _show_samples(found)


def _show_samples(found: "RunDiff") -> None:
    """Show each sample: how the run decided that removed it, what the other says, and where the texts differ."""
    for sample in found.samples:
        click.echo(f"\n{_heading(sample)}")
        for pair in sample.pairs:
            click.echo(f"  {_decision(pair)}")
            if pair.texts is not None:
                _show_difference(pair)
        if sample.says:
            click.echo(f"  {'B' if sample.kind == 'only_a' else 'A'} {sample.says}")


def _heading(sample: "DiffSample") -> str:
    line = sample.found.line
    unit = f"unit {line['unit']} of " if "unit" in line else ""
    by = {"only_a": "by A only", "only_b": "by B only", "other_survivor": "by both, for different ones"}[sample.kind]
    return f"{unit}{_named(line['id'])} (row {line['row']}) was removed {by}"


def _decision(pair: "SamplePair") -> str:
    line, run = pair.line, pair.run.upper()
    if line["survivor_id"] is None:
        return f"{run} keeps none of its cluster"
    place = f"row {line['survivor_row']}"
    if line["survivor_row"] is None:
        place = f"row {line['reference_row']} of {line['reference']}, in the reference"
    part = f"unit {line['survivor_unit']} of " if "unit" in line else ""
    how = "equal text" if line["exact"] else f"distance {line['distance']}"
    if not line["exact"] and line["similarity"] is not None:
        how = f"similarity {similarity_text(line['similarity'])}"
    link = ""
    if line.get("matched_id") not in (None, line["survivor_id"]):
        link = f", by a match with {_named(line['matched_id'])}"
        alike = line["matched_similarity"]
        link += "" if alike is None else f" (similarity {similarity_text(alike)})"
    return f"{run} keeps {part}{_named(line['survivor_id'])} ({place}): {how}{link}"


def _show_difference(pair: "SamplePair") -> None:
    from neardup.judging.difference import Difference

    assert pair.texts is not None
    found = Difference.of(pair.line["survivor_id"], pair.line["id"], pair.texts)
    if found.places:
        click.echo(f"  {legend('the kept one', 'the removed one')}")
    for line in difference_lines(found, line_width() - 2, places=3):
        click.echo(f"  {line}")


def _named(id: object) -> str:  # noqa: A002
    return json.dumps(id, ensure_ascii=False)
