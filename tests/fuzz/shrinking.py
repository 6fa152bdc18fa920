"""SHRINKING: the smallest corpus that is found to differ, of a case that differs."""

import dataclasses
import time
from collections.abc import Callable, Iterator

from fuzz.cases import Case, Document

PATIENCE_SECONDS = 20.0


def shrunk(case: Case, differs: Callable[[Case], bool]) -> Case:
    """The case with documents, options and words left out for as long as it `differs`."""
    ends = time.monotonic() + PATIENCE_SECONDS
    found = True
    while found and time.monotonic() < ends:
        found = False
        for smaller in _smaller(case):
            if time.monotonic() > ends:
                break
            if differs(smaller):
                case, found = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases that have less, those with much less first."""
    for name in ("documents", "reference"):
        documents = getattr(case, name) or ()
        for part in _parts(documents):
            yield dataclasses.replace(case, **{name: part})
    yield from (
        dataclasses.replace(case, **{name: value}) for name, value in SIMPLE.items() if getattr(case, name) != value
    )
    for name in ("threads", "memory", "within", "keep", "cluster"):
        if name in case.options:
            yield dataclasses.replace(case, options={key: value for key, value in case.options.items() if key != name})
    for name in ("documents", "reference"):
        documents = getattr(case, name) or ()
        for place, document in enumerate(documents):
            for text in _shorter(document.text):
                changed = dataclasses.replace(document, text=text)
                yield dataclasses.replace(case, **{name: (*documents[:place], changed, *documents[place + 1 :])})


SIMPLE = {"share": None, "step": None, "keeps_elements": True, "patient": True, "block": None, "recipe": {}}


def _parts(documents: tuple[Document, ...]) -> Iterator[tuple[Document, ...]]:
    """The documents without a half, a quarter, … one of them."""
    size = len(documents) // 2
    while size:
        for first in range(0, len(documents), size):
            yield documents[:first] + documents[first + size :]
        size //= 2
    if len(documents) == 1:
        yield ()


def _shorter(text: str) -> Iterator[str]:
    """The text without some of its characters, half of them at first."""
    size = len(text) // 2
    while size and size >= len(text) // 16:
        for first in range(0, len(text), size):
            yield text[:first] + text[first + size :]
        size //= 2
