"""The columns to read from a shard, and the batches that reading yields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from neardup.errors import OptionError

BATCH_BYTES = 4 << 20
"""Approximate number of bytes to read, and of text to pass on, at a time."""
MAX_DOCUMENT_BYTES = 256 << 20
"""The default limit on a row's bytes; a longer row is not read."""


def text_problem(text: str | tuple[str, ...]) -> str:
    """What is wrong with the names of text columns, as a phrase."""
    given = text[0] if len(text) == 1 else text
    return f"`text={given!r}`: give names of columns, such as text or meta.body; none may be empty"


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold the text and the id.

    A name with dots (`meta.body`) means a nested field, unless the row has a column with exactly that name. The texts of
    several columns are joined by `separator`.

    Attributes:
        text: the columns of the text; each must hold a string in every row. Without any, rows are read without a text, and `texts`
            holds empty strings.
        id: the column of the id, which must not hold anything but strings, integers and null. If None, the column `id` is used if
            it has a string or an integer. Rows without an id get `<shard name>:<row>`.
        values: further columns whose values are needed; strings, numbers, dates or null.
        html: how HTML texts become text: one of `neardup.io.corpora.reading.HTML`; None if the texts are not HTML. Readers of
            batches apply it (`neardup.io.corpora.file_corpus`), formats do not.
        separator: joins the texts of several columns.
        of_elements: whether `text` is a column of lists of strings or integers; batches hold them as texts, as
            `neardup.text.given_elements` writes them.
        vector: the column of numeric vectors, which replaces `text`; Parquet only. Batches hold the vectors in `texts`, as
            lists of fixed size.
        dimension: how many numbers each vector must have.
        stored: a column that replaces `text`, and is passed on as it is stored. Batches hold strings (CSV, TSV, lines, whose only
            column it is), JSON values (JSON lines; null for a missing one) or the Arrow column (Parquet) in `texts`.
        asked_by: for columns of `values`, the option that names each, with what stands before the name: `keep=max:`, `within=`.

    Raises:
        OptionError: a name is empty, or a string was passed instead of a tuple of strings.
    """

    text: tuple[str, ...] = ("text",)
    id: str | None = None
    values: tuple[str, ...] = ()
    html: str | None = None
    separator: str = "\n"
    of_elements: bool = False
    vector: str | None = None
    dimension: int = 0
    stored: str | None = None
    asked_by: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        problems = []
        if isinstance(self.text, str) or "" in self.text:
            problems.append(text_problem(self.text))
        if self.id == "":
            problems.append("`id=''`: give the name of a column, or leave it out")
        if problems:
            raise OptionError("; ".join(problems) + ".")

    @property
    def id_or_default(self) -> str:
        """The column in which ids are looked up."""
        return "id" if self.id is None else self.id


class Made(Protocol):
    """What was made of the texts of a batch before: see `neardup.fingerprints` and `neardup.matching.similarities`.

    Attributes:
        fingerprints: of all rows; of those without a text, any.
        joined, compared, signatures: the elements that a join indexes, those that verification compares, and the MinHash
            signatures, of the rows that have a text.
        numbers: what a guard compares, of all rows, as JSON values; None if that was not made.
    """

    @property
    def fingerprints(self) -> Any: ...
    @property
    def joined(self) -> Any: ...
    @property
    def compared(self) -> Any: ...
    @property
    def signatures(self) -> Any: ...
    @property
    def numbers(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of one shard.

    Attributes:
        row: number of the first row, counted in the shard from 0.
        texts: Arrow large_string[rows]; null where the row was rejected or not wanted.
        ids: Arrow large_string[rows], each id as a JSON value (`"a1"` with its quotes, or 17); null where the text is null.
        values: for each of `Columns.values`, Arrow large_string[rows] of JSON values; dates and times are ISO 8601 in UTC. Null
            where the text is null, and where a row has no value, null or NaN.
        position: bytes of the shard's file that had been read when these rows were found; 0 where the format does not tell.
        shard: number of the shard, or of the first of several, in the corpus that is being read.
        of_elements: whether the texts are given sets or lists, as `neardup.text.given_elements` writes them.
        pages: bool[rows], which texts are HTML if some are; None if all are what `Columns.html` says.
        made: what was made of the texts before, if they are not known; the texts are then empty strings.
    """

    row: int
    texts: Any
    ids: Any
    values: tuple[Any, ...] = ()
    position: int = 0
    shard: int = 0
    of_elements: bool = False
    pages: Any = None
    made: "Made | None" = None


Rejections = list[tuple[int, str]]
"""Rows of a shard that cannot be read, in order, each with the reason."""

Part = Callable[[], tuple[Batch, Rejections]]
"""Rows that were found but not read yet: calling it reads them, on any thread, mostly without the interpreter lock."""
