"""Draw docs/page*.png: the views of the page of a service, in Chromium, of the notes that come with the package.

python tools/make_page_pictures.py [NAME …]
"""

import contextlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from playwright.sync_api import Browser, Page

import neardup
from pictures import chromium, draw

ROOT = Path(__file__).parent.parent
NOTES = ROOT / "examples/notes.jsonl"
START = 1_790_000_000
STEPS, SECONDS = 240, 5
"""The load of a service over time: so many steps, so far apart."""
SAMPLES = "import('./page/series.js').then(({samples}) => samples.length)"
WORDS = [f"word{number}" for number in range(5_000)]


class Picture(NamedTuple):
    """A picture: `show` brings the view into its state, and returns a selector of the last element that is shown."""

    view: str
    show: Callable[[Page], str]
    width: int = 1160
    least: float = 0.9
    scheme: Literal["light", "dark"] = "light"
    locale: str = "en-US"


def text_of(name: str) -> str:
    """The text of a note."""
    notes = map(json.loads, NOTES.read_text(encoding="utf-8").splitlines())
    return next(str(note["text"]) for note in notes if note["id"] == name)


def compared(page: Page) -> str:
    """The example of the page, down to the bits."""
    page.click(".actions button >> nth=1")
    page.wait_for_selector(".steps")
    return ".step:nth-child(4)"


def checked(name: str) -> Callable[[Page], str]:
    """A note is checked, and its match is beside it."""

    def show(page: Page) -> str:
        page.fill("#text", text_of(name))
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#answer .sides")
        return "#answer .match >> nth=0"

    return show


def browsed(page: Page) -> str:
    """A kept document with a neighbor beside it, and what was removed lately."""
    page.fill("#asked", "zh-bridge")
    page.keyboard.press("Enter")
    page.click("#document .match .quiet >> nth=0")
    page.wait_for_selector("#document .sides")
    return "#recent .match >> nth=2"


def reviewed(page: Page) -> str:
    """The pair nearest the threshold."""
    page.wait_for_selector(".desk:not([aria-busy]) .sides")
    page.wait_for_selector("#tally")
    return "main > section:last-of-type"


def counted(page: Page) -> str:
    """The service over twenty minutes of a load that rises and falls; the clock of the page is ours."""
    choose, number, texts = random.Random(1), 0, list[str]()
    send = (
        "(body) => fetch('v1/stores/news/check-and-add', {method: 'POST', headers: {'Content-Type': 'application/x-ndjson'}, body})"
        ".then((answer) => answer.text())"
    )
    for step in range(STEPS):
        documents = list[dict[str, Any]]()
        for _ in range(choose.randrange(2, 6 + 20 * (60 < step < 150))):
            if texts and choose.random() < 0.3:
                words = choose.choice(texts).split()
                words[choose.randrange(len(words))] = choose.choice(WORDS)
            else:
                words = choose.choices(WORDS, k=40)
            texts.append(" ".join(words))
            documents.append({"id": f"n{number}", "text": texts[-1]})
            number += 1
        for document in documents:
            page.evaluate(send, json.dumps(document) + "\n")
        page.clock.run_for(1_000 * SECONDS)
        while page.evaluate(SAMPLES) <= step + 1:
            page.clock.run_for(100)
    page.wait_for_selector(".charts .chart:has(svg) >> nth=3")
    page.wait_for_selector("#facts dl")
    return "main > section:last-of-type"


PICTURES = {
    "page": Picture("compare", compared),
    "page-check": Picture("check", checked("zh-bridge-copy")),
    "page-browse": Picture("browse", browsed, least=0.95),
    "page-numbers": Picture("numbers", counted, least=0.8),
    "page-review": Picture("review", reviewed, least=0.95),
    "page-dark": Picture("check", checked("ja-cat-copy"), width=390, scheme="dark", locale="ja-JP"),
}


@contextlib.contextmanager
def served(folder: str, least: float) -> Iterator[str]:
    """The address of a service of the notes, of which those are kept that are less alike than `least`."""
    with neardup.Store(f"{folder}/news", min_similarity=least, floor=0.4, texts=True) as store:
        for note in map(json.loads, NOTES.read_text(encoding="utf-8").splitlines()):
            store.check_and_add(note["id"], note["text"], metadata={"source": "notes", "language": note["id"][:2]})
    command = [sys.executable, "-m", "neardup", "serve", "--quiet", "--port", "0", "--store", f"news={folder}/news"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        events = (json.loads(line) for line in process.stderr or ())
        port = next(each["port"] for each in events if each["event"] == "listening")
        next(each for each in events if each["event"] == "started")
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def opened(browser: Browser, url: str, picture: Picture) -> Page:
    """The page in a new window."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": 900},
        locale=picture.locale,
        color_scheme=picture.scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    if picture.show is counted:
        page.clock.install(time=START)
    page.goto(f"{url}/#{picture.view}")
    return page


def main(names: list[str]) -> None:
    """Draw these pictures, or all."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name in names or PICTURES:
            picture = PICTURES[name]
            Path(folder, name).mkdir()
            with served(f"{folder}/{name}", picture.least) as url:
                page = opened(browser, url, picture)
                draw(page, page.locator(picture.show(page)).last, ROOT / f"docs/{name}.png")
                page.context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
