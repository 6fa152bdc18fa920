"""How texts are read from files: the same names in Python, as flags, in TOML and in JSON."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from neardup.errors import OptionError
from neardup.io.batch import Columns

HTML = {
    "main": "the main text of the page, without navigation and the like",
    "whole": "all that the page shows",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How texts are read from files.

    Attributes:
        text: columns of the text, joined by a newline where there are several; nested ones with dots. One may be given as a string.
        id: the column of the ids; `id` if there is one, else documents are called FILE:ROW.
        html: the texts are HTML and become text first: one of HTML. Of several columns the texts are joined before that.

    Raises:
        OptionError: a value is not allowed.
    """

    text: str | Iterable[str] = ("text",)
    id: str | None = None
    html: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", (self.text,) if isinstance(self.text, str) else tuple(self.text))
        self.columns()
        if self.html is not None and self.html not in HTML:
            raise OptionError(
                f"html={self.html!r}: give one of {', '.join(HTML)}, or leave it out if the texts are no HTML."
            )

    def columns(self, values: Iterable[str] = ()) -> Columns:
        """What is read of a shard, with the values of more columns."""
        return Columns(tuple(self.text), self.id, tuple(values), self.html)


READING = tuple(field.name for field in dataclasses.fields(Reading))


def split_options(options: dict[str, Any]) -> tuple[Reading, dict[str, Any]]:
    """Those of `options` that say how files are read, and the others."""
    reading = Reading(**{name: value for name, value in options.items() if name in READING})
    return reading, {name: value for name, value in options.items() if name not in READING}
