"""Both clients of a service, for tests that ask the same of each."""

import asyncio

import httpx
import pytest

import neardup as nd


class Awaited:
    """An AsyncClient whose methods are called as those of a Client."""

    def __init__(self, *args, **kwargs):
        self._runner = asyncio.Runner()
        self._client = nd.AsyncClient(*args, **kwargs)

    def __getattr__(self, name):
        return lambda *args, **kwargs: self._runner.run(getattr(self._client, name)(*args, **kwargs))

    def __enter__(self):
        self._runner.run(self._client.__aenter__())
        return self

    def __exit__(self, *_):
        self._runner.run(self._client.__aexit__())
        self._runner.close()


BOTH = pytest.mark.parametrize("made", [nd.Client, Awaited], ids=["Client", "AsyncClient"])


def mocked(made, answer, **more):
    client = made("http://service", **more)
    own = client._client if made is Awaited else client
    kind = httpx.AsyncClient if made is Awaited else httpx.Client
    own._http = kind(transport=httpx.MockTransport(answer), base_url="http://service")
    return client


def passing(service, sent):
    """What answers as a service does, and notes what was sent."""

    def answer(request):
        sent.append(request)
        found = service.request(request.method, request.url.path, content=request.content, headers=request.headers)
        return httpx.Response(found.status_code, headers=found.headers, content=found.content)

    return answer
