"""Completion in bash, zsh and fish: real shells where they are installed, and the protocol that their scripts speak."""

import gzip
import json
import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.cli.main import COMMANDS
from neardup.cli.parsing.column_names import column_names

ROW = {"id": 1, "body text": "x", "meta": {"lang": "en", "place": {"city": "x"}}, "tags": ["a"]}
NAMES = ["id", "body text", "meta", "meta.lang", "meta.place", "meta.place.city", "tags"]


@pytest.fixture(autouse=True)
def corpus(place, monkeypatch):
    """Files of a row, and a command `neardup` on the path."""
    line = json.dumps(ROW) + "\n"
    Path("in.jsonl").write_text(line)
    Path("many").mkdir()
    Path("many/a.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    pq.write_table(pa.Table.from_pylist([ROW]), "in.parquet")
    Path("in.csv").write_bytes("编号;文本\n1;x\n".encode("gbk"))
    bin_ = place.work.parent / "bin"
    bin_.mkdir()
    program = bin_ / "neardup"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m neardup "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")


def asked(shell, *words):
    """What a shell is answered for the last of these words."""
    known = {
        "_NEARDUP_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": shlex.join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    if shell == "fish":
        known["COMP_CWORD"] = words[-1]
    done = subprocess.run(["neardup"], env=os.environ | known, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


def in_bash(*words):
    """What bash proposes for the last of these words."""
    script = """
        source <(neardup completion bash)
        compopt() { echo "option $2"; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _neardup_completion neardup
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (["ded"], ["dedup"]),
        (["dedup", "in.jsonl", "--te"], ["--text", "--temp-dir", "--temp-limit"]),
        (["dedup", "in.parquet", "--text", "meta.p"], ["meta.place", "meta.place.city"]),
        (["dedup", "in.jsonl", "--text", "bo"], ["'body text'"]),
        (["dedup", "--similarity", "j"], ["jaccard"]),
        (["dedup", "--recipe", "textb"], ["textbook"]),
        (["dedup", "--keep", "m"], ["option nospace", "option nospace", "max:", "min:"]),
        (["dedup", "--cluster", ""], ["star", "components"]),
        (["store", "ad"], ["add"]),
        (["dedup", "in."], ["option default", ""]),
        (["dedup", "--recipe", "mine."], ["option default", ""]),
        (["dedup", "in.jsonl", "-o", ""], ["option default", ""]),
    ],
)
def test_bash_completes_commands_options_values_columns_and_files(words, proposed):
    assert in_bash("neardup", *words) == proposed


@pytest.mark.parametrize(
    ("line", "words", "proposed"),
    [
        ("neardup dedup in.parquet --keep max:", ["max", ":"], ["id", "'body text'", *NAMES[2:]]),
        ("neardup dedup in.parquet --keep max:meta.p", ["max", ":", "meta.p"], ["meta.place", "meta.place.city"]),
        ("neardup dedup in.parquet --keep  min:bo", ["min", ":", "bo"], ["'body text'"]),
        ("neardup dedup in.parquet --keep=max:meta.l", ["=", "max", ":", "meta.l"], ["meta.lang"]),
        ("neardup dedup in.parquet --store pg://h/d --keep max:ta", ["max", ":", "ta"], ["tags"]),
    ],
)
def test_bash_completes_what_comes_after_a_colon(line, words, proposed):
    before = line.split("--")[0].split()
    flags = ["--store", "pg", "://h/d", "--keep"] if "--store" in line else ["--keep"]
    script = """
        source <(neardup completion bash)
        compopt() { :; }
        COMP_LINE=$1; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _neardup_completion neardup
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    call = ["bash", "-c", script, "bash", line, *before, *flags, *words]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert (done.stderr, done.stdout.splitlines()) == ("", proposed)


def test_bash_at_a_terminal_completes_columns_after_a_colon():
    terminal, other = pty.openpty()
    call = ["bash", "--norc", "--noprofile", "-i"]
    known = os.environ | {"TERM": "dumb", "PS1": "> "}
    shell = subprocess.Popen(call, stdin=other, stdout=other, stderr=other, env=known, start_new_session=True)
    os.close(other)

    def shows(typed, expected):
        os.write(terminal, typed.encode())
        seen, until = "", time.monotonic() + 20
        while expected not in seen and time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 1 << 16).decode()
        return expected in seen

    try:
        assert shows("source <(neardup completion bash); echo re''ady\n", "ready")
        for typed, expected in (
            ("neardup dedup in.parquet --keep max:ta\t", "max:tags "),
            ("neardup dedup in.parquet --keep=max:meta.l\t", "max:meta.lang "),
            ("neardup dedup in.parquet --keep ma\t", "max:"),
        ):
            assert shows(typed, expected), typed
            os.write(terminal, b"\x15")  # takes the line back
    finally:
        shell.kill()
        shell.wait()
        os.close(terminal)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("line", "proposed"),
    [
        ("neardup dedup in.jsonl --text ", sorted(NAMES)),
        ("neardup dedup --similarity j", ["jaccard"]),
        ("neardup dedup man", ["many/"]),
        ("neardup dedup in.parquet --keep max:me", sorted(f"max:{name}" for name in NAMES if name.startswith("me"))),
    ],
)
def test_fish_completes_values_columns_and_files(line, proposed):
    script = "neardup completion fish | source; complete -C $argv[1]"
    done = subprocess.run(["fish", "--no-config", "-c", script, line], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == proposed


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_loads_its_script_and_is_answered():
    script = 'autoload -U compinit; compinit -u; source <(neardup completion zsh); echo "${_comps[neardup]}"'
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "_neardup_completion\n"


def test_zsh_is_answered_with_columns_and_files():
    assert asked("zsh", "neardup", "dedup", "in.jsonl", "--text", "bo") == ["plain", "body text", "_"]
    assert asked("zsh", "neardup", "dedup", "in.jsonl", "-o", "") == ["file", "_"]


@pytest.mark.parametrize(
    "words",
    [
        ["dedup", "in.jsonl", "--id", ""],
        ["dedup", "in.jsonl", "--within", ""],
        ["dedup", "many", "--text", ""],
        ["dedup", "many/*.gz", "-o", "out/", "--text", ""],
        ["store", "add", "in.csv", "in.jsonl", "--metadata", ""],
        ["index", "build", "in.csv", "in.jsonl", "--id", ""],
        ["decontaminate", "in.csv", "--against", "in.jsonl", "--against-text", ""],
        ["evaluate", "--sample", "9", "in.jsonl", "--elements", ""],
        ["fingerprint", "in.parquet", "--vector", ""],
    ],
)
def test_columns_are_those_of_the_inputs_that_are_typed(words):
    assert [each.removeprefix("plain,").strip("'") for each in asked("bash", "neardup", *words)] == NAMES


def test_a_column_in_another_encoding_is_proposed_with_the_encoding():
    assert asked("bash", "neardup", "dedup", "in.csv", "--encoding", "gbk", "--text", "") == [
        "plain,编号",
        "plain,文本",
    ]
    assert asked("bash", "neardup", "dedup", "in.csv", "--text", "") == []


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]\n", b"\xff\xfe\n", b"PAR1", b"PAR1" * 9, b"\0" * 100, b'{"a": ' + b"[" * 100_000]
)
def test_what_cannot_be_read_has_no_columns_and_leaves_no_traceback(content):
    for ending in ("jsonl", "jsonl.gz", "jsonl.zst", "csv", "parquet"):
        path = Path(f"odd.{ending}")
        path.write_bytes(content)
        assert isinstance(column_names([str(path)]), list)
        assert asked("bash", "neardup", "dedup", str(path), "--text", "zzz") == []
    assert (
        column_names(["gone.jsonl", "/dev/zero", "/dev/stdin", "s3://bucket/a.jsonl", "-", "", "~nobody/x.csv", "[*"])
        == []
    )


def test_columns_of_a_parquet_file_are_those_that_arrow_finds():
    kinds = {f"c{i}": [i] for i in range(40)} | {
        "list": [[{"x": 1}]],
        "map": pa.array([[("a", 1)]], pa.map_("str", "int64")),
    }
    pq.write_table(pa.table(kinds), "wide.parquet")
    assert column_names(["wide.parquet"]) == pq.read_schema("wide.parquet").names


def test_nothing_heavy_is_loaded_to_complete():
    program = "import sys; from neardup.cli.main import main\ntry: main()\nfinally: pass"
    known = {"_NEARDUP_COMPLETE": "bash_complete", "COMP_WORDS": "neardup dedup in.parquet --text ", "COMP_CWORD": "4"}
    call = [sys.executable, "-X", "importtime", "-c", program]
    done = subprocess.run(call, env=os.environ | known, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:1] == ["plain,id"]
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not {"numpy", "pyarrow", "numba"} & loaded


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(run, shell):
    shown = run("completion", shell).out.decode()
    assert f"_NEARDUP_COMPLETE={shell}_complete" in shown
    assert run("completion", "tcsh").code == 2


def test_an_unknown_shell_is_answered_with_nothing():
    assert asked("tcsh", "neardup", "") == []


def test_completion_is_listed():
    assert "completion" in COMMANDS


def test_completion_is_fast():
    began = time.perf_counter()
    fastest = min(_seconds() for _ in range(3))
    assert fastest < 1.5, f"{time.perf_counter() - began}"  # 0.15 s on an idle machine


def _seconds():
    began = time.perf_counter()
    asked("bash", "neardup", "dedup", "in.parquet", "--text", "")
    return time.perf_counter() - began


def test_a_shell_that_is_not_known_comes_with_the_one_that_is_meant(run):
    run("completion", "bsh").refused("bsh: give one of bash, zsh, fish. Did you mean bash?")
    run("completion").refused("Give SHELL: one of bash, zsh, fish.")
