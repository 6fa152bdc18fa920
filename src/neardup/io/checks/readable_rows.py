"""Whether any row of a run can be read: if none can, the call is wrong rather than the rows, and an empty result would hide it."""

import re
from collections import Counter
from collections.abc import Sequence

from neardup.display import counted, reasons_text
from neardup.errors import DataError
from neardup.io.checks.likely_encoding import encoding_advice
from neardup.io.checks.missing_texts import value_advice
from neardup.io.corpora.batch import Rejections
from neardup.io.corpora.shard import Shard

_FIRST_ROWS = 1000
"""A run stops after so many rows that were rejected for one reason, unless that is a null: other files may have texts."""
_GENERAL = re.compile(r'(?:"[^"]*"|[^",:;(])*')
"""The beginning of a reason, without what is different in each row."""


def general_reason(reason: str) -> str:
    """A reason, without what is different in each row."""
    return _GENERAL.match(reason)[0].strip()  # type: ignore[index]  # may be empty


def row_advice(shard: Shard, reason: str) -> str:
    """A sentence about the file of a row that cannot be read: its encoding or format, or what to read instead; or nothing."""
    if shard.name == "stdin" and reason.startswith("malformed JSON"):
        return "If standard input is CSV, give its `dialect`: '" + ',"' + "'. "
    return encoding_advice(shard, reason) or value_advice(shard, reason)


class ReadableRows:
    """Counts the rows of a run until one can be read."""

    def __init__(self) -> None:
        self._is_known, self._rows = False, 0
        self._reasons: Counter[str] = Counter()
        self._first: tuple[Shard, int, str] | None = None

    def count(self, shards: Sequence[Shard], rows: int, rejections: Rejections) -> None:
        """Count rows of a shard, or one row of each of several.

        Raises:
            DataError: the first rows of the run were rejected, all for one reason.
        """
        if self._is_known or not rows:
            return
        self._is_known = len(rejections) < rows
        if self._is_known:
            return
        row, reason = rejections[0]
        self._first = self._first or ((shards[row], 0, reason) if len(shards) > 1 else (shards[0], row, reason))
        self._rows += rows
        self._reasons.update(general_reason(reason) for _, reason in rejections)
        if self._rows >= _FIRST_ROWS and len(self._reasons) == 1 and "null" not in reason:
            raise self._error("first ")

    def demand_one(self) -> None:
        """Raise DataError if rows were counted, and all were rejected."""
        if self._first is not None and not self._is_known:
            raise self._error("")

    def _error(self, first: str) -> DataError:
        assert self._first is not None
        shard, row, reason = self._first
        return DataError(
            f"None of the {first}{counted(self._rows, 'row')} could be read ({reasons_text(dict(self._reasons.most_common()))}). "
            f"{shard.name}, row {row} (counted from 0): {reason}. {row_advice(shard, reason)}".strip()
        )
