"""HANDLERS of review: what each of its routes does with a request."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from starlette.responses import Response

from neardup.errors import OptionError
from neardup.service.admission import Asked
from neardup.service.messages import review_messages as messages
from neardup.service.messages.messages import Orphan, OrphansAfter, OrphansListed, converted, encode
from neardup.service.requests.handlers import Service, json_response
from neardup.store.answers import ReviewPair
from neardup.store.store import Store

T = TypeVar("T")


async def recent(service: Service, asked: Asked) -> Response:
    """List the latest duplicates that are remembered, newest first."""
    given: messages.Recent = await _few(service, asked, messages.Recent)
    most = service.limits.max_listed_bytes

    def listed(store: Store) -> messages.Duplicates:
        found = store.recent(limit=given.limit, before=given.before, max_bytes=most)
        last = found[-1].position if found else None
        following = _following(last, lambda at: store.recent(limit=1, before=at, max_bytes=1))
        return messages.Duplicates(converted(found, list[messages.Duplicate]), following)

    return json_response(encode(await service.call(service.worker(asked), listed)))


async def review(service: Service, asked: Asked) -> Response:
    """List the pairs nearest the threshold that nobody has judged."""
    given: messages.Review = await _few(service, asked, messages.Review)
    most = service.limits.max_listed_bytes
    found = await service.call(service.worker(asked), lambda store: store.review(limit=given.limit, max_bytes=most))
    return json_response(encode(messages.Pairs(converted(found, list[messages.Pair]))))


async def judge(service: Service, asked: Asked) -> Response:
    """Keep a judgement of a pair, in the place of an earlier one."""
    given: messages.Judge = await service.given(asked, messages.Judge)
    left, right = messages.text_from(given.left), messages.text_from(given.right)
    kind: messages.Kind = "kept" if left.position is None else "removed"
    pair = ReviewPair(kind=kind, left=left, right=right, similarity=None, distance=0)  # the store knows the similarity
    count = await service.call(service.worker(asked), lambda store: store.judge(pair, same=given.same))
    return json_response(encode(messages.Judged(count)))


async def judgements(service: Service, asked: Asked) -> Response:
    """List judgements, the oldest first."""
    given: messages.Judgements = await _few(service, asked, messages.Judgements)
    most = service.limits.max_listed_bytes

    def listed(store: Store) -> messages.JudgedPairs:
        found = store.judgements(limit=given.limit, after=given.after, max_bytes=most)
        last = found[-1].number if found else None
        following = _following(last, lambda at: store.judgements(limit=1, after=at, max_bytes=1))
        return messages.JudgedPairs(converted(found, list[messages.JudgedPair]), following)

    return json_response(encode(await service.call(service.worker(asked), listed)))


async def orphans(service: Service, asked: Asked) -> Response:
    """List skipped documents that no kept document matched when their own went, the oldest first."""
    given: OrphansAfter = await _few(service, asked, OrphansAfter)

    def listed(store: Store) -> OrphansListed:
        found = store.orphans(limit=given.limit, after=given.after)
        last = found[-1].number if found else None
        following = _following(last, lambda at: store.orphans(limit=1, after=at or 0))
        return OrphansListed(converted(found, list[Orphan]), following)

    return json_response(encode(await service.call(service.worker(asked), listed)))


def _following(last: T | None, listed: Callable[[T], Sequence[Any]]) -> T | None:
    """Where to go on after the last one that was listed; None if none follows. `listed`: what follows a place."""
    return last if last is not None and listed(last) else None


async def _few(service: Service, asked: Asked, kind: type) -> Any:
    """The body of a request for a list.

    Raises:
        OptionError: it asks for too many.
    """
    given = await service.given(asked, kind)
    if given.limit > service.limits.max_listed:
        raise OptionError(
            f"`limit={given.limit}`: a response lists at most {service.limits.max_listed}. Ask again for those that follow."
        )
    return given
