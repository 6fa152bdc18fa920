"""PROBLEMS: refusals and failures as problem details (RFC 9457), in the words of the library.

The type of all of them is `about:blank`, so the title is that of the status. What programs may tell apart has a `code`.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from neardup.errors import InputError, NeardupError, OptionError, RecipeMismatch, TransferError
from neardup.store.postgresql.problems import GrantError, UnknownOutcomeError

MEDIA_TYPE = "application/problem+json"
CODES = {
    "invalid_request": 400,
    "invalid_json": 400,
    "invalid_host": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "unknown_store": 404,
    "unknown_document": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "too_large": 413,
    "too_many_documents": 413,
    "unsupported_media_type": 415,
    "invalid_value": 422,
    "key_reused": 422,
    "too_many_requests": 429,
    "rate_exceeded": 429,
    "headers_too_large": 431,
    "internal": 500,
    "damaged": 500,
    "not_granted": 500,
    "busy": 503,
    "store_unavailable": 503,
    "shutting_down": 503,
    "answer_timeout": 504,
    "outcome_unknown": 504,
}
"""All codes with their statuses."""
UNREACHABLE = "The database of the store cannot be reached. Nothing was changed."
_ENCODE = msgspec.json.Encoder().encode


class Problem(Exception):  # noqa: N818 - the word of RFC 9457
    """A refusal or a failure.

    Attributes:
        code: one of `CODES`; status: its status.
        detail: what was given, what is allowed, what to do.
        headers: further ones of the response, such as Retry-After.
    """

    def __init__(self, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.code, self.status, self.detail, self.headers = code, CODES[code], detail, dict(headers or {})

    def as_dict(self) -> dict[str, Any]:
        title = HTTPStatus(self.status).phrase
        return {"type": "about:blank", "title": title, "status": self.status, "code": self.code, "detail": self.detail}

    def body(self) -> bytes:
        return _ENCODE(self.as_dict())

    def at(self, place: str) -> "Problem":
        """The same, with the place in the request first."""
        return Problem(self.code, f"{place}: {self.detail}", self.headers)


def later(code: str, detail: str, seconds: float = 1.0) -> Problem:
    """A problem that may be gone after some seconds."""
    return Problem(code, detail, {"Retry-After": str(max(1, -int(-seconds // 1)))})


def problem_of(failure: BaseException) -> Problem:
    """What a failure is to the one who asked. What is unexpected is told by its kind alone: a message may quote texts."""
    if isinstance(failure, Problem):
        return failure
    if isinstance(failure, OptionError | RecipeMismatch):
        return Problem("invalid_value", str(failure))
    if isinstance(failure, GrantError):
        return Problem("not_granted", str(failure))
    if isinstance(failure, InputError):
        return later("store_unavailable", str(failure))
    if isinstance(failure, UnknownOutcomeError):
        return later(
            "outcome_unknown",
            "The database of the store was lost while a change was being written. Documents may be added. Repeat the request: the "
            "same Idempotency-Key gets the answer of the first, if there is one.",
        )
    if isinstance(failure, TransferError):
        return later("store_unavailable", UNREACHABLE)
    if isinstance(failure, NeardupError):
        return Problem("damaged", str(failure))
    if isinstance(failure, OSError):
        return later("store_unavailable", f"The machine failed: {failure.strerror or type(failure).__name__}.")
    kind = type(failure).__name__
    return Problem("internal", f"The service failed unexpectedly ({kind}). Its log says where; please report it.")
