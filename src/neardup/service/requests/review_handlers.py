"""HANDLERS of review: what each of its routes does with a request."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from starlette.responses import Response

from neardup.errors import OptionError
from neardup.service.admission import Asked
from neardup.service.limits import LISTED, LISTED_BYTES
from neardup.service.messages import review_messages as messages
from neardup.service.messages.messages import encode
from neardup.service.requests.handlers import Service, json_response
from neardup.service.stores.open_store import ServedStore

T = TypeVar("T")


async def recent(service: Service, asked: Asked) -> Response:
    """List the latest duplicates that are remembered, newest first."""
    given: messages.Recent = await service.given(asked, messages.Recent)
    _demand_few(given.limit)

    def listed(store: ServedStore) -> messages.Duplicates:
        found = store.recent(limit=given.limit, before=given.before, max_bytes=LISTED_BYTES)
        last = found[-1].position if found else None
        following = _following(last, lambda at: store.recent(limit=1, before=at, max_bytes=1))
        return messages.Duplicates(list(map(messages.duplicate_of, found)), following)

    return json_response(encode(await service.call(service.worker(asked), listed)))


async def review(service: Service, asked: Asked) -> Response:
    """List the pairs nearest the threshold that nobody has judged."""
    given: messages.Review = await service.given(asked, messages.Review)
    _demand_few(given.limit)
    found = await service.call(
        service.worker(asked), lambda store: store.review(limit=given.limit, max_bytes=LISTED_BYTES)
    )
    return json_response(encode(messages.Pairs(list(map(messages.pair_of, found)))))


async def judge(service: Service, asked: Asked) -> Response:
    """Keep a judgement of a pair, in the place of an earlier one."""
    given: messages.Judge = await service.given(asked, messages.Judge)
    pair = messages.pair_from(given.left, given.right)
    count = await service.call(service.worker(asked), lambda store: store.judge(pair, same=given.same))
    return json_response(encode(messages.Judged(count)))


async def judgements(service: Service, asked: Asked) -> Response:
    """List judgements, the oldest first."""
    given: messages.Judgements = await service.given(asked, messages.Judgements)
    _demand_few(given.limit)

    def listed(store: ServedStore) -> messages.JudgedPairs:
        found = store.judgements(limit=given.limit, after=given.after, max_bytes=LISTED_BYTES)
        last = found[-1].number if found else None
        following = _following(last, lambda at: store.judgements(limit=1, after=at, max_bytes=1))
        return messages.JudgedPairs(list(map(messages.judged_of, found)), following)

    return json_response(encode(await service.call(service.worker(asked), listed)))


def _following(last: T | None, listed: Callable[[T], Sequence[Any]]) -> T | None:
    """Where to go on after the last one that was listed; None if none follows. `listed`: what follows a place."""
    return last if last is not None and listed(last) else None


def _demand_few(limit: int) -> None:
    """Refuse to list too many.

    Raises:
        OptionError: there are too many.
    """
    if limit > LISTED:
        raise OptionError(f"`limit={limit}`: a response lists at most {LISTED}. Ask again for those that follow.")
