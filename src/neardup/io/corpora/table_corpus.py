"""Texts in memory as a corpus: any input that `neardup.text.frames` accepts; the output has the type of the input."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.display import as_code, counted
from neardup.errors import DataError, InputError, OptionError
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import is_within, rank_of_source, text_of_pages
from neardup.io.corpora.reading import Html, Reading
from neardup.io.formats.columnar.column_values import demand_value_type, value_tokens
from neardup.io.formats.json.json_values import is_utf8, only, value_token
from neardup.io.ids import ids_of_column
from neardup.options import DedupOptions, options_for_elements
from neardup.recipe.given_elements import recipe_of_elements
from neardup.recipe.recipe import Recipe
from neardup.resources.resources import DEFAULTS, Resources
from neardup.resources.threads import in_order
from neardup.text.columns import in_chunks
from neardup.text.frames import UNREADABLE, Frame, frame_of, holds_elements, holds_sets, texts_of, texts_of_elements
from neardup.text.html import extractor
from neardup.text.nested import Keys, is_string

Result = TypeVar("Result")

_TEXT = pa.large_string()
MAX_LISTED = 5
"""Number of sources that a message names."""


def _ids(frame: Frame, id: str | None, say: Callable[[str], object]) -> Any:  # noqa: A002
    """The ids as one Arrow array: the column named, or the column `id` if every row has one; otherwise the rows' numbers.

    A column `id` that nobody named, and that holds no ids, is not used; `say` is called with a sentence about that, and about rows
    without an id.
    """

    def named(name: str) -> Any:
        column = frame.column(name, "ids")
        found = ids_of_column(column, name)
        if missing := column.count(None) if isinstance(column, list) else column.null_count:
            say(
                f"{counted(missing, 'document')} without an id: the number of the row, or the next free one, stands for it."
            )
        return found

    if id is not None:
        return named(id)
    if "id" in frame.names and all(isinstance(item, Mapping) and "id" in item for item in frame.dicts or ()):
        try:
            return named("id")
        except (InputError, DataError) as problem:
            say(f"Documents are identified by row. {problem}")
    return pa.array(np.arange(frame.rows))


def _values(frame: Frame, name: str) -> Any:
    """A column in the form of `Batch.values`: Arrow large_string[rows], JSON values; null where there is no value."""
    column = frame.column(name, "values", optional=True)
    found = _array_of(column, name, "values")
    if found is None:
        return pa.array([_token(value, row, name) for row, value in enumerate(column)], _TEXT)
    return value_tokens(found)


def _array_of(column: Any, name: str, what: str) -> Any:
    """A column of strings, numbers, dates or truth values as one Arrow array; None for a list that Arrow has no type for."""
    if isinstance(column, list):
        try:
            column = pa.array(column, from_pandas=True)
        except UNREADABLE:
            return None
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    demand_value_type(column.type, name, what)
    if is_string(column.type) and not is_utf8(column):
        row = next(row for row in range(len(column)) if not is_utf8(column.slice(row, 1)))
        raise DataError(
            f"The value of the column {name!r}, row {row}, is not valid UTF-8. Correct it, or make it null."
        )
    return column


def _token(value: Any, row: int, name: str) -> str | None:
    """The JSON value of one value in a column of mixed types."""
    value = value.item() if isinstance(value, np.generic) else value
    value = str(value) if isinstance(value, Decimal) else value
    if value is not None and not isinstance(value, str | int | float):
        raise DataError(
            f"The value {str(value)[:60]!r} of the column {name!r}, row {row}, is a {type(value).__name__} among others. "
            "Make them all of one kind: strings, numbers, dates or truth values."
        )
    try:
        return value_token(value)
    except UnicodeEncodeError:
        raise DataError(
            f"The value of the column {name!r}, row {row}, contains a lone surrogate, which is not a character. "
            "Correct it, or make it null."
        ) from None
    except ValueError:  # more digits than Python writes
        raise DataError(
            f"The value of the column {name!r}, row {row}, has too many digits. Give a smaller number."
        ) from None


def _sources(frame: Frame, name: str) -> Any:
    """The sources of the rows: Arrow large_string[rows]."""
    column = frame.column(name, "sources")
    found = _array_of(column, name, "sources")
    if found is None:
        found = pa.array(
            [value if _token(value, row, name) is None else str(value) for row, value in enumerate(column)]
        )
    return (found.storage if isinstance(found.type, pa.BaseExtensionType) else found).cast(_TEXT)


def _refuse_with_lists(called: str, how: Reading) -> None:
    """Refuse options that sets and lists without a name have no use for."""
    if given := [name for name in ("text", "elements", "html") if name in how.changed]:
        raise OptionError(f"{as_code(given, ' and ')}: {called} is one column of sets or lists. Leave it out.")


def _listed(batch: Batch) -> list[tuple[int, str]]:
    """The texts of a batch that are not null, each with its row in it."""
    return [(i, text) for i, text in enumerate(batch.texts.to_pylist()) if text is not None]


class TableCorpus:
    """A corpus of rows in memory.

    Attributes:
        ids: Arrow array, the documents' ids, or their row numbers if they have none.
        of_elements: whether documents are given sets or lists, and not texts; `has_sets`: some are sets, which have no order.
    """

    def __init__(
        self,
        data: Any,
        *,
        text: str | Iterable[str] = "text",
        id: str | None = None,  # noqa: A002
        elements: str | None = None,
        html: Html | None = None,
        values: Sequence[str] = (),
        source: str | None = None,
        called: str = "data",
        names_are_optional: bool = False,
        separator: str = "\n",
        resources: Resources = DEFAULTS,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        """See `neardup.deduplicate`.

        Args:
            data, text, id, elements, html: as there.
            values: columns whose values come with each batch.
            source: the column that names the source of each row.
            called: the name of the argument that held the data.
            names_are_optional: if the data is a single column without a name, column names are ignored.
            separator: joins the texts of several columns.
            say: called with notes for people.
        """
        how = Reading(text=text, id=id, elements=elements, html=html)
        frame = frame_of(data, called)
        if names_are_optional and not frame.has_columns:
            how = Reading(html=html)
        self._extract = None if how.html is None else extractor(how.html)
        self.of_elements = how.elements is not None or holds_elements(frame)
        if self.of_elements and not frame.has_columns:
            _refuse_with_lists(called, how)
        self.has_sets = self.of_elements and holds_sets(frame, how.elements)
        self._texts = (
            texts_of_elements(frame, how.elements)
            if self.of_elements
            else texts_of(frame, how.text, separator=separator)
        )
        self.ids = _ids(frame, how.id, say)
        self._values = [_values(frame, name) for name in values]
        self._source = None if source is None else _sources(frame, source)
        self._keys: list[Keys] = [frame.keys_of(name) for name in how.text] if frame.has_columns else [()]
        self._frame, self._resources = frame, resources

    def fitted(self, recipe: Recipe, options: DedupOptions) -> tuple[Recipe, DedupOptions]:
        """The recipe and the options; for given sets and lists, those that compare elements as they are.

        Raises:
            OptionError: they say how texts are cut, or ask for the order of sets.
        """
        if not self.of_elements:
            return recipe, options
        return recipe_of_elements(recipe), options_for_elements(options, have_sets=self.has_sets)

    def demand_same_kind(self, other: "TableCorpus", names: tuple[str, str]) -> None:
        """Raise OptionError if one of two corpora, the arguments `names`, is of texts and the other of given sets or lists."""
        if self.of_elements == other.of_elements or not self._frame.rows or not other._frame.rows:
            return
        mine, theirs = ("sets or lists" if each.of_elements else "texts" for each in (self, other))
        raise OptionError(
            f"`{names[0]}` has {mine}, and `{names[1]}` has {theirs}: they cannot be compared. Give both of one kind."
        )

    def demand_texts(self, name: str) -> None:
        """Raise OptionError if the argument `name` has given sets or lists."""
        if self.of_elements:
            raise OptionError(f"`{name}` has sets or lists, and only texts can be searched for passages. Give texts.")

    @property
    def repeated_ids(self) -> int:
        """Documents whose id occurs on an earlier document."""
        return len(self.ids) - len(self.ids.unique())

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:

        def read(batch: Batch) -> tuple[int, Result]:
            return batch.row, work(batch if self._extract is None else text_of_pages(batch, self._extract))

        yield from in_order(read, self._batches(wanted), self._resources.thread_count)

    def _batches(self, wanted: Array | None) -> Iterator[Batch]:
        row = 0
        for array in self._texts:
            for texts in in_chunks(array):
                n = len(texts)
                values = tuple(column.slice(row, n) for column in self._values)
                if wanted is not None:
                    mask = wanted[row : row + n]
                    texts, values = only(texts, mask), tuple(only(column, mask) for column in values)
                yield Batch(row, texts, pa.nulls(n, _TEXT), values, of_elements=self.of_elements)
                row += n

    def texts_of(self, rows: Iterable[int]) -> dict[int, str]:
        """The texts of some rows, by row; of pages, the text that they show."""
        starts = np.cumsum([0, *map(len, self._texts)])
        found = {}
        for row in rows:
            array = int(np.searchsorted(starts, row, side="right")) - 1
            texts = self._texts[array].slice(row - int(starts[array]), 1)
            batch = Batch(row, texts, pa.nulls(1, _TEXT), ())
            found[row] = (batch if self._extract is None else text_of_pages(batch, self._extract)).texts[0].as_py()
        return found

    @property
    def skips(self) -> bool | None:
        return None

    def check_sources(self, sources: Sequence[str]) -> None:
        """See `neardup.io.corpora.protocol.SourcedCorpus`. A source is a value of the source column, or a folder or glob that
        contains such values.
        """
        if sources and self._source is None:
            raise OptionError(
                f"`prefer_source={tuple(sources)!r}`: a column says which source a row is from. Give its name as `source`."
            )
        names = self._source_names()[0] if sources else []
        for source in sources:
            if not any(is_within(name, source) for name in names if name is not None):
                there = ", ".join(map(str, names[:MAX_LISTED])) + (" …" if len(names) > MAX_LISTED else "")
                raise InputError(f"`prefer_source={source!r}`: no row is of this source. The sources are {there}.")

    def source_ranks(self, sources: Sequence[str]) -> Array | None:
        if not sources:
            return None
        names, codes = self._source_names()
        ranks = [len(sources) if name is None else rank_of_source(name, sources) for name in names]
        found: Array = np.array(ranks, np.int64)[codes]
        return found

    def _source_names(self) -> tuple[list[str | None], Array]:
        """The unique sources, None last, and the index of each row's source among them."""
        encoded = pc.dictionary_encode(self._source)
        names = encoded.dictionary.to_pylist()
        return [*names, None], encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)

    def keep(self, kept: Array) -> Any:
        """The rows where `kept` (bool[rows]) is true, in the type of the input."""
        return self._frame.keep(kept)

    def keep_rewritten(self, kept: Array, changed: Array, rewrite: Callable[[int, str], Sequence[str]]) -> Any:
        """The same, and where `changed` (bool[rows]) is true, with the texts that `rewrite` makes of a row and its joined text, one
        for each text column.
        """
        wanted = kept & changed
        new = [rewrite(row + i, text) for row, texts in self.map(_listed, wanted=wanted) for i, text in texts]
        found, rows = self._frame.keep(kept), np.flatnonzero(wanted[kept])
        if new:
            for keys, texts in zip(self._keys, zip(*new, strict=True), strict=True):
                found = self._frame.replace(found, keys, rows, texts)
        return found

    def ids_with(self, reference: "TableCorpus | None") -> Any:
        """The ids, followed by those of the reference; as strings if the two have different types."""
        if reference is None:
            return self.ids
        both = [self.ids, reference.ids]
        if both[0].type != both[1].type:
            both = [ids.cast(_TEXT) for ids in both]
        return pa.concat_arrays(both)
