"""What can go wrong, as one tree.

    NeardupError
     ├─ OptionError (ValueError)       a value that is not allowed, or a combination that cannot be
     ├─ InputError                     something in the call: a missing file or column, an existing output
     ├─ MissingExtra (ImportError)     an optional package is not installed
     ├─ RecipeMismatch (ValueError)    fingerprints made by different recipes were to be mixed
     ├─ TransferError                  a remote store failed again and again
     └─ DataError                      something in the data: a malformed row, a damaged file
         └─ RowError                   one row of one file

Every message says what was given, what is allowed and what to do. The command line exits with 2 for what must change in the
call, and with 1 for data (`DataError`), for stores (`TransferError`) and for the machine (`OSError`).
"""


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
