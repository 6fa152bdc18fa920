"""Documentation is executed: README, the pages and the docstrings; generated pages are up to date."""

import contextlib
import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import neardup
from guards import not_empty
from neardup.recipe.presets import find_recipe
from places import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = {
    "text": None,
    "bibtex": {"citing.md"},
    "toml": {"files.md", "profiles.md"},
    "json": {"files.md"},
    "sh": {
        "remote.md", "migration.md", "releasing.md", "CONTRIBUTING.md", "spark.md", "ray.md", "postgresql.md",
        "deployment.md", "service.md",
    },
    "py": {"agents.md", "rag.md", "migration.md", "spark.md", "ray.md", "postgresql.md"},
    "sql": {"migration.md", "postgresql.md"},
}  # fmt: skip
"""Fences that are no examples of ours, and the pages that may have them; TOML, JSON, Spark, Ray, PostgreSQL and deployment have tests of their own."""
MODULES = sorted(module.name for module in pkgutil.walk_packages(neardup.__path__, "neardup."))
IMPORTED = {
    "neardup.integrations.curator": "nemo_curator",
    "neardup.integrations.data_juicer": "data_juicer",
    "neardup.integrations.datatrove": "datatrove",
    "neardup.integrations.haystack": "haystack",
    "neardup.integrations.langchain": "langchain_core",
    "neardup.integrations.llama_index": "llama_index",
    "neardup.service.agents.mcp_server": "mcp",
    "neardup.engines.ray.datasets": "ray",
}
"""What modules import that the environment of these tests need not have. Tests of clusters and of integrations run them."""


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(block):
    """(command, expected output) of each `$ ` line; lines that end in a backslash go on."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n", " ", part).partition("\n")
        yield command, output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_of_the_pages_give_what_they_show(page):
    example = doctest.DocTestParser().get_doctest("\n".join(blocks(page, "python")), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(example).failed == 0


def on_free_ports(called):
    """The same commands, with ports that nobody else uses: other tests may run the same page at the same time."""
    ports = {}
    for command, _ in called:
        for named in re.findall(r"--port (\d+)", command):
            with socket.create_server(("127.0.0.1", 0)) as found:
                ports.setdefault(named, str(found.getsockname()[1]))
    for command, expected in called:
        for named, free in ports.items():
            command = re.sub(rf"(--port |127\.0\.0\.1:){named}\b", rf"\g<1>{free}", command)
        yield command, expected


LEFT_OUT = re.compile(r"^…\n", re.MULTILINE)
"""A line of an output that stands for any lines."""


def is_as_shown(printed, shown):
    """Whether an output is what a page shows of it."""
    return re.fullmatch("(?:.*\n)*".join(map(re.escape, LEFT_OUT.split(shown))), printed) is not None


def test_a_line_of_an_ellipsis_stands_for_any_lines():
    assert is_as_shown("a\nb\nc …\n", "…\nc …\n")
    assert is_as_shown("b\n", "…\nb\n…\n")
    assert not is_as_shown("a\nb\n", "…\nc\n")
    assert not is_as_shown("a\nb\nc\n", "a\n…\nb\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_shell_examples_of_the_pages_give_what_they_show(page, tmp_path):
    for folder in ("deploy", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("secrets"))
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(Path.home()),
        "LC_ALL": "C.UTF-8",
    }
    called = list(on_free_ports([each for block in blocks(page, "console") for each in commands(block)]))
    for program in ("curl", "node", "openssl"):
        if any(command.startswith(f"{program} ") for command, _ in called) and shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    try:
        for command, expected in called:
            done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            if LEFT_OUT.search(expected):
                assert is_as_shown(done.stdout, expected), f"{command}\n{done.stdout}{done.stderr}"
                expected = done.stdout
            assert (done.stdout, done.returncode) == (expected, 0), f"{command}\n{done.stderr}"
    finally:
        for started in tmp_path.glob("*.pid"):  # what a page has left running because an example failed
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(started.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_fence_escapes_being_run(page):
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^\s*```(.*)$", text, re.MULTILINE)
    assert fences[1::2] == [""] * (len(fences) // 2), "a fence is not closed"
    for language in fences[::2]:
        if language in NOT_RUN:
            assert NOT_RUN[language] is None or page.name in NOT_RUN[language], language
        else:
            assert language in ("python", "console"), language
            assert all(re.match(r"(>>>|\$) ", block) for block in blocks(page, language)), "shows nothing that is run"


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_give_what_they_show(name):
    if name in IMPORTED:
        pytest.importorskip(IMPORTED[name])
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_line_reference_is_what_the_commands_say():
    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == tool("make_cli_reference").reference(), (
        "run: make docs"
    )


def test_the_gallery_shows_a_result_as_a_notebook_does():
    page = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    assert tool("make_gallery").notebook() in page, "run: make docs"


def test_the_recipe_and_the_features_that_the_pages_show_can_be_used(tmp_path):
    page = ROOT / "docs/files.md"
    [recipe], [features] = blocks(page, "toml"), blocks(page, "json")
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    assert find_recipe(str(tmp_path / "recipe.toml")) == neardup.RECIPES["default"].recipe
    (tmp_path / "features.json").write_text(features, encoding="utf-8")
    assert neardup.replay(tmp_path / "features.json").bits == "01011001"


def test_the_worked_examples_are_drawn_as_they_are_computed():
    drawn = tool("make_figures").figures()
    for name, content in not_empty(drawn.items()):
        assert (ROOT / "docs/figures" / name).read_text(encoding="utf-8") == content, "run: make docs"
        language = name.split(".")[1]
        page = "simhash.md" if language == "svg" else f"simhash.{language}.md"
        assert f"figures/{name})" in (ROOT / "docs" / page).read_text(encoding="utf-8"), name


def test_the_recipe_with_a_tools_own_stop_words_can_be_used(tmp_path):
    [recipe] = blocks(ROOT / "docs/profiles.md", "toml")
    (tmp_path / "mine.toml").write_text(recipe, encoding="utf-8")
    (tmp_path / "stop_words.utf8").write_text("我们\n不用\n", encoding="utf-8")
    words = neardup.keywords(["我们不用升职加薪"], recipe=find_recipe(str(tmp_path / "mine.toml")))
    assert {word for word, _ in words[0]} == {"升职", "加薪"}


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_pictures_are_small_and_are_told_in_words():
    told = dict[str, list[str]]()
    for page in (ROOT / "docs").glob("*.md"):
        for words, name in re.findall(r"!\[([^]]*)\]\(([\w-]+\.png)\)", page.read_text(encoding="utf-8")):
            told.setdefault(name, []).append(words)
    pictures = list((ROOT / "docs").glob("*.png"))
    assert len(pictures) >= 7
    for picture in pictures:
        assert picture.stat().st_size < 150_000, picture.name
        assert min(len(words) for words in told[picture.name]) > 40, picture.name


def test_the_notes_are_what_their_program_writes(tmp_path):
    shutil.copy(ROOT / "examples/make_notes.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "make_notes.py"], check=True)
    assert (tmp_path / "notes.jsonl").read_bytes() == (ROOT / "examples/notes.jsonl").read_bytes()
