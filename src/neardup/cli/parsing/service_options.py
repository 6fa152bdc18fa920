"""Options that commands share which serve stores: who may ask, and how much."""

import click

from neardup.cli.parsing.options import several
from neardup.cli.parsing.values import NUMBER

tokens = click.option(
    "--tokens",
    type=click.Path(exists=True, dir_okay=False),
    help="File of tokens, a line for each: NAME ROLE TOKEN. Roles are read, write and admin. (Lines of NEARDUP_TOKENS.)",
)
limits = several(
    click.option("--max-body", metavar="SIZE", help="Bytes of a body, or of a line of a stream (8M)."),
    click.option("--max-requests", type=int, metavar="N", help="Requests at a time (256)."),
    click.option("--max-rate", type=NUMBER, metavar="N", help="Documents a second of each token (no limit)."),
    click.option("--timeout", metavar="DURATION", help="Time for a request to come, and for its answer (30s)."),
)
