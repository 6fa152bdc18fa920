"""Draw docs/report.png: a report of the texts that the Python installation has, in Chromium, with the slider moved.

python tools/make_report_picture.py
"""

import contextlib
import importlib.util
import json
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import neardup

ROOT = Path(__file__).parent.parent
MEGABYTES = 30
SHORTEST = 300
STEPS = 10
"""By which the slider is moved."""


def draw(target: Path) -> None:
    """Write the picture: the page down to the first pair."""
    spec = importlib.util.spec_from_file_location("gather", ROOT / "examples/gather_installed_texts.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("examples/gather_installed_texts.py is missing")
    gather = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gather)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("needs Chromium: make chromium, as root on Debian")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        place = Path(folder)
        gather.gather(place / "all.jsonl", MEGABYTES * 1_000_000)
        with (place / "all.jsonl").open() as given, (place / "installed.jsonl").open("w") as kept:
            kept.writelines(line for line in given if len(json.loads(line)["text"]) >= SHORTEST)
        with contextlib.chdir(place):  # so that the names in the picture are short
            neardup.deduplicate_files("installed.jsonl", "out.jsonl", report="report.html")
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1160, "height": 1000})
        page.goto((place / "report.html").as_uri())
        page.focus("#threshold")
        for _ in range(STEPS):
            page.keyboard.press("ArrowRight")
        page.evaluate("document.activeElement.blur()")
        box = page.locator("article.pair:not([hidden])").bounding_box()
        if box is None:
            raise RuntimeError("the report shows no pair")
        page.screenshot(
            path=str(target),
            full_page=True,
            clip={"x": 0, "y": 0, "width": 1160, "height": box["y"] + box["height"] + 24},
        )
        browser.close()


if __name__ == "__main__":
    draw(ROOT / "docs/report.png")
