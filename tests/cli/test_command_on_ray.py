"""`python -m neardup.ray` has the flags of `neardup dedup`, or refuses them by name; nothing here starts Ray, nor needs it."""

import subprocess
import sys

import click
import pytest

from neardup.cli.commands import dedup
from neardup.cli.engines import on_ray, on_spark
from neardup.options import DedupOptions

OURS = {"order", "format_", "work", "plan_only", "config"}
FLAGS = {each.name: each for each in dedup.command.params}


@pytest.fixture
def refused(capsys, monkeypatch):
    """What the command says, with exit code 2, before it would start Ray."""
    monkeypatch.setattr(on_ray, "cluster", lambda: pytest.fail("Ray is started"))

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            on_ray.main([*words])
        assert ended.value.code == 2
        return capsys.readouterr().err

    return run


def test_every_option_of_dedup_is_taken_or_refused():
    assert set(FLAGS) - {"config"} == set(on_ray.REFUSED) | set(on_ray.CHANGED)
    shown = {each.name for each in on_ray.command.params if not getattr(each, "hidden", False)}
    assert shown == set(on_ray.CHANGED) | OURS


def test_both_engines_take_the_same_options():
    assert on_ray.REFUSED.keys() == on_spark.REFUSED.keys()
    assert on_ray.CHANGED.keys() == on_spark.CHANGED.keys()
    assert [each.name for each in on_ray.command.params] == [each.name for each in on_spark.command.params]
    assert not any("Spark" in text or "spark" in text for text in on_ray.REFUSED.values())


def test_what_is_taken_has_the_flags_and_defaults_of_dedup():
    ours = {each.name: each for each in on_ray.command.params}
    for name, changed in on_ray.CHANGED.items():
        for field in {"opts", "default", "multiple", "required", "help"} - set(changed):
            assert getattr(ours[name], field, None) == getattr(FLAGS[name], field, None), (name, field)
    options = {name for name in on_ray.CHANGED if name in DedupOptions.__dataclass_fields__}
    assert options == {"method", "min_similarity", "similarity", "max_distance", "keep", "within", "cluster"}


@pytest.mark.parametrize("name", on_ray.REFUSED)
def test_what_is_not_taken_is_refused_with_what_to_do(name, refused):
    flag = FLAGS[name].opts[0]
    told = refused("in", "-o", "out", flag, *([] if FLAGS[name].is_flag else ["1"]))
    assert told.startswith(f"neardup: error: On Ray, {flag} is not taken. {on_ray.REFUSED[name]}\n")
    assert flag not in click.Context(on_ray.command).get_help().replace(on_ray.REFUSED[name], "").split()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["in"], "Give -o OUT, or --plan to run nothing."),
        (["-", "-o", "out"], "A cluster has no standard input and output: give paths that Ray reads and writes."),
        (["in", "-o", "out", "--text", "a", "--text", "b"], "--text: on Ray, texts are in one column. Join several"),
        (["in", "-o", "out", "--method", "auto"], "no engine looks at the corpus first to choose. Give one of exact"),
        (["in", "-o", "out", "--min-similarity", "2"], "--min-similarity 2.0: give a number from 0"),
        (
            ["a.csv", "b.parquet", "-o", "out"],
            "All inputs must have one format, and these differ: a.csv (csv), b.parquet",
        ),
    ],
)
def test_impossible_calls_are_refused(words, told, refused):
    assert told in refused(*words)


def test_help_is_that_of_the_module():
    done = subprocess.run([sys.executable, "-m", "neardup.ray", "-h"], capture_output=True, text=True, check=True)
    assert "on a cluster of Ray: the survivors of `neardup dedup`" in " ".join(done.stdout.split())
