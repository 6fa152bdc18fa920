"""LIMITS of a service: what a request may take, and how much of it at once."""

import sys
from dataclasses import dataclass

from neardup.errors import OptionError, is_integer
from neardup.resources.limits import size_in_bytes
from neardup.store.arguments import Duration, seconds_of

METADATA_BYTES = 64 << 10
"""Bytes of the metadata of a document, as JSON: decoded, these may take 24 times as much."""
COMPARED_CHARACTERS = 10_000
"""Characters of a text whose fingerprint is shown step by step. Each feature takes time for each bit: some half second for both."""
SIDE_BY_SIDE_CHARACTERS = 20_000
"""Characters of a text that are shown side by side, as in a report."""
WAITING_COMPARISONS = 8
"""Requests that wait until a comparison before them is done, at most."""
HEADER_BYTES = 32 << 10
"""Bytes of the request line and the headers."""
HEADER_LINES = 128
"""Lines of headers."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a service bears. Everything beyond is refused with a status that says what to do, and when.

    Attributes:
        max_body: bytes of a body, and of a line of a stream: 413.
        max_batch: documents in a body, or ids: 413.
        max_requests: requests at a time: 429.
        max_memory: bytes of all bodies at a time: 503.
        max_waiting: documents that wait for a store: 503.
        max_rate: documents a second of each caller; None for no such limit: 429.
        max_connections: connections; more are closed at once.
        timeout: seconds in which a request must have come, and until an answer: 408, 504.
        keep_answers: seconds for which the answer to a request with an `Idempotency-Key` is kept.
        lines_per_part: lines of a stream that are decided together, at most.
        bytes_per_part: bytes of these lines, at most, unless one line alone has more. No option: parts of a repeated stream must be
            the same ones.
        documents_per_commit: documents of waiting requests that share a commit, at most, unless one request alone has more.
        characters_per_commit: characters of their texts, after which no more requests join them.
        max_listed: duplicates, pairs or judgements in a response, at most.
        max_expired: documents that expire in a request with a limit, or in one go at `expire_every`.
        max_listed_bytes: bytes of the texts of a response that has several, at most.
        reopen_seconds: between two attempts to open a store that has failed, or to reach its database.
        expire_every: seconds after which a service removes expired documents again, from its start on; None for never.
        look_seconds: without a request, after which a service looks what others have written to a store.
    """

    max_body: int = 8 << 20
    max_batch: int = 1_000
    max_requests: int = 256
    max_memory: int = 256 << 20
    max_waiting: int = 20_000
    max_rate: float | None = None
    max_connections: int = 10_000
    timeout: float = 30.0
    keep_answers: float = 86_400.0
    lines_per_part: int = 256
    bytes_per_part: int = 8 << 20
    documents_per_commit: int = 1024
    characters_per_commit: int = 2 << 20
    max_listed: int = 200
    max_expired: int = 10_000
    max_listed_bytes: int = 4 << 20
    reopen_seconds: float = 1.0
    look_seconds: float = 2.0
    expire_every: float | None = None

    @property
    def max_normalized(self) -> int:
        """Bytes that the texts of a request, or of a part of lines, become when they are normalized: 413."""
        return 2 * max(self.max_body, self.bytes_per_part)

    @property
    def max_dropped(self) -> int:
        """Bytes that are read and dropped of a body whose request was answered already; beyond, the connection is closed."""
        return max(64 << 20, 8 * self.max_body)


def limits_of(
    *,
    max_body: int | str = Limits.max_body,
    max_batch: int = Limits.max_batch,
    max_requests: int = Limits.max_requests,
    max_rate: float | None = None,
    timeout: Duration = Limits.timeout,
    keep_answers: Duration = Limits.keep_answers,
    expire_every: Duration | None = None,
) -> Limits:
    """Check the limits that a caller gives.

    Raises:
        OptionError: a value is not allowed.

    >>> limits_of(max_body="1M", keep_answers="1h").keep_answers
    3600.0
    """
    for name, value in (("max_batch", max_batch), ("max_requests", max_requests)):
        if not is_integer(value) or value < 1:
            raise OptionError(f"`{name}={value!r}`: give a number of at least 1.")
    if max_rate is not None and not (isinstance(max_rate, int | float) and 0 < max_rate <= sys.float_info.max):
        raise OptionError(f"`max_rate={max_rate!r}`: give a number of documents a second, above 0.")
    body = size_in_bytes("max_body", max_body)
    wait = seconds_of("timeout", timeout)
    if not wait:
        raise OptionError(f"`timeout={timeout!r}`: give more than 0 seconds.")
    pace = None if expire_every is None else seconds_of("expire_every", expire_every)
    if pace is not None and pace < 1:
        raise OptionError(f"`expire_every={expire_every!r}`: give 1 second or more.")
    return Limits(
        max_body=body,
        max_batch=max_batch,
        max_requests=max_requests,
        max_memory=max(Limits.max_memory, 4 * body),
        max_waiting=max(Limits.max_waiting, 2 * max_batch),
        max_rate=max_rate,
        timeout=wait,
        keep_answers=seconds_of("keep_answers", keep_answers),
        expire_every=pace,
    )
