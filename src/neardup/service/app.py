"""THE APPLICATION: routes over stores, as ASGI; any server of ASGI can run it, in one process."""

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from neardup.jobs.store_places import opened_store
from neardup.service.admission import Admission, Asked, Held
from neardup.service.limits import Limits
from neardup.service.logs import Log
from neardup.service.messages.openapi import document
from neardup.service.metrics import Metrics, StoreMetrics
from neardup.service.page_files import PAGE_ROWS
from neardup.service.problems import MEDIA_TYPE, Problem, problem_of
from neardup.service.requests.handlers import Service
from neardup.service.routes import ROUTES, RouteRow
from neardup.service.stores.worker import Worker
from neardup.service.tokens import ANYBODY, Tokens
from neardup.store.back_ends import back_end_of

_OF_STATUS = {404: "not_found", 405: "method_not_allowed"}
_DETAILS = {
    404: "There is nothing here. The routes are in /v1/openapi.json.",
    405: "This route does not take this method. The routes are in /v1/openapi.json.",
}


class Endpoint:
    """A route: admits a request, has it answered, counts it, and writes its line in the log."""

    def __init__(self, row: RouteRow, service: Service, log: Log) -> None:
        self._row, self._service, self._log = row, service, log
        self._latency = service.metrics.latency.labels(row.name)
        self._counted = functools.cache(lambda status: service.metrics.requests.labels(row.name, str(status)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, service = time.perf_counter(), self._service
        admission = service.admission
        request, held = Request(scope, receive), Held(admission)
        asked = Asked(request, ANYBODY, held)
        status, failure, has_entered = 500, None, False

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            try:
                if not self._row.is_probe:
                    admission.demand_host(request.headers)
                    if self._row.role is not None:
                        asked.caller = admission.caller(request.headers)  # the log names who was refused, too
                        admission.demand_role(asked.caller, self._row.role)
                    admission.enter()
                    has_entered = True
                response = await self._row.handler(service, asked)
                await response(scope, receive, sent)
                failure = getattr(response, "failure", None)
            except Exception as problem:
                failure = problem
                await problem_response(problem_of(problem))(scope, receive, sent)
        finally:
            held.release()
            if has_entered:
                admission.leave()
            seconds = time.perf_counter() - began
            self._latency.observe(seconds)
            self._counted(status).inc()
            self._tell(asked, status, seconds, failure)

    def _tell(self, asked: Asked, status: int, seconds: float, failure: BaseException | None) -> None:
        facts: dict[str, Any] = {
            "route": self._row.name,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "caller": asked.caller.name,
        }
        store = asked.request.path_params.get("store")
        if store in self._service.workers:
            facts["store"] = store
        if asked.documents:
            facts["documents"] = asked.documents
        if failure is not None:
            facts["code"] = problem_of(failure).code
        if facts.get("code") in ("internal", "damaged"):
            self._log("request_failed", failure=failure, **facts)
        else:
            self._log.request(**facts)


def problem_response(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers, media_type=MEDIA_TYPE)


async def _of_framework(_: Request, failure: Exception) -> Response:
    """Refusals of the framework: what no route takes."""
    status = failure.status_code if isinstance(failure, HTTPException) else 500
    code = _OF_STATUS.get(status, "internal")
    headers = getattr(failure, "headers", None)
    return problem_response(Problem(code, _DETAILS.get(status, "The service failed unexpectedly."), headers))


def open_service(
    stores: Mapping[str, str],
    *,
    limits: Limits,
    tokens: Tokens,
    hosts: Collection[str],
    log: Log,
    wait: float = 0.0,
    mode: Literal["w", "r"] = "w",
) -> tuple[Service, Callable[[], contextlib.AbstractAsyncContextManager[None]]]:
    """Stores, which are opened now, and a context in which they answer to its loop; at its end, they are closed.

    Args:
        stores, limits, tokens, hosts, log, wait: see `make_app`.
        mode: "r" if stores are only read, while other processes may write to them.

    Raises:
        InputError, DataError, TransferError: see `make_app`.
    """
    metrics = Metrics()
    workers: dict[str, Worker] = {}
    with contextlib.ExitStack() as opened:
        for name, place in stores.items():
            made = functools.partial(opened_store, place, mode, wait=wait)
            is_shared = back_end_of(place).is_shared
            workers[name] = Worker(name, made, limits, StoreMetrics(metrics, name), log, is_shared=is_shared)
            opened.callback(workers[name].end)
        closing = opened.pop_all()
    service = Service(workers, Admission(limits, tokens, hosts), metrics)
    metrics.running.set_function(lambda: service.admission.running)

    @contextlib.asynccontextmanager
    async def answering() -> AsyncIterator[None]:
        for worker in workers.values():
            worker.start(asyncio.get_running_loop())
        log("started", stores=list(workers), tokens=bool(tokens))
        try:
            yield
        finally:
            await asyncio.to_thread(closing.close)
            log("ended")

    return service, answering


def make_app(
    stores: Mapping[str, str],
    *,
    limits: Limits | None = None,
    tokens: Tokens | None = None,
    hosts: Collection[str] = (),
    log: Log | None = None,
    wait: float = 0.0,
) -> Starlette:
    """An ASGI application over stores, which are opened now, and closed when the application ends.

    Args:
        stores: the places of stores by their names.
        limits: what it bears.
        tokens: who may ask; anybody may, without them.
        hosts: the names by which it may be asked; any, if there are none.
        log: where events go; standard error by default.
        wait: seconds to wait until another process that writes to a store has ended, or for which a database is tried again.

    Raises:
        InputError: there is no such store, or another process writes to it.
        DataError: a store is damaged.
        TransferError: the database of a store cannot be reached.
    """
    limits, log, tokens = limits or Limits(), log or Log(), tokens or Tokens()
    service, answering = open_service(stores, limits=limits, tokens=tokens, hosts=hosts, log=log, wait=wait)
    described = document(ROUTES, has_tokens=bool(tokens))

    async def openapi(_: Request) -> Response:
        return Response(described, media_type="application/json")

    routes = [Route(row.path, Endpoint(row, service, log), methods=[row.method]) for row in (*ROUTES, *PAGE_ROWS)]
    return application(service, answering, [*routes, Route("/v1/openapi.json", openapi)])


def application(
    service: Service, answering: Callable[[], contextlib.AbstractAsyncContextManager[None]], routes: Sequence[Route]
) -> Starlette:
    """An ASGI application of these routes, which answers in this context."""
    app = Starlette(routes=routes, lifespan=lambda _: answering(), exception_handlers={HTTPException: _of_framework})
    app.router.redirect_slashes = (
        False  # behind a proxy that does TLS, it would lead to http://, with the token and the text
    )
    app.state.service = service
    return app
