"""Imports go down one order of all modules, which docs/architecture.md states: read from the sources, lazy and typing imports included."""

import ast
import functools
import importlib
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

import neardup
from guards import not_empty
from places import ROOT

SOURCE = Path(neardup.__file__).parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
spec = importlib.util.spec_from_file_location("order_of_modules", ROOT / "tools" / "order_of_modules.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

MODULES = tool.modules()
NEEDED = tool.needs(MODULES)
ORDER = tool.stated(PAGE)
PLACE = {name: number for number, name in enumerate(ORDER)}
MOST_FOLDERS, MOST_FILES = 16, 13
MOST_MODULES = 16
"""Modules that lie loose in a folder, without its `__init__`."""
CROWDED: dict[str, int] = {}
"""Folders with more modules than that, and how many. Numbers only fall, and none is added."""


def test_every_module_has_one_place_in_the_order():
    assert sorted(ORDER) == sorted(MODULES), "run: python tools/order_of_modules.py"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_stands_before_it(module):
    assert {other for other in NEEDED[module] if PLACE[other] > PLACE[module]} == set()


def test_the_top_of_the_package_can_be_taken_in_at_a_glance():
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = {path.name for path in SOURCE.glob("*.py")}
    assert len(folders) <= MOST_FOLDERS
    assert len(files) <= MOST_FILES


def test_no_folder_is_a_warehouse():
    loose = Counter(name.rpartition(".")[0].replace(".", "/") for name in MODULES if "." in name)
    assert {room: count for room, count in loose.items() if count > MOST_MODULES} == CROWDED


@pytest.mark.parametrize(
    "room", sorted(path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("__init__.py"))
)
def test_an_init_is_a_docstring(room):
    if room == ".":
        return  # the public names, imported on first use
    tree = ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    assert len(tree.body) == 1


def test_rooms_at_the_top_say_what_they_may_import():
    for path in not_empty(SOURCE.glob("*/__init__.py")):
        assert "May import:" in path.read_text(encoding="utf-8"), path


def test_imports_are_found_wherever_they_are():
    source = (
        "import numpy\nimport neardup.jobs.removal.dedup\nfrom neardup import cli\nfrom neardup.cli import main\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from neardup.io.corpora import file_corpus\n"
        "def f():\n    from neardup.io.corpora.batch import Batch\n    from neardup import options as o\n"
    )
    assert list(tool.imported(source, MODULES)) == [
        "jobs.removal.dedup",
        "__init__",
        "cli.main",
        "io.corpora.file_corpus",
        "io.corpora.batch",
        "options",
    ]


def test_what_is_loaded_by_its_name_is_imported():
    source = (
        "import importlib\nimportlib.import_module('neardup.cli.main').main()\nimportlib.import_module('ray.data')\n"
        "def f(name):\n    importlib.import_module(f'neardup.text.segmenters.{name}')\n"
    )
    segmenters = {name for name in MODULES if re.fullmatch(r"text\.segmenters\.\w+", name)}
    assert set(tool.imported(source, MODULES)) == {"cli.main", *segmenters}
    assert list(tool.imported(source, MODULES, "text.segmenters.cutting")) == []
    with pytest.raises(SystemExit, match="add it to TABLES"):
        list(tool.imported("import_module(name)", MODULES))


def test_a_circle_of_a_facade_and_its_command_is_found():
    facade, command = "import_module('neardup.cli.engines.on_ray').main()", "from neardup import ray"
    needed = {name: set(tool.imported(source, MODULES)) for name, source in (("ray", facade), ("on_ray", command))}
    assert needed == {"ray": {"cli.engines.on_ray"}, "on_ray": {"ray"}}


def test_tables_that_load_modules_are_still_there():
    for name in tool.TABLES:
        assert "import_module(" in MODULES[name].read_text("utf-8")


def test_an_order_that_is_wrong_is_found():
    needed = {"a": set(), "b": {"a"}, "c": {"b"}}
    assert tool.sorted_modules(["c", "b", "a"], needed) == ["a", "b", "c"]
    assert tool.sorted_modules(["c", "a"], needed) == ["a", "b", "c"]
    with pytest.raises(SystemExit, match="in a circle: a, b"):
        tool.sorted_modules(["a", "b"], {"a": {"b"}, "b": {"a"}})


def test_lines_of_the_order_are_read_back():
    order = ["errors", "io.corpora.batch", "io.formats.jsonl"]
    block = "<!-- order of modules -->\n\n```text\n" + tool.text(order, ["errors", "io"]) + "```\n\n<!-- end -->"
    assert tool.stated(block) == order


def _resolves(dotted):
    """Whether a dotted name, as docstrings write it, is a module, or a name in one."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        try:
            functools.reduce(getattr, parts[end:], found)
        except AttributeError:
            return False
        return True
    return False


def test_every_dotted_name_in_the_sources_is_there():
    named = {
        (name, path.relative_to(ROOT).as_posix())
        for path in [*SOURCE.rglob("*.py"), *(ROOT / "tools").glob("*.py")]
        for name in re.findall(
            r"`(neardup(?:\.\w+){2,})[`(]", path.read_text("utf-8")
        )  # two parts: also keys of metadata
        if not name.endswith(".NAME")
    }
    assert len(named) > 20
    assert not {each for each in named if not _resolves(each[0])}


def test_code_in_strings_imports_what_is_there():
    """Tests and benchmarks run some code in processes of their own: no linter sees its imports."""
    imports = {
        (path.relative_to(ROOT).as_posix(), room, name.split(" as ")[0].strip())
        for folder in ("tests", "benchmarks", "tools", "examples")
        for path in (ROOT / folder).rglob("*.py")
        for room, names in re.findall(
            r"^from (neardup(?:\.\w+)*) import ([\w, ]+)$", path.read_text("utf-8"), re.MULTILINE
        )
        for name in names.split(",")
    }
    assert len(imports) > 1_000
    known = {}
    for _, room, name in imports:
        if (room, name) not in known:
            known[room, name] = _resolves(f"{room}.{name}") if name else True
    others = ("neardup.integrations",)  # which need pipelines that are installed apart
    assert [each for each in sorted(imports) if not known[each[1:]] and not each[1].startswith(others)] == []
