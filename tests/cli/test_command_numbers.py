"""Every number that a flag of a store or of the service takes may be any number: the exit code is 0 or 2, and nothing is traced."""

import shutil
from pathlib import Path

import click
import pytest
from cli_corpora import FERRY, ROWS, write_lines

from neardup.cli.main import cli
from neardup.cli.parsing.flags import called
from numbers_given import IN_WORDS

NUMERIC = {"N", "J", "SECONDS", "TIME", "DURATION", "SIZE", "FLOAT", "INTEGER"}
"""What flags that take numbers call their values."""
CALLS = {
    "store create": ("new",),
    "store add": ("seen", "in.jsonl"),
    "store check": ("seen", "in.jsonl"),
    "store remove": ("seen", "ferry"),
    "store expire": ("seen",),
    "store compact": ("seen",),
    "store verify": ("seen",),
    "store neighbors": ("seen", "--literal", FERRY),
    "store pairs": ("seen",),
    "store clusters": ("seen",),
    "store import": ("new", "exported"),
    "store build": ("new", "out.jsonl"),
    "filter": ("in.jsonl", "--store", "new", "--create", "-o", "passed.jsonl", "--overwrite"),
    "filter --index": ("in.jsonl", "--index", "index", "--create", "-o", "passed.jsonl", "--overwrite"),
    "serve": ("--store", "none"),
    "mcp": ("--store", "none"),
}
"""A call of each command with such flags, which succeeds but for `serve` and `mcp`."""


def flags(command):
    """The flags of a command that take numbers."""
    for each in called(cli, command.split()[: 1 if command.startswith("filter") else None]).params:
        if isinstance(each, click.Option) and not each.is_flag:
            kind = each.metavar or each.type.name.upper()
            if kind in NUMERIC:
                yield max(each.opts, key=len)


def commands():
    yield from ("filter", "serve")
    yield from (f"store {name}" for name in called(cli, ["store"]).commands)


def test_the_table_has_every_command_with_a_flag_that_takes_a_number():
    assert {command for command in commands() if list(flags(command))} <= CALLS.keys()


@pytest.mark.parametrize(("command", "flag"), [(command, flag) for command in CALLS for flag in flags(command)])
def test_a_flag_takes_or_refuses_any_number(run, command, flag):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    run("store", "create", "seen")
    run("store", "add", "seen", "in.jsonl")
    run("store", "export", "seen", "exported")
    for number in IN_WORDS:
        done = run(*command.removesuffix(" --index").split(), *CALLS[command], f"{flag}={number}")
        assert done.code in (0, 2), (number[:50], done)
        assert "Traceback" not in done.err
        assert done.code == 0 or "neardup: error: " in done.err or "Usage: " in done.err
        if Path("new").exists():
            run("store", "verify", "new")
            shutil.rmtree("new")
    assert run("store", "verify", "seen").code == 0


def test_a_number_that_is_too_large_is_refused_by_its_flag(run):
    run("store", "create", "seen")
    refused = run("store", "expire", "seen", "--newest", str(2**63))
    assert (refused.code, refused.err) == (
        2,
        "neardup: error: --newest 9223372036854775808: give a number of documents, 0 or more, below 2**63.\n",
    )
