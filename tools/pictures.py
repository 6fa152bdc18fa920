"""Pictures of pages in Chromium, for the documentation, with few colors so that they are small."""

import contextlib
import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

COLORS = 96
LARGEST = 150_000
"""Bytes of a picture."""
MARGIN = 12
"""Pixels below the last element that is shown."""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of the system."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        sys.exit("needs Chromium: make chromium, as root on Debian")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def draw(page: Page, last: Locator, target: Path) -> None:
    """Write a page from its top to the end of an element.

    Raises:
        RuntimeError: the element is not shown, or the picture is too large.
    """
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    box = last.bounding_box()
    if box is None:
        raise RuntimeError(f"{target.name}: the page does not show its last element")
    size = page.viewport_size or {"width": 1160}
    height = box["y"] + box["height"] + page.evaluate("scrollY") + MARGIN
    shot = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": size["width"], "height": height})
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLORS).save(target, optimize=True)
    if target.stat().st_size > LARGEST:
        raise RuntimeError(f"{target.name} has {target.stat().st_size:,} bytes, more than {LARGEST:,}: show less")
