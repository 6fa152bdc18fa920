"""`Client`: the stores of a service, called as a store of this machine is."""

import itertools
import time
from collections.abc import Sequence
from typing import Any, Literal, Self, TypeVar

from neardup.errors import ServiceError
from neardup.judging.comparison import Comparison
from neardup.service.client.call_parts import Parts
from neardup.service.client.calls import CallOf
from neardup.service.client.connected import Connected
from neardup.store.answers import Judgement, RecentDuplicate, ReviewPair, StoreAnswer, StoredDocument, StoreMatch
from neardup.store.review.judge import Pair
from neardup.store.upkeep.info import StoreInfo

T = TypeVar("T")


class Client(Connected):
    """One store of a service that `neardup serve` runs. Threads may share a client.

    The methods are those of `Store`, with the same answers. What fails on the way, or may succeed later, is sent again, which is
    safe: documents are sent with a key, by which the service knows a request that it has answered. `with` closes the client.

    >>> with Client("http://127.0.0.1:8080", store="news") as client:
    ...     client
    Client('http://127.0.0.1:8080', store='news')
    """

    _Http = "Client"

    def _sent(self, call: CallOf[T]) -> T:
        """The result of a request, which is sent until it succeeds or is refused; see `Connected._pause`."""
        for attempt in itertools.count(1):
            try:
                found = self._http.request(call.method, call.path, content=call.body, headers=call.headers)
                if found.status_code == 200:
                    return call.read(found.content)
            except self._transport_error as problem:
                found = problem
            time.sleep(self._pause(attempt, found))
        raise AssertionError("unreachable")

    def _all(self, parts: Parts[CallOf[T]]) -> list[T]:
        """The results of the requests of a call; those that the service refuses as too large are sent in smaller ones."""
        found = []
        for call in parts:
            try:
                found.append(self._sent(call))
            except ServiceError as problem:
                parts.refused(problem)
        return found

    def check(self, text: str) -> StoreAnswer:
        """Whether a document of this text would match kept ones, and which; see `Store.check`."""
        return self.check_many([text])[0]

    def check_many(self, texts: Sequence[str]) -> list[StoreAnswer]:
        """The answers of `check` to several texts; see `Store.check_many`."""
        return [answer for part in self._all(self._calls.check_many(texts)) for answer in part]

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

        Many documents take several requests, each durable when it is answered. One that is too large for the service is sent in
        smaller ones.

        Args:
            ids, texts, metadata, expires: as in `Store`.
            key: what the service keeps the answers by, for a time that it states. The same call with the same key gets them again,
                even in another process, as long as the limits of the service stay the same. A key that is used once is drawn if
                none is given.

        Raises:
            OptionError: an argument has a value that is not allowed.
            ServiceError: the service refused, or failed at every attempt.
            TransferError: the service did not answer at any attempt. Documents may be added; with the same key, the call can be
                repeated.
        """
        calls = self._calls.check_and_add_many(ids, texts, metadata, expires, key)
        return [answer for part in self._all(calls) for answer in part]

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

    def recent(self, *, limit: int = 50, before: str | None = None) -> list[RecentDuplicate]:
        """The latest duplicates that are remembered, newest first; see `Store.recent`."""
        found: list[RecentDuplicate] = []
        while len(found) < limit or not found:
            page = self._sent(self._review.recent(limit - len(found), before))
            found, before = found + page.values, page.next
            if before is None:
                break
        return found

    def review(self, *, limit: int = 20) -> list[ReviewPair]:
        """The pairs nearest the threshold that nobody has judged; see `Store.review`. Fewer, if their texts are long."""
        return self._sent(self._review.review(limit))

    def judge(self, pair: Pair, *, same: bool) -> int:
        """Keep a judgement of a pair, in the place of an earlier one; see `Store.judge`."""
        return self._sent(self._review.judge(pair, same))

    def judgements(self, *, limit: int | None = None, after: int = 0) -> list[Judgement]:
        """All judgements, the oldest first; see `Store.judgements`."""
        found: list[Judgement] = []
        next_after: int | None = after
        while next_after is not None and (limit is None or len(found) < limit or not found):
            left = None if limit is None else limit - len(found)
            page = self._sent(self._review.judgements(left, next_after))
            found, next_after = found + page.values, page.next
        return found

    def remove(self, ids: Sequence[int | str]) -> int:
        """Forget kept documents; see `Store.remove`. What an attempt removed whose answer was lost is not counted."""
        return sum(self._all(self._calls.remove(ids)))

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
