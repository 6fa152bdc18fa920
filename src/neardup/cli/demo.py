"""The command `neardup demo`."""

import shlex
from pathlib import Path

import click

from neardup.cli import values


@click.command()
@click.argument("folder", default="neardup-demo", type=values.FILE)
def command(folder: str) -> None:
    """De-duplicate a small corpus, and show what was found.

    FOLDER: a new folder, where the corpus, its survivors, the audit and the summary are written (neardup-demo). The corpus has 18
    notes in Chinese, Japanese and English, and comes with the package.
    """
    from neardup.jobs.demo import AUDIT, NOTES, SURVIVORS, deduplicate_notes, shown_duplicates

    place = Path(folder)
    done = deduplicate_notes(place)
    click.echo(str(done))
    click.echo()
    for line in shown_duplicates(place / NOTES, place / AUDIT, 3):
        click.echo(f"  {line}")
    shown = shlex.quote(folder)
    click.echo("\nNext, on the same notes:\n")
    click.echo(f"  neardup explain {shown}/{AUDIT} zh-bridge-copy")
    click.echo(f"  neardup dedup {shown}/{NOTES} -o {shown}/{SURVIVORS} --min-similarity 0.7 --overwrite")
