"""Notebooks of the cookbook, executed, beside the outputs that they store."""

import sys

from places import ROOT

sys.path.append(str(ROOT / "tools"))
import make_notebooks
import notebook_pages

NOTEBOOKS = notebook_pages.notebooks()


def code_of(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shows_what_it_prints(path):
    """Execute it, with the quick forms of its cells, and compare; measured figures may be others."""
    notebook = notebook_pages.read(path)
    quick = any(make_notebooks.QUICK in cell["metadata"] for cell in notebook["cells"])
    printed = make_notebooks.outputs(notebook, quick=quick)
    for cell, found in zip(code_of(notebook), printed, strict=True):
        shown = make_notebooks.compared([cell["outputs"]], quick)
        assert make_notebooks.compared([found], quick) == shown, f"run: make notebooks\n{cell['source']}"
