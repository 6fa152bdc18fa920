"""Read columns of Arrow batches as texts, ids and values, strictly."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import InputError
from neardup.io.checks.missing_columns import MissingColumnError
from neardup.io.corpora.batch import Batch, Columns, Rejections
from neardup.io.corpora.shard import Shard
from neardup.io.formats.columnar.column_values import is_value, value_tokens
from neardup.io.formats.columnar.vector_columns import list_kind, vectors_of_column
from neardup.io.formats.json.json_values import default_ids, is_utf8, joined, only, quoted
from neardup.io.formats.lines import too_long
from neardup.text.given_elements import is_list_type, texts_of_lists
from neardup.text.lists.columns import texts_in_column, type_problem
from neardup.text.lists.paths import NO_TEXT, column_of, list_path
from neardup.text.nested import Keys, advice_on_value, as_text, column_at, type_at, value_of_type, with_texts_at

_TEXT = pa.large_string()


class ColumnReader:
    """Finds the columns in a schema, and reads texts and ids from batches that contain these columns.

    Attributes:
        names: the columns to read, dotted where nested.

    Raises:
        InputError: a column is missing, occurs twice, or has an unusable type.
    """

    def __init__(self, shard: Shard, schema: Any, columns: Columns) -> None:
        self._shard_name = shard.name
        self._separator = columns.separator
        self._limit = shard.max_document_bytes
        self._too_long = too_long(shard).removeprefix("it is ")
        texts = columns.text if columns.vector is None and columns.stored is None else ()
        self._lists = {name: steps for name in texts if name not in schema.names and (steps := list_path(name))}
        places = {name: ".".join(column_of(steps)) for name, steps in self._lists.items()}
        self._texts = [(name, self._place(schema, places.get(name, name))) for name in texts]
        self._of_elements = columns.of_elements
        for name, path in self._texts:
            if name in self._lists:
                if problem := type_problem(type_at(schema, path), self._lists[name][len(path) - 1 :]):
                    raise InputError(f'{shard.name}: column "{name}": {problem}.')
            elif columns.of_elements:
                self._demand(name, type_at(schema, path), is_list_type, "a column of lists of strings or integers")
            else:
                self._demand(name, type_at(schema, path), _is_string, "a column of strings")
        self._id: Keys | None = None
        if columns.id is not None:
            self._id = self._place(schema, columns.id)
            self._demand(columns.id, type_at(schema, self._id), _is_id, "a column of strings or integers")
        elif len(schema.get_all_field_indices("id")) == 1 and _is_id(type_at(schema, ("id",))):
            self._id = ("id",)
        self._values = [(name, self._place(schema, name)) for name in columns.values]
        for name, path in self._values:
            self._demand(name, type_at(schema, path), is_value, "a column of strings, numbers, dates or truth values")
        self._dimension = columns.dimension
        self._vector = None if columns.vector is None else self._place(schema, columns.vector)
        if self._vector is not None:
            kind = type_at(schema, self._vector)
            self._demand(str(columns.vector), kind, _is_vector, "a column of lists of numbers, of fixed size or not,")
        self._stored = None if columns.stored is None else self._place(schema, columns.stored)
        paths = [path for _, path in [*self._texts, *self._values]] + [
            each for each in (self._id, self._vector, self._stored) if each
        ]
        self.names = list(dict.fromkeys(".".join(path) for path in paths))

    def _place(self, schema: Any, name: str) -> Keys:
        path: Keys = (name,)
        if not schema.get_all_field_indices(name) and "." in name:
            path = tuple(name.split("."))
        count = len(schema.get_all_field_indices(path[0]))
        if count > 1:
            raise InputError(f'{self._shard_name} has {count} columns "{path[0]}". Rename all but one of them.')
        if count == 0 or type_at(schema, path) is None:
            there = ", ".join(f"{field.name}: {field.type}" for field in schema)
            raise MissingColumnError(self._shard_name, name, schema.names, there=there)
        ends = (end for end in range(1, len(path)) if pa.types.is_null(type_at(schema, path[:end])))
        return path[: next(ends, len(path))]  # a column of type null has no fields to read

    def _demand(self, name: str, kind: Any, fits: Callable[[Any], bool], allowed: str) -> None:
        if fits(kind) or pa.types.is_null(kind):  # as writers make where a whole file has no value
            return
        hint = ""
        if any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)):
            hint = " If its bytes are UTF-8, cast it to string first (in DuckDB: decode(column))."
        elif fits is _is_string and (nested := advice_on_value(name, value_of_type(kind))):
            hint = f" {nested}"
        raise InputError(f'{self._shard_name}: column "{name}" is {kind}, but {allowed} is needed.{hint}')

    def read(self, batch: Any, row: int, wanted: Array | None) -> tuple[Batch, Rejections]:
        """Texts, ids and values of a batch that starts at `row`, null where not wanted, and the rows that cannot be read."""
        usable = np.ones(batch.num_rows, np.bool_) if wanted is None else wanted.copy()
        reasons: dict[int, str] = {}

        def set_aside(bad: Array, name: str, reason: str) -> None:
            reasons.update((i, f'its column "{name}" is {reason}') for i in np.flatnonzero(bad & usable).tolist())
            usable[bad] = False

        texts = []
        for name, keys in self._texts:
            if self._of_elements:
                texts.append(_text_of_lists(column_at(batch, keys), name, set_aside))
            elif name in self._lists:
                texts.append(texts_in_column(column_at(batch, keys), self._lists[name][len(keys) - 1 :]))
                set_aside(_broken(texts[-1]), name, "not UTF-8")
                set_aside(_nulls(texts[-1]), name, NO_TEXT)
            else:
                texts.append(as_text(column_at(batch, keys)))
                set_aside(_nulls(texts[-1]), name, "null, not a string")
                set_aside(_broken(texts[-1]), name, "not UTF-8")
            set_aside(_sizes(texts[-1]) > self._limit, name, self._too_long)
        if self._vector is not None:
            found = vectors_of_column(column_at(batch, self._vector), self._dimension)
            reasons.update((i, reason) for i, reason in found.problems.items() if usable[i])
            usable[list(found.problems)] = False
        ids = self._ids(batch, row, set_aside)
        values = [self._value(batch, name, keys, set_aside) for name, keys in self._values]
        if self._vector is not None:
            text = found.as_lists(usable)
        elif self._stored is not None:
            text = column_at(batch, self._stored)
        else:
            text = only(joined(texts, self._separator, batch.num_rows), usable)
        rejections = [(row + i, reasons[i]) for i in sorted(reasons)]
        return Batch(row, text, only(ids, usable), tuple(only(value, usable) for value in values)), rejections

    def _value(self, batch: Any, name: str, keys: Keys, set_aside: Callable[[Array, str, str], None]) -> Any:
        column = column_at(batch, keys)
        if _is_string(column.type):
            column = as_text(column)
            broken = _broken(column)
            set_aside(broken, name, "not UTF-8")
            column = only(column, ~broken)
        return value_tokens(column)

    def rewritten(self, batch: Any, rows: Array, changed: Array, rewrite: Callable[[int, list[str]], list[str]]) -> Any:
        """The batch, which holds these rows of the shard; `rewrite` replaces the texts where `changed` is true."""
        if not len(changed):
            return batch
        columns = [as_text(column_at(batch, keys)) for _, keys in self._texts]
        written = [
            rewrite(row, [column[place].as_py() for column in columns])  # texts may be large: one row's at a time
            for place, row in zip(changed.tolist(), rows[changed].tolist(), strict=True)
        ]
        del columns
        for (_, keys), texts in zip(self._texts, zip(*written, strict=True), strict=True):
            number = batch.schema.get_field_index(keys[0])
            column = with_texts_at(batch.column(number), keys[1:], changed, list(texts))
            batch = batch.set_column(number, batch.schema.field(number), column)
        return batch

    def _ids(self, batch: Any, row: int, set_aside: Callable[[Array, str, str], None]) -> Any:
        rows = np.arange(row, row + batch.num_rows)
        if self._id is None:
            return default_ids(self._shard_name, rows)
        ids = column_at(batch, self._id)
        name = ".".join(self._id)
        if _is_string(ids.type):
            ids = as_text(ids)
            broken = _broken(ids)
            set_aside(broken, name, "not UTF-8")
            ids = quoted(only(ids, ~broken))
        else:
            ids = ids.cast(_TEXT)
        return pc.coalesce(ids, default_ids(self._shard_name, rows)) if ids.null_count else ids


def _text_of_lists(lists: Any, name: str, set_aside: Callable[[Array, str, str], None]) -> Any:
    """The texts of lists of strings or integers; rows that have none, or that cannot be read, are set aside."""
    if pa.types.is_null(lists.type):
        lists = lists.cast(pa.list_(pa.string()))
    broken = np.zeros(len(lists), np.bool_)
    if not is_utf8(lists):
        broken[:] = [not is_utf8(lists.slice(i, 1).flatten()) for i in range(len(lists))]
        set_aside(broken, name, "not UTF-8")
        lists = lists.take(pa.array(np.arange(len(lists)), mask=broken))
    null = _nulls(lists)
    set_aside(null & ~broken, name, "null, not a list")
    texts, problems = texts_of_lists(lists)
    with_nulls = np.zeros(len(lists), np.bool_)
    with_nulls[[row for row, _ in problems]] = True
    set_aside(with_nulls & ~null, name, "a list with a null among its elements")
    return pc.fill_null(texts, "")


def _is_string(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _is_vector(kind: Any) -> bool:
    return list_kind(kind) is not None


def _is_id(kind: Any) -> bool:
    return _is_string(kind) or bool(pa.types.is_integer(kind))


def _nulls(array: Any) -> Array:
    if array.null_count == 0:
        return np.zeros(len(array), np.bool_)
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def _sizes(array: Any) -> Array:
    """int64[rows]: bytes of each string of a large_string array."""
    return np.diff(np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1])


def _broken(array: Any) -> Array:
    """bool[rows]: the string is not valid UTF-8; Arrow does not check that when it reads files."""
    broken = np.zeros(len(array), np.bool_)
    if not is_utf8(array):
        broken[:] = [not is_utf8(array.slice(i, 1)) for i in range(len(array))]
    return broken
