"""The command `neardup demo`."""

from pathlib import Path

import click

from neardup.cli.parsing import values
from neardup.cli.shown.difference_lines import INDENT, example_lines, legend
from neardup.cli.shown.next_command import next_of
from neardup.cli.shown.terminal import line_width, tell

MAX_EXAMPLES = 3


@click.command()
@click.argument("folder", default="neardup-demo", type=values.FILE)
def command(folder: str) -> None:
    """De-duplicate a small corpus, and show what was found.

    FOLDER: a new folder, where the corpus, its survivors, the audit and the summary are written (neardup-demo). The corpus has 18
    notes in Chinese, Japanese and English, and comes with the package.
    """
    from neardup.jobs.removal.demo import AUDIT, NOTES, deduplicate_notes

    place = Path(folder)
    tell(deduplicate_notes(place).lines(), err=False)
    click.echo()
    show_examples(place / NOTES, place / AUDIT, MAX_EXAMPLES)
    click.echo("\nNext, on the same notes:\n")
    name = folder.rstrip("/")
    for words in (
        ["explain", "--diff", f"{name}/{AUDIT}", "zh-bridge-copy"],
        ["dedup", f"{name}/{NOTES}", "-o", "lower.jsonl", "--min-similarity", "0.7"],
    ):
        click.echo(f"{INDENT}{next_of(words)}")


def show_examples(corpus: Path, audit: Path, most: int) -> None:
    """Print some near-duplicates of an audit, each with the place where it first differs; `make demo` does, too."""
    from neardup.jobs.removal.demo import near_duplicates

    click.echo(INDENT + legend("the duplicate", "its survivor"))
    for found, similarity in near_duplicates(corpus, audit, most):
        for line in example_lines(found, similarity, line_width()):
            click.echo(line)
