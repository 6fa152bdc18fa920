"""Draw docs/report.png: a report of the texts that the Python installation has, in Chromium, with the slider moved.

python tools/make_report_picture.py
"""

import contextlib
import importlib.util
import json
import tempfile
from pathlib import Path

import neardup
from pictures import chromium, draw

ROOT = Path(__file__).parent.parent
MEGABYTES = 30
SHORTEST = 300
STEPS = 10
"""By which the slider is moved."""


def main(target: Path) -> None:
    """Write the picture: the page down to the first pair."""
    spec = importlib.util.spec_from_file_location("gather", ROOT / "examples/gather_installed_texts.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("examples/gather_installed_texts.py is missing")
    gather = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gather)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        place = Path(folder)
        gather.gather(place / "all.jsonl", MEGABYTES * 1_000_000)
        with (place / "all.jsonl").open() as given, (place / "installed.jsonl").open("w") as kept:
            kept.writelines(line for line in given if len(json.loads(line)["text"]) >= SHORTEST)
        with contextlib.chdir(place):  # so that the names in the picture are short
            neardup.deduplicate_files("installed.jsonl", "out.jsonl", report="report.html")
        page = browser.new_page(viewport={"width": 1160, "height": 1000})
        page.goto((place / "report.html").as_uri())
        page.focus("#threshold")
        for _ in range(STEPS):
            page.keyboard.press("ArrowRight")
        draw(page, page.locator("article.pair:not([hidden])"), target)


if __name__ == "__main__":
    main(ROOT / "docs/report.png")
