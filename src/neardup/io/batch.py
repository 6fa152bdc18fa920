"""What is read from a shard, and what reading it yields."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from neardup.errors import OptionError

BATCH_BYTES = 4 << 20
"""About so many bytes are read, and so much text is handed on, at a time."""


MAX_DOCUMENT_BYTES = 256 << 20
"""Bytes of a row above which it is not read, unless another limit is given."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold the text and the id.

    A name with dots (`meta.body`) means a nested field, unless the row has a column of exactly that name. The texts of
    several columns are joined by `separator`.

    Attributes:
        text: the columns of the text, at least one; each must hold a string in every row.
        id: the column of the id, which must then hold a string or an integer in every row. If None, the column `id` is
            taken where it holds one, and `<shard name>:<row>` elsewhere.
        values: more columns whose values are wanted; strings, numbers, dates or null.
        html: how the text, which is HTML, becomes text: one of `neardup.io.reading.HTML`; None if it is text. It is for whom reads
            batches (`neardup.io.corpus`), not for the formats.
        separator: what joins the texts of several columns.
        vector: the column of numeric vectors, which then takes the place of `text`; of Parquet only. Batches have them in
            `texts`, as lists of fixed size.
        dimension: how many numbers each vector must have.

    Raises:
        OptionError: no text column is named, or a string was given where a tuple of strings belongs.
    """

    text: tuple[str, ...] = ("text",)
    id: str | None = None
    values: tuple[str, ...] = ()
    html: str | None = None
    separator: str = "\n"
    vector: str | None = None
    dimension: int = 0

    def __post_init__(self) -> None:
        problems = []
        if isinstance(self.text, str) or not self.text or "" in self.text:
            given = self.text[0] if len(self.text) == 1 else self.text
            problems.append(f"text={given!r}: give names of columns, such as text or meta.body; none may be empty")
        if self.id == "":
            problems.append("id='': give the name of a column, or leave it out")
        if problems:
            raise OptionError("; ".join(problems) + ".")

    @property
    def id_or_default(self) -> str:
        """The column in which an id is looked for."""
        return "id" if self.id is None else self.id


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of one shard.

    Attributes:
        row: number of the first row, counted in the shard from 0.
        texts: Arrow large_string[rows]; null where the row was rejected or not wanted.
        ids: Arrow large_string[rows], each id as a JSON value (`"a1"` with its quotes, or 17); null where the text is.
        values: for each of `Columns.values` Arrow large_string[rows], JSON values likewise; dates and times as ISO 8601 in UTC.
            Null where the text is, and where a row has no value, null or NaN.
        position: bytes of the shard's file that had been read when these rows were found; 0 where the format does not say.
        shard: number of the shard, or of the first of several, in the corpus that it is read for.
    """

    row: int
    texts: Any
    ids: Any
    values: tuple[Any, ...] = ()
    position: int = 0
    shard: int = 0


Rejections = list[tuple[int, str]]
"""Rows of a shard that cannot be read, in order, each with the reason."""

Part = Callable[[], tuple[Batch, Rejections]]
"""Rows that were found but are not read yet: a call reads them, on any thread, mostly without the interpreter lock."""

Reject = Callable[[int, str], None]
"""Called with a row's number in its shard and the reason why it cannot be read; may raise, and reading then stops."""


def read_parts(parts: Iterator[Part], reject: Reject) -> Iterator[Batch]:
    """Read parts one after another."""
    for part in parts:
        batch, rejections = part()
        for row, reason in rejections:
            reject(row, reason)
        yield batch
