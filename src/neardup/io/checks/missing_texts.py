"""What to do about a file without the text column: its columns may hold fingerprints of another program, or vectors."""

import contextlib
import os
import re
from typing import Any

from neardup.errors import DataError, InputError
from neardup.io.checks.number_files import NAMING, digits_like, importing, quoted_name
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.text.nested import advice_on_path

_SAMPLED_ROWS = 100
_SAMPLED_BYTES = 1 << 16
_MIN_TEXT_CHARACTERS = 80
"""A value of so many characters is a text, if it is no number."""

Sample = dict[str, list[Any]]
"""The first values of each column: strings, integers, bytes or lists."""


def advice(shard: Shard, columns: Columns) -> str:
    """A sentence about a file that lacks a text column of `columns`, with the command that reads what it has; or nothing."""
    if columns.vector is not None or columns.stored is not None or shard.format not in _SAMPLES:
        return ""
    with contextlib.suppress(DataError, InputError, StopIteration):
        if shard.format == "parquet" and _has_fingerprints(shard):
            return " It is a fingerprint file: give it to `neardup pairs` or `neardup index build`."
        sample = _SAMPLES[shard.format](shard)
        if all(name in sample or "." in name for name in columns.text):
            return ""
        if shard.format in ("csv", "tsv") and digits_like([name for name in sample if digits_like([name])]):
            return f" {_without_header(shard, sample)}"
        has_texts = any(map(_are_texts, sample.values()))
        for name in sorted(sample, key=_rank):
            if has_texts and _rank(name) and isinstance(sample[name][0], str | int):
                continue  # the name of the texts was forgotten: numbers beside them are those of commits, or sums
            if name != columns.id_or_default and (found := _advice_on(shard, name, sample[name])):
                return f" {found}"
    return ""


_NESTED = re.compile(r'its column "(.*)" is an (array|object), not a string')


def value_advice(shard: Shard, reason: str) -> str:
    """A sentence about a row rejected for this reason, if a column has arrays or objects where texts are expected; or nothing."""
    found = _NESTED.fullmatch(reason)
    advice = nested_advice(shard, found[1]) if found else ""
    return f"{advice} " if advice else ""


def nested_advice(shard: Shard, name: str) -> str:
    """What to read instead of a column of lists or objects, or of a path that leads into one; nothing for other columns."""
    if shard.format not in _SAMPLES:
        return ""
    with contextlib.suppress(DataError, InputError, StopIteration):
        sample = _SAMPLES[shard.format](shard)
        row = {column: next(filter(None, values), None) for column, values in sample.items()}
        return advice_on_path(row, name)
    return ""


_OF_FINGERPRINTS = re.compile(r"f(inger)?_?p|print|hash|digest|sign", re.IGNORECASE)
_OF_IDS = re.compile(r"(^|[^a-z])(id|key|uuid|guid|url|row|number|date|time)s?$", re.IGNORECASE)


def _are_texts(values: list[Any]) -> bool:
    """Whether at least half of the values are long enough to be texts, and no numbers."""
    long = [
        value
        for value in values
        if isinstance(value, str) and len(value) >= _MIN_TEXT_CHARACTERS and digits_like([value]) is None
    ]
    return 2 * len(long) >= max(1, len(values))


def _rank(name: str) -> int:
    """Which column to propose first: one named like fingerprints, and last one named like ids."""
    return 0 if _OF_FINGERPRINTS.search(name) else 2 if _OF_IDS.search(name) else 1


def _without_header(shard: Shard, sample: Sample) -> str:
    """What to do about a table whose first line is a row."""
    if len(sample) > 1:
        return (
            "Its first line seems to be a row, not names of columns: put names before it, such as id and fingerprint."
        )
    [(first, values)] = sample.items()
    lines = [first, *(str(value) for value in values)]
    digits = digits_like(lines)
    return (
        f"It seems to have no header. If its lines are fingerprints of another program, bring them in, {NAMING}: "
        + (f"{importing(shard, digits, None, lines)}.")
    )


def _is_number(value: Any) -> bool:
    """Whether a value can be a coordinate of a vector. Nested objects are lists, too, but of keys and values."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _advice_on(shard: Shard, name: str, values: list[Any]) -> str | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    if all(isinstance(value, list) and value and all(map(_is_number, value)) for value in known):
        names = shard.name, name, os.path.splitext(shard.name)[0] + ".prints.parquet"
        given, column, target = map(quoted_name, names)
        return (
            f'If its column "{name}" holds vectors, fingerprint them: '
            f"`neardup fingerprint {given} --vector {column} -o {target}`."
        )
    if all(isinstance(value, bytes) for value in known):
        digits = None
    else:
        if not all(isinstance(value, str | int) and not isinstance(value, bool) for value in known):
            return None
        digits = digits_like(str(value) for value in known)
        if digits is None:
            return None
        if shard.format in OF_COLUMNS and isinstance(known[0], int):
            digits = None  # the type says it
    return (
        f'If its column "{name}" holds fingerprints of another program, bring them in, {NAMING}: '
        f"{importing(shard, digits, name, map(str, known))}."
    )


def _has_fingerprints(shard: Shard) -> bool:
    from neardup.io.formats.columnar.parquet_files import opened

    with opened(shard) as file:
        return b"neardup.digest" in (file.file.metadata.metadata or {})


def _of_columns(shard: Shard) -> Sample:
    from neardup.io.formats.table import opened_table

    with opened_table(shard) as file:
        block = next(file.blocks(None, _SAMPLED_BYTES, None), None)
        if block is None:
            return {}
        batch = block.batch.slice(0, _SAMPLED_ROWS)
        return {name: batch.column(i).to_pylist() for i, name in enumerate(batch.schema.names)}


def _of_delimited(shard: Shard) -> Sample:
    from neardup.io.formats.delimited_rows import fields_of, read_header, read_rows

    header = read_header(shard)
    block = next(read_rows(shard, header))
    starts, ends = block.starts[:_SAMPLED_ROWS], block.ends[:_SAMPLED_ROWS]
    found = fields_of(block.data, starts, ends, header.dialect, list(range(len(header.names))))
    return {name: column.to_pylist() for name, column in zip(header.names, found.columns, strict=True)}


def _of_json_lines(shard: Shard) -> Sample:
    from neardup.io.formats.json.json_rows import BadRow, parse_object
    from neardup.io.formats.lines import read_lines

    with contextlib.closing(read_lines(shard, _SAMPLED_BYTES)) as blocks:
        block = next(blocks)
    sample: Sample = {}
    for row in range(min(len(block), _SAMPLED_ROWS)):
        with contextlib.suppress(BadRow):
            for key, value in parse_object(block.line(row)):
                sample.setdefault(key, []).append(_plain(value))
    return sample


def _plain(value: Any, levels: int = 20) -> Any:
    """A value of JSON with its objects as dicts; below so many levels, nothing."""
    from neardup.io.formats.json.json_rows import Pairs

    if isinstance(value, Pairs):
        return {key: _plain(each, levels - 1) for key, each in value} if levels else {}
    if isinstance(value, list):
        return [_plain(each, levels - 1) for each in value] if levels else []
    return value


_SAMPLES = {
    **dict.fromkeys(OF_COLUMNS, _of_columns),
    "csv": _of_delimited,
    "tsv": _of_delimited,
    "jsonl": _of_json_lines,
}
