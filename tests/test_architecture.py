"""Imports point one way, as docs/architecture.md says: read from the sources, also where a function imports on first use."""

import ast
from pathlib import Path

import pytest

import neardup

SOURCE = Path(neardup.__file__).parent
FOR_ALL = {
    "errors",
    "wording",
    "threads",
    "recipe",
    "hashes.names",
    "segmenters.names",
    "profiles.names",
    "stored_parts",
    "vectors.recipe",
    "word_lists",
    "document_frequencies",
    "options",
    "progress",
}
LAYERS = (
    FOR_ALL,
    {"kernels"},
    {"text"},
    {"io"},
    {"the stages"},  # all that is in no other layer
    {"dedup", "matches", "explanation", "finished_run", "nearest", "comparison", "index", "stream"},
    {"evaluation", "reports"},
    {"jobs"},
    {"cli", "__init__", "__main__"},
)
"""From the lowest on; a module may import from its own layer and from lower ones."""


def layer(module):
    """The number of the layer of a module, named without the package."""
    first = module.partition(".")[0]
    found = (number for number, names in enumerate(LAYERS) if module in names or first in names)
    return next(found, LAYERS.index({"the stages"}))


def imported(source):
    """The modules of the package that a source imports, wherever it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            if node.module == "neardup":
                yield from (alias.name for alias in node.names)
            elif node.module.startswith("neardup."):
                yield node.module.removeprefix("neardup.")
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("neardup.") for a in node.names if a.name.startswith("neardup."))


ON_FIRST_USE = {"document_frequencies": {"weights.jieba_package", "io.frequency_file"}}
"""What a recipe names a file for, it reads when it is asked for the digest; the reader of the file is in a higher layer."""

MODULES = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in sorted(SOURCE.rglob("*.py"))}


@pytest.mark.parametrize("module", MODULES)
def test_nothing_imports_upward(module):
    upward = {name for name in imported(MODULES[module].read_text(encoding="utf-8")) if layer(name) > layer(module)}
    assert upward == ON_FIRST_USE.get(module, set())


def test_every_layer_has_modules():
    assert {layer(module) for module in MODULES} == set(range(len(LAYERS)))


def test_imports_are_found_wherever_they_are():
    source = "import numpy\nimport neardup.jobs.dedup\nfrom neardup import cli\ndef f():\n    from neardup.io.batch import Batch\n"
    assert list(imported(source)) == ["jobs.dedup", "cli", "io.batch"]
    assert [layer(name) for name in ("io.batch", "survivors", "jobs.dedup")] == [3, 4, 7]
