"""The data passed to the library, as rows: columns by name, and the rows to keep in the type of the input.

pandas, polars, datasets and DuckDB are recognized by the names of their modules, and none of them is imported. Any other object is
read through Arrow's C stream if it has one.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError, InputError, OptionError, column_names
from neardup.text.columns import as_text_arrays, decoded, join_texts
from neardup.text.given_elements import have_sets, is_collection, is_list_type, texts_of_items, texts_of_lists
from neardup.text.lists.columns import texts_of_lists_at
from neardup.text.lists.paths import column_of, list_path
from neardup.text.nested import Keys, advice_on_path, column_at, type_at, value_of_type
from neardup.text.replaced_texts import in_arrow, in_dataset, in_items, in_numpy, in_pandas, in_polars

ALLOWED = "a list of strings or of dicts, an Arrow table, a pandas or polars data frame, a Hugging Face dataset, a DuckDB relation"
UNREADABLE = (pa.ArrowException, UnicodeEncodeError, OverflowError, TypeError, ValueError, RecursionError)
"""What Arrow raises for Python's values that are not all of one kind that it has."""
_FILES = (
    " Files are read by functions whose names end in _files, such as deduplicate_files(inputs, output), and by the command "
    "`neardup`."
)
_LIKE_PATH = re.compile(r"^[^\n]*\.(jsonl?|ndjson|csv|tsv|txt|parquet|gz|zst)$")


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of an input.

    Attributes:
        rows: the number of rows.
        keep: returns the rows where bool[rows] is true, in order, in the type of the input.
        replace: puts other texts into what `keep` returns; see `neardup.text.replaced_texts`.
        texts: the column itself, if the input is a single column without a name.
        names: the names of the columns.
        read: returns the Arrow table of one column, or a list of its values if they have different types.
        dicts: the rows, if they are dicts.
    """

    rows: int
    keep: Callable[[Array], Any]
    replace: Callable[[Any, Keys, Array, Sequence[str]], Any]
    texts: Any = None
    names: tuple[str, ...] = ()
    read: Callable[[str], Any] | None = None
    dicts: Sequence[Mapping[str, Any]] | None = None

    @property
    def has_columns(self) -> bool:
        """Whether the columns have names to look up."""
        return self.texts is None

    def column(self, name: str, what: str, *, optional: bool = False) -> Any:
        """The values of a column, or of a field nested in it (a name with dots): Arrow, or a list.

        An input without rows has every column. With `optional`, a dict without the column has None there; if no dict has it, that
        is still an error.

        Raises:
            InputError: there is no such column, or several; `what` says what it is needed for.
        """
        if not self.has_columns and not self.rows:
            return []
        if not self.has_columns:
            raise InputError(f"There is no column {name!r} for the {what}: the data is one column of texts.")
        if name not in self.names and (steps := list_path(name)):
            path = column_of(steps)
            return texts_of_lists_at(self.column(".".join(path), what), name, steps[len(path) - 1 :])
        path = self.keys_of(name)
        if path[0] in self.names:
            demand_one(path[0], what, self.names)
        else:
            raise self._missing(name, what)
        if self.dicts is not None:
            return self._of_dicts(self.dicts, name, path, what, optional=optional)
        assert self.read is not None
        table = self.read(path[0])
        if isinstance(table, list):
            if len(path) > 1:
                raise self._missing(name, what)
            return table
        path = (table.schema.names[0], *path[1:])
        if type_at(table.schema, path) is None:
            raise self._missing(name, what, {path[0]: value_of_type(table.schema.field(0).type)})
        return decoded(column_at(table, path))

    def keys_of(self, name: str) -> Keys:
        """The keys of a column, or of a field nested in it."""
        return (name,) if name in self.names or "." not in name else tuple(name.split("."))

    def _of_dicts(
        self, dicts: Sequence[Mapping[str, Any]], name: str, path: tuple[str, ...], what: str, *, optional: bool
    ) -> list[Any]:
        found, known = [], False
        for row, item in enumerate(dicts):
            value: Any = item
            for key in path:
                if not isinstance(value, Mapping) or key not in value:
                    if not optional or not isinstance(item, Mapping):
                        if not known and not any(_has_path(each, path) for each in dicts):
                            raise self._missing(name, what, item)
                        raise InputError(f"Row {row} is no dict with {name!r} for the {what}, as others are.")
                    value = None
                    break
                value = value[key]
            else:
                known = True
            found.append(value)
        if not known:
            raise self._missing(name, what)
        return found

    def _missing(self, name: str, what: str, row: Mapping[str, Any] | None = None) -> InputError:
        """`row`: the columns of a row, as nested dicts and lists."""
        return missing_column(name, what, self.names, advice_on_path(row or {}, name) if what == "texts" else "")


def missing_column(name: str, what: str, names: Iterable[str], advice: str = "") -> InputError:
    """The error of a column that is not there. `what`: what it is needed for; `names`: the columns that there are."""
    return InputError(
        f"There is no column {name!r} for the {what}. The columns are {', '.join(names)}. "
        f"{advice or 'Name the one that is meant.'}"
    )


def demand_one(name: str, what: str, names: Sequence[str]) -> None:
    """Refuse a column of whose name there are several.

    Raises:
        InputError: there are.
    """
    if names.count(name) > 1:
        raise InputError(
            f"There are {names.count(name)} columns {name!r} for the {what}. The columns are {', '.join(names)}."
        )


def _has_path(value: Any, path: Sequence[str]) -> bool:
    """Whether a value has a field, or one nested in it."""
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return False
        value = value[key]
    return True


def frame_of(data: Any, called: str = "data") -> Frame:
    """The rows of any input that the library takes; iterators and streams are read to the end.

    Raises:
        OptionError: the input has no such type; `called` is the name of the argument.
    """
    if isinstance(data, str | bytes | Mapping):
        hint = " Even one text goes in a list: [text]." if isinstance(data, str | bytes) else ""
        hint = _FILES if isinstance(data, str) and _LIKE_PATH.search(data) else hint
        hint = f" Give one of its splits: {called}['train']." if type(data).__name__.endswith("DatasetDict") else hint
        raise OptionError(f"{called} is one {type(data).__name__}; give {ALLOWED}.{hint}")
    if isinstance(data, PurePath):
        raise OptionError(f"{called} is a path; give {ALLOWED}.{_FILES}")
    if isinstance(data, set | frozenset):
        raise OptionError(
            f"{called} is a {type(data).__name__}, which has no order; give a list, such as sorted({called})."
        )
    packages = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}  # of its class and its parents
    if "pandas" in packages and hasattr(data, "iloc"):
        return _of_pandas(data)
    if "polars" in packages and (hasattr(data, "__len__") or hasattr(data, "collect")):
        return _of_polars(data)
    if "datasets" in packages and hasattr(data, "select_columns") and hasattr(data, "__len__"):
        return _of_dataset(data)
    if isinstance(data, np.ndarray) and data.ndim:
        return Frame(len(data), lambda kept: data[kept], in_numpy, texts=data)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _of_arrow(data)
    if isinstance(data, pa.Array | pa.ChunkedArray):
        column = Frame(len(data), lambda kept: _filtered(data, kept), in_arrow, texts=data)
        if not pa.types.is_struct(data.type):
            return column
        chunks = data.chunks if isinstance(data, pa.ChunkedArray) else [data]
        return replace(_of_stream(pa.chunked_array(chunks, data.type)), keep=column.keep)
    if hasattr(data, "__arrow_c_stream__"):
        return _of_stream(pa.chunked_array(data))
    if hasattr(data, "__arrow_c_array__"):
        return _of_stream(pa.chunked_array([pa.array(data)]))
    for name in ("to_arrow", "to_table"):  # for objects without a stream of their own, such as Arrow's datasets
        if callable(getattr(data, name, None)):
            return frame_of(getattr(data, name)(), called)
    return _of_items(data, called)


def _of_arrow(table: Any) -> Frame:
    return Frame(
        table.num_rows,
        lambda kept: _filtered(table, kept),
        in_arrow,
        names=tuple(table.schema.names),
        read=lambda name: table.select([name]),
    )


def _filtered(data: Any, kept: Array) -> Any:
    """The rows of Arrow data where `kept` is true, including types that Arrow cannot filter: string views, and lists of them."""
    try:
        return data.filter(pa.array(kept))
    except pa.ArrowNotImplementedError:
        pass
    if isinstance(data, pa.Table | pa.RecordBatch):
        return type(data).from_arrays([_filtered(column, kept) for column in data.columns], schema=data.schema)
    runs = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]))).reshape(-1, 2).tolist()
    parts = [data.slice(first, last - first) for first, last in runs] or [data.slice(0, 0)]
    if isinstance(data, pa.Array):
        return pa.concat_arrays(parts)
    chunks = [chunk for part in parts for chunk in part.chunks]
    return pa.chunked_array([pa.concat_arrays(chunks)] if chunks else [], data.type)


def _of_stream(rows: Any) -> Frame:
    """The rows of an Arrow stream; a stream cannot be returned, so results are an Arrow table or column."""
    return _of_arrow(pa.Table.from_struct_array(rows)) if pa.types.is_struct(rows.type) else frame_of(rows)


def _of_pandas(data: Any) -> Frame:
    if not hasattr(data, "columns"):
        return Frame(len(data), lambda kept: data[kept], in_pandas, texts=_pandas_values(data))
    labels: dict[str, Any] = {str(label): label for label in data.columns}
    kinds = zip(data.columns, data.dtypes, strict=True)
    swapped = [label for label, kind in kinds if isinstance(kind, np.dtype) and not kind.isnative]
    if swapped:
        raise OptionError(
            f"The column {swapped[0]!r} has the other byte order, from which pandas cannot take rows. Convert it: "
            f"data[{swapped[0]!r}].astype(data[{swapped[0]!r}].dtype.newbyteorder('='))."
        )

    def read(name: str) -> Any:
        values = _pandas_values(data[labels[name]])
        return values if isinstance(values, list) else pa.table([values], names=[name])

    return Frame(len(data), lambda kept: data[kept], in_pandas, names=tuple(map(str, data.columns)), read=read)


def _pandas_values(series: Any) -> Any:
    try:
        return pa.array(series, from_pandas=True)
    except UNREADABLE:
        return series.tolist()


def _of_polars(data: Any) -> Frame:
    if hasattr(data, "collect"):
        collected = data.collect()
        return replace(_of_polars(collected), keep=lambda kept: collected.filter(kept).lazy())
    if not hasattr(data, "columns"):
        return Frame(len(data), data.filter, in_polars, texts=data)

    def read(name: str) -> Any:
        if str(data.schema[name]) != "Object":  # of which polars gives the addresses in memory
            with contextlib.suppress(pa.ArrowException):  # Int128, which Arrow does not have
                return pa.table(data.select(name))
        return data[name].to_list()

    return Frame(len(data), data.filter, in_polars, names=tuple(data.columns), read=read)


def _of_dataset(data: Any) -> Frame:
    return Frame(
        len(data),
        lambda kept: data.select(np.flatnonzero(kept)),
        in_dataset,
        names=tuple(data.column_names),
        read=lambda name: data.select_columns([name]).with_format("arrow")[:],
    )


def _of_items(data: Any, called: str) -> Frame:
    try:
        items = data if isinstance(data, list | tuple) else list(data)
    except TypeError:
        raise OptionError(f"{called} is a {type(data).__name__}; give {ALLOWED}.") from None

    def keep(kept: Array) -> Any:
        stay = (item for item, stays in zip(items, kept.tolist(), strict=True) if stays)
        return tuple(stay) if isinstance(data, tuple) else list(stay)

    if not items or not isinstance(items[0], Mapping):
        return Frame(len(items), keep, in_items, texts=items)
    names = dict.fromkeys(str(name) for item in items if isinstance(item, Mapping) for name in item)
    return Frame(len(items), keep, in_items, names=tuple(names), dicts=items)


def texts_of(frame: Frame, text: str | Iterable[str] = "text", *, separator: str = "\n") -> list[Any]:
    """The texts as Arrow `large_string` arrays without nulls: those of one column, or of several joined by `separator`.

    If the input is a single column without a name, that column is used.

    Raises:
        InputError: there is no such column.
        OptionError: the column does not hold strings, or columns are named where the input has none.
        DataError: a text is null, or not valid Unicode.
    """
    names = column_names(text)
    if not frame.has_columns:
        if names != ("text",) and frame.rows:
            raise OptionError(
                f"`text={', '.join(names)!r}`: the data is one column of texts, and has no names. Leave out `text`."
            )
        return as_text_arrays(frame.texts)
    return join_texts([as_text_arrays(frame.column(name, "texts"), column=name) for name in names], separator)


def holds_elements(frame: Frame) -> bool:
    """Whether the input is a single column without a name whose first value is a set or a list."""
    found = frame.texts
    if hasattr(found, "type"):
        return is_list_type(found.type)
    return isinstance(found, list | tuple | np.ndarray) and len(found) > 0 and is_collection(found[0])


def holds_sets(frame: Frame, elements: str | None = None) -> bool:
    """Whether some of the values of the column, or of the single column without a name, are Python's sets."""
    column = frame.texts if elements is None else frame.column(elements, "elements")
    return isinstance(column, list | tuple) and have_sets(column)


def texts_of_elements(frame: Frame, elements: str | None = None) -> list[Any]:
    """The sets or lists of a column as Arrow `large_string` arrays; see `neardup.text.given_elements`.

    `elements`: the column; None if the input is a single column without a name.

    Raises:
        InputError: there is no such column.
        DataError: a row has no list, or one with something other than strings and integers.
    """
    where = "" if elements is None else f" of the column {elements!r}"
    column = frame.texts if elements is None else frame.column(elements, "elements")
    if not hasattr(column, "type"):
        return [texts_of_items(column, where)]
    if not is_list_type(column.type):
        raise DataError(f"The column {elements!r} is {column.type}, but lists of strings or integers are needed.")
    found, row = [], 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        texts, problems = texts_of_lists(chunk)
        for bad, reason in problems:
            raise DataError(f"Row {row + bad}{where}: {reason}. Give lists of strings or integers.")
        found.append(texts)
        row += len(chunk)
    return found


def text_arrays(data: Any, text: str | Iterable[str] = "text", *, called: str = "texts") -> list[Any]:
    """The texts of any input that the library takes: see `frame_of` and `texts_of`."""
    return texts_of(frame_of(data, called), text)
