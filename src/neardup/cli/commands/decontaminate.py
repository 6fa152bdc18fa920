"""The command `neardup decontaminate`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import tell_result
from neardup.matching.contamination.options import DecontaminationOptions

DEFAULTS = DecontaminationOptions()


@click.command()
@options.inputs
@click.option(
    "--against",
    multiple=True,
    required=True,
    metavar="BENCHMARK",
    type=values.FILE,
    help="Items to look for: a file, folder or glob; each row is an item; repeatable.",
)
@options.documents_output()
@options.reading
@click.option(
    "--against-text",
    multiple=True,
    type=values.REFERENCE_COLUMN,
    help="Column of the items' text (that of --text); several are joined by a newline; repeatable.",
)
@click.option("--against-id", type=values.REFERENCE_COLUMN, help="Column of the items' id (that of --id).")
@click.option(
    "--min-share",
    type=values.NUMBER,
    default=DEFAULTS.min_share,
    show_default=True,
    metavar="S",
    help="Share of an item's shingles that a passage of a contaminated document has, above 0, up to 1.",
)
@click.option(
    "--min-run",
    type=int,
    default=DEFAULTS.min_run,
    show_default=True,
    metavar="TOKENS",
    help="A run of so many tokens of an item contaminates a document, too; at least 5.",
)
@click.option(
    "--min-tokens",
    type=int,
    default=DEFAULTS.min_tokens,
    show_default=True,
    metavar="TOKENS",
    help="Items of fewer tokens are listed, but not checked; at least 5.",
)
@click.option("--annotate", is_flag=True, help="Write all rows, with columns that show what each holds.")
@click.option("--dry-run", is_flag=True, help="Do all the work and write nothing but the report.")
@click.option(
    "--audit",
    metavar="FILE|DIR/",
    type=values.FILE,
    help="Path of the audit: a file, or a folder with one file for each input (OUT without its ending + .contaminated.jsonl).",
)
@click.option(
    "--report", metavar="FILE.html", type=values.FILE, help="Also write a page of the run; needs neardup[report]."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on standard output.")
@options.overwrite
@options.on_error
@options.threads_and_files
@options.shown
def command(inputs: tuple[str, ...], output: str | None, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """Remove documents that hold items of a benchmark.

    INPUT: files (.jsonl, .csv, .tsv, .txt, also .gz and .zst; .parquet), folders, globs, or - for JSON lines on standard input.
    Other documents are written unchanged, and the inputs are not compared with one another. The audit lists every removed
    document with its item and the passage; a file of items says of each item which documents hold it.
    """
    from neardup.jobs.removal.decontaminate import decontaminate_files

    options.demand_one_output(as_json, output)
    chosen["against_text"] = chosen["against_text"] or None
    done = decontaminate_files(inputs, output, progress=options.progress(quiet), **chosen)
    tell_result(done, quiet=quiet, as_json=as_json)
