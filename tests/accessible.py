"""What axe finds in a page: barriers for those who use a keyboard or a screen reader, or see little contrast."""

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
