"""PREPARED TEXTS: what a store needs of texts, made outside of its calls, so that no other call waits meanwhile."""

from collections.abc import Iterator, Sequence
from typing import Any

from neardup.matching.text_features import Texts
from neardup.store.session.backend import Documents
from neardup.store.session.reader import TEXTS_AT_ONCE


class PreparedTexts(list[str]):
    """Texts with their features; see `Store.prepare`."""

    def __init__(self, files: Documents, given: Sequence[str]) -> None:
        """Make them, which may take long.

        Raises:
            OptionError: one of them is not a string, or not valid Unicode.
        """
        super().__init__(given)
        self._made_for = _rules_of(files)
        self._parts = list(_parts(files, self))

    def parts(self, files: Documents) -> Iterator[Texts]:
        """The features, in parts of `TEXTS_AT_ONCE`; made again if the store has other rules by now."""
        return iter(self._parts) if self._made_for == _rules_of(files) else _parts(files, self)


def parts_of(files: Documents, texts: Sequence[str]) -> Iterator[Texts]:
    """What is needed of texts, in parts of `TEXTS_AT_ONCE`."""
    return texts.parts(files) if isinstance(texts, PreparedTexts) else _parts(files, texts)


def _parts(files: Documents, texts: Sequence[str]) -> Iterator[Texts]:
    return (files.texts(texts[first : first + TEXTS_AT_ONCE]) for first in range(0, len(texts), TEXTS_AT_ONCE))


def _rules_of(files: Documents) -> tuple[Any, ...]:
    return files.recipe, files.rules, files.plan, files.short_rule
