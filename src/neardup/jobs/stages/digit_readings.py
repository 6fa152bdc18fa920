"""How the fingerprints in each file are written, and how wide they are."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, OptionError
from neardup.fingerprints.files.digits import BITS_PER_DIGIT, MAX_CHARACTERS, SIGN_NEEDS_BITS, WIDTH, width_of
from neardup.fingerprints.files.digits import Reading as DigitReading
from neardup.fingerprints.files.imported import read_stored
from neardup.fingerprints.files.written import is_binary
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.formats.table import opened_table
from neardup.progress import Progress
from neardup.recipe.plain_recipe import MAX_BITS
from neardup.recipe.programs import DIGITS, Digits
from neardup.resources.resources import Resources
from neardup.text.nested import is_string, type_at

_ROWS_AT_ONCE = 1000


class _Kind(NamedTuple):
    """How a shard's fingerprints are written, and the width that its type declares, if it does."""

    digits: Digits
    bits: int | None
    type: str = ""


def readings_of(
    shards: Sequence[Shard], columns: Columns, digits: Digits | None, bits: int | None, resources: Resources
) -> dict[str, DigitReading]:
    """How to read the fingerprints of each shard; all have the same width."""
    kinds = {shard.name: _kind(shard, columns, digits) for shard in shards}
    if bits is not None:
        for shard in shards:
            _demand_room(shard, columns, kinds[shard.name], bits)
        return {name: DigitReading(kind.digits, bits) for name, kind in kinds.items()}
    widths: dict[str, int] = {}
    for shard in shards:
        kind = kinds[shard.name]
        if kind.digits == "signed" and kind.bits is None:
            raise OptionError(SIGN_NEEDS_BITS)
        width = kind.bits or (
            WIDTH if kind.digits == "decimal" else _first_width(shard, columns, kind.digits, resources)
        )
        if width is None:
            continue
        if widths and width not in widths.values():
            name, other = next(iter(widths.items()))
            raise InputError(f"{name} has fingerprints of {other} bits, {shard.name} of {width}. Give `bits`.")
        widths[shard.name] = width
    if not widths:
        raise InputError(f"{shards[0].name} has no fingerprint that shows how wide they are. Give `bits`.")
    width = next(iter(widths.values()))
    if width > MAX_BITS:
        raise InputError(f"{next(iter(widths))} has fingerprints of {width} bits; {MAX_BITS} are the most.")
    per_digit = BITS_PER_DIGIT | {"bytes": 8}
    return {
        name: DigitReading(kind.digits, width, width // per_digit[kind.digits] if kind.digits in per_digit else None)
        for name, kind in kinds.items()
    }


def _demand_room(shard: Shard, columns: Columns, kind: _Kind, bits: int) -> None:
    """Refuse a column of narrower integers than the fingerprints, which then must be those of something else."""
    if kind.bits is not None and kind.digits != "bytes" and kind.bits < bits:
        raise InputError(
            f'{shard.name}: column "{columns.stored}" is {kind.type}, which has no room for fingerprints of {bits} bits. '
            "Give the recipe or the `bits` that its program has."
        )


def _kind(shard: Shard, columns: Columns, digits: Digits | None) -> _Kind:
    """How the fingerprints of a shard are written, by the type of the column and what is asked for.

    Raises:
        InputError: the column has another type.
        OptionError: `digits` is missing, or does not go with the type.
    """
    name = columns.stored
    if shard.format not in OF_COLUMNS:
        if digits is None:
            allowed = ", ".join(each for each in DIGITS if each != "bytes")
            raise OptionError(f"{shard.name}: say with `digits` how its fingerprints are written: {allowed}.")
        if digits == "bytes":
            raise OptionError(
                f"`digits='bytes'`: {shard.name} is {shard.format}; bytes are read from Parquet and Arrow."
            )
        return _Kind(digits, None)
    assert name is not None  # only lines have no column
    with opened_table(shard) as file:
        schema = file.schema
    kind = type_at(schema, (name,) if schema.get_all_field_indices(name) else tuple(name.split(".")))
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    where = f'{shard.name}: column "{name}" is {kind}'
    if pa.types.is_integer(kind):
        natural: Digits = "signed" if pa.types.is_signed_integer(kind) else "decimal"
        if digits not in (None, "decimal", "signed"):
            raise OptionError(f"`digits={digits!r}`: {where}. Leave it out, or give decimal or signed.")
        return _Kind(digits or natural, kind.bit_width, str(kind))
    if is_binary(kind):
        if digits not in (None, "bytes"):
            raise OptionError(
                f"`digits={digits!r}`: {where}, which holds bytes. Leave it out, or cast the column to string first."
            )
        return _Kind("bytes", 8 * kind.byte_width if pa.types.is_fixed_size_binary(kind) else None)
    if is_string(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        if digits is None:
            raise OptionError(f"{where}: say with `digits` how its fingerprints are written: {', '.join(DIGITS)}.")
        if digits == "bytes" or (digits not in ("decimal", "signed") and not is_string(kind)):
            raise OptionError(f"`digits={digits!r}`: {where}. Give the digits that it holds.")
        return _Kind(digits, None)
    hint = (
        " Such numbers have lost digits above 2^53: write them as integers or strings."
        if pa.types.is_floating(kind)
        else ""
    )
    raise InputError(f"{where}, but a column of integers, strings or bytes is needed.{hint}")


def _first_width(shard: Shard, columns: Columns, digits: Digits, resources: Resources) -> int | None:
    """The width of a shard's first fingerprint that can be read; None if there is none."""
    for column in _slices(shard, columns, resources):
        if digits == "bytes":
            lengths = [len(value) for value in column.drop_null()[:1].to_pylist()]
            if lengths and lengths[0]:
                return 8 * lengths[0]
            continue
        words, problems = read_stored(column, shard, DigitReading(digits, 4 * MAX_CHARACTERS))
        good = np.ones(len(words), np.bool_)
        good[list(problems)] = False
        if good.any():
            value = column[int(np.flatnonzero(good)[0])].as_py()
            return width_of(value.strip('"') if shard.format == "jsonl" else value, digits)
    return None


def tell_of_missing_zeros(
    shard: Shard, columns: Columns, how: DigitReading, resources: Resources, progress: Progress
) -> None:
    """Say so if the first digits are all narrower than the width that is given: it may be that of something else."""
    if how.count is not None or how.digits not in BITS_PER_DIGIT:
        return
    column = next(_slices(shard, columns, resources), None)
    values = [] if column is None else column.drop_null().to_pylist()
    texts = [value.strip('"') if shard.format == "jsonl" else value for value in values]
    per_digit = BITS_PER_DIGIT[how.digits]
    counts, needed = {(width_of(text, how.digits) or 0) // per_digit for text in texts}, -(-how.bits // per_digit)
    if len(texts) > 1 and len(counts) == 1 and max(counts) < needed:
        progress.say(
            f"{shard.name}: its fingerprints have {max(counts)} digits, but {how.bits} bits have {needed}: read as if leading "
            "zeros were missing"
        )


def _slices(shard: Shard, columns: Columns, resources: Resources) -> Iterator[Any]:
    """The stored column, some rows at a time."""
    corpus = FileCorpus([shard], columns, on_error="skip", resources=resources, demands_text=False)
    for batch in corpus.first_batches(0, shard.size + 1):
        for first in range(0, len(batch.texts), _ROWS_AT_ONCE):
            yield batch.texts.slice(first, _ROWS_AT_ONCE)
