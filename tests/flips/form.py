"""FORM: what a format has to say about itself to be flipped."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class UnreadableError(Exception):
    """An independent reader does not take the file either."""


@dataclass(frozen=True)
class Form:
    """A format of files.

    Attributes:
        name: for figures.
        make: write the files below the current folder.
        targets: those that are flipped, by name.
        use: read them and say what was read, in values that can be compared.
        reread: the same by another reader, for files that have no checksum, where a flip may make another valid file. Raises
            UnreadableError. None if every flip that changes what is read must be refused.
        named: other files, which a refusal may name instead.
        doubts: whether the program itself says that files are damaged, if it is asked to check them all. None if it cannot be asked.
    """

    name: str
    make: Callable[[], None]
    targets: Callable[[], list[str]]
    use: Callable[[], Any]
    reread: Callable[[], Any] | None = None
    named: tuple[str, ...] = ()
    doubts: Callable[[], bool] | None = None
