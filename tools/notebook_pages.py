"""Notebooks of the cookbook as pages: their cells and stored outputs as Markdown. Nothing is executed."""

import html
import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "examples/cookbook"
STYLE = re.compile(r"<style scoped>.*?</style>", re.DOTALL)
FRAME = ' border="1" class="dataframe"'
"""What pandas writes into a table, which would hide it from the styles of tables."""


def notebooks() -> list[Path]:
    """The notebooks, in their order."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """A notebook, with the text of each cell as one string."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def page(path: Path) -> str:
    """The notebook as Markdown. Its links to pages in docs/ and to other notebooks lead to those of the site."""
    heading, _, text = "\n\n".join(map(_of_cell, read(path)["cells"])).partition("\n")
    text = re.sub(r"\]\(([\w-]+)\.ipynb\)", r"](\1.md)", text.replace("](../../docs/", "](../"))
    return f"{heading}\n\n[Download this notebook]({path.name}){{ download }}\n{text}\n"


def _of_cell(cell: dict[str, Any]) -> str:
    source: str = cell["source"]
    if cell["cell_type"] == "markdown":
        return source
    outputs = cell["outputs"]
    if source.startswith("!"):  # commands, and what they print in the same block, as on all pages
        commands = "\n".join(f"$ {line[1:]}" if line.startswith("!") else line for line in source.split("\n"))
        printed = f"{commands}\n{''.join(map(_text, outputs))}".rstrip()
        return f"```console\n{printed}\n```"
    return "\n\n".join([f"```python\n{source}\n```", *map(_of_output, outputs)])


def _of_output(output: dict[str, Any]) -> str:
    shown = output.get("data", {}).get("text/html")
    if shown is None:
        return f'<div class="cell"><pre>{html.escape(_text(output).rstrip(), quote=False)}</pre></div>'
    # A blank line would end a block of HTML in Markdown.
    in_one_line = re.sub(r"\s*\n\s*", " ", STYLE.sub("", "".join(shown)).replace(FRAME, ""))
    return f'<div class="cell">{in_one_line.strip()}</div>'


def _text(output: dict[str, Any]) -> str:
    return "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])
