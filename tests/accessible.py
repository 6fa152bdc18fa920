"""Pages in windows of Chromium: what they ask for and complain of, and what axe finds in them: barriers for those who use a keyboard
or a screen reader, or see little contrast."""

import contextlib

from axe_playwright_python.base import AXE_SCRIPT

GRAVE = ("serious", "critical")
EVERY = ("minor", "moderate", *GRAVE)


def barriers(page, impacts=GRAVE):
    """The findings of axe that are as grave, one line each: the rule, what is wrong, and where. The page may forbid scripts: this one is not of it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        f"{each['id']}: {each['help']}: {node['target']} {node['html'][:120]}"
        for each in found
        if each["impact"] in impacts
        for node in each["nodes"]
    ]


@contextlib.contextmanager
def windows(browser, is_told=lambda url: True):
    """What opens a page in a new window; complaints, and requests for addresses that are to be told, are gathered in its `heard`."""
    contexts = []

    def open_page(url, width=1280, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        page = contexts[-1].new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.heard.append(request.url) if is_told(request.url) else None)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
