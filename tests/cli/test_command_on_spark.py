"""`python -m neardup.spark` has the flags of `neardup dedup`, or refuses them by name; nothing here starts Spark, nor needs Java."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from neardup import spark
from neardup.cli.commands import dedup
from neardup.cli.engines import on_spark
from neardup.engines.job import paths
from neardup.engines.spark import files
from neardup.errors import OptionError
from neardup.options import DedupOptions

OURS = {"order", "format_", "work", "plan_only", "config"}
FLAGS = {each.name: each for each in dedup.command.params}


def names(command):
    return [each.name for each in command.params]


@pytest.fixture
def refused(capsys, monkeypatch):
    """What the command says, with exit code 2, before it would start Spark."""
    monkeypatch.setattr(on_spark, "session_of_command", lambda: pytest.fail("Spark is started"))

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            on_spark.main([*words])
        assert ended.value.code == 2
        return capsys.readouterr().err

    return run


def test_every_option_of_dedup_is_taken_or_refused():
    of_dedup = set(names(dedup.command)) - {"config"}
    assert of_dedup == set(on_spark.CHANGED) | set(on_spark.REFUSED)
    assert not set(on_spark.CHANGED) & set(on_spark.REFUSED)
    assert set(names(on_spark.command)) == of_dedup | OURS


def test_what_is_taken_has_the_flags_and_defaults_of_dedup():
    ours = {each.name: each for each in on_spark.command.params}
    for name, changed in on_spark.CHANGED.items():
        for field in {"opts", "default", "multiple", "required", "help"} - set(changed):
            assert getattr(ours[name], field, None) == getattr(FLAGS[name], field, None), (name, field)
    assert FLAGS["method"].default == "auto", "the declarations of `dedup` are copied, not changed"
    options = {name for name in on_spark.CHANGED if name in DedupOptions.__dataclass_fields__}
    assert options == {"method", "min_similarity", "similarity", "max_distance", "keep", "within", "cluster"}


@pytest.mark.parametrize("name", on_spark.REFUSED)
def test_what_is_not_taken_is_refused_with_what_to_do(name, refused):
    flag = FLAGS[name].opts[0]
    told = refused("in", "-o", "out", flag, *([] if FLAGS[name].is_flag else ["1"]))
    assert told.startswith(f"neardup: error: On Spark, {flag} is not taken. {on_spark.REFUSED[name]}\n")
    assert flag not in click.Context(on_spark.command).get_help().replace(on_spark.REFUSED[name], "").split()


def test_what_is_not_taken_is_refused_in_a_file_of_options_too(refused, tmp_path):
    (tmp_path / "o.toml").write_text("threads = 4\n")
    assert "On Spark, --threads is not taken" in refused("in", "-o", "out", "--config", str(tmp_path / "o.toml"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["in"], "Give -o OUT, or --plan to run nothing."),
        (["-", "-o", "out"], "A cluster has no standard input and output"),
        (["in", "-o", "-"], "A cluster has no standard input and output"),
        (["in", "-o", "out", "--text", "a", "--text", "b"], "--text: on Spark, texts are in one column. Join several"),
        (["in", "-o", "out", "--method", "auto"], "no engine looks at the corpus first to choose. Give one of exact"),
        (["in", "-o", "out", "--max-distance", "3"], "--max-distance 3: --method exact asks for no distance"),
        (["in", "-o", "out", "--min-similarity", "2"], "--min-similarity 2.0: give a number from 0"),
        (
            ["a.csv", "b.parquet", "-o", "out"],
            "All inputs must have one format, and these differ: a.csv (csv), b.parquet (parquet)",
        ),
        (["in", "-o", "out", "--against", "a.orc", "--against", "b"], "these differ: a.orc (orc), b (parquet)"),
        (["in", "-o", "out", "--recipe", "nothing"], "nothing"),
        (["in", "-o", "out", "--thread", "3"], "No such option '--thread'."),
    ],
)
def test_impossible_calls_are_refused(words, told, refused):
    assert told in refused(*words)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("s3a://crawl/pages/", ("parquet", None)),
        ("a.JSON", ("json", None)),
        ("pages/*.jsonl.gz", ("json", "gzip")),
        ("a.csv.zst", ("csv", "zstd")),
        ("a.orc/", ("orc", None)),
        ("a.parquet.gz", ("parquet", None)),
        ("v1.2", ("parquet", None)),
    ],
)
def test_endings_tell_formats(path, found):
    assert paths.format_of(path, "parquet") == found


def test_without_an_ending_the_given_format_is_taken():
    assert paths.format_of("pages/", "csv") == ("csv", None)
    assert paths.demand_one_format(["pages/", "a.csv"], "csv") == "csv"
    with pytest.raises(OptionError, match="All inputs must have one format"):
        paths.demand_one_format(["pages/", "a.csv"], "orc")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("out/", ("out", "")),
        ("a/out.jsonl.gz", ("a/out", ".jsonl.gz")),
        ("out.parquet/", ("out", ".parquet")),
        ("out.v2", ("out.v2", "")),
        ("a/.csv", ("a/.csv", "")),
    ],
)
def test_duplicates_are_named_after_the_output(path, found):
    assert paths.without_ending(path) == found


@pytest.mark.parametrize(
    ("one", "other", "is_so"),
    [
        ("file:/a", "file:/a/b", True),
        ("file:/a/b", "file:/a", True),
        ("file:/a", "file:/ab", False),
        ("s3a:/a", "s3a:/a", True),
    ],
)
def test_places_that_lie_in_one_another_overlap(one, other, is_so):
    assert paths._overlap(one, other) is is_so


def test_urls_of_one_file_are_one():
    assert files._plain("file:///a%20b/c/") == files._plain("file:/a b/c") == "file:/a b/c"


@pytest.mark.parametrize("words", [[spark.__file__], ["-m", "neardup.spark"]], ids=["the file", "the module"])
def test_the_file_and_the_module_are_the_command(words, tmp_path):
    done = subprocess.run([sys.executable, *words, "--help"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.startswith("Usage: neardup.spark [OPTIONS] INPUT...")


def test_the_folder_of_the_file_hides_no_modules(tmp_path):
    program = f"import runpy, sys\nsys.path[0] = {str(Path(spark.__file__).parent)!r}\nsys.argv = ['x', '--help']\n"
    program += f"try:\n    runpy.run_path({spark.__file__!r}, run_name='__main__')\nexcept SystemExit:\n    pass\n"
    program += f"assert {str(Path(spark.__file__).parent)!r} not in sys.path, sys.path\n"
    (tmp_path / "program.py").write_text(program)
    subprocess.run([sys.executable, str(tmp_path / "program.py")], check=True, capture_output=True)
