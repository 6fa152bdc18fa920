"""CONNECTED: what clients that wait and clients that do not have in common: the service that they ask, and when they ask again."""

from typing import Any

from neardup.errors import MissingExtra, TransferError
from neardup.service.client.calls import (
    AGAIN,
    Calls,
    checked_headers,
    checked_retries,
    checked_url,
    failure_of,
    pause_before,
)
from neardup.service.client.review_calls import ReviewCalls


class Connected:
    """The part of `Client` and of `AsyncClient` that sends nothing. `_Http`: the name of the class of httpx that does."""

    _Http: str

    def __init__(
        self,
        url: str,
        *,
        store: str = "default",
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
        verify: Any = True,
    ) -> None:
        """Name a service. Nothing is sent yet.

        Args:
            url: its address, such as http://127.0.0.1:8080.
            store: the name of the store there.
            token: a token that the service knows.
            timeout: seconds in which it must answer.
            retries: how many times a request is sent again.
            verify: as in httpx: an `ssl.SSLContext` that knows the certificate of the service.

        Raises:
            OptionError: an argument has a value that is not allowed.
            MissingExtra: httpx is not installed.
        """
        self._url, self._store, self._retries = checked_url(url), store, checked_retries(retries)
        self._calls = Calls(store)
        self._review = ReviewCalls(self._calls)
        headers = checked_headers(token)
        try:
            import httpx
        except ImportError:
            raise MissingExtra(
                f"`{type(self).__name__}` needs httpx, which is not installed: pip install 'neardup[client]'"
            ) from None
        self._transport_error = httpx.TransportError
        made = getattr(httpx, self._Http)
        self._http: Any = made(base_url=self._url, headers=headers, timeout=timeout, verify=verify)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r}, store={self._store!r})"

    def _pause(self, attempt: int, found: Any) -> float:
        """Seconds after which a request is sent again, after an attempt, counted from 1, that gave a response or an exception.

        Raises:
            OptionError, ServiceError: it was refused.
            TransferError: the service did not answer, and this was the last attempt.
        """
        is_last = attempt > self._retries
        if isinstance(found, Exception):
            if is_last:
                reason = f"{type(found).__name__} {found}".strip()
                raise TransferError(self._url, "the request", attempt, reason) from found
            return pause_before(attempt, None)
        if is_last or found.status_code not in AGAIN:
            raise failure_of(found.status_code, found.content)
        return pause_before(attempt, found.headers.get("retry-after"))
