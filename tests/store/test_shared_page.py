"""The examples of docs/postgresql.md are run, with the place of a server of the tests instead of the one that they name."""

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.store.postgresql.places import OURS
from places import ROOT

PAGE = (ROOT / "docs" / "postgresql.md").read_text(encoding="utf-8")
NAMED = "postgresql://neardup@db/pages?"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_page_give_what_they_show(server, schema, tmp_path, cache):
    named = f"{server.url()}&schema={schema}&"
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "XDG_CACHE_HOME": str(tmp_path),
        "HOME": str(tmp_path),
    }
    (block,) = blocks("sh")
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.replace(NAMED, named).partition("\n")
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.stdout, done.returncode) == (expected, 0), f"{command}\n{done.stderr}"
    (block,) = blocks("py")
    example = doctest.DocTestParser().get_doctest(block.replace(NAMED, named), {}, "postgresql.md", "postgresql.md", 0)
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("name", OURS)
def test_the_page_has_every_parameter(name):
    assert f"| `{name}` |" in PAGE
