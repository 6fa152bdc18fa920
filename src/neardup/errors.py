"""What can go wrong, as one tree.

    NeardupError
     ├─ OptionError (ValueError)       a value that is not allowed, or a combination that cannot be
     ├─ InputError                     something in the call: a missing file or column, an existing output
     ├─ MissingExtra (ImportError)     an optional package is not installed
     ├─ RecipeMismatch (ValueError)    fingerprints made by different recipes were to be mixed
     ├─ CallableError                  a function of the caller's (keep, a segmenter …) raised an exception
     ├─ TransferError                  a remote store failed again and again
     └─ DataError                      something in the data: a malformed row, a damaged file
         └─ RowError                   one row of one file

Every message says what was given, what is allowed and what to do. The command line exits with 2 for what must change in the
call, and with 1 for data (`DataError`), for stores (`TransferError`) and for the machine (`OSError`).
"""

_SHOWN = 80


class NeardupError(Exception):
    """Whatever this package raises on purpose."""


class OptionError(NeardupError, ValueError):
    """An option has a value that is not allowed."""


class InputError(NeardupError):
    """The call names something that is not there, or that must not be overwritten."""


class MissingExtra(NeardupError, ImportError):  # noqa: N818 - the field's word
    """An optional package is needed; the message has the command that installs it."""


class RecipeMismatch(NeardupError, ValueError):  # noqa: N818
    """Fingerprints of different recipes cannot be compared."""


class CallableError(NeardupError):
    """A function that the caller brought raised an exception, which is the `__cause__`.

    Attributes:
        function: what the message calls it.
        given: the beginning of what it was called with.
        id: of the document, as a JSON value; None where it is not known.
        row: of the document in its input, counted from 0; None where it is not known.
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
    """A remote store failed as often as it was asked.

    Attributes:
        url: of the file.
        attempts: how often it was tried.
        reason: what the store said last.
    """

    def __init__(self, url: str, what: str, attempts: int, reason: str) -> None:
        super().__init__(
            f"{url}: {what} failed {attempts} times, at last with: {reason}. "
            "Check the connection and the store, then run again."
        )
        self.url, self.attempts, self.reason = url, attempts, reason


class DataError(NeardupError):
    """The data is malformed or damaged."""


class RowError(DataError):
    """One row cannot be read.

    Attributes:
        file: the file's path as given.
        row: the row's number in that file, counted from 0.
        reason: what is wrong with it.
    """

    def __init__(self, file: str, row: int, reason: str) -> None:
        super().__init__(
            f"{file}, row {row} (counted from 0): {reason}. Mend or remove the row; --on-error skip leaves such rows out."
        )
        self.file, self.row, self.reason = file, row, reason
