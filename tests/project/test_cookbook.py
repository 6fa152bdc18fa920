"""The notebooks of the cookbook: each shows what it prints, and is linked where people look for it."""

import copy

import pytest

from guards import not_empty
from notebook_runs import NOTEBOOKS, code_of, make_notebooks, notebook_pages, shows_what_it_prints
from places import ROOT

HERE = [path for path in NOTEBOOKS if "spark" not in path.name]
"""Those that need no cluster; tests/engines has the other."""
NEEDED = {"01-clean-a-crawl.ipynb": ("selectolax", "trafilatura"), "07-split-without-leaks.ipynb": ("sklearn",)}


@pytest.mark.parametrize("path", HERE, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_prints(path):
    for package in ("ipykernel", "nbclient", "pandas", *NEEDED.get(path.name, ())):
        pytest.importorskip(package)
    shows_what_it_prints(path)


def test_outputs_are_of_the_code_beside_them():
    for path in not_empty(NOTEBOOKS):
        notebook = notebook_pages.read(path)
        assert notebook["metadata"]["executed"] == make_notebooks.digest(notebook), f"{path.name}; run: make notebooks"
        assert [cell["execution_count"] for cell in code_of(notebook)] == [*range(1, len(code_of(notebook)) + 1)]


def test_other_code_is_stale_and_other_words_are_not():
    notebook = notebook_pages.read(NOTEBOOKS[0])
    other = copy.deepcopy(notebook)
    other["cells"][0]["source"] += " Read on."
    assert make_notebooks.digest(other) == make_notebooks.digest(notebook)
    code_of(other)[0]["source"] += "\n1 + 1"
    assert make_notebooks.digest(other) != make_notebooks.digest(notebook)


def printed(text):
    return [[{"output_type": "stream", "name": "stdout", "text": [text]}]]


def test_times_and_sizes_may_differ_and_nothing_else():
    def compared(text, quick=False):
        return make_notebooks.compared(printed(text), quick)

    assert compared("3 documents in 1.2 s and 12 MB") == compared("3 documents in 10.9 s and 8.5 MB")
    assert compared("3 documents in 1.2 s") != compared("4 documents in 1.2 s")
    assert compared("3 documents\n   a row", quick=True) == compared("10,000 documents\n a row", quick=True)
    assert compared("3 documents", quick=True) != compared("3 rows", quick=True)


def test_a_notebook_has_an_introduction_and_few_small_cells():
    for path in not_empty(NOTEBOOKS):
        notebook = notebook_pages.read(path)
        first, code = notebook["cells"][0], code_of(notebook)
        assert first["cell_type"] == "markdown", path.name
        assert first["source"].startswith("# "), path.name
        assert 300 < len(first["source"]) < 1200, path.name
        assert 6 <= len(code) <= 14, path.name
        for cell in code:
            lines = cell["source"].split("\n")
            assert len(lines) <= 36, f"{path.name}\n{cell['source']}"
            # A page shows commands as a console, and Python as Python.
            assert len({line.startswith("!") for line in lines}) == 1, f"{path.name}\n{cell['source']}"


def test_commands_of_a_page_are_a_console_and_tables_have_no_styles_of_their_own(tmp_path):
    table = '<div>\n<style scoped>\n  th { color: red }\n</style>\n<table border="1" class="dataframe">\n\n<td>&lt;a></td></table></div>'
    cells = [
        {
            "cell_type": "markdown",
            "source": ["# Title\n", "\n", "See [stores](../../docs/store.md), [next](02-b.ipynb)."],
        },
        {"cell_type": "code", "source": "!neardup demo\n!ls", "outputs": printed("a  <b>\n")[0]},
        {
            "cell_type": "code",
            "source": ["1 <\n", "2"],
            "outputs": [{"output_type": "execute_result", "data": {"text/plain": ["<True>"]}}],
        },
        {
            "cell_type": "code",
            "source": "frame",
            "outputs": [{"output_type": "display_data", "data": {"text/html": [table]}}],
        },
    ]
    path = tmp_path / "01-a.ipynb"
    path.write_text(make_notebooks.json.dumps({"cells": cells}), encoding="utf-8")
    assert notebook_pages.page(path) == (
        "# Title\n\n[Download this notebook](01-a.ipynb){ download }\n\nSee [stores](../store.md), [next](02-b.md).\n\n"
        "```console\n$ neardup demo\n$ ls\na  <b>\n```\n\n"
        '```python\n1 <\n2\n```\n\n<div class="cell"><pre>&lt;True&gt;</pre></div>\n\n'
        '```python\nframe\n```\n\n<div class="cell"><div> <table> <td>&lt;a></td></table></div></div>\n'
    )


def test_every_notebook_and_every_tool_that_people_come_from_is_linked():
    listed = (ROOT / "docs/cookbook.md").read_text(encoding="utf-8")
    migration = (ROOT / "docs/migration.md").read_text(encoding="utf-8")
    for path in not_empty(NOTEBOOKS):
        assert f"](../examples/cookbook/{path.name})" in listed, path.name
    sections = not_empty(migration.split("\n## ")[1:])
    for section in sections:
        assert "](../examples/cookbook/" in section, section.partition("\n")[0]
