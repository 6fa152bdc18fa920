"""`Client` and `AsyncClient`: the stores of a service, called as a store of this machine is."""

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_args

from neardup.errors import MissingExtra, OptionError
from neardup.service.client.calls import Call, Calls

P = ParamSpec("P")
T = TypeVar("T")


class _Connected:
    """The part of both clients that sends nothing. `_Http`: the name of the class of httpx that does."""

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
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise OptionError(f"`url={url!r}`: give the address of a service, such as http://127.0.0.1:8080.")
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise OptionError(f"`retries={retries!r}`: give a number, 0 or more.")
        self._url, self._store = url.rstrip("/"), store
        self._calls = Calls(self._url, store, retries)
        headers = _headers(token)
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


def _headers(token: str | None) -> dict[str, str]:
    """The headers of every request.

    Raises:
        OptionError: the token is none. The message does not quote it.
    """
    if token is None:
        return {}
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise OptionError("`token`: give the token that the service knows, of ASCII characters.")
    return {"Authorization": f"Bearer {token}"}


F = TypeVar("F", bound=Callable[..., Any])


def _as_of_a_client(method: F, call: Callable[..., Any]) -> F:
    """The method with the name and docstring of the call, and with its signature, which states the result."""
    signature = inspect.signature(call)
    result = get_args(signature.return_annotation)[-1]
    method.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    method.__annotations__ = call.__annotations__ | {"return": result}
    method.__name__, method.__doc__ = call.__name__, call.__doc__
    method.__qualname__ = call.__qualname__
    return method


def _waits(call: Callable[Concatenate[Calls, P], Call[T]]) -> Callable[Concatenate["Client", P], T]:
    """A method that makes a call."""

    def method(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client._result(call(client._calls, *args, **kwargs))

    return _as_of_a_client(method, call)


def _awaits(
    call: Callable[Concatenate[Calls, P], Call[T]],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    """A method that makes a call, and is awaited."""

    async def method(client: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await client._result(call(client._calls, *args, **kwargs))

    return _as_of_a_client(method, call)


class Client(_Connected):
    """One store of a service that `neardup serve` runs. Threads may share a client.

    The methods are those of `Store`, with the same answers. What fails on the way, or may succeed later, is sent again, which is
    safe: documents are sent with a key, by which the service knows a request that it has answered. `with` closes the client.

    >>> with Client("http://127.0.0.1:8080", store="news") as client:
    ...     client
    Client('http://127.0.0.1:8080', store='news')
    """

    _Http = "Client"

    def _result(self, call: Call[T]) -> T:
        found = None
        while True:
            try:
                step = call.send(found)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, float):
                time.sleep(step)
                continue
            try:
                found = self._http.request(step.method, step.path, content=step.body, headers=step.headers)
            except self._transport_error as problem:
                found = problem

    check = _waits(Calls.check)
    check_many = _waits(Calls.check_many)
    check_and_add = _waits(Calls.check_and_add)
    check_and_add_many = _waits(Calls.check_and_add_many)
    get = _waits(Calls.get)
    neighbors = _waits(Calls.neighbors)
    recent = _waits(Calls.recent)
    review = _waits(Calls.review)
    judge = _waits(Calls.judge)
    judgements = _waits(Calls.judgements)
    remove = _waits(Calls.remove)
    expire = _waits(Calls.expire)
    orphans = _waits(Calls.orphans)
    compact = _waits(Calls.compact)
    compare = _waits(Calls.compare)
    info = _waits(Calls.info)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Connected):
    """`Client` for asyncio: the same methods, to be awaited. Tasks may share a client.

    `async with` closes it.
    """

    _Http = "AsyncClient"

    async def _result(self, call: Call[T]) -> T:
        found = None
        while True:
            try:
                step = call.send(found)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, float):
                await asyncio.sleep(step)
                continue
            try:
                found = await self._http.request(step.method, step.path, content=step.body, headers=step.headers)
            except self._transport_error as problem:
                found = problem

    check = _awaits(Calls.check)
    check_many = _awaits(Calls.check_many)
    check_and_add = _awaits(Calls.check_and_add)
    check_and_add_many = _awaits(Calls.check_and_add_many)
    get = _awaits(Calls.get)
    neighbors = _awaits(Calls.neighbors)
    recent = _awaits(Calls.recent)
    review = _awaits(Calls.review)
    judge = _awaits(Calls.judge)
    judgements = _awaits(Calls.judgements)
    remove = _awaits(Calls.remove)
    expire = _awaits(Calls.expire)
    orphans = _awaits(Calls.orphans)
    compact = _awaits(Calls.compact)
    compare = _awaits(Calls.compare)
    info = _awaits(Calls.info)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
