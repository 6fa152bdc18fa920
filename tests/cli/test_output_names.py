"""Names of outputs that are not UTF-8: every command writes there, and what it prints and records is JSON in UTF-8."""

import json
import os
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, FERRY, FERRY_EDITED, write_lines

from neardup.cli.main import cli

ROWS = [{"id": number, "text": text} for number, text in enumerate([FERRY, BREAD, FERRY_EDITED, FERRY])]
MARK = b"o\xff\xfe"
RUN = ["dedup in.jsonl -o out.jsonl --min-similarity 0.5"]
STORE = ["store create seen --min-similarity 0.5 --floor 0.3 --texts", "store add seen in.jsonl"]
STAGES = [
    "fingerprint in.jsonl -o p.parquet",
    "pairs p.parquet -o pairs.parquet",
    "clusters pairs.parquet --documents p.parquet -o c.parquet",
]
INDEX = ["index build ix p.parquet --max-distance 18"]
OUTPUTS = [
    ([], "dedup in.jsonl -o @.jsonl"),
    ([], "dedup in.jsonl -o @/"),
    ([], "dedup in.jsonl -o out.jsonl --audit @.jsonl"),
    ([], "dedup in.jsonl -o out.jsonl --report @.html"),
    ([], "dedup in.jsonl -o @.jsonl --unit line"),
    ([], "dedup in.jsonl -o @.jsonl --resume"),
    ([], "passages in.jsonl -o @.jsonl --min-tokens 9"),
    ([], "passages in.jsonl -o out.jsonl --audit @.jsonl --min-tokens 9"),
    ([], "passages in.jsonl -o @.jsonl --list --min-tokens 9"),
    ([], "passages in.jsonl -o out.jsonl --min-tokens 9 --report @.html"),
    ([], "decontaminate in.jsonl --against ref.jsonl -o @.jsonl"),
    ([], "decontaminate in.jsonl --against ref.jsonl -o out.jsonl --audit @.jsonl"),
    ([], "decontaminate in.jsonl --against ref.jsonl -o out.jsonl --report @.html"),
    ([], "split in.jsonl --shares train=0.5,test=0.5 -o @"),
    ([], "leaks in.jsonl --against ref.jsonl -o @.jsonl"),
    ([], "leaks in.jsonl --against ref.jsonl --report @.html"),
    ([], "fingerprint in.jsonl -o @.parquet"),
    ([], "fingerprint in.jsonl -o @/"),
    ([], "fingerprint in.jsonl -o @.csv"),
    ([], "fit in.jsonl -o @.parquet"),
    ([], "pairs in.jsonl -o @.jsonl"),
    ([], "pairs in.jsonl -o @.parquet"),
    (STAGES[:2], "clusters pairs.parquet --documents p.parquet -o @.parquet"),
    (STAGES, "apply c.parquet in.jsonl -o @.jsonl"),
    (STAGES, "apply c.parquet in.jsonl -o out.jsonl --audit @.jsonl"),
    (
        [*RUN, "dedup in.jsonl -o strict.jsonl --min-similarity 0.95"],
        "diff out.summary.json strict.summary.json -o @.html",
    ),
    (RUN, "reproduce out.summary.json -o @"),
    (RUN, "report out.duplicates.jsonl -o @.html"),
    ([], "evaluate in.jsonl -o @.json"),
    ([], "evaluate in.jsonl --plot @.svg"),
    (STAGES[:1], "index build @ p.parquet --max-distance 18"),
    ([*STAGES[:1], *INDEX], "index query ix p.parquet -o @.jsonl"),
    ([], "store create @"),
    (RUN, "store build @ out.jsonl"),
    (STORE[:1], "store add seen in.jsonl -o @.jsonl"),
    (STORE, "store check seen in.jsonl -o @.jsonl"),
    (STORE, "store pairs seen -o @.jsonl"),
    (STORE, "store clusters seen -o @.jsonl"),
    (STORE, "store judgements seen -o @.jsonl"),
    (STORE, "store expire seen --newest 1 -o @.jsonl"),
    (STORE, "store orphans seen -o @.jsonl"),
    (STORE, "store remove seen 0 -o @.jsonl"),
    (STORE, "store backup seen @"),
    (STORE, "store export seen @"),
    ([], "filter in.jsonl --create --store seen -o @.jsonl"),
    ([], "filter in.jsonl --create --store @ -o out.jsonl"),
    ([], "filter in.jsonl --create --store seen -o out.jsonl --audit @.jsonl"),
    ([], "filter in.jsonl --create --index @ --max-distance 18 -o out.jsonl"),
    ([], "demo @"),
]
NO_OUTPUT = {"compare", "explain", "verify", "plan", "recipes", "warmup", "completion", "serve", "mcp"}
"""Commands that write nothing, or nothing under a name."""
IN_PLACE = {
    "index add", "index info", "index remove", "store compact", "store get", "store import", "store info", "store neighbors",
    "store upgrade", "store verify",
}  # fmt: skip
"""Commands of folders that others make."""


def _commands(group, context, before=()):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, context, (*before, name))
        else:
            yield " ".join((*before, name)), command


def test_every_output_of_every_command_is_tried():
    tried = {line for _, line in OUTPUTS}
    for name, command in _commands(cli, click.Context(cli)):
        if name in NO_OUTPUT or name in IN_PLACE:
            continue
        flags = {flag for each in command.params for flag in each.opts} & {"-o", "--audit", "--report", "--plot"}
        lines = [line for line in tried if line.startswith(name + " ")]
        assert lines, name
        for flag in flags:
            assert any(f"{flag} @" in line for line in lines), (name, flag)


@pytest.fixture
def odd():
    try:
        Path(os.fsdecode(MARK)).touch()
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    Path(os.fsdecode(MARK)).unlink()
    return os.fsdecode(MARK)


@pytest.mark.parametrize(("before", "line"), OUTPUTS, ids=[line for _, line in OUTPUTS])
def test_an_output_whose_name_is_not_utf8_is_written_and_recorded(run, odd, before, line):
    if "--plot" in line:
        pytest.importorskip("matplotlib")
    write_lines("in.jsonl", ROWS)
    write_lines("ref.jsonl", [{"text": FERRY_EDITED + " and more words that follow it to the end of the day"}])
    for each in before:
        run(*each.split()).ok()
    done = run(*line.replace("@", odd).split())
    if "--store seen" in line:  # which records the names as text
        done.refused(r"o\xff\xfe.jsonl: the name of an output must be UTF-8. Choose another name or folder.")
        return
    assert done.code == 0, done.err
    assert r"\udc" not in done.err
    done.out.decode()  # what is printed is UTF-8
    made = [name for name in os.listdir(os.fsencode(".")) if name.startswith(MARK)]
    assert made
    for path in map(Path, os.listdir(".")):
        _is_sound(path)


def _is_sound(path):
    """Whether JSON files are JSON in UTF-8, and Parquet files have metadata in UTF-8."""
    if path.is_dir():
        for each in path.iterdir():
            _is_sound(each)
    elif path.suffix == ".json":
        json.loads(path.read_bytes().decode())
    elif path.suffix == ".jsonl":
        for row in path.read_bytes().decode().splitlines():
            json.loads(row)
    elif path.suffix in (".html", ".svg", ".csv"):
        path.read_bytes().decode()
    elif path.suffix == ".parquet":
        with path.open("rb") as file:
            for value in (pq.read_schema(file).metadata or {}).values():
                value.decode()


def test_inputs_of_other_kinds_whose_names_are_not_utf8_are_read(run, odd):
    write_lines("in.jsonl", ROWS)
    run("fit", "in.jsonl", "-o", f"{odd}.parquet").ok()
    run("fit", "in.jsonl", "--merge", f"{odd}.parquet", "-o", "both.parquet").ok()
    pq.write_table(pa.table({"left_id": [0, 0], "right_id": [2, 1], "duplicate": [True, False]}), "labels.parquet")
    Path("labels.parquet").rename(f"{odd}.labels.parquet")
    run("evaluate", "in.jsonl", "--pairs", f"{odd}.labels.parquet").ok()
    Path(f"{odd}.toml").write_text("bits = 64\n")
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", f"{odd}.toml").ok()
