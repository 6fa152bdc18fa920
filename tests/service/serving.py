"""Services for tests: in this process, without a socket, and as a process of its own on a free port of this machine."""

import asyncio
import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra [server]")
pytest.importorskip("httpx", reason="needs the extra [client]")

import httpx
from starlette.testclient import TestClient

import neardup as nd
from neardup.service.app import make_app
from neardup.service.limits import Limits
from neardup.service.logs import Log
from neardup.service.tokens import Tokens, read_tokens

FERRY = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = FERRY.replace("night", "evening")
BREAD = "Flour, water, salt and a day of patience make bread."
WORDS = [f"w{i}" for i in range(400)]
TOKEN = "0123456789abcdefghij"
LINES = {"Content-Type": "application/x-ndjson"}


def texts_of(rng, count, *, copies=0.4):
    """Texts of which some are near-copies of earlier ones."""
    found = []
    for _ in range(count):
        if found and rng.random() < copies:
            words = rng.choice(found).split()
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        else:
            words = rng.choices(WORDS, k=rng.randint(8, 40))
        found.append(" ".join(words))
    return found


def new_store(path, **options):
    nd.Store(path, **({"min_similarity": 0.7} | options)).close()
    return str(path)


def tokens_in(folder, *lines):
    """Tokens of a file with these lines, by default one for each role: TOKEN and the first letter of the role."""
    lines = lines or [f"{role}er {role} {TOKEN}{role[0]}" for role in ("read", "write", "admin")]
    file = folder / "tokens"
    file.write_text("\n".join(lines), encoding="utf-8")
    file.chmod(0o600)
    return file


@contextlib.contextmanager
def asking(stores, *, limits=None, tokens=None, hosts=(), log=None, **more):
    """A client of an application in this process; `log` gets the lines of the log."""
    if isinstance(stores, (str, Path)):
        stores = {"default": str(stores)}
    written = io.BytesIO()
    app = make_app(
        stores,
        limits=limits or Limits(),
        tokens=read_tokens(tokens) if tokens else Tokens(),
        hosts=hosts,
        log=Log(written),
        **more,
    )
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        client.service = app.state.service
        yield client
    if log is not None:
        log += [json.loads(line) for line in written.getvalue().splitlines()]


def post(client, name, value, *, store="default", **more):
    return client.post(f"/v1/stores/{store}/{name}", json=value, **more)


def add(client, id, text, **more):  # noqa: A002
    answer = post(client, "check-and-add", {"id": id, "text": text} | more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def lines(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def is_problem(response, status, code):
    """Whether a response is a problem with this code; returns its detail."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert set(found) == {"type", "title", "status", "code", "detail"}
    assert (found["status"], found["code"]) == (status, code), found
    return found["detail"]


@contextlib.contextmanager
def listening(stores, *, limits=None, tokens=None):
    """The address of an application that listens in this process."""
    from neardup.service.server import server_of

    limits = limits or Limits()
    app = make_app(stores, limits=limits, tokens=read_tokens(tokens) if tokens else Tokens(), log=Log(io.BytesIO()))
    server = server_of(app, limits)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as accepting:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([accepting])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{accepting.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
    assert not thread.is_alive()


class Served:
    """`neardup serve` as a process."""

    def __init__(self, *arguments, environment=None, cwd=None):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "neardup", "serve", "--port", "0", *map(str, arguments)],
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
        )
        self.log, self.port, self.is_up = [], None, threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self.is_up.wait(60), self.log
        assert self.port is not None, self.log

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line.decode())
            event = json.loads(line) if line.startswith(b"{") else {}
            self.port = event.get("port", self.port)
            if event.get("event") == "started":
                self.is_up.set()
        self.is_up.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def client(self, **more):
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False, **more)

    def end(self, number=signal.SIGTERM):
        """End the process; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        self._reader.join(60)
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)
