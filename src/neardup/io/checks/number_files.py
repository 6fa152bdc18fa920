"""Files of numbers that stand where texts are expected: recognized by their rows, and refused with the command that reads them."""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from neardup.errors import InputError
from neardup.io.corpora.batch import Batch, Rejections
from neardup.io.corpora.shard import Shard
from neardup.io.endings import split_ending
from neardup.io.formats.json.json_values import only
from neardup.io.formats.table import FILES

Refine = Callable[[Batch, Rejections, Sequence[Shard]], tuple[Batch, Rejections]]
"""Changes a batch, or rejects more of its rows, on any thread. Its rows are those of one shard, or one of each shard."""
NAMING = "naming their digits, their program and its distance"
"""What a reader of the command in `importing` has to put into it."""
_MIN_CHARACTERS = 8
"""Characters of a line that may be a fingerprint: shorter numbers are as often years, scores or labels."""
_MIN_LONE_CHARACTERS = 16
"""Characters that tell a fingerprint by itself: a single line, or one before its id."""
_MAX_CHARACTERS = 600
_FINGERPRINT = re.compile(r"(0[xX])?[0-9a-fA-F]+|0[bB][01]+|-?[0-9]+")
_ROW = re.compile(rf"(?:(?P<id>[^\s,;]{{1,200}})[\s,;]+)?(?P<fingerprint>{_FINGERPRINT.pattern})")
"""A fingerprint, or an id and a fingerprint."""
_ROW_BEFORE_ID = re.compile(rf"(?P<fingerprint>{_FINGERPRINT.pattern})[\s,;]+(?P<id>[^\s,;]{{1,200}})")
"""A fingerprint and an id."""
_MAX_CHECKED_LINES = 1000


def digits_like(values: Iterable[str]) -> str | None:
    """How the fingerprints in some texts seem to be written: a key of `neardup.recipe.programs.DIGITS`; None if they are none.

    It names what to try first: many hexadecimal numbers have decimal digits only.
    """
    found = [value for value, _ in zip(values, range(_MAX_CHECKED_LINES), strict=False)]
    if not found or not all(len(value) <= _MAX_CHARACTERS and _FINGERPRINT.fullmatch(value) for value in found):
        return None
    bare = [value.lower().removeprefix("0x").removeprefix("0b").removeprefix("-") for value in found]
    lengths = sorted(map(len, bare))
    with_digits = sum(any(character.isdecimal() for character in value) for value in bare)
    if lengths[len(lengths) // 2] < _MIN_CHARACTERS or 2 * with_digits < len(bare):
        return None
    if any(value.startswith("-") for value in found):
        return "signed"
    if all(set(value) <= set("01") for value in bare):
        return "binary"
    is_hexadecimal = any(set(value) & set("abcdefABCDEFxX") for value in found)
    return "hexadecimal" if is_hexadecimal else "decimal"


def importing(shard: Shard, digits: str | None, column: str | None = None, values: Iterable[str] = ()) -> str:
    """The command that reads the fingerprints of a file, as code; without a column, those in its lines, which have digits.

    `values`: some fingerprints, whose digits say whether the command needs a width. The command names the program and gives a
    distance, as later commands need one.
    """
    is_piped = shard.name == "stdin"
    file = "-" if is_piped else quoted_name(shard.name)
    stem = (split_ending(shard.name) or (shard.name,))[0]
    to = "prints.parquet" if is_piped else quoted_name(stem + ".prints.parquet")
    how = digits
    bits = _bits_needed(digits, [value for value, _ in zip(values, range(_MAX_CHECKED_LINES), strict=False)])
    if column is None:
        if bits is None:
            return f"`neardup fingerprint {file} --lines --digits {how} --program NAME --max-distance 3 -o {to}`"
        return (
            f"`neardup fingerprint {file} --lines --digits {how} --bits {bits} --program NAME --max-distance 3 -o {to}`"
        )
    of = quoted_name(column)
    if digits is None:
        return f"`neardup fingerprint {file} --fingerprint {of} --program NAME --max-distance 3 -o {to}`"
    if bits is None:
        return f"`neardup fingerprint {file} --fingerprint {of} --digits {how} --program NAME --max-distance 3 -o {to}`"
    return f"`neardup fingerprint {file} --fingerprint {of} --digits {how} --bits {bits} --program NAME --max-distance 3 -o {to}`"


def _bits_needed(digits: str | None, values: Sequence[str]) -> int | None:
    """The width to name, in whole words: for numbers with a sign and for digits that lack leading zeros; None if needless."""
    if digits is None:
        return None
    if digits == "signed":
        return 64
    bare = [value.lower().removeprefix("0x").removeprefix("0b") for value in values]
    lengths = set(map(len, bare))
    if digits in ("hexadecimal", "binary"):
        widest = max(lengths, default=0) * (4 if digits == "hexadecimal" else 1)
        return None if len(lengths) < 2 else -(-widest // 64) * 64
    widest = max((int(value).bit_length() for value in bare), default=0)
    return None if widest <= 64 else -(-widest // 64) * 64


def quoted_name(name: str) -> str:
    """A name as a word of a command in a message, whose code is in backticks."""
    return shlex.quote(name).replace("`", "?")


def refuse_numbers(batch: Batch, rejections: Rejections, shards: Sequence[Shard]) -> tuple[Batch, Rejections]:
    """Reject text files that hold fingerprints, one a line; see `Refine`.

    Raises:
        InputError: each line is a document, and all are fingerprints.
    """
    if shards[0].format in FILES:
        reasons = [_numbers_in(batch.texts[row].as_py() or "", shard) for row, shard in enumerate(shards)]
        fine = np.array([reason is None for reason in reasons])
        more = [(batch.row + row, reason) for row, reason in enumerate(reasons) if reason is not None]
        batch = replace(batch, texts=only(batch.texts, fine), ids=only(batch.ids, fine))
        return batch, sorted([*rejections, *more])
    if shards[0].format == "lines" and batch.row == 0:
        lines = [text for text in batch.texts.slice(0, _MAX_CHECKED_LINES).to_pylist() if text is not None]
        if (reason := _reason(lines, shards[0])) is not None:
            raise InputError(f"{shards[0].name}: {reason}.")
    return batch, rejections


def refuse_lone_numbers(shards: Sequence[Shard]) -> Refine | None:
    """`refuse_numbers` for a single text file: among others, a table of numbers is a document as well."""
    return refuse_numbers if len(shards) == 1 and shards[0].format in FILES else None


def _numbers_in(text: str, shard: Shard) -> str | None:
    """Why a text is no text but fingerprints; None if it is one."""
    first = text[:_MAX_CHARACTERS].strip().partition("\n")[0].strip()
    if not _ROW.fullmatch(first) and not _ROW_BEFORE_ID.fullmatch(first):
        return None
    lines = [line.strip() for line in text[: _MAX_CHARACTERS * _MAX_CHECKED_LINES].splitlines()]
    return _reason([line for line in lines if line], shard)


def _reason(lines: Sequence[str], shard: Shard) -> str | None:
    """Why lines are no texts: each is a fingerprint, or an id and a fingerprint; None if they may be texts."""
    if not lines or (len(lines) == 1 and len(lines[0]) < _MIN_LONE_CHARACTERS):
        return None
    digits = digits_like(lines)
    if digits is not None:
        return f"its lines {_says(shard, digits, lines)}"
    checked = lines[:_MAX_CHECKED_LINES]
    of_row = _MIN_CHARACTERS if len(lines) > 1 else _MIN_LONE_CHARACTERS
    for pattern, least in ((_ROW, of_row), (_ROW_BEFORE_ID, _MIN_LONE_CHARACTERS)):
        rows = [row for row in map(pattern.fullmatch, checked) if row is not None and row["id"]]
        prints = [row["fingerprint"] for row in rows]
        if len(rows) == len(checked) and sorted(map(len, prints))[len(prints) // 2] >= least:
            digits = digits_like(prints)
            if digits is not None:
                return f"its lines {_says_with_ids(shard, digits, prints)}"
    return None


def _says(shard: Shard, digits: str, values: Sequence[str]) -> str:
    return (
        f"are digits, as of fingerprints, not a text. Read them with {importing(shard, digits, None, values)}, {NAMING}; "
        "if they are a text, put it into a JSON lines file"
    )


def _says_with_ids(shard: Shard, digits: str, values: Sequence[str]) -> str:
    table = replace(shard, name=(split_ending(shard.name) or (shard.name,))[0] + ".tsv")
    return (
        f"are ids and digits, as of fingerprints, not a text. Write them to {table.name}, a tab between the two and the names "
        f"id and fingerprint in the first line. Read that with {importing(table, digits, 'fingerprint', values)}, "
        f"{NAMING}; if they are a text, put it into a JSON lines file"
    )
