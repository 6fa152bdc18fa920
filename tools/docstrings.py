"""An extension of Griffe: examples that stand in a docstring without a heading are shown as code, not as quotations."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*", re.MULTILINE)
"""From a prompt to the next blank line, as doctest reads it."""


def fenced(docstring: str) -> str:
    """The docstring with each of its examples between fences."""
    return EXAMPLE.sub(lambda found: f"```python\n{found[0].rstrip()}\n```\n", docstring)


class Examples(griffe.Extension):
    """Fence the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each object when it has been read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
