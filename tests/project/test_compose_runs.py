"""What compose.yaml starts, run without containers: PostgreSQL, its roles, two services and nginx; and the page's commands on PostgreSQL."""

import contextlib
import http.client
import json
import os
import random
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import neardup as nd
import postgres_server
from deployed import COMPOSE, DEPLOY, PAGE, bearer, certificate_in, free_port, make_secrets, nginx, running_nginx
from places import ROOT
from service.serving import FERRY, Served, add, httpx, is_problem, lines, post, texts_of

NAMED = "postgresql://neardup@db/pages"


@pytest.fixture(scope="module")
def server():
    """A server whose role `service` must give its password."""
    why = postgres_server.why_not()
    if why:
        pytest.skip(why)
    server = postgres_server.Server()
    rules = "local replication all trust\nlocal all service scram-sha-256\nlocal all all trust\n"
    (server.data / "pg_hba.conf").write_text(rules)
    server.start()
    yield server
    server.remove()


def database(server, name):
    """The URL of a new database."""
    server.execute(f"CREATE DATABASE {name}")
    return f"postgresql://neardup@/{name}?host={server.folder}"


@pytest.mark.slow
def test_the_commands_of_the_page_on_postgresql_give_what_they_show(server, tmp_path):
    url = database(server, "pages")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{postgres_server.binaries()}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
    }
    count = 0
    for block in re.findall(r"^```sh\n(\$ .*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.replace(NAMED, url).partition("\n")
            done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert (done.stdout, done.returncode) == (expected, 0), f"{command}\n{done.stderr}"
            count += 1
    assert count >= 12
    exported = (tmp_path / "lost" / "store.json").read_text()
    assert json.loads(exported)  # what the database had lost


@contextlib.contextmanager
def proxied(folder, ports, certificate):
    """The URL of nginx with the project's file before services on these ports."""
    shutil.copy(certificate[0], folder / "secrets/server.pem")
    shutil.copy(certificate[1], folder / "secrets/server.key")
    for name in ("tmp", "out"):
        (folder / name).mkdir()
    text, of_tls, of_health = (DEPLOY / "nginx.conf").read_text(), free_port(), free_port()
    for number, port in enumerate(ports, 1):
        text = text.replace(f"server service-{number}:8080 resolve", f"server 127.0.0.1:{port}")
    text = text.replace("listen 8443", f"listen 127.0.0.1:{of_tls}").replace("127.0.0.1:8081", f"127.0.0.1:{of_health}")
    text = text.replace("/tmp/", f"{folder}/tmp/").replace("/run/secrets", str(folder / "secrets"))
    text = text.replace("/dev/stdout", str(folder / "out/access"))
    folder.chmod(0o711)  # its workers may be another user
    with running_nginx(folder, text, of_health):
        yield f"https://localhost:{of_tls}"


class Composed:
    """What `docker compose` would start, as processes: the services, and a client through the proxy."""

    def __init__(self, folder, server, certificate, stack):
        self.folder, self.server, self.tokens = folder, server, make_secrets(folder)
        self.database = f"compose_{os.getpid()}"
        self.owner, secrets = database(server, self.database), folder / "secrets"
        create = [self._here(each) for each in COMPOSE["services"]["create"]["command"]]
        run([sys.executable, "-m", "neardup", *create, "--quiet"], NEARDUP_CACHE_DIR=folder / "create")
        roles = [self._here(each) for each in COMPOSE["services"]["roles"]["entrypoint"]]
        for _ in range(2):  # it may be run again
            run([*roles, "--quiet"], SERVICE_PASSWORD_FILE=secrets / "service_password")
        self.password = (secrets / "service_password").read_text()
        (secrets / "service.pgpass").write_text(f"*:*:*:service:{self.password}\n")
        self.services = [stack.enter_context(self._served(name)) for name in ("service-1", "service-2")]
        self.url = stack.enter_context(proxied(folder, [each.port for each in self.services], certificate))
        self.context = ssl.create_default_context(cafile=str(certificate[2]))
        made = httpx.Client(
            base_url=self.url, verify=self.context, timeout=60, trust_env=False, headers=bearer(self.tokens)
        )
        self.client = stack.enter_context(made)

    def place(self, user):
        return f"postgresql://{user}@/{self.database}?host={self.server.folder}"

    def _here(self, argument):
        """An argument of compose.yaml, with the database and the folder of this test."""
        for user, own in (("owner", self.owner), ("service", self.place("service"))):
            argument = argument.replace(f"postgresql://{user}@database/neardup", own)
        argument = argument.replace("/run/secrets", str(self.folder / "secrets"))
        return argument.replace("/roles.sql", str(DEPLOY / "roles.sql"))

    def _served(self, name):
        command, *given = COMPOSE["services"][name]["command"]
        assert command == "serve"
        given = [self._here(each) for each in given if not each.startswith(("--host=", "--port="))]
        secrets = {"PGPASSFILE": str(self.folder / "secrets/service.pgpass")}
        return Served(*given, environment=secrets | {"NEARDUP_CACHE_DIR": str(self.folder / name)})


def run(command, **environment):
    given = os.environ | {name: str(value) for name, value in environment.items()}
    done = subprocess.run(command, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def compose(server, tmp_path_factory):
    nginx()
    folder = Path(tempfile.mkdtemp(prefix="compose-", dir="/tmp"))
    try:
        with contextlib.ExitStack() as stack:
            yield Composed(folder, server, certificate_in(tmp_path_factory.mktemp("tls")), stack)
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
def test_what_compose_starts_answers_as_one_service_through_the_proxy(compose):
    client, different = compose.client, texts_of(random.Random(3), 30, copies=0.0)
    texts = [*different, *(text.upper() for text in different)]
    random.Random(4).shuffle(texts)
    with ThreadPoolExecutor(8) as threads:
        first = list(threads.map(lambda i: add(client, i, texts[i]), range(60)))
        again = list(threads.map(lambda i: add(client, i, texts[i]), range(60)))
    kept = {i for i in range(60) if first[i]["is_new"]}
    assert {texts[i].lower() for i in kept} == set(different)
    assert len(kept) == 30
    assert {each["duplicate_of"] for each in first if not each["is_new"]} == kept
    assert not any(each["is_new"] for each in again)
    assert client.get("/v1/stores/default/info").json()["documents"] == len(kept)
    asked = re.findall(r'"service":"127.0.0.1:(\d+)"', (compose.folder / "out/access").read_text())
    assert {str(each.port) for each in compose.services} == set(asked), "both have answered"


@pytest.mark.slow
def test_tokens_and_their_roles_count_behind_the_proxy_and_metrics_are_not_before_it(compose):
    client = compose.client
    is_problem(post(client, "check", {"text": FERRY}, headers={"Authorization": ""}), 401, "unauthorized")
    is_problem(post(client, "remove", {"ids": [1]}), 403, "forbidden")
    reader = bearer(compose.tokens, "prometheus")
    is_problem(client.get("/metrics", headers=reader), 404, "not_found")
    assert client.get("/v1/ready", headers={"Authorization": ""}).json()["ready"]
    for each in compose.services:
        with each.client(headers=reader) as direct:
            assert 'neardup_store_documents{store="default"}' in direct.get("/metrics").text


@contextlib.contextmanager
def opened(compose):
    """A connection to the proxy, on which requests are sent by hand."""
    host, _, port = compose.url.removeprefix("https://").partition(":")
    asked = http.client.HTTPSConnection(host, int(port), context=compose.context, timeout=60)
    try:
        yield asked
    finally:
        asked.close()


@pytest.mark.slow
@pytest.mark.parametrize("length", [(8 << 20) + 1, 9 << 20, 2 << 30])
def test_a_body_that_is_too_large_is_refused_before_a_service_sees_it(compose, length):
    with opened(compose) as asked:
        asked.request("POST", "/v1/stores/default/check", headers={"Content-Length": str(length)})
        response = asked.getresponse()
        assert (response.status, response.getheader("Content-Type")) == (413, "application/problem+json")
        assert json.loads(response.read())["code"] == "too_large"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/ndjson; charset=utf-8", "Application/JSONL"])
def test_streams_of_lines_are_refused_because_the_proxy_would_let_them_hang(compose, kind):
    answered = compose.client.post(
        "/v1/stores/default/check", content=lines([{"text": FERRY}]), headers={"Content-Type": kind}
    )
    assert "Give application/json: an array" in is_problem(answered, 415, "unsupported_media_type")


@pytest.mark.slow
def test_arrays_that_a_client_sends_are_answered_whole(compose):
    texts = [f"{text} {'x' * 3_000}" for text in texts_of(random.Random(5), 1_000, copies=0.0)]
    with nd.Client(compose.url, token=compose.tokens["crawler"], verify=compose.context) as client:
        first = client.check_and_add_many([f"array-{i}" for i in range(1_000)], texts)
        again = client.check_many(texts)
    assert len(first) == len(again) == 1_000
    assert not any(each.is_new for each in again)


@pytest.mark.slow
def test_the_role_of_the_services_can_do_no_more_than_they_need(compose):
    import psycopg

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(compose.place("service"), password="wrong", passfile="/dev/null")
    refused = (
        "DELETE FROM neardup.documents", "TRUNCATE neardup.changes", "DROP TABLE neardup.removed", "CREATE TABLE neardup.more (a int)",
        "CREATE TABLE public.more (a int)", "UPDATE neardup.changes SET at = 0", "INSERT INTO neardup.version VALUES (2)",
        "CREATE ROLE other", "ALTER ROLE service SUPERUSER",
    )  # fmt: skip
    with psycopg.connect(compose.place("service"), password=compose.password, autocommit=True) as connection:
        for statement in refused:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


@pytest.mark.slow
def test_the_owner_compacts_the_store_and_the_services_may_not(compose):
    operator = bearer(compose.tokens, "operator")
    add(
        compose.client,
        "to be removed",
        "A text that nothing else is like: quinces, ballast, a heliograph, vellum and tin.",
    )
    removed = post(compose.client, "remove", {"ids": ["to be removed"]}, headers=operator)
    assert removed.json()["removed"] == 1
    assert post(compose.client, "compact", {}, headers=operator).status_code >= 500
    compact = [compose._here(each) for each in COMPOSE["services"]["compact"]["command"]]
    run([sys.executable, "-m", "neardup", *compact, "--quiet"], NEARDUP_CACHE_DIR=compose.folder / "compact")
    add(compose.client, "after", FERRY)
    assert post(compose.client, "compact", {}, headers=operator).json() == {"compacted": False}


@pytest.mark.slow
def test_when_one_service_has_ended_the_other_answers_and_without_any_the_proxy_says_so(compose):
    """The last one: it ends the services."""
    first, second = compose.services
    add(compose.client, "ferry", FERRY)
    assert first.end() == 0
    assert all(compose.client.get("/v1/ready").status_code == 200 for _ in range(8))
    assert not add(compose.client, "once more", FERRY)["is_new"]
    assert second.end() == 0
    for _ in range(4):
        found = compose.client.get("/v1/ready")
        is_problem(found, 502, "no_answer")
        assert found.headers["retry-after"] == "1"
