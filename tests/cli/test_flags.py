"""Messages name options as Python does; the command line shows them as flags. Both forms of frequent messages are tested."""

import ast
import re
from pathlib import Path

import click
import pytest

import neardup
from neardup.cli.main import COMMANDS, cli
from neardup.cli.parsing.flags import called, in_flags


def command_of(name):
    return called(cli, name.split())


DEDUP = command_of("dedup")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("pass `overwrite=True` to replace it", "pass --overwrite to replace it"),
        ("`on_error='skip'` leaves them out", "--on-error skip leaves them out"),
        ("Give `max_distance`.", "Give --max-distance."),
        ("Give `output` a file.", "Give -o a file."),
        ("`output='-'`: name a file", "-o -: name a file"),
        ("`memory='5 X'`: give bytes", "--memory '5 X': give bytes"),
        ("`lines=False`: leave it out", "without --lines: leave it out"),
        ("`within=None` has no groups", "without --within has no groups"),
        ("`text=('title', 'a b')`: name each once", "--text title --text 'a b': name each once"),
        ("`text=()`: name one", "without --text: name one"),
        ("`prefer_source=('a/', 'b')`: no", "--prefer-source a/,b: no"),
        ("`min_similarity=2.0`: give a number", "--min-similarity 2.0: give a number"),
        ("`max_distance=-1`: give an integer", "--max-distance -1: give an integer"),
        ("`keep=<function f at 0x1>` raised", "--keep <function f at 0x1> raised"),
        ("`dialect=',\"'` is one", "--dialect ',\"' is one"),
        ("`dialect='`'` is none", "--dialect '`' is none"),
        ("`json=True`, (`json`)", "--json, (--json)"),
        ("name more `inputs`", "name more INPUT"),
        ("`text` and `id`; `html='main'`:\n`lines`", "--text and --id; --html main:\n--lines"),
    ],
)
def test_options_become_flags(given, shown):
    assert in_flags(given, DEDUP) == shown


@pytest.mark.parametrize(
    "message",
    [
        "`bits=5`: give an integer",  # of a recipe
        "`word_shingle=1` with `weights='uniform'`",
        "Make it anew with `neardup fingerprint --value output`",
        "text=5/part.parquet is a folder",
        "data/text=5/part.parquet exists already",
        "output=a.jsonl: there is no such file",
        "a`b.jsonl and c`d.jsonl are given twice",
        "a`output`.jsonl, `output`.jsonl, `output`/a.jsonl and a/`output`",
        "`max_distance + 1 <= bits`",
        "`text='no end: give one",
    ],
)
def test_other_text_stays_as_it_is(message):
    assert in_flags(message, DEDUP) == message


def test_a_path_with_a_backtick_does_not_hide_an_option():
    assert in_flags("a`b exists already: pass `overwrite=True`", DEDUP) == "a`b exists already: pass --overwrite"


@pytest.mark.parametrize(
    ("command", "given", "shown"),
    [
        ("index query", "one of `inputs`, `texts` and `fingerprints`", "one of INPUT, --literal and --fingerprint"),
        ("index query", "`fingerprints=['x y']`: no", "--fingerprint 'x y': no"),
        ("index build", "`blocks=3` at `max_distance=3`", "--blocks 3 at --max-distance 3"),
        ("evaluate", "`methods=['minhash']` or `method`", "--method minhash or --method"),
        ("filter", "`store` and `index`", "--store and --index"),
        ("fit", "Give `inputs`", "Give INPUT"),
        ("explain", "`audit='-'`: no", "AUDIT -: no"),
        ("compare", "`text=('a b', 'c')`, `keywords=(2, 1)`", "--text 'a b' c, --keywords 2,1"),
        ("recipes", "`output` is of others", "`output` is of others"),
    ],
)
def test_the_flags_are_those_of_the_command(command, given, shown):
    assert in_flags(given, command_of(command)) == shown


def test_a_flag_with_two_names_shows_the_negative_one():
    command = click.Command("c", params=[click.Option(["--color/--no-color"])])
    assert in_flags("`color=True`, `color=False`, `color`", command) == "--color, --no-color, --color"


@pytest.mark.parametrize("words", [["dedup", "a"], ["index", "build", "add"], ["-h", "index", "add"]])
def test_the_called_command_is_found(words):
    assert called(cli, words).name == {"dedup": "command", "index": "build", "-h": "add"}[words[0]]


@pytest.mark.parametrize("words", [[], ["dedub"], ["--version"]])
def test_no_command_is_the_group_itself(words):
    assert called(cli, words) is cli


LINES = b'{"text": "A rose is a rose, said she.", "id": 1}\n{"text": "a rose is a rose said she", "id": 2}\n'
SOME_RECIPE = "bits = 0\n"
DEDUPLICATE = neardup.deduplicate_files

MESSAGES = [
    (
        lambda: DEDUPLICATE("in.jsonl", "there.jsonl"),
        "dedup in.jsonl -o there.jsonl",
        "there.jsonl exists already. Name another output, or pass `overwrite=True` to replace it.",
        "there.jsonl exists already. Name another output, or pass --overwrite to replace it.",
    ),
    (
        lambda: DEDUPLICATE("bad.jsonl", "out.jsonl"),
        "dedup bad.jsonl -o out.jsonl",
        "Mend or remove the row; `on_error='skip'` leaves such rows out.",
        "Mend or remove the row; --on-error skip leaves such rows out.",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "-", on_error="skip"),
        "dedup in.jsonl -o - --on-error skip",
        "`on_error='skip'` with `output='-'` has no place for the rejects. Give `audit` a file; they are written beside it.",
        "--on-error skip with -o - has no place for the rejects. Give --audit a file; they are written beside it.",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "-", resume=True),
        "dedup in.jsonl -o - --resume",
        "`resume=True` keeps its work beside the output. Give `output` a file or a folder.",
        "--resume keeps its work beside the output. Give -o a file or a folder.",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "out.jsonl", memory="5X"),
        "dedup in.jsonl -o out.jsonl --memory 5X",
        "`memory='5X'`: give bytes, at least 16M, as a number or as 512M or 4G.",
        "--memory 5X: give bytes, at least 16M, as a number or as 512M or 4G.",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "out.jsonl", max_distanc=3),
        "dedup in.jsonl -o out.jsonl --max-distanc 3",
        "`max_distanc`: deduplicate_files() has no such option (did you mean `max_distance`?).",
        "No such option",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "out.jsonl", method="minhash", similarity="edit"),
        "dedup in.jsonl -o out.jsonl --method minhash --similarity edit",
        "`similarity='edit'`: `method='minhash'` promises nothing for it",
        "--similarity edit: --method minhash promises nothing for it",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "out.jsonl", min_similarity=2.0),
        "dedup in.jsonl -o out.jsonl --min-similarity 2",
        "`min_similarity=2.0`: give a number from 0 (by distance alone) to 1.",
        "--min-similarity 2.0: give a number from 0 (by distance alone) to 1.",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "out.jsonl", against="-"),
        "dedup in.jsonl -o out.jsonl --against -",
        "`against='-'`: a reference is read from files. Name files, folders or globs.",
        "--against -: a reference is read from files. Name files, folders or globs.",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl"),
        "dedup in.jsonl",
        "Give `output` a file, a folder that ends in /, or - (standard output); or pass `dry_run=True`.",
        "Give -o a file, a folder that ends in /, or - (standard output); or pass --dry-run.",
    ),
    (
        lambda: DEDUPLICATE("page.html", "out/"),
        "dedup page.html -o out/",
        "page.html is HTML: pass `html='main'` or `html='whole'` to extract its text, or `lines=True` to read it as it is.",
        "page.html is HTML: pass --html main or --html whole to extract its text, or --lines to read it as it is.",
    ),
    (
        lambda: DEDUPLICATE("in.jsonl", "out.jsonl", recipe="r.toml"),
        "plan in.jsonl --recipe r.toml",  # --bits is no field of the recipe
        "`bits=0`: give an integer from 1 to 512",
        "`bits=0`: give an integer from 1 to 512",
    ),
]


@pytest.fixture
def files(place):
    for name in ("in.jsonl", "there.jsonl"):
        Path(name).write_bytes(LINES)
    Path("bad.jsonl").write_bytes(LINES + b"{\n")
    Path("page.html").write_bytes(b"<p>A rose.</p>")
    Path("r.toml").write_text(SOME_RECIPE)


@pytest.mark.parametrize(("call", "words", "in_python", "shown"), MESSAGES)
def test_a_message_reads_right_in_python_and_on_the_command_line(run, files, call, words, in_python, shown):
    with pytest.raises(neardup.NeardupError) as found:
        call()
    assert in_python in str(found.value)
    done = run(*words.split())
    assert done.code in (1, 2)
    assert shown in done.err


def test_notes_name_flags_too(run, files):
    Path("pages").mkdir()
    for name in ("a.html", "b.jsonl"):
        Path("pages", name).write_bytes(LINES)
    assert "for HTML is read with --html main or --html whole: a.html" in run("dedup", "pages", "-o", "out/").err
    said = []
    DEDUPLICATE("pages", "others/", progress=lambda event: said.append(event.message))
    assert any("for HTML is read with `html='main'` or `html='whole'`: a.html" in line for line in said)


NO_MESSAGES = {
    "judging/reports/commands.py": "commands to run",
    "hamming/index/planning/machine.py": "the command that measured",
    **{
        f"service/{name}.py": "refusals to clients of a service, which a command has started"
        for name in ("admission", "agents/tools", "requests/bodies", "requests/handlers")
    },
}
"""Files with texts that are made of flags: parts of commands, which a user copies, and what is said to others than the caller."""
COMMAND = re.compile(r"`(?:neardup|python|pg_dump|ray start) [^`]*`|jq -c '\.\[\]'")
"""Whole commands, of this program and of others, which a message may have."""
FLAG = re.compile(r"(?:^|[\s(\"'`])(?:--[a-z][\w-]*|-[a-z]\b(?=.))")


def strings_of(tree):
    """The string literals of a module, with the line of each: a formatted string is one, and docstrings are left out."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            left_out.update(part for part in node.values if isinstance(part, ast.Constant))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield node.lineno, node.value


def test_no_message_outside_the_command_line_names_a_flag():
    package = Path(neardup.__file__).parent
    found = [
        f"{path}:{line}: {text}"
        for path in sorted(package.rglob("*.py"))
        if (name := path.relative_to(package).as_posix()) not in NO_MESSAGES
        and not name.startswith(("cli/", "kernels/"))
        for source in [path.read_text(encoding="utf-8")]
        if FLAG.search(source)  # parsing all takes a second
        for line, text in strings_of(ast.parse(source))
        if FLAG.search(COMMAND.sub("", text))
    ]
    assert found == [], (
        "name options as Python does, such as `overwrite=True`: cli/parsing/flags.py shows them as flags"
    )


def test_every_command_is_found_by_its_name():
    assert all(command_of(name) is not cli for name in COMMANDS)


def test_a_store_that_is_served_is_named_by_its_option(run):
    run("serve", "a b", "c").refused("Name the stores with --store: `neardup serve --store 'a b' --store c`")
