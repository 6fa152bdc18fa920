"""Execute the notebooks of the cookbook, and store what they print.

python tools/make_notebooks.py [NAME...]
"""

import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import neardup
from notebook_pages import FOLDER, notebooks, read

MEASURED = re.compile(r"\d[\d,.]*(?= (?:[nµm]?s|min|[KMG]i?B)\b)")
"""Times and sizes in memory, which are others each time."""
COLOR = re.compile(r"\x1b\[[\d;]*m")
FAILED = "\nassert _exit_code == 0"
"""Executed behind a command, whose failure would stop nothing."""
QUICK = "quick"
"""Of a cell's metadata: what tests execute in its place. Then all numbers may be others."""


def digest(notebook: dict[str, Any]) -> str:
    """Of all that is executed. It is stored with the outputs, so that stale ones are seen without executing anything."""
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:16]


def outputs(notebook: dict[str, Any], quick: bool = False) -> list[list[dict[str, Any]]]:
    """What each cell prints and shows, executed in an empty folder by this Python, with this package and its command."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = [cell["metadata"].get(QUICK, cell["source"]) if quick else cell["source"] for cell in code]
    sources = [source + FAILED if source.startswith("!") else source for source in sources]
    empty: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [empty | {"id": f"cell-{number}", "source": source} for number, source in enumerate(sources)]
    executed = nbformat.reads(json.dumps(notebook | {"cells": cells}), as_version=4)  # type: ignore[no-untyped-call]
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(neardup.__file__).parents[1]),
        "NO_COLOR": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(executed, timeout=600, resources={"metadata": {"path": folder}})
        try:
            client.execute(env=environment | {"TMPDIR": folder})
        except CellExecutionError:
            for cell in executed["cells"]:
                print(cell["source"], *_stored(cell["outputs"]), sep="\n")
            raise
    return [_stored(cell["outputs"]) for cell in executed["cells"]]


def _stored(given: list[Any]) -> list[dict[str, Any]]:
    """Outputs without counts, colors and lines that were written over; what was printed as one.

    Without what goes to standard error, too: there, Java and other packages say what depends on the machine.
    """
    found: list[dict[str, Any]] = []
    for output in given:
        if output.get("name") == "stderr":
            continue
        if output["output_type"] not in ("stream", "error"):
            data = {kind: _lines(text) for kind, text in output["data"].items() if kind.startswith("text/")}
            found.append({"output_type": output["output_type"], "data": data, "metadata": {}})
        elif found and found[-1]["output_type"] == "stream":
            found[-1]["text"] += _printed(output)
        else:
            found.append({"output_type": "stream", "name": "stdout", "text": _printed(output)})
    for output in found:
        if output["output_type"] == "stream":
            text = COLOR.sub("", output["text"]).replace("\r\n", "\n")
            output["text"] = _lines(re.sub(r"[^\n]*\r", "", text))
    return [output for output in found if output.get("text") != []]


def _printed(output: dict[str, Any]) -> str:
    return str(output["text"] if output["output_type"] == "stream" else f"{output['ename']}: {output['evalue']}\n")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def compared(given: list[list[dict[str, Any]]], quick: bool = False) -> str:
    """Outputs as text, without what was measured; of a quick run without any numbers, which also change widths."""
    shown = [[{**output, "execution_count": None} for output in each] for each in given]
    text = json.dumps(shown, ensure_ascii=False, indent=1, sort_keys=True)
    if not quick:
        return MEASURED.sub("…", text)
    return re.sub(r"(?:\\n|[\d.,\s\"-])+", " ", text)


def store(path: Path) -> None:
    """Execute a notebook, and store its outputs, unless only measured figures of the stored ones are others."""
    notebook = read(path)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    made = outputs(notebook)
    if compared(made) == compared([cell["outputs"] for cell in code]):
        made = [cell["outputs"] for cell in code]
    for number, (cell, each) in enumerate(zip(code, made, strict=True), 1):
        cell["outputs"], cell["execution_count"] = each, number
        for output in each:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
    notebook["metadata"]["executed"] = digest(notebook)
    for number, cell in enumerate(notebook["cells"]):
        cell["id"], cell["source"] = f"cell-{number}", _lines(cell["source"])
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in [FOLDER / name for name in sys.argv[1:]] or notebooks():
        print(each.name)
        store(each)
