"""`neardup serve` as a process: where it listens, how it ends, and what bad clients can do to it."""

import contextlib
import io
import json
import logging
import random
import re
import resource
import signal
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import neardup as nd
from neardup.cli.main import main
from neardup.recipe import stored_parts
from neardup.service.limits import Limits
from neardup.service.logs import Log
from neardup.service.server import demand_safe, is_local, logged
from neardup.service.stores.named_stores import named_stores
from neardup.service.tokens import Caller, Tokens
from service.serving import BREAD, FERRY, LINES, TOKEN, Served, add, is_problem, listening, new_store, post, tokens_in

KNOWN = Tokens(((b"digest", Caller("a", "read")),))


def run(capsys, *arguments):
    """The exit code of a command, and what it says."""
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    return ended.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True), ("localhost", True), ("0.0.0.0", False),
        ("::", False), ("10.0.0.1", False), ("example.org", False), ("127.0.0.1.example.org", False), ("", False),
    ],
)  # fmt: skip
def test_addresses_that_only_this_machine_reaches(host, local):
    assert is_local(host) == local


def test_no_start_on_other_addresses_without_tokens_and_tls():
    safe = {"has_tls": False, "insecure": False, "behind_proxy": False}
    demand_safe("127.0.0.1", Tokens(), **safe)
    with pytest.raises(nd.OptionError, match="anybody there could read and change the stores. Give `tokens`"):
        demand_safe("0.0.0.0", Tokens(), **safe)
    with pytest.raises(nd.OptionError, match="anybody there could"):
        demand_safe("0.0.0.0", Tokens(), **safe | {"has_tls": True, "behind_proxy": True})
    with pytest.raises(
        nd.OptionError, match="anybody who reaches the proxy could read and change the stores. Give `tokens`"
    ):
        demand_safe("127.0.0.1", Tokens(), **safe | {"behind_proxy": True})
    demand_safe("127.0.0.1", KNOWN, **safe | {"behind_proxy": True})
    demand_safe("127.0.0.1", Tokens(), **safe | {"behind_proxy": True, "insecure": True})
    with pytest.raises(nd.OptionError, match="would travel in the clear. Give `tls_certificate` and `tls_key`"):
        demand_safe("0.0.0.0", KNOWN, **safe)
    demand_safe("0.0.0.0", KNOWN, **safe | {"has_tls": True})
    demand_safe("0.0.0.0", KNOWN, **safe | {"behind_proxy": True})
    demand_safe("0.0.0.0", Tokens(), **safe | {"insecure": True})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give a store: --store seen.store."),
        (["--store", "none"], "none is no store. Name the folder of one, or make it with `neardup store create`."),
        (["--store", "a=s", "--store", "a=t"], "there is another store with the name 'a'"),
        (["--store", "a=s", "--store", "b=s"], "this store has another name already"),
        (
            ["--store", "s", "--host", "0.0.0.0"],
            "--host 0.0.0.0 is reached from other machines, and anybody there could",
        ),
        (
            ["--store", "s", "--host", "0.0.0.0", "--tokens", "tokens"],
            "would travel in the clear. Give --tls-certificate",
        ),
        (
            ["--store", "s", "--behind-proxy"],
            "--behind-proxy: anybody who reaches the proxy could read and change the stores.",
        ),
        (["--store", "s", "--tls-key", "tokens"], "Give both --tls-certificate and --tls-key, or none."),
        (["--store", "s", "--tls-key", "tokens", "--tls-certificate", "tokens"], "cannot be used for TLS"),
        (["--store", "s", "--port", "70000"], "--port 70000: give a number from 0 to 65535."),
        (["--store", "s", "--max-batch", "0"], "--max-batch 0: give a number of at least 1."),
        (["--store", "s", "--max-requests", "-1"], "--max-requests -1: give a number of at least 1."),
        (["--store", "s", "--max-rate", "0"], "--max-rate 0.0: give a number of documents a second, above 0."),
        (["--store", "s", "--max-body", "much"], "--max-body much: give bytes"),
        (["--store", "s", "--timeout", "0"], "--timeout 0: give more than 0 seconds."),
        (["--store", "s", "--keep-answers", "long"], "--keep-answers long: give seconds, 0 or more"),
        (["--store", "s", "--host", "192.0.2.1", "--insecure"], "192.0.2.1:8080 cannot be listened on"),
    ],
    ids=str,
)
def test_calls_that_are_refused(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    new_store("s")
    tokens_in(tmp_path)
    code, error = run(capsys, "serve", *arguments)
    assert code == 2
    assert said in error
    with nd.Store("s"):  # it was closed
        pass


def test_what_is_missing_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stored_parts, "version_of", lambda name: None if name in ("starlette", "uvicorn") else "1")
    code, error = run(capsys, "serve", "--store", new_store(tmp_path / "s"))
    assert code == 2
    assert "neardup serve needs starlette and uvicorn. Install it: pip install 'neardup[server]'" in error


def test_messages_of_the_server_are_logged_without_what_they_quote():
    written = io.BytesIO()
    with logged(Log(written)):
        logging.getLogger("uvicorn.error").warning("Invalid request from %s.", "secret")
        try:
            raise ValueError("secret")
        except ValueError:
            logging.getLogger("asyncio").exception("Task failed")
        logging.getLogger("uvicorn.error").info("nothing")
        logging.getLogger("psycopg").warning("error ignored: %s", "secret")
    first, second, third = map(json.loads, written.getvalue().splitlines())
    assert (first["event"], first["message"]) == ("server", "Invalid request from %s.")
    assert (second["message"], second["failure"]) == ("Task failed", "ValueError")
    assert third["message"] == "error ignored: %s"
    assert b"secret" not in written.getvalue()


def test_stores_have_names_and_addresses_may_have_equals_signs():
    given = ["a.store", "news=b.store", "./x=y", "pg=postgresql://h/db?host=/s", "N=c"]
    with pytest.raises(nd.OptionError, match="there is another store with the name 'default'"):
        named_stores(given)
    assert named_stores(given[:2]) == {"default": "a.store", "news": "b.store"}
    assert named_stores(given[3:4]) == {"pg": "postgresql://h/db?host=/s"}
    for each in ("./x=y", "postgresql://h/db?host=/s", "N=c"):
        assert named_stores([each]) == {"default": each}


def test_options_may_come_from_a_file(tmp_path):
    (tmp_path / "serve.toml").write_text(
        f'[serve]\nstore = ["{new_store(tmp_path / "s")}", "b={new_store(tmp_path / "b")}"]\nmax-batch = 2\nquiet = true\n'
    )
    with Served("--config", tmp_path / "serve.toml") as served, served.client() as client:
        assert client.get("/v1/stores").json() == {"stores": ["default", "b"]}
        assert "at most 2" in is_problem(post(client, "get", {"ids": [1, 2, 3]}), 413, "too_many_documents")


@pytest.mark.slow
def test_5000_idle_connections_leave_room_for_others_and_are_closed_in_the_end(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 6_000:
        pytest.skip(f"a process may have {hard} open files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 6_000), hard))
    idle = []
    try:
        with Served("--store", new_store(tmp_path / "s"), "--timeout", "12", "--quiet") as served:
            for _ in range(5_000):
                idle.append(connected(served))  # noqa: PERF401
            with served.client() as client:
                assert add(client, "a", FERRY)["is_new"]
                assert not post(client, "check", {"text": FERRY}).json()["is_new"]
            idle[0].settimeout(60)
            assert idle[0].recv(1) == b""
            with served.client() as client:
                assert not post(client, "check", {"text": FERRY}).json()["is_new"]
            assert served.end() == 0
    finally:
        for each in idle:
            each.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_connections_than_may_be_are_closed_at_once(tmp_path):
    with listening({"default": new_store(tmp_path / "s")}, limits=Limits(max_connections=3)) as url:
        port = int(url.rpartition(":")[2])
        first = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(3)]
        for each in first:  # they are there
            each.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert each.recv(100).startswith(b"HTTP/1.1 200")
        another = socket.create_connection(("127.0.0.1", port), timeout=30)
        with another, contextlib.suppress(ConnectionResetError):
            assert another.recv(1) == b""
        for each in first:
            each.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert each.recv(100)
            each.close()


@contextlib.contextmanager
def surviving(folder, *limits):
    """A service that is ready after all that the tests have done to it."""
    with Served("--store", new_store(folder / "s"), *limits) as found:
        yield found
        assert found.process.poll() is None, found.log
        with found.client() as client:
            assert client.get("/v1/ready").status_code == 200


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with surviving(tmp_path_factory.mktemp("served"), "--max-body", "100K", "--max-requests", "50") as found:
        yield found


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    with surviving(tmp_path_factory.mktemp("hasty"), "--timeout", "1") as found:
        yield found


def raw(served, sent, *, ends=False):
    """What comes back until the connection is closed."""
    with connected(served) as connection:
        connection.sendall(sent)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        found = b""
        while True:
            try:
                part = connection.recv(65536)
            except ConnectionResetError:
                return found
            if not part:
                return found
            found += part


def connected(served):
    return socket.create_connection(("127.0.0.1", served.port), timeout=30)


HOST = b"Host: localhost\r\n"
CHECK = b"POST /v1/stores/default/check HTTP/1.1\r\n" + HOST
JSON, IN_LINES = b"Content-Type: application/json\r\n", b"Content-Type: application/x-ndjson\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"400"),
        (b"GET\r\n\r\n", b"400"),
        (b"GET /v1/health HTTP/9.9\r\n\r\n", b"400"),
        (b"GET /v1/health HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST /v1/stores/default/check HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
        (b"POST /v1/stores/default/check HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"4"),
        (b"GET /v1/health HTTP/1.1\r\n" + b"X: " + b"a" * 100_000 + b"\r\n\r\n", b"431"),
        (b"GET /" + b"a" * 100_000, b"431"),
        (b"GET /v1/health HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, b"431"),
        (b"GET /v1/health HTTP/1.1\r\n" + HOST + b"X:\r\n" * 1_000 + b"\r\n", b"431"),
        (b"GET /v1/health HTTP/1.1\r\n" + HOST + HOST + b"\r\n", b"400"),
        (b"GET /v1/health HTTP/1.1\r\n" + HOST + b"hOST: other\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", b"431"),
        (b"CONNECT evil:80 HTTP/1.1\r\n" + HOST + b"\r\n", b"4"),
        (b"CONNECT evil:80 HTTP/1.1\r\n" + HOST + b"\r\nand more", b"4"),
        (b"GET http:// HTTP/1.1\r\n" + HOST + b"\r\n", b"4"),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", b"4"),
    ],
    ids=range(17),
)  # fmt: skip
def test_what_is_no_http_is_refused_and_the_connection_closed(served, sent, status):
    logged = len(served.log)
    found = raw(served, sent)
    assert found == b"" or found.split()[1].startswith(status), found
    assert not re.search("error|exception|Traceback", "".join(served.log[logged:]), re.IGNORECASE)


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET\r\n\r\n", 400, "invalid_request"),
        (b"GET /v1/health HTTP/1.1\r\n" + b"X: " + b"a" * 40_000 + b"\r\n\r\n", 431, "headers_too_large"),
    ],
)
def test_also_what_is_no_http_is_told_by_a_problem(served, sent, status, code):
    head, _, body = raw(served, sent).partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert b"content-type: application/problem+json" in head
    assert (head.split()[1], problem["status"], problem["code"]) == (str(status).encode(), status, code)


REQUESTS = [
    b"GET /v1/health HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n",
    b"POST /v1/stores/default/check HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 13\r\nConnection: close\r\n\r\n" + b'{"text": "ab"}'[:13],
    b"POST /v1/stores/default/check HTTP/1.1\r\n" + HOST + IN_LINES + b"Transfer-Encoding: chunked\r\n\r\nd\r\n" + b'{"text": "a"}\r\n0\r\n\r\n',
    b"GET /v1/stores/default/info HTTP/1.0\r\nAuthorization: Bearer x\r\nExpect: 100-continue\r\n\r\n",
]  # fmt: skip
BAD_BYTES = [
    b"\0",
    b"\r",
    b"\n",
    b"\r\n\r\n",
    b" ",
    b"\xff",
    b":",
    b"%",
    b"%zz",
    b"-1",
    b"9" * 30,
    b"\x80" * 50,
    b"HTTP/1.1",
    b"A" * 5000,
]


def mutated(rng):
    """A request of which some bytes are lost, doubled, replaced or moved."""
    found = bytearray(rng.choice(REQUESTS))
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(found)), rng.randint(0, 12)
        found[at : at + size] = rng.choice([b"", found[at : at + size] * 2, rng.choice(BAD_BYTES), rng.randbytes(size)])
        found = found or bytearray(b"\n")
    return bytes(found)


@pytest.mark.parametrize("seed", range(4))
def test_random_requests_reach_no_error_of_the_service(served, seed):
    rng, logged = random.Random(seed), len(served.log)
    for _ in range(60):
        sent = mutated(rng)
        found = raw(served, sent, ends=True)
        assert found == b"" or re.match(rb"HTTP/1\.[01] (?!5)\d\d\d ", found), (sent, found[:200])
    assert not re.search("error|exception|Traceback|internal", "".join(served.log[logged:]), re.IGNORECASE)


def test_connections_that_send_nothing_or_not_enough_are_closed_after_a_time(hasty):
    began = time.monotonic()
    beginnings = [b"", b"G", b"GET /v1/health HTTP/1.1\r\n" + HOST]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda sent: raw(hasty, sent), beginnings))
        assert found == [b""] * 3
    slow = raw(hasty, CHECK + JSON + b"Content-Length: 100\r\n\r\n{")
    assert b"408 Request Timeout" in slow
    assert b"The body did not come within 1 s. Send it faster." in slow
    assert time.monotonic() - began < 60  # it ends at all


def test_a_client_that_sends_a_byte_at_a_time_does_not_hold_its_connection(hasty):
    with connected(hasty) as connection:
        for byte in b"GET /v1/health HTTP/1.1\r\nX-Slow: " + b"x" * 200:
            try:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)
            except OSError:
                break
        else:
            raise AssertionError("the connection is still there")


def test_half_closed_clients_get_their_answers(served):
    body = json.dumps({"text": FERRY}).encode()
    head = CHECK + b"Connection: close\r\n" + JSON
    found = raw(served, head + b"Content-Length: %d\r\n\r\n" % len(body) + body, ends=True)
    assert found.startswith(b"HTTP/1.1 200")
    assert raw(served, head + b"Content-Length: 100\r\n\r\n" + body[:10], ends=True)[:12] in (b"", b"HTTP/1.1 408")


def test_a_body_that_is_said_to_be_too_large_is_refused_before_it_comes(hasty):
    found = raw(hasty, CHECK + JSON + b"Content-Length: 999999999999\r\n\r\n{")
    assert found.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in found.lower()


@pytest.mark.parametrize("framing", ["length", "chunks"])
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_client_that_sends_all_of_a_too_large_body_reads_the_refusal(served, framing, version):
    body = b"x" * 600_000
    sent = CHECK.replace(b"1.1", version) + JSON
    if framing == "length":
        sent += b"Content-Length: %d\r\n\r\n" % len(body) + body
    else:
        chunk = b"%x\r\n" % 30_000 + body[:30_000] + b"\r\n"
        sent += b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 20 + b"0\r\n\r\n"
    for _ in range(5):
        found = raw(served, sent)
        assert found.startswith(b"HTTP/1.1 413")
        assert b'"code":"too_large"' in found
        assert found.count(b"HTTP/1.1") == 1


def test_after_a_refusal_the_rest_of_the_body_is_dropped_and_the_next_request_answered(served):
    body = b"x" * 90_000
    refused = CHECK + b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    last = b"GET /v1/health HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n"
    with connected(served) as connection:
        for sent in (refused[:200], refused[200:50_000], refused[50_000:] + last):
            connection.sendall(sent)
            time.sleep(0.05)
        found = b""
        while part := connection.recv(65536):
            found += part
    assert [part[:3] for part in found.split(b"HTTP/1.1 ")[1:]] == [b"415", b"200"]


def test_a_body_without_end_is_dropped_up_to_a_size(served):
    with connected(served) as connection:
        connection.sendall(CHECK + JSON + b"Content-Length: 999999999999\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")
        sent = 0
        with contextlib.suppress(OSError):  # reset, or a broken pipe
            while sent < 300 << 20:
                sent += connection.send(b"x" * 65536)
    assert 60 << 20 < sent < 200 << 20  # buffers of the system take some


def test_a_refused_client_that_has_not_sent_its_body_is_not_waited_for(served):
    expecting = b"Content-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 9000\r\n\r\n"
    began = time.monotonic()
    assert raw(served, CHECK + expecting).startswith(b"HTTP/1.1 415")
    assert time.monotonic() - began < 25  # its time-out is 30 s


def test_pipelined_requests_are_answered_in_order(served):
    request = b"GET /v1/health HTTP/1.1\r\n" + HOST + b"\r\n"
    last = b"GET /v1/stores/default/info HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n"
    found = raw(served, request * 50 + last)
    assert found.count(b"HTTP/1.1 200 OK") == 51
    assert b'"method":"exact"' in found.rpartition(b"HTTP/1.1")[2]


def test_many_idle_connections_leave_room_for_others(served):
    idle = []
    try:
        for _ in range(400):
            idle.append(connected(served))  # noqa: PERF401
        with served.client() as client:
            assert post(client, "check", {"text": FERRY}).status_code == 200
    finally:
        for each in idle:
            each.close()


def test_more_requests_than_may_run_are_refused_and_the_others_answered(served):
    head = CHECK + JSON + b"Content-Length: 100\r\n\r\n{"
    waiting = [connected(served) for _ in range(50)]
    try:
        for each in waiting:
            each.sendall(head)
        with served.client() as client:
            for _ in range(1000):
                response = post(client, "check", {"text": FERRY})
                if response.status_code != 200:
                    break
            assert "50 requests are being answered" in is_problem(response, 429, "too_many_requests")
            assert response.headers["retry-after"] == "1"
            assert client.get("/v1/health").status_code == 200
    finally:
        for each in waiting:
            each.close()


def test_a_line_is_answered_while_the_stream_goes_on(served):
    with connected(served) as connection:
        connection.sendall(CHECK + IN_LINES + b"Transfer-Encoding: chunked\r\n\r\n")
        answers = connection.makefile("rb")
        for number in range(3):
            line = json.dumps({"text": FERRY, "id": number}).encode() + b"\n"
            connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            while not (found := answers.readline()).startswith(b"{"):
                assert found
            assert json.loads(found)["id"] == number


def test_a_client_that_does_not_read_is_dropped(hasty):
    line = json.dumps({"text": "x", "id": "i" * 2_000}).encode() + b"\n"
    with connected(hasty) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(CHECK + IN_LINES + b"Transfer-Encoding: chunked\r\n\r\n")
        chunk = b"%x\r\n%s\r\n" % (len(line), line)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(20_000 * chunk)


def test_asked_to_end_it_finishes_what_was_begun_and_loses_nothing(tmp_path):
    with Served("--store", new_store(tmp_path / "s")) as served:

        def adding(worker):
            answered = []
            with served.client() as client:
                for number in range(10_000):
                    try:
                        response = post(
                            client, "check-and-add", {"id": f"{worker}-{number}", "text": f"{FERRY} {worker} {number}"}
                        )
                    except httpx.TransportError:
                        break
                    if response.status_code != 200:
                        assert response.json()["code"] == "shutting_down"
                        break
                    answered.append(response.json()["id"])
            return answered

        with ThreadPoolExecutor(4) as pool:
            running = [pool.submit(adding, worker) for worker in range(4)]
            time.sleep(0.5)
            assert served.end() == 0
            answered = [each for done in running for each in done.result()]
        assert json.loads(served.log[-1])["event"] == "ended"
    assert len(answered) >= 4
    with nd.Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        assert len(store) + store.info().removed >= len(answered)
        assert all(
            not each.is_new for each in store.check_many([f"{FERRY} {each.replace('-', ' ')}" for each in answered])
        )


def test_an_idle_service_ends_at_once_by_either_signal(tmp_path):
    path = new_store(tmp_path / "s")
    for number in (signal.SIGINT, signal.SIGTERM):
        with Served("--store", path, "--quiet") as served, served.client() as client:
            add(client, str(number), BREAD)
            assert served.end(number) == 0
        assert [json.loads(line)["event"] for line in served.log] == ["listening", "started", "ended"]


def test_a_port_that_is_taken_is_named(served, tmp_path, capsys):
    code, error = run(capsys, "serve", "--store", new_store(tmp_path / "s"), "--port", served.port)
    assert code == 2
    assert (
        f"127.0.0.1:{served.port} cannot be listened on: Address already in use. Give another --port or --host."
        in error
    )


def test_tls_with_tokens_of_the_environment(tmp_path):
    trustme = pytest.importorskip("trustme", reason="needs trustme, which makes certificates")
    authority = trustme.CA()
    own = authority.issue_cert("localhost", "127.0.0.1")
    own.private_key_pem.write_to_path(tmp_path / "key.pem")
    with (tmp_path / "certificate.pem").open("wb") as file:
        file.writelines(blob.bytes() for blob in own.cert_chain_pems)
    arguments = ["--tls-certificate", tmp_path / "certificate.pem", "--tls-key", tmp_path / "key.pem"]
    environment = {"NEARDUP_TOKENS": f"crawler write {TOKEN}"}
    with Served("--store", new_store(tmp_path / "s"), *arguments, environment=environment) as served:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        url = f"https://localhost:{served.port}"
        with httpx.Client(base_url=url, verify=context, trust_env=False) as client:
            assert client.get("/v1/stores").status_code == 401
            client.headers["Authorization"] = f"Bearer {TOKEN}"
            assert add(client, "a", FERRY)["is_new"]
        with pytest.raises(httpx.TransportError), httpx.Client(trust_env=False) as client:
            client.get(served.url)
        assert served.end() == 0
    assert TOKEN not in "".join(served.log)


def test_a_file_of_tokens_that_others_may_read_is_told(tmp_path):
    tokens = tokens_in(tmp_path)
    tokens.chmod(0o644)
    with Served("--store", new_store(tmp_path / "s"), "--tokens", tokens) as served:
        assert served.end() == 0
    assert json.loads(served.log[0]) | {"time": 0} == {
        "time": 0,
        "event": "tokens_are_read_by_others",
        "file": str(tokens),
    }


def test_a_file_of_tokens_that_systemd_hands_over_is_read_by_nobody_else_whatever_its_mode(tmp_path):
    tokens = tokens_in(tmp_path)
    tokens.chmod(0o440)
    for folder, is_told in ((tmp_path, False), (tmp_path / "other", True), ("", True)):
        environment = {"CREDENTIALS_DIRECTORY": str(folder)}
        store = new_store(tmp_path / f"s{is_told}{len(environment['CREDENTIALS_DIRECTORY'])}")
        with Served("--store", store, "--tokens", tokens, environment=environment) as served:
            assert served.end() == 0
        assert ("tokens_are_read_by_others" in "".join(served.log)) == is_told


def test_streams_of_several_clients_at_a_time(served):
    def ask(number):
        body = b"".join(json.dumps({"text": f"{FERRY} {number} {line}"}).encode() + b"\n" for line in range(300))
        with served.client() as client:
            return client.post("/v1/stores/default/check", content=body, headers=LINES).text.count("\n")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [300] * 4
