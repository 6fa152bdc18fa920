"""Draw docs/page.png: the page of a service that compares two texts, in Chromium.

python tools/make_page_picture.py
"""

import contextlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import neardup

ROOT = Path(__file__).parent.parent
COLORS = 96


@contextlib.contextmanager
def served(folder: str) -> Iterator[str]:
    """The address of a service with an empty store."""
    neardup.Store(f"{folder}/news").close()
    command = [sys.executable, "-m", "neardup", "serve", "--port", "0", "--store", f"news={folder}/news"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        events = (json.loads(line) for line in process.stderr or ())
        port = next(each["port"] for each in events if each["event"] == "listening")
        next(each for each in events if each["event"] == "started")
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def draw(target: Path) -> None:
    """Write the picture: the view that compares, down to the bits."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("needs Chromium: make chromium, as root on Debian")
    with tempfile.TemporaryDirectory() as folder, served(folder) as url, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1160, "height": 900}, locale="en-US")
        page.goto(f"{url}/#compare")
        page.click("text=Show an example")
        last = page.wait_for_selector(".step:nth-child(4)")
        page.evaluate("document.activeElement.blur()")
        box = last.bounding_box() if last is not None else None
        if box is None:
            raise RuntimeError("the page shows no bits")
        height = box["y"] + box["height"] + page.evaluate("scrollY") + 12
        shot = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": 1160, "height": height})
        browser.close()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLORS).save(target, optimize=True)


if __name__ == "__main__":
    draw(ROOT / "docs/page.png")
