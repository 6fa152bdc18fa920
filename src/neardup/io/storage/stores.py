"""The stores behind URLs, through fsspec: the package each one needs, when to retry, and the errors raised in the end."""

import errno
import time
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from neardup.errors import InputError, MissingExtra, TransferError

Result = TypeVar("Result")

RETRY_SECONDS = (1.0, 4.0, 15.0)
"""Seconds to wait before each retry of a failed transfer."""

_OF_EXTRA = {"s3", "s3a", "gs", "gcs", "hf"}

_FINAL = (
    FileNotFoundError,
    PermissionError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    NotImplementedError,
    TypeError,
    ValueError,
    ImportError,
)
"""Errors that a retry would only repeat."""


@cache
def store_of(scheme: str) -> Any:
    """The file system of a scheme; it caches no listings, because files may change."""
    try:
        import fsspec
    except ImportError:
        raise _missing(scheme) from None
    try:
        kind = fsspec.get_filesystem_class(scheme)
    except ValueError:
        raise InputError(
            f"{scheme}:// is no kind of URL that fsspec knows. Allowed: s3://, gs://, hf:// and those of other fsspec packages."
        ) from None
    except ImportError as problem:
        raise _missing(scheme, str(problem)) from None
    try:
        return kind(use_listings_cache=False)
    except ImportError as problem:
        raise _missing(scheme, str(problem)) from None


def _missing(scheme: str, reason: str = "") -> MissingExtra:
    if scheme in _OF_EXTRA or not reason:
        return MissingExtra(f"{scheme}:// needs a package that is not installed. Run: pip install 'neardup[remote]'")
    return MissingExtra(f"{scheme}:// needs a package that is not installed: {reason.rstrip('.')}.")


def attempted(url: str, what: str, attempt: Callable[[], Result]) -> Result:
    """Return the result of `attempt`, retried where that may help.

    Raises:
        OSError: with a `strerror`: the file is missing or not permitted.
        TransferError: every attempt failed.
    """
    for wait in (*RETRY_SECONDS, None):
        try:
            return attempt()
        except Exception as problem:
            final = _final(url, problem)
            if final is not None:
                raise final from None
            if wait is None:
                raise TransferError(url, what, len(RETRY_SECONDS) + 1, _reason(problem)) from None
            time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _final(url: str, problem: Exception) -> Exception | None:
    """The exception to raise at once; None if the failure may be temporary."""
    if isinstance(problem, PermissionError) or "Credential" in type(problem).__name__:
        return PermissionError(
            errno.EACCES,
            f"the store denies access ({_reason(problem)}); check the credentials and what they allow",
            url,
        )
    if isinstance(problem, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "there is no such file, folder or bucket", url)
    return problem if isinstance(problem, _FINAL) else None


def _reason(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0].rstrip(".")
