"""Extensions of Griffe: examples without a heading are shown as code, and the calls of a client as its methods."""

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


class MethodsOfClients(griffe.Extension):
    """Show `get = _waits(Calls.get)` as the method that it is."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called when the package has been read."""
        calls = pkg["service.client.calls.Calls"]
        for name, labels in (("Client", set()), ("AsyncClient", {"async"})):
            client = pkg[f"service.client.clients.{name}"]
            for each in [each for each in client.attributes.values() if f"(Calls.{each.name})" in str(each.value)]:
                call = calls[each.name]
                method = griffe.Function(
                    each.name, lineno=each.lineno, parameters=call.parameters, returns=call.returns.slice
                )
                method.docstring, method.labels = call.docstring, labels
                client.set_member(each.name, method)
