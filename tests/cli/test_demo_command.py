"""The commands `neardup demo` and `neardup warmup`, and what a command does not load."""

import json
import re
import shlex
import subprocess
import sys

import pytest

from neardup.display import display_width
from neardup.kernels import compilation


def test_the_demo_shows_duplicates_and_commands_that_work(run, place):
    done = run("demo")
    assert "kept     11 documents (61.1 %)\nremoved  7 documents (38.9 %)" in done.out.decode()
    assert "zh-bridge-copy  is a duplicate of  zh-bridge  (similarity 0.9020)" in done.out.decode()
    folder = place.work / "neardup-demo"
    assert sorted(path.name for path in folder.iterdir()) == [
        "notes.jsonl", "survivors.duplicates.jsonl", "survivors.jsonl", "survivors.summary.json",
    ]  # fmt: skip
    commands = re.findall(r"^  neardup (.+)$", done.out.decode(), re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert run(*shlex.split(command)).code == 0
    assert json.loads((place.work / "lower.summary.json").read_text())["min_similarity"] == 0.7
    assert max(map(display_width, done.out.decode().splitlines())) <= 80
    assert "了[-五-]{+四+}个月" in done.out.decode()
    assert "since [-autumn.-]{+spring.+}" in done.out.decode()
    assert run("demo").code == 0  # its own files may be there


def test_the_demo_leaves_a_folder_with_other_files_alone(run, place):
    (place.work / "mine").mkdir()
    (place.work / "mine" / "thesis.txt").write_text("mine")
    run("demo", "mine").refused("mine holds other files (thesis.txt …): name a new folder")
    assert [path.name for path in (place.work / "mine").iterdir()] == ["thesis.txt"]


def test_the_demo_refuses_a_folder_that_cannot_be_made(run, place):
    (place.work / "file").write_text("")
    run("demo", "file/demo").refused("cannot be made (Not a directory): name a folder that can be written")


@pytest.mark.skipif(compilation.JIT, reason="Numba would compile all kernels: minutes")
def test_nothing_is_left_to_compile_where_kernels_come_compiled(run):
    assert run("warmup").out.decode() == f"Kernels are {compilation.described()}: nothing is left to compile.\n"


PROGRAM = """
import sys
from neardup.cli.main import main
sys.argv = ["neardup", "dedup", "in.jsonl", "-o", "out.jsonl", "--quiet"]
main()
print(sorted({"pandas", "jinja2", "matplotlib", "pyarrow.parquet"} & set(sys.modules)))
import pandas
print(pandas.__name__)
"""


def test_a_command_loads_no_pandas_and_leaves_it_to_others(place):
    (place.work / "in.jsonl").write_text('{"text": "one two three"}\n{"text": "one two three"}\n')
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "pandas"]
