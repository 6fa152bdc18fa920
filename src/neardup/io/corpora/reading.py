"""Options for reading texts from files: the same names in Python, as flags, in TOML and in JSON."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from neardup.display import as_code
from neardup.errors import OptionError, column_names
from neardup.io.corpora.batch import MAX_DOCUMENT_BYTES, Columns
from neardup.io.dialect import Dialect
from neardup.io.storage.encodings import encoding_name
from neardup.options import DedupOptions, DedupOptionsDict, options_for_elements, refuse_unknown
from neardup.recipe.given_elements import recipe_of_elements
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.spellings import one_of
from neardup.resources.limits import size_in_bytes

Html = Literal["main", "whole"]
HTML = {
    "main": "the main text of the page, without navigation and similar parts; if none is found, as whole",
    "whole": "all text that the page shows",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Options for reading texts from files.

    Attributes:
        text: columns of the text, joined by a newline if there are several; nested columns with dots. One column may be a string.
        elements: a column of lists of strings or integers, instead of texts: each document is the set or list of these elements.
        id: the column of the ids; by default the column `id` if it exists, otherwise ids are FILE:ROW.
        html: the texts are HTML, and become text first: one of HTML. The texts of several columns are joined before that.
        lines: inputs are text files in which each non-blank line is a document.
        encoding: encoding of all inputs except Parquet; a name that Python knows.
        dialect: delimiter, and optionally quote and escape character, of CSV and TSV, such as `;"`; detected if None.
        max_document_bytes: a longer row (text file, line, cell) cannot be read; a number, or a string such as `512M` or `4G`.

    Raises:
        OptionError: a value is not allowed.
    """

    text: str | Iterable[str] = ("text",)
    elements: str | None = None
    id: str | None = None
    html: Html | None = None
    lines: bool = False
    encoding: str = "utf-8"
    dialect: str | None = None
    max_document_bytes: int | str = MAX_DOCUMENT_BYTES

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", encoding_name(self.encoding))
        object.__setattr__(self, "max_document_bytes", size_in_bytes("max_document_bytes", self.max_document_bytes))
        if self.dialect is not None:
            Dialect.parse(self.dialect)  # refuses what is no dialect
        object.__setattr__(self, "text", column_names(self.text))
        if not (self.id is None or isinstance(self.id, str)):
            raise OptionError(f"`id={self.id!r}`: give the name of the column of ids.")
        if self.elements is not None:
            self._check_elements()
        self.columns()
        if self.html is not None and self.html not in tuple(HTML):
            raise OptionError(f"{one_of('html', self.html, HTML)}, or leave it out if the texts are no HTML.")

    def _check_elements(self) -> None:
        """Refuse what says how texts are read."""
        given = [name for name in ("text", "html", "lines") if getattr(self, name) not in (("text",), None, False)]
        if given:
            raise OptionError(
                f"{as_code(given, ' and ')} with `elements={self.elements!r}`: a document is the list in that column, and no text. "
                "Leave it out."
            )
        if not isinstance(self.elements, str) or not self.elements:
            raise OptionError(f"`elements={self.elements!r}`: give the name of a column of lists.")

    @property
    def changed(self) -> list[str]:
        """The names of the fields that are not as by default."""
        return [name for name in READING if getattr(self, name) != getattr(Reading(), name)]

    def columns(self, values: Iterable[str] = (), *, asked_by: Mapping[str, str] | None = None) -> Columns:
        """The columns to read from a shard, with the values of further columns; `asked_by`: see `Columns`."""
        further, asked = tuple(values), asked_by or {}
        if self.elements is not None:
            return Columns((self.elements,), self.id, further, of_elements=True, asked_by=asked)
        return Columns(tuple(self.text), self.id, further, self.html, asked_by=asked)


class UnitReadingDict(TypedDict, total=False):
    """The fields of `Reading` except `elements` and `html`: for texts from which lines or paragraphs are removed."""

    text: str | Iterable[str]
    id: str | None
    lines: bool
    encoding: str
    dialect: str | None
    max_document_bytes: int | str


class TextReadingDict(UnitReadingDict, total=False):
    """The fields of `Reading` except `elements`: for work on texts only."""

    html: Html | None


class ReadingDict(TextReadingDict, total=False):
    """The fields of `Reading`."""

    elements: str | None


class DedupFileOptions(ReadingDict, DedupOptionsDict, total=False):
    """The options of `deduplicate_files` and `estimate_files`."""


class UnitFileOptions(UnitReadingDict, DedupOptionsDict, total=False):
    """The options of `deduplicate_units`."""


READING = tuple(field.name for field in dataclasses.fields(Reading))


def refuse_reading(reading: Reading) -> None:
    """Raise OptionError if options are given that say how texts are read."""
    if reading.changed:
        raise OptionError(f"{as_code(reading.changed)}: these are fingerprint files, not texts. Leave it out.")


def stored_reading(recorded: Mapping[str, Any]) -> Reading:
    """What a run recorded about reading; older runs recorded no `elements`.

    Raises:
        KeyError: another field is missing.
    """
    return Reading(**{name: recorded[name] for name in READING if name != "elements" or name in recorded})


def recipe_for(reading: Reading, recipe: Recipe) -> Recipe:
    """The recipe, or that of given elements with its hash, bits and weights; see `recipe_of_elements`.

    Raises:
        OptionError: elements are given, and the recipe says how texts are cut.
    """
    return recipe if reading.elements is None else recipe_of_elements(recipe)


def reading_of(options: Mapping[str, Any], function: Callable[..., Any]) -> Reading:
    """Make `Reading` from the `**reading` that a function received.

    Raises:
        OptionError: the function has no such option, or its value is not allowed.
    """
    refuse_unknown(options, function)
    return Reading(**options)


def split_options(options: Mapping[str, Any], function: Callable[..., Any]) -> tuple[Reading, DedupOptions]:
    """Divide the `**options` that a function received into those for reading files, and the others.

    Raises:
        OptionError: the function has no such option, or its value is not allowed.
    """
    refuse_unknown(options, function)
    reading = Reading(**{name: value for name, value in options.items() if name in READING})
    chosen = DedupOptions(**{name: value for name, value in options.items() if name not in READING})
    return reading, chosen if reading.elements is None else options_for_elements(chosen)
