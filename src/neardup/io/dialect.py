"""Dialects of delimited text: the characters that delimit, quote and escape."""

from dataclasses import dataclass

from neardup.errors import OptionError

_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", '"': "double quote", "'": "single quote"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The characters of a dialect, all ASCII and different. A doubled quote in a quoted field always stands for one quote.

    Attributes:
        delimiter: between fields.
        quote: around fields that hold a delimiter, a newline or a quote; None if the dialect has none.
        escape: before a character that then stands for itself; None if the dialect has none.
    """

    delimiter: str
    quote: str | None = '"'
    escape: str | None = None

    @classmethod
    def parse(cls, given: str) -> "Dialect":
        r"""Parse a dialect from its characters: delimiter, quote and escape, of which the last two are optional; `\t` is a tab.

        Raises:
            OptionError: there are no characters or too many, one occurs twice, or one cannot be used.
        """
        characters = given.replace("\\t", "\t") if isinstance(given, str) else ""
        fits = all(" " < c <= "~" or c in "\t " for c in characters) and not any(c.isalnum() for c in characters)
        if not 1 <= len(characters) <= 3 or len(set(characters)) < len(characters) or not fits:
            raise OptionError(
                f"`dialect={given!r}`: give the delimiter and, if there are, the quote and the escape character, as "
                r"""',"' or ';"\' or '\t'; different ASCII characters, no letters or digits."""
            )
        return cls(characters[0], *[c for c in characters[1:]], *[None] * (2 - len(characters[1:])))  # noqa: C416

    @property
    def codes(self) -> tuple[int, int, int]:
        """The codes that the kernels take: delimiter, quote, escape; -1 for none."""
        return ord(self.delimiter), *(ord(c) if c else -1 for c in (self.quote, self.escape))  # type: ignore[return-value]

    @property
    def shown_delimiter(self) -> str:
        """The delimiter as the option `dialect` takes it."""
        return "\\t" if self.delimiter == "\t" else self.delimiter

    def cell(self, text: str, *, quoted: bool = False) -> str:
        """A field that holds `text`, quoted if necessary or if `quoted`.

        Raises:
            ValueError: this dialect cannot write it.
        """
        special = {c for c in ("\r", "\n", self.delimiter, self.quote, self.escape) if c and c in text}
        if not special and not (quoted and self.quote):
            return text
        if self.quote:
            inside = text.replace(self.escape, self.escape * 2) if self.escape else text
            return f"{self.quote}{inside.replace(self.quote, self.quote * 2)}{self.quote}"
        if not self.escape:
            raise ValueError("no quote and no escape character")
        return "".join(self.escape + c if c in special else c for c in text)

    def __str__(self) -> str:
        parts = [f"{_NAMES.get(self.delimiter, repr(self.delimiter))} between fields"]
        parts.append(f"{_NAMES.get(self.quote, repr(self.quote))}s" if self.quote else "no quotes")
        return ", ".join([*parts, *([f"escape {self.escape}"] if self.escape else [])])
