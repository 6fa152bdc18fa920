"""`python -m neardup.spark` and `neardup.ray` have the flags of `neardup dedup`, or refuse them by name; nothing here starts a cluster."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from neardup import ray, spark
from neardup.cli.commands import dedup
from neardup.cli.engines import on_ray, on_spark
from neardup.engines.job import paths
from neardup.engines.spark import files
from neardup.errors import OptionError
from neardup.options import DedupOptions

OURS = {"order", "format_", "work", "plan_only", "config"}
FLAGS = {each.name: each for each in dedup.command.params}
ENGINES = {"Spark": on_spark, "Ray": on_ray}
SESSIONS = {"Spark": "session_of_command", "Ray": "cluster"}


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture
def refused(engine, capsys, monkeypatch):
    """What the command says, with exit code 2, before it would start a cluster."""
    monkeypatch.setattr(ENGINES[engine], SESSIONS[engine], lambda: pytest.fail(f"{engine} is started"))

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            ENGINES[engine].main([*words])
        assert ended.value.code == 2
        return capsys.readouterr().err

    return run


def test_every_option_of_dedup_is_taken_or_refused(engine):
    refused, changed = set(ENGINES[engine].REFUSED), set(ENGINES[engine].CHANGED)
    assert set(FLAGS) - {"config"} == refused | changed
    assert not refused & changed
    params = ENGINES[engine].command.params
    assert {each.name for each in params} == refused | changed | OURS
    assert {each.name for each in params if not getattr(each, "hidden", False)} == changed | OURS


def test_both_engines_take_the_same_options():
    assert on_ray.REFUSED.keys() == on_spark.REFUSED.keys()
    assert on_ray.CHANGED.keys() == on_spark.CHANGED.keys()
    assert [each.name for each in on_ray.command.params] == [each.name for each in on_spark.command.params]
    assert not any("Spark" in text or "spark" in text for text in on_ray.REFUSED.values())


def test_what_is_taken_has_the_flags_and_defaults_of_dedup(engine):
    ours = {each.name: each for each in ENGINES[engine].command.params}
    for name, changed in ENGINES[engine].CHANGED.items():
        for field in {"opts", "default", "multiple", "required", "help"} - set(changed):
            assert getattr(ours[name], field, None) == getattr(FLAGS[name], field, None), (name, field)
    assert FLAGS["method"].default == "auto", "the declarations of `dedup` are copied, not changed"
    options = {name for name in ENGINES[engine].CHANGED if name in DedupOptions.__dataclass_fields__}
    assert options == {
        "method",
        "min_similarity",
        "similarity",
        "max_distance",
        "keep",
        "keep_as",
        "within",
        "cluster",
        "guard",
    }


@pytest.mark.parametrize("name", on_spark.REFUSED)
def test_what_is_not_taken_is_refused_with_what_to_do(name, engine, refused):
    flag, remedy = FLAGS[name].opts[0], ENGINES[engine].REFUSED[name]
    told = refused("in", "-o", "out", flag, *([] if FLAGS[name].is_flag else ["1"]))
    assert told.startswith(f"neardup: error: On {engine}, {flag} is not taken. {remedy}\n")
    assert flag not in click.Context(ENGINES[engine].command).get_help().replace(remedy, "").split()


def test_what_is_not_taken_is_refused_in_a_file_of_options_too(engine, refused, tmp_path):
    (tmp_path / "o.toml").write_text("threads = 4\n")
    assert f"On {engine}, --threads is not taken" in refused("in", "-o", "out", "--config", str(tmp_path / "o.toml"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["in"], "Give -o OUT, or --plan to run nothing."),
        (["-", "-o", "out"], "A cluster has no standard input and output: give paths that {} reads and writes."),
        (["in", "-o", "-"], "A cluster has no standard input and output"),
        (["in", "-o", "out", "--text", "a", "--text", "b"], "--text: on {}, texts are in one column. Join several"),
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
def test_impossible_calls_are_refused(words, told, engine, refused):
    assert told.format(engine) in refused(*words)


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


@pytest.mark.parametrize(
    "words",
    [[spark.__file__], ["-m", "neardup.spark"], ["-m", "neardup.ray"]],
    ids=["the file of Spark", "the module of Spark", "the module of Ray"],
)
def test_the_file_and_the_module_are_the_command(words, tmp_path):
    name = "ray" if ray.__name__ in words else "spark"
    done = subprocess.run([sys.executable, *words, "-h"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.startswith(f"Usage: neardup.{name} [OPTIONS] INPUT...")
    assert f"on a cluster of {name.title()}: the survivors of `neardup dedup`" in " ".join(done.stdout.split())


def test_the_folder_of_the_file_hides_no_modules(tmp_path):
    program = f"import runpy, sys\nsys.path[0] = {str(Path(spark.__file__).parent)!r}\nsys.argv = ['x', '--help']\n"
    program += f"try:\n    runpy.run_path({spark.__file__!r}, run_name='__main__')\nexcept SystemExit:\n    pass\n"
    program += f"assert {str(Path(spark.__file__).parent)!r} not in sys.path, sys.path\n"
    (tmp_path / "program.py").write_text(program)
    subprocess.run([sys.executable, str(tmp_path / "program.py")], check=True, capture_output=True)
