"""The public surface: complete, documented, and cheap to import."""

import importlib.util
import inspect
import json
import subprocess
import sys

import pytest

import neardup
from guards import not_empty
from places import ROOT


def test_every_public_name_has_a_home_and_nothing_else_is_public():
    assert sorted(neardup.__all__) == sorted(neardup._HOME)
    assert dir(neardup) == sorted(neardup.__all__)
    for name, module in neardup._HOME.items():
        assert getattr(neardup, name) is getattr(importlib.import_module(f"neardup.{module}"), name)


def test_the_public_surface_is_the_one_that_is_written_down():
    """A change here is seen by all who use it: write the list anew by `make docs`, and say it in CHANGELOG.md."""
    spec = importlib.util.spec_from_file_location("make_surface", ROOT / "tools/make_surface.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.surface() == made.TARGET.read_text(encoding="utf-8")


def test_no_public_name_is_also_a_module():
    for name in not_empty(neardup.__all__):
        assert importlib.util.find_spec(f"neardup.{name}") is None, name


@pytest.mark.parametrize("name", neardup.__all__)
def test_every_public_name_is_documented(name):
    found = getattr(neardup, name)
    if name != "RECIPES":
        assert inspect.getdoc(found), name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'simhash'"):
        neardup.simhash  # noqa: B018


@pytest.mark.parametrize(
    "statement", ["import neardup", "from neardup.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"]
)
def test_importing_and_asking_for_help_load_nothing_heavy(statement):
    program = (
        f"{statement}\nimport sys\nprint(sorted({{'numba', 'numpy', 'pyarrow'}} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_refusals_and_explaining_a_removal_load_nothing_heavy(tmp_path):
    rows = [
        f'{{"id": "{name}", "text": "{text}"}}\n' for name, text in (("a", "the same text"), ("b", "The same text"))
    ]
    (tmp_path / "in.jsonl").write_text("".join(rows), encoding="utf-8")
    neardup.deduplicate_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    there = "there is no such file or folder"
    calls = {
        "dedup gone.jsonl -o new.jsonl": there,
        "dedup in.jsonl": "Give -o a file",
        "dedup in.jsonl -o out.jsonl": "exist already",
        "dedup in.jsonl -o new.csv": "in.jsonl is jsonl",
        "dedup in.jsonl -o new.jsonl --min-similarity 3": "--min-similarity",
        "dedup in.jsonl -o new.jsonl --recipe none": "none",
        "dedup in.jsonl -o new.jsonl --foo": "No such option",
        "dedup gone.jsonl -o new.jsonl --unit line": there,
        "passages gone.jsonl -o new.jsonl": there,
        "passages in.jsonl -o new.jsonl --list --annotate": "the list is written instead of documents",
        "passages in.jsonl -o new.jsonl --min-tokens 1": "--min-tokens 1: give an integer",
        "decontaminate gone.jsonl --against in.jsonl -o new.jsonl": there,
        "decontaminate in.jsonl --against gone.jsonl -o new.jsonl": there,
        "decontaminate in.jsonl --against in.jsonl -o new.jsonl --min-share 2": "--min-share 2.0: give a number",
        "split gone.jsonl --shares train=0.5,test=0.5 -o new/": there,
        "split in.jsonl --shares train=0.5 -o new/": "a split has two sides or more",
        "split in.jsonl --shares train=0.5,test=0.5 -o new.jsonl": "a split has a file for each side",
        "leaks gone.jsonl --against in.jsonl": there,
        "leaks in.jsonl --against gone.jsonl": there,
        "leaks in.jsonl --against in.jsonl": "all of it would be leaks",
        "leaks in.jsonl --against in.jsonl --min-share 2": "--min-share 2.0: give a number",
        "apply c.parquet gone.jsonl -o new.jsonl": there,
        "fingerprint gone.jsonl -o new.parquet": there,
        "pairs gone.jsonl -o new.csv": there,
        "evaluate gone.jsonl": there,
        "filter gone.jsonl -o new.jsonl --index new.index": there,
        "filter gone.jsonl -o new.jsonl --store new.store": there,
        "store add new.store gone.jsonl": there,
        "store check new.store gone.jsonl": there,
        "fit gone.jsonl -o new.parquet": there,
        "plan gone.jsonl": there,
        "index build new.index gone.jsonl": there,
        "index query new.index gone.jsonl": there,
        "compare gone.txt gone.txt": "gone.txt: there is no such file",
        "explain gone.jsonl a": "There is no audit",
        "explain out.duplicates.jsonl b": None,
        "verify gone.jsonl": there,
        "verify in.jsonl": "Give INPUT",
        "verify out.jsonl --min-similarity 0.9": "the summary of the run",
        "verify out.jsonl gone.jsonl": there,
    }
    program = (
        "import contextlib, io, json, sys\nfrom neardup.cli.main import main\n"
        "for line in json.loads(sys.argv[1]):\n"
        "    said = io.StringIO()\n"
        "    with contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):\n"
        "        main(line.split())\n"
        "    heavy = sorted({'numba', 'numpy', 'pyarrow'} & set(sys.modules))\n"
        "    print(json.dumps([line, said.getvalue(), heavy]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(list(calls))],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert [line for line, _, _ in told] == list(calls)
    for line, said, heavy in told:
        assert (calls[line] is None or calls[line] in said, heavy) == (True, []), (line, said)
