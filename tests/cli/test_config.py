"""--config: options from a TOML file, for every command."""

import json
from pathlib import Path

import click
import pytest
from cli_corpora import ROWS, write_lines

from neardup.cli.main import COMMANDS, cli

CALLS = [
    [name, *inner]
    for name in COMMANDS
    for command in [cli.get_command(click.Context(cli), name)]
    for inner in ([[each] for each in command.commands] if isinstance(command, click.Group) else [[]])
]


def config(text, name="run.toml"):
    Path(name).write_text(text, encoding="utf-8")
    return name


@pytest.fixture
def corpus(place):
    write_lines("in.jsonl", ROWS)
    return "in.jsonl"


def summary_of(run, *arguments):
    done = run(*arguments, "--json", "--quiet").ok()
    return json.loads(done.out)


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_every_command_has_the_option(run, call):
    assert "--config FILE.toml" in run(*call, "--help").out.decode()


def test_options_are_taken_by_their_names_and_the_summary_has_them(run, corpus):
    name = config(
        "output = 'out.jsonl'\nmin-similarity = 0.9\nkeep = 'last'\nmemory = '512M'\nthreads = 1\n"
        "method = 'exact'\noverwrite = true\ntext = ['text']\nmax_document_bytes = '1M'\nprefer-source = ['in.jsonl']\n"
    )
    found = summary_of(run, "dedup", corpus, "--config", name)
    chosen = found["options"]
    assert (chosen["min_similarity"], chosen["keep"], chosen["memory"], chosen["method"]) == (
        0.9,
        "last",
        "512M",
        "exact",
    )
    assert (chosen["threads"], chosen["prefer_source"]) == (1, ["in.jsonl"])
    assert (found["files"]["output"], found["files"]["max_document_bytes"]) == ("out.jsonl", 1 << 20)
    assert summary_of(run, "dedup", corpus, "--config", name)["options"] == chosen  # it may overwrite
    given = summary_of(
        *(run, "dedup", corpus, "-o", "out.jsonl", "--min-similarity", "0.9", "--keep", "last", "--memory", "512M"),
        *(
            "--threads",
            "1",
            "--method",
            "exact",
            "--overwrite",
            "--max-document-bytes",
            "1M",
            "--prefer-source",
            "in.jsonl",
        ),
    )
    assert given["options"] == chosen
    assert given["files"] == found["files"]


def test_the_command_line_wins_over_the_command_s_table_and_that_over_the_top(run, corpus):
    name = config(
        "min-similarity = 0.7\nkeep = 'last'\nthreads = 1\n[dedup]\nkeep = 'longest'\nthreads = 2\n[evaluate]\nsample = 3\n"
    )
    chosen = summary_of(run, "dedup", corpus, "-o", "out.jsonl", "--config", name, "--threads", "3")["options"]
    assert (chosen["min_similarity"], chosen["keep"], chosen["threads"]) == (0.7, "longest", 3)


def test_a_repeatable_option_takes_a_list_or_one_value(run, corpus):
    write_lines("a.jsonl", ROWS[:1])
    write_lines("b.jsonl", ROWS[1:2])
    for value, count in (("['a.jsonl', 'b.jsonl']", 2), ("'a.jsonl'", 1)):
        found = summary_of(run, "dedup", corpus, "--config", config(f"against = {value}\ndry-run = true\n"))
        assert len(found["files"]["against"]) == count
    found = summary_of(
        run, "dedup", corpus, "--config", config("against = 'a.jsonl'\ndry_run = true\n"), "--against", "b.jsonl"
    )
    assert found["files"]["against"] == ["b.jsonl"]


def test_a_command_of_a_group_has_a_table_in_the_group_s(run, corpus):
    name = config(
        "quiet = true\n[index]\nthreads = 1\n[index.build]\nmethod = 'block-tables'\nblocks = 8\nmax-distance = 7\n"
        "recipe = 'default-64'\n[index.query]\nliteral = ['a ferry']\nmax-distance = 3\n"
    )
    assert run("index", "build", "i", corpus, "--config", name).code == 0
    found = json.loads(run("index", "info", "i", "--json").out)
    assert (found["method"], found["max_distance"], found["bits"]) == ("block-tables", 7, 64)
    assert found["options"] == [{"blocks": 8}]
    assert run("index", "query", "i", "--config", name).code == 0
    assert run("index", "add", "i", corpus, "--config", name).code == 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (["fingerprint", "in.jsonl"], "output = 'prints.parquet'\nrecipe = 'textbook'\nvalue = ['text']\n"),
        (["fit", "in.jsonl"], "output = 'idf.parquet'\nmemory = '64M'\n"),
        (["pairs", "in.jsonl"], "output = 'pairs.jsonl'\nmin_similarity = 0.5\ndistinct = true\n"),
        (["compare"], "text = ['a rose', 'a tulip']\nkeywords = 3\n"),
        (["evaluate", "in.jsonl"], "method = ['exact', 'simhash']\ntarget-recall = 1\nsample = 3\njson = true\n"),
        (["plan"], "documents = 1000000\nmax-distance = 3\njson = true\n"),
        (["filter", "--create", "in.jsonl"], "index = 'seen'\noutput = 'new.jsonl'\ninteger-ids = false\n"),
        (["recipes"], "# nothing\n"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_commands_run_by_what_the_file_says(run, corpus, call, text):
    run(*call, "--config", config(text), leaves_nothing=False).ok()


def test_stages_run_by_one_file(run, corpus):
    name = config(
        "overwrite = true\n[fingerprint]\noutput = 'prints.parquet'\n[pairs]\noutput = 'pairs.jsonl'\n"
        "[clusters]\noutput = 'clusters.parquet'\ndocuments = ['prints.parquet']\n[apply]\noutput = 'out.jsonl'\n"
        "[report]\noutput = 'out.html'\n"
    )
    for call in (
        ["fingerprint", corpus],
        ["pairs", corpus],
        ["clusters", "pairs.jsonl"],
        ["apply", "clusters.parquet", corpus],
    ):
        run(*call, "--config", name).ok()
    assert run("report", "out.duplicates.jsonl", "--config", name).code == 0
    assert "out.html" in {path.name for path in Path().iterdir()}
    assert run("explain", "out.duplicates.jsonl", "x", "--config", config("overwrite = true\n")).code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("threshold = 0.8", "threshold: the command has no option of this name (did you mean min-similarity?)"),
        ("min_similarty = 0.8", "min_similarty: the command has no option of this name (did you mean min-similarity?)"),
        ("quux = 1", "quux: the command has no option of this name."),
        ("config = 'x.toml'", "config: the command has no option of this name"),
        ("help = true", "help: the command has no option of this name"),
        ("inputs = ['in.jsonl']", "inputs: the command has no option of this name"),
        ("threads = 'two'", "threads = 'two': 'two' is not a valid integer"),
        ("threads = 1.5", "threads = 1.5: '1.5' is not a valid integer"),
        ("threads = true", "threads = true: this is no flag; give its value"),
        ("threads = [1]", "threads = [1]: give one value, not a list"),
        ("method = 'minhsh'", "method = 'minhsh': 'minhsh' is not one of 'auto', 'exact', 'minhash', 'simhash'"),
        ("overwrite = 'yes'", "overwrite = 'yes': give true or false"),
        ("overwrite = 1", "overwrite = 1: give true or false"),
        ("id = 2026-11-22", "give a string or a number"),
        ("text = [['a']]", "give one value, not a list"),
        ("temp-dir = 'nowhere'", "temp-dir = 'nowhere': Directory 'nowhere' does not exist"),
        (
            "min-similarity = 0.8\nmin_similarity = 0.9",
            "min_similarity is there twice, also as min-similarity: leave one out",
        ),
        ("[dedup]\nkep = 'last'", "[dedup] kep: the command has no option of this name (did you mean keep?)"),
        ("[dedupe]\nkeep = 'last'", "[dedupe] is a table of no command (did you mean [dedup]?)"),
        (
            "[quux]\nkeep = 'last'",
            "[quux] is a table of no command. Tables are for dedup, passages, split, leaks, decontaminate",
        ),
        ("[dedup.keep]\nrule = 'last'", "[dedup.keep] is a table of no command. Options here are no tables"),
        ("keep = ", "The configuration file 'run.toml' is not valid TOML: Invalid value"),
        ("min-similarity = 1.5", "--min-similarity 1.5: give a number from 0"),
    ],
)
def test_what_a_file_cannot_say_is_refused(run, corpus, text, message):
    done = run("dedup", corpus, "-o", "out.jsonl", "--config", config(text + "\n"))
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("neardup: error: ")
    assert message in done.err
    assert not Path("out.jsonl").exists()


def test_all_that_is_wrong_is_told_at_once(run, corpus):
    done = run("dedup", corpus, "--config", config("kep = 'last'\nthreads = 'two'\n[dedup]\noverwrite = 1\n"))
    assert all(each in done.err for each in ("run.toml: kep", "threads = 'two'", "[dedup] overwrite = 1"))


def test_a_table_of_no_command_of_the_group_is_refused(run, corpus):
    run("index", "build", "i", corpus, "--config", config("[index.biuld]\nthreads = 1\n")).refused(
        "[index.biuld] is a table of no command (did you mean [index.build]?)"
    )


def test_a_file_that_is_missing_or_named_twice_is_refused(run, corpus):
    done = run("dedup", corpus, "--config", "nowhere.toml")
    assert done.err == "neardup: error: There is no configuration file 'nowhere.toml'. Name an existing file.\n"
    assert done.code == 2
    name = config("keep = 'last'\n")
    run("dedup", corpus, "--config", name, "--config", name).refused(
        "--config is given 2 times: run.toml, run.toml. Put all options into one file."
    )
    Path("latin.toml").write_bytes("keep = 'é'\n".encode("latin-1"))
    run("dedup", corpus, "--config", "latin.toml").refused(
        "The configuration file 'latin.toml', line 1: this is not UTF-8"
    )


def test_options_of_texts_from_a_file_are_refused_for_vectors_as_on_the_command_line(run):
    run(
        "fingerprint", "v.parquet", "-o", "p.parquet", "--vector", "v", "--config", config("encoding = 'utf-16'\n")
    ).refused("--encoding: for texts, not for --vector. Leave it out.")


def test_a_similarity_from_a_file_is_one_that_is_given(run, corpus):
    assert run("fingerprint", corpus, "-o", "prints.parquet").code == 0
    run("pairs", "prints.parquet", "-o", "pairs.jsonl", "--config", config("min-similarity = 0.8\n")).refused(
        "fingerprint files hold no texts, so no similarity is known"
    )
