"""ROUTES: the table of all routes. The application and the OpenAPI document are made of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from starlette.responses import Response

from neardup.service.admission import Asked
from neardup.service.messages import messages, review_messages
from neardup.service.requests import review_handlers
from neardup.service.requests.handlers import Service
from neardup.service.tokens import Role
from neardup.store.upkeep.info import StoreInfo

Handler = Callable[[Service, Asked], Awaitable[Response]]
OF_STORE = "/v1/stores/{store}"


@dataclass(frozen=True, kw_only=True)
class RouteRow:
    """A route.

    Attributes:
        name: of the operation.
        method, path: what is asked.
        handler: answers.
        role: that a caller needs; None if anybody may ask.
        is_probe: whether machines ask, under any name of the host, and as often as they like.
        given: the type of the body; None if there is none.
        answer: the type of the response; None for text.
        has_many: whether an array, or lines, may be given as well, and are answered alike.
        has_key: whether an `Idempotency-Key` counts.
        refusals: codes of problems besides those that every route may have.
    """

    name: str
    method: Literal["GET", "POST"]
    path: str
    handler: Handler
    role: Role | None
    is_probe: bool = False
    given: Any = None
    answer: Any = None
    has_many: bool = False
    has_key: bool = False
    refusals: tuple[str, ...] = ()


def _of_store(name: str, handler: Handler, role: Role, given: Any, answer: Any, **more: Any) -> RouteRow:
    method: Literal["GET", "POST"] = "GET" if given is None else "POST"
    path = f"{OF_STORE}/{name.replace('_', '-')}"
    return RouteRow(name=name, method=method, path=path, handler=handler, role=role, given=given, answer=answer, **more)


def _probe(name: str, handler: Handler) -> RouteRow:
    return RouteRow(
        name=name, method="GET", path=f"/v1/{name}", handler=handler, role=None, is_probe=True, answer=messages.Status
    )


ROUTES = (
    _of_store("check", Service.check, "read", messages.Question, messages.Answer, has_many=True),
    _of_store(
        "check_and_add", Service.check_and_add, "write", messages.Document, messages.Answer, has_many=True, has_key=True
    ),
    _of_store(
        "neighbors", Service.neighbors, "read", messages.NeighborsOf, messages.Neighbors, refusals=("unknown_document",)
    ),
    _of_store("get", Service.get, "read", messages.Ids, messages.Found),
    _of_store("remove", Service.remove, "admin", messages.Ids, messages.Removed),
    _of_store("expire", Service.expire, "admin", messages.Expire, messages.Expired),
    _of_store("orphans", review_handlers.orphans, "read", messages.OrphansAfter, messages.OrphansListed),
    _of_store("compact", Service.compact, "admin", messages.Compact, messages.Compacted),
    _of_store("compare", Service.compare, "read", messages.TwoTexts, messages.Compared),
    _of_store("passages", Service.side_by_side, "read", messages.TwoTexts, messages.AlignedRows),
    _of_store("recent", review_handlers.recent, "read", review_messages.Recent, review_messages.Duplicates),
    _of_store("review", review_handlers.review, "read", review_messages.Review, review_messages.Pairs),
    _of_store("judge", review_handlers.judge, "write", review_messages.Judge, review_messages.Judged),
    _of_store(
        "judgements", review_handlers.judgements, "read", review_messages.Judgements, review_messages.JudgedPairs
    ),
    _of_store("info", Service.info, "read", None, StoreInfo),
    RouteRow(
        name="stores", method="GET", path="/v1/stores", handler=Service.stores, role="read", answer=messages.Stores
    ),
    _probe("health", Service.health),
    _probe("ready", Service.ready),
    RouteRow(name="metrics", method="GET", path="/metrics", handler=Service.metrics_text, role="read"),
)
"""All routes, but for those of the OpenAPI document itself and of the page."""
