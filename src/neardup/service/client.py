"""`Client`: the stores of a service, called as a store of this machine is."""

import time
from collections.abc import Sequence
from typing import Any, Literal, Self, TypeVar

from neardup.errors import MissingExtra, TransferError
from neardup.judging.comparison import Comparison
from neardup.service.calls import (
    AGAIN,
    CallOf,
    Calls,
    checked_headers,
    checked_retries,
    checked_url,
    failure_of,
    pause_before,
)
from neardup.store.answers import StoreAnswer, StoredDocument, StoreMatch
from neardup.store.info import StoreInfo

T = TypeVar("T")


class Client:
    """One store of a service that `neardup serve` runs. Threads may share a client.

    The methods are those of `Store`, with the same answers. What fails on the way, or may succeed later, is sent again, which is
    safe: documents are sent with a key, by which the service knows a request that it has answered. `with` closes the client.

    >>> with Client("http://127.0.0.1:8080", store="news") as client:
    ...     client
    Client('http://127.0.0.1:8080', store='news')
    """

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
        headers = checked_headers(token)
        try:
            import httpx
        except ImportError:
            raise MissingExtra("`Client` needs httpx, which is not installed: pip install 'neardup[client]'") from None
        self._transport_error = httpx.TransportError
        self._http = httpx.Client(base_url=self._url, headers=headers, timeout=timeout, verify=verify)

    def __repr__(self) -> str:
        return f"Client({self._url!r}, store={self._store!r})"

    def _sent(self, call: CallOf[T]) -> T:
        """The result of a request, which is sent until it succeeds or is refused.

        Raises:
            OptionError, ServiceError: it was refused.
            TransferError: the service did not answer at any attempt.
        """
        for attempt in range(1, self._retries + 2):
            is_last = attempt > self._retries
            try:
                found = self._http.request(call.method, call.path, content=call.body, headers=call.headers)
            except self._transport_error as problem:
                if is_last:
                    reason = f"{type(problem).__name__} {problem}".strip()
                    raise TransferError(self._url, "the request", attempt, reason) from problem
                time.sleep(pause_before(attempt, None))
                continue
            if found.status_code == 200:
                return call.read(found.content)
            if is_last or found.status_code not in AGAIN:
                raise failure_of(found.status_code, found.content)
            time.sleep(pause_before(attempt, found.headers.get("retry-after")))
        raise AssertionError("unreachable")

    def check(self, text: str) -> StoreAnswer:
        """Whether a document of this text would match kept ones, and which; see `Store.check`."""
        return self.check_many([text])[0]

    def check_many(self, texts: Sequence[str]) -> list[StoreAnswer]:
        """The answers of `check` to several texts; see `Store.check_many`."""
        return [answer for call in self._calls.check_many(texts) for answer in self._sent(call)]

    def check_and_add(
        self,
        id: int | str,  # noqa: A002
        text: str,
        *,
        metadata: Any = None,
        expires: float | None = None,
        key: str | None = None,
    ) -> StoreAnswer:
        """Decide a document, and keep it if it is new; see `check_and_add_many`."""
        return self.check_and_add_many([id], [text], metadata=[metadata], expires=expires, key=key)[0]

    def check_and_add_many(
        self,
        ids: Sequence[int | str],
        texts: Sequence[str],
        *,
        metadata: Sequence[Any] | None = None,
        expires: float | Sequence[float | None] | None = None,
        key: str | None = None,
    ) -> list[StoreAnswer]:
        """Decide documents in order, with the same answers as one `check_and_add` after another; see `Store.check_and_add_many`.

        Many documents take several requests, each durable when it is answered.

        Args:
            ids, texts, metadata, expires: as in `Store`.
            key: what the service keeps the answers by, for a time that it states. The same call with the same key gets them again,
                even in another process. A key that is used once is drawn if none is given.

        Raises:
            OptionError: an argument has a value that is not allowed.
            ServiceError: the service refused, or failed at every attempt.
            TransferError: the service did not answer at any attempt. Documents may be added; with the same key, the call can be
                repeated.
        """
        calls = self._calls.check_and_add_many(ids, texts, metadata, expires, key)
        return [answer for call in calls for answer in self._sent(call)]

    def get(self, id: int | str) -> StoredDocument | None:  # noqa: A002
        """What the store knows of a kept document; see `Store.get`."""
        return self._sent(self._calls.get(id))

    def neighbors(
        self,
        text: str | None = None,
        *,
        id: int | str | None = None,  # noqa: A002
        min_similarity: float | None = None,
    ) -> list[StoreMatch]:
        """The kept documents that are similar to a text, or to a kept document; see `Store.neighbors`."""
        return self._sent(self._calls.neighbors(text, id, min_similarity))

    def remove(self, ids: Sequence[int | str]) -> int:
        """Forget kept documents; see `Store.remove`. What an attempt removed whose answer was lost is not counted."""
        return sum(self._sent(call) for call in self._calls.remove(ids))

    def expire(
        self,
        *,
        older_than: float | str | None = None,
        newest: int | None = None,
        by: Literal["first_seen", "last_seen"] = "last_seen",
    ) -> int:
        """Remove the documents that have expired, and others that are old; see `Store.expire`."""
        return self._sent(self._calls.expire(older_than, newest, by))

    def compact(self) -> bool:
        """Give up the room of removed documents; see `Store.compact`. Other requests wait meanwhile."""
        return self._sent(self._calls.compact())

    def compare(self, left: str, right: str) -> Comparison:
        """Compare two texts step by step, with the recipe of the store; see `neardup.compare`."""
        return self._sent(self._calls.compare(left, right))

    def info(self) -> StoreInfo:
        """What the store is, and what it takes."""
        return self._sent(self._calls.info())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
