"""CALLS of a service, each once for the client that waits and for the one of asyncio: what is sent, and what the responses mean.

A call is a generator that does no input or output itself. It yields a `Request`, and gets the response, or the exception of a
connection that failed; or it yields seconds, which pass before it goes on. What it returns is the result.
"""

import itertools
import random
import uuid
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from msgspec import UNSET

from neardup.errors import OptionError, ServiceError, TransferError
from neardup.judging.comparison import Comparison
from neardup.service.client import responses
from neardup.service.client.call_parts import Parts, encoded
from neardup.service.limits import Limits
from neardup.service.messages import messages, review_messages
from neardup.store.answers import (
    NO_ORPHANS,
    Judgement,
    Orphan,
    Orphans,
    RecentDuplicate,
    Removal,
    ReviewPair,
    StoreAnswer,
    StoredDocument,
    StoreMatch,
)
from neardup.store.arguments import Duration, seconds_of, several
from neardup.store.review.judge import Pair
from neardup.store.upkeep.info import ReportIds, StoreInfo

T = TypeVar("T")
A = TypeVar("A", int, str)
Call = Generator["Request | float", Any, T]
Part = Call[tuple[list[T], A | None]]
"""A call for a part of a list: some items, and where the next ones begin; None if these are the last."""
JSON = {"Content-Type": "application/json"}
AGAIN = (408, 429, 502, 503, 504)
"""Statuses of what may succeed later."""
LONGEST_PAUSE_SECONDS = 30.0
MAX_LISTED = Limits.max_listed
"""Of a request for a list; a call makes several of them if there is more."""


@dataclass(frozen=True)
class Request:
    """What is sent, and sent again in the same form after a failure."""

    method: Literal["GET", "POST"]
    path: str
    body: bytes | None
    headers: dict[str, str]


class Calls:
    """The calls of one store of a service: the methods of the clients, with their docstrings."""

    def __init__(self, url: str, store: str, retries: int) -> None:
        self._url, self._retries = url, retries
        self._at = f"/v1/stores/{quote(store, safe='')}"

    def check(self, text: str) -> Call[StoreAnswer]:
        """Whether a document of this text would match kept ones, and which; see `Store.check`."""
        return (yield from self.check_many([text]))[0]

    def check_many(self, texts: Sequence[str]) -> Call[list[StoreAnswer]]:
        """The answers of `check` to several texts; see `Store.check_many`."""
        given = [messages.Question(_text(each)) for each in several("texts", texts)]
        found = yield from self._all(Parts(given, lambda array, *_: self._post("check", array)))
        return [answer for body in found for answer in responses.answers(body)]

    def check_and_add(
        self,
        id: int | str,  # noqa: A002
        text: str,
        *,
        metadata: Any = None,
        expires: float | None = None,
        ttl: Duration | None = None,
        key: str | None = None,
    ) -> Call[StoreAnswer]:
        """Decide a document, and keep it if it is new; see `check_and_add_many`."""
        given: Any = {"metadata": [metadata], "expires": expires, "ttl": ttl, "key": key}
        return (yield from self.check_and_add_many([id], [text], **given))[0]

    def check_and_add_many(
        self,
        ids: Sequence[int | str],
        texts: Sequence[str],
        *,
        metadata: Sequence[Any] | None = None,
        expires: float | Sequence[float | None] | None = None,
        ttl: Duration | Sequence[Duration | None] | None = None,
        key: str | None = None,
    ) -> Call[list[StoreAnswer]]:
        """Decide documents in order, with the same answers as one `check_and_add` after another; see `Store.check_and_add_many`.

        Many documents take several requests, each durable when it is answered. One that is too large for the service is sent in
        smaller ones.

        Args:
            ids, texts, metadata, expires, ttl: as in `Store`.
            key: what the service keeps the answers by, for a time that it states. The same call with the same key gets them again,
                even in another process, as long as the limits of the service stay the same. A key that is used once is drawn if
                none is given.

        Raises:
            OptionError: an argument has a value that is not allowed.
            ServiceError: the service refused, or failed at every attempt.
            TransferError: the service did not answer at any attempt. Documents may be added; with the same key, the call can be
                repeated.
        """
        ids, texts = several("ids", ids), several("texts", texts)
        some = {"ids": ids, "metadata": metadata, "values of `expires`": expires, "values of `ttl`": ttl}
        for what, values in some.items():
            if isinstance(values, list | tuple) and len(values) != len(texts):
                raise OptionError(f"{len(values)} {what} for {len(texts)} texts: give one each.")
        lives = ttl if isinstance(ttl, list | tuple) else [ttl] * len(texts)
        given = [
            messages.Document(
                name,
                _text(text),
                None if metadata is None else metadata[place],
                expires[place] if isinstance(expires, list | tuple) else expires,  # type: ignore[arg-type]
                UNSET if after is None else seconds_of("ttl", after),
            )
            for place, (name, text, after) in enumerate(zip(ids, texts, lives, strict=True))
        ]
        drawn = uuid.uuid4().hex if key is None else key

        def made(array: bytes, first: int, end: int) -> Request:
            return self._post("check-and-add", array, {"Idempotency-Key": f'"{drawn}/{first}-{end}"'})

        found = yield from self._all(Parts(given, made))
        return [answer for body in found for answer in responses.answers(body)]

    def get(self, id: int | str) -> Call[StoredDocument | None]:  # noqa: A002
        """What the store knows of a kept document; see `Store.get`."""
        return responses.document((yield from self._value("get", messages.Ids([id]))))

    def neighbors(
        self,
        text: str | None = None,
        *,
        id: int | str | None = None,  # noqa: A002
        min_similarity: float | None = None,
    ) -> Call[list[StoreMatch]]:
        """The kept documents that are similar to a text, or to a kept document; see `Store.neighbors`."""
        return responses.neighbors(
            (yield from self._value("neighbors", messages.NeighborsOf(text, id, min_similarity)))
        )

    def recent(self, *, limit: int = 50, before: str | None = None) -> Call[list[RecentDuplicate]]:
        """The latest duplicates that are remembered, newest first; see `Store.recent`."""

        def part(most: int, at: str | None) -> Part[RecentDuplicate, str]:
            return responses.duplicates((yield from self._value("recent", review_messages.Recent(most, at))))

        return (yield from _listed(part, limit, before))

    def review(self, *, limit: int = 20) -> Call[list[ReviewPair]]:
        """The pairs nearest the threshold that nobody has judged; see `Store.review`. Fewer, if their texts are long."""
        return responses.pairs((yield from self._value("review", review_messages.Review(limit))))

    def judge(self, pair: Pair, *, same: bool) -> Call[int]:
        """Keep a judgement of a pair, in the place of an earlier one; see `Store.judge`."""
        left, right = _sides(pair)
        body = yield from self._value("judge", review_messages.Judge(left, right, same))
        return responses.decoded(body, type=review_messages.Judged).judged

    def judgements(self, *, limit: int | None = None, after: int = 0) -> Call[list[Judgement]]:
        """All judgements, the oldest first; see `Store.judgements`."""

        def part(most: int, at: int | None) -> Part[Judgement, int]:
            return responses.judgements(
                (yield from self._value("judgements", review_messages.Judgements(most, at or 0)))
            )

        return (yield from _listed(part, limit, after))

    def remove(self, ids: Sequence[int | str], *, report_ids: ReportIds = None) -> Call[Removal]:
        """Forget kept documents; see `Store.remove`. What an attempt removed whose answer was lost is not counted, nor reported."""
        parts = Parts(several("ids", ids), lambda array, *_: self._post("remove", b'{"ids":' + array + b"}"))
        bodies = yield from self._all(parts)
        found = [responses.decoded(body, type=messages.Removed) for body in bodies]
        if report_ids is not None:
            report_ids([each for some in found for each in some.ids])
        return Removal(sum(each.removed for each in found), _together(found))

    def expire(
        self,
        *,
        older_than: float | str | None = None,
        newest: int | None = None,
        by: Literal["first_seen", "last_seen"] = "last_seen",
        report_ids: ReportIds = None,
    ) -> Call[Removal]:
        """Remove the documents that have expired, and others that are old; see `Store.expire`. With `report_ids`, it takes several
        requests, each with the ids of some thousand documents; those whose answer was lost are not reported.
        """
        if report_ids is None:
            body = yield from self._value("expire", messages.Expire(older_than, newest, by))
            all_at_once = responses.decoded(body, type=messages.Expired)
            return Removal(all_at_once.removed, _together([all_at_once]))
        parts = [messages.Expired(0, more=True)]
        while parts[-1].more:
            body = yield from self._value("expire", messages.Expire(older_than, newest, by, Limits.max_expired))
            parts.append(responses.decoded(body, type=messages.Expired))
            report_ids(parts[-1].ids)
            parts[-1].ids = []
        return Removal(sum(each.removed for each in parts), _together(parts))

    def orphans(self, *, limit: int | None = None, after: int = 0) -> Call[list[Orphan]]:
        """The skipped documents that no kept document matched when their own went, the oldest first; see `Store.orphans`."""

        def part(most: int, at: int | None) -> Part[Orphan, int]:
            return responses.listed_orphans((yield from self._value("orphans", messages.OrphansAfter(most, at or 0))))

        return (yield from _listed(part, limit, after))

    def compact(self) -> Call[bool]:
        """Give up the room of removed documents; see `Store.compact`. Other requests wait meanwhile."""
        body = yield from self._value("compact", messages.Compact())
        return responses.decoded(body, type=messages.Compacted).compacted

    def compare(self, left: str, right: str) -> Call[Comparison]:
        """Compare two texts step by step, with the recipe of the store; see `neardup.compare`."""
        given = messages.TwoTexts(_text(left), _text(right))
        return responses.comparison((yield from self._value("compare", given)))

    def info(self) -> Call[StoreInfo]:
        """What the store is, and what it takes."""
        body = yield from self._answer(Request("GET", f"{self._at}/info", None, {}))
        return responses.decoded(body, type=StoreInfo)

    def _post(self, name: str, body: bytes, headers: dict[str, str] | None = None) -> Request:
        return Request("POST", f"{self._at}/{name}", body, JSON | (headers or {}))

    def _value(self, name: str, value: Any) -> Call[bytes]:
        """The answer to a request with one value."""
        return self._answer(self._post(name, encoded(value)))

    def _all(self, parts: Parts[Request]) -> Call[list[bytes]]:
        """The answers to the requests of a call; those that the service refuses as too large are sent in smaller ones."""
        found = []
        for request in parts:
            try:
                found.append((yield from self._answer(request)))
            except ServiceError as problem:
                parts.refused(problem)
        return found

    def _answer(self, request: Request) -> Call[bytes]:
        """The answer to a request, which is sent until it succeeds or is refused.

        Raises:
            OptionError, ServiceError: it was refused.
            TransferError: the service did not answer at the last attempt.
        """
        for attempt in itertools.count(1):
            is_last, retry_after = attempt > self._retries, None
            found = yield request
            if isinstance(found, Exception):
                if is_last:
                    reason = f"{type(found).__name__} {found}".strip()
                    raise TransferError(self._url, "the request", attempt, reason) from found
            elif found.status_code == 200:
                body: bytes = found.content
                return body
            elif is_last or found.status_code not in AGAIN:
                raise responses.failure(found.status_code, found.content)
            else:
                retry_after = found.headers.get("retry-after")
            yield _pause(attempt, retry_after)
        raise AssertionError("unreachable")


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds to wait after an attempt, counted from 1: what the service said, or twice as long as before, by chance less."""
    if retry_after is not None and retry_after.isdecimal():
        return min(float(retry_after), LONGEST_PAUSE_SECONDS)
    return min(0.1 * 2.0**attempt, LONGEST_PAUSE_SECONDS) * random.uniform(0.5, 1.0)


def _listed(part: Callable[[int, A | None], Part[T, A]], limit: int | None, start: A | None) -> Call[list[T]]:
    """A list that comes in parts, from a place on; at most `limit` items. The first part is always asked for, so that the service
    refuses a bad limit. `part`: the call for so many items from a place on.
    """
    found, following = yield from part(_most(limit, 0), start)
    while following is not None and (limit is None or len(found) < limit):
        some, following = yield from part(_most(limit, len(found)), following)
        found += some
    return found


def _most(limit: int | None, count: int) -> int:
    return MAX_LISTED if limit is None else min(limit - count, MAX_LISTED)


def _together(found: Sequence[messages.Removed | messages.Expired]) -> Orphans:
    """The orphans of several answers."""
    return sum((responses.orphans(each.orphans) for each in found), NO_ORPHANS)


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise OptionError(f"A text is a {type(text).__name__}; give a string.")
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise OptionError(f"A text is not valid Unicode: {problem.reason} (character {problem.start}).") from None
    return text


def _sides(pair: Pair) -> tuple[review_messages.Side, review_messages.Side]:
    """The two sides of a pair, without texts."""
    side = review_messages.Side
    if isinstance(pair, RecentDuplicate):
        return side(position=pair.position), side(id=pair.duplicate_of)
    if isinstance(pair, ReviewPair):
        left, right = (side(each.id, each.position, each.digest) for each in (pair.left, pair.right))
        return left, right
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise OptionError(
            f"`pair={pair!r}`: give what `recent` or `review` has listed, or the ids of two kept documents."
        )
    return side(id=pair[0]), side(id=pair[1])
