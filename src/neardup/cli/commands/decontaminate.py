"""The command `neardup decontaminate`."""

from typing import Any

import click

from neardup.cli.parsing import item_options, options, values
from neardup.cli.shown.terminal import tell_result


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
@item_options.columns_against("the items'")
@item_options.contained(
    "Share of an item's shingles that a passage of a contaminated document has, above 0, up to 1.",
    "A run of so many tokens of an item contaminates a document, too; at least 5.",
    "Items of fewer tokens are listed, but not checked; at least 5.",
)
@click.option(
    "--recipe",
    default=item_options.DEFAULTS.recipe,
    show_default=True,
    metavar="NAME|FILE.toml",
    type=values.RECIPE,
    help="What words are: all-scripts for Thai, Khmer and other scripts without spaces.",
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

    INPUT: files (.jsonl, .csv, .tsv, .txt, .warc, also compressed; .parquet, .arrow), folders, globs, or - for standard input.
    Other documents are written unchanged, and the inputs are not compared with one another. The audit lists every removed
    document with its item and the passage; a file of items says of each item which documents hold it.
    """
    from neardup.jobs.removal.decontaminate import decontaminate_files

    options.demand_one_output(as_json, output)
    chosen["against_text"] = chosen["against_text"] or None
    done = decontaminate_files(inputs, output, progress=options.progress(quiet), **chosen)
    tell_result(done, quiet=quiet, as_json=as_json)
