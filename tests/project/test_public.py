"""The public surface: complete, documented, and cheap to import."""

import importlib.util
import inspect
import subprocess
import sys

import pytest

import neardup
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
    for name in neardup.__all__:
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
    program = f"{statement}\nimport sys\nprint(sorted({{'numba', 'numpy', 'pyarrow', 'rich'}} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
