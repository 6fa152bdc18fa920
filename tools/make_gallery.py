"""Write the outputs in docs/gallery.md anew: those of its commands, and a result as a notebook shows it.

python tools/make_gallery.py
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import neardup

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/gallery.md"
NOTES = ROOT / "examples/notes.jsonl"
LEFT_OUT = "\n…\n"
"""A line for lines that a page leaves out; the outputs around it are written by hand, and tested."""
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOK = re.compile(r"(<!-- notebook -->\n).*?(<!-- end -->)", re.DOTALL)


def console(block: str, folder: Path) -> str:
    """The same commands with what they print now."""
    python = shlex.quote(sys.executable)
    called = f'neardup() {{ {python} -m neardup "$@"; }}\n'
    environment = os.environ | {"PYTHONPATH": str(Path(neardup.__file__).parents[1])}
    parts = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*", part)
        assert command is not None
        done = subprocess.run(
            called + command[0], shell=True, cwd=folder, capture_output=True, text=True, check=True, env=environment
        )
        kept = part[command.end() + 1 :] if LEFT_OUT in part else done.stdout
        parts.append(f"$ {command[0]}\n{kept}")
    return "".join(parts)


def notebook() -> str:
    """The result of `deduplicate` on the notes as HTML; the blank lines of texts would end a block of HTML in Markdown."""
    with NOTES.open(encoding="utf-8") as file:
        notes = [json.loads(line) for line in file]
    with contextlib.redirect_stderr(io.StringIO()):
        shown: str = neardup.deduplicate(notes)._repr_html_()
    in_one_line = re.sub(r"\n+", " ", shown)
    return f'<div class="cell">{in_one_line}</div>'


def page() -> str:
    """The text of the page."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        text = BLOCK.sub(lambda found: f"```console\n{console(found[1], Path(folder))}```", text)
    return NOTEBOOK.sub(lambda found: f"{found[1]}\n{notebook()}\n\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
