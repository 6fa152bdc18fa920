"""Fixtures of stores in PostgreSQL: a server, and for each test a schema and a cache of replicas of its own; and of every back end."""

import pytest

import postgres_server
from back_ends import BACK_ENDS


@pytest.fixture(scope="session")
def server():
    why = postgres_server.why_not()
    if why:
        pytest.skip(why)
    return postgres_server.running()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("NEARDUP_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "neardup" / "replicas"


@pytest.fixture
def schema(server, cache):
    return postgres_server.new_schema()


@pytest.fixture
def place(server, schema):
    return server.place(schema)


@pytest.fixture
def own_server(cache):
    """A server that a test may stop."""
    why = postgres_server.why_not()
    if why:
        pytest.skip(why)
    server = postgres_server.Server().start()
    yield server
    server.remove()


@pytest.fixture(params=BACK_ENDS)
def back_end(request):
    found = BACK_ENDS[request.param](request)
    found.name = request.param
    return found


@pytest.fixture
def any_place(back_end):
    return back_end.place()
