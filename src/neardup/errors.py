"""The exceptions of the package, as one tree.

    NeardupError
     ├─ OptionError (ValueError)       a value or a combination of values is not allowed
     ├─ InputError                     the call names a missing file or column, or an existing output
     ├─ MissingExtra (ImportError)     an optional package is not installed
     ├─ RecipeMismatch (ValueError)    the call mixes fingerprints of different recipes
     ├─ CallableError                  a function of the caller's (keep, a segmenter …) raised an exception
     ├─ TransferError                  a remote store, or a service, failed repeatedly
     ├─ ServiceError                   a service refused a request, or failed
     └─ DataError                      the data has a malformed row or a damaged file
         └─ RowError                   one row of one file

Every message says what was given, what is allowed and what to do. It names options as Python does, as code: `overwrite=True`;
the command line shows them as flags. It exits with 2 if the call must change. It exits with 1 for problems of the data
(`DataError`), of stores (`TransferError`) and of the machine (`OSError`).
"""

import re
from collections.abc import Iterable
from numbers import Integral
from typing import Any, TypeGuard

DECODER_ERRORS = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""What decoders of JSON, TOML and Parquet raise at damaged files: ValueError also for integers of very many digits, RecursionError
for deep nesting; the others where the values in them are not of the expected types and sizes.
"""
_SHOWN = 80
_LONG_NUMBER = re.compile(r"\d{80,}")
"""No value of any option has so many digits."""
_PRINTED_BITS = 14_000
"""Python prints no longer integers: they have over 4,300 digits. No option takes them, and no message could show them."""


class NeardupError(Exception):
    """The base class of all exceptions that this package defines. Numbers of very many digits are shortened in its message."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*(_LONG_NUMBER.sub(_beginning, each) if isinstance(each, str) else each for each in arguments))


class OptionError(NeardupError, ValueError):
    """An option, or a combination of options, has a value that is not allowed."""


class InputError(NeardupError):
    """The call names something that does not exist, or an output that must not be overwritten."""


class MissingExtra(NeardupError, ImportError):  # noqa: N818 - the field's word
    """An optional package is missing; the message has the command that installs it."""


class RecipeMismatch(NeardupError, ValueError):  # noqa: N818
    """Fingerprints of different recipes cannot be compared."""


class CallableError(NeardupError):
    """A function that the caller passed raised an exception; that exception is the `__cause__`.

    Attributes:
        function: the name of the function in the message.
        given: the beginning of the argument that it was called with.
        id: the document's id as a JSON value; None if unknown.
        row: the document's row in its input, counted from 0; None if unknown.
    """

    def __init__(
        self,
        function: str,
        given: str | bytes,
        problem: BaseException,
        *,
        id: str | None = None,  # noqa: A002
        row: int | None = None,
    ) -> None:
        document = "" if row is None else f", in row {row} of its input"
        document = document if id is None else f", in document {id} (row {row} of its input)"
        super().__init__(
            f"{function} raised {type(problem).__name__}: {problem}{document}, where it was given {given[:_SHOWN]!r}"
            f"{' …' if len(given) > _SHOWN else ''}. Mend the function."
        )
        self.function, self.given, self.id, self.row = function, given[:_SHOWN], id, row
        self.__cause__ = problem


class TransferError(NeardupError):
    """A remote store, or a service, failed at every attempt.

    Attributes:
        url: the URL of the file, or the address of the service.
        attempts: the number of attempts.
        reason: the last error of the store or the service.
    """

    def __init__(self, url: str, what: str, attempts: int, reason: str) -> None:
        super().__init__(
            f"{url}: {what} failed {attempts} times, at last with: {reason}. "
            "Check the connection and the store, then run again."
        )
        self.url, self.attempts, self.reason = url, attempts, reason


class ServiceError(NeardupError):
    """A service refused a request, or failed; the message is its own.

    Attributes:
        status: the status of the response.
        code: what programs may tell apart, such as `forbidden`; see the page of the service.
    """

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code = status, code


class DataError(NeardupError):
    """The data is malformed or damaged."""


class RowError(DataError):
    """One row cannot be read.

    Attributes:
        file: the file's path as given.
        row: the row's number in that file, counted from 0.
        reason: what is wrong with the row.
    """

    def __init__(self, file: str, row: int, reason: str, advice: str = "") -> None:
        otherwise = "Otherwise mend" if advice else "Mend"
        super().__init__(
            f"{file}, row {row} (counted from 0): {reason}. {advice}{otherwise} or remove the row; `on_error='skip'` leaves such "
            "rows out."
        )
        self.file, self.row, self.reason = file, row, reason


def _beginning(number: re.Match[str]) -> str:
    return f"{number[0][:20]}… ({len(number[0])} digits)"


def column_names(text: Any) -> tuple[str, ...]:
    """The names of the columns of texts, also if there is only one.

    Raises:
        OptionError: they are no strings.
    """
    names = (text,) if isinstance(text, str) else tuple(text) if isinstance(text, Iterable) else ()
    if not names or not all(isinstance(name, str) and name for name in names):
        raise OptionError(f"`text={text!r}`: give names of columns, such as text or meta.body; none may be empty.")
    return names


def refuse_unprinted(value: object) -> None:
    """Refuse an integer of thousands of digits, which is nothing that a caller can mean, or be shown.

    Raises:
        OptionError: the value is one.
    """
    if isinstance(value, int) and value.bit_length() > _PRINTED_BITS:
        digits = int(value.bit_length() * 0.30103)
        raise OptionError(f"An integer of about {digits:,} digits was given. Give one that fits 64 bits.")


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer of Python or numpy; booleans are not, nor are numpy's durations, which it calls integers.

    Raises:
        OptionError: it is an integer of thousands of digits.
    """
    refuse_unprinted(value)
    return isinstance(value, Integral) and not isinstance(value, bool) and hasattr(value, "__index__")
