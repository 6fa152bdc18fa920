"""CALLS of review: requests with what their responses mean; lists come page by page."""

from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from neardup.errors import OptionError
from neardup.service.client.calls import CallOf, Calls
from neardup.service.limits import LISTED
from neardup.service.messages import review_messages as messages
from neardup.store.answers import Judgement, PairText, RecentDuplicate, ReviewPair
from neardup.store.review.judge import Pair

T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    """Some values of a list, and where the next ones begin; None if these are the last."""

    values: list[T]
    next: Any


class ReviewCalls:
    """The calls of one store of a service that people need who review it."""

    def __init__(self, calls: Calls) -> None:
        self._post = calls.post

    def recent(self, limit: int, before: str | None) -> CallOf[Page[RecentDuplicate]]:
        """The request for duplicates, of which a response has `LISTED` at most."""

        def read(body: bytes) -> Page[RecentDuplicate]:
            found = msgspec.json.decode(body, type=messages.Duplicates)
            return Page([RecentDuplicate(**msgspec.structs.asdict(each)) for each in found.duplicates], found.next)

        return self._post("recent", messages.Recent(min(limit, LISTED), before), read)

    def review(self, limit: int) -> CallOf[list[ReviewPair]]:
        """The request for pairs to judge."""
        return self._post("review", messages.Review(limit), _read_pairs)

    def judge(self, pair: Pair, same: bool) -> CallOf[int]:
        """The request that keeps a judgement."""
        left, right = _sides(pair)
        given = messages.Judge(left, right, same)
        return self._post("judge", given, lambda body: msgspec.json.decode(body, type=messages.Judged).judged)

    def judgements(self, limit: int | None, after: int) -> CallOf[Page[Judgement]]:
        """The request for judgements, of which a response has `LISTED` at most."""

        def read(body: bytes) -> Page[Judgement]:
            found = msgspec.json.decode(body, type=messages.JudgedPairs)
            return Page([_judgement(each) for each in found.judgements], found.next)

        most = LISTED if limit is None else min(limit, LISTED)
        return self._post("judgements", messages.Judgements(most, after), read)


def _sides(pair: Pair) -> tuple[messages.Side, messages.Side]:
    """The two sides of a pair, without texts."""
    if isinstance(pair, RecentDuplicate):
        return messages.Side(position=pair.position), messages.Side(id=pair.duplicate_of)
    if isinstance(pair, ReviewPair):
        left, right = (messages.Side(each.id, each.position, each.digest) for each in (pair.left, pair.right))
        return left, right
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise OptionError(
            f"`pair={pair!r}`: give what `recent` or `review` has listed, or the ids of two kept documents."
        )
    return messages.Side(id=pair[0]), messages.Side(id=pair[1])


def _read_pairs(body: bytes) -> list[ReviewPair]:
    return [
        ReviewPair(
            kind=each.kind,
            left=messages.text_from(each.left),
            right=messages.text_from(each.right),
            similarity=each.similarity,
            distance=each.distance,
        )
        for each in msgspec.json.decode(body, type=messages.Pairs).pairs
    ]


def _judgement(found: messages.JudgedPair) -> Judgement:
    values: dict[str, Any] = msgspec.structs.asdict(found)
    sides: dict[str, PairText] = {
        "left": messages.text_from(found.left),
        "right": messages.text_from(found.right),
    }
    return Judgement(**values | sides)
