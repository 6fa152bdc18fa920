"""The command `neardup report`."""

from typing import Any

import click

from neardup.cli.parsing import options, values
from neardup.cli.shown.terminal import tell


@click.command()
@click.argument("audit", type=values.FILE)
@click.option("-o", "--output", required=True, metavar="FILE.html", type=values.FILE, help="Path of the report.")
@options.report_by
@options.overwrite
@options.threads
@options.shown
def command(audit: str, output: str, quiet: bool, **chosen: Any) -> None:
    """Write an HTML report of a run.

    AUDIT: the .duplicates.jsonl or .passages.jsonl file of a run, or a folder of such files. The inputs are read again for their
    texts. The report has counts, plots, pairs for judging the threshold, the largest clusters, options and costs; of passages,
    those that were cut most often, and a sample. It needs neardup[report].
    """
    from neardup.judging.report import report

    done = report(audit, output, progress=options.progress(quiet), **chosen)
    tell(done.lines(), quiet=quiet)
