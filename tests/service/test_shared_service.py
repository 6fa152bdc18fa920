"""Several services on one store in PostgreSQL: one answer to each key, the same answers everywhere, and what happens when the database is away."""

import json
import signal
import threading
import time

import pytest

import neardup as nd
from neardup.cli.main import main
from neardup.service.limits import Limits
from neardup.service.stores.named_stores import named_stores
from neardup.store.postgresql import connection, shared_files
from neardup.store.postgresql.problems import LostError
from neardup.store.store import Store
from service.serving import BREAD, FERRY, LATER, LINES, Served, add, asking, is_problem, lines, new_store, post

SECRET = "opensesame"
KEY = {"Idempotency-Key": "k"}


@pytest.fixture
def impatient(monkeypatch):
    """What a service does every second, or for some seconds, it does at once."""
    monkeypatch.setattr(connection, "MIN_PATIENCE_SECONDS", 0.1)
    return Limits(reopen_seconds=0.05, look_seconds=0.05)


def soon(true):
    """Wait until something is true."""
    ends = time.monotonic() + 60
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.fixture
def two(place):
    """Clients of two services on one store."""
    new_store(place)
    with asking(place) as one, asking(place) as other:
        yield one, other


def test_what_one_service_has_answered_the_other_knows(two):
    one, other = two
    assert add(one, "a", FERRY, metadata={"x": 1})["is_new"]
    again = add(other, "b", LATER)
    assert (again["is_new"], again["duplicate_of"]) == (False, "a")
    assert post(other, "get", {"ids": ["a"]}).json()["documents"][0]["metadata"] == {"x": 1}
    answers = other.post("/v1/stores/default/check-and-add", content=lines([{"id": "c", "text": BREAD}]), headers=LINES)
    assert answers.json()["is_new"]
    asked = [{"text": BREAD}, {"text": LATER}]
    assert post(one, "check", asked).json() == post(other, "check", asked).json()
    assert [client.get("/v1/stores/default/info").json()["documents"] for client in two] == [2, 2]
    removed = {"removed": 1, "unknown": ["x"], "ids": ["a"]}
    orphans = {"count": 1, "not_compared": 1, "ids": ["b"], "after": 0}  # the store keeps no texts
    assert post(one, "remove", {"ids": ["a", "x"]}).json() == {**removed, "orphans": orphans}
    assert post(other, "check", {"text": FERRY}).json()["is_new"]
    assert post(other, "neighbors", {"text": BREAD}).json()["neighbors"][0]["id"] == "c"


def test_each_document_expires_at_its_own_time(two):
    one, other = two
    times = [time.time() + 2, None, 5e9]
    texts = [FERRY, BREAD, "Something else, which is like nothing that was there before."]
    body = [
        {"id": n, "text": text} | ({} if at is None else {"expires": at})
        for n, (text, at) in enumerate(zip(texts, times, strict=True))
    ]
    assert [each["is_new"] for each in post(one, "check-and-add", body, headers=KEY).json()] == [True] * 3
    assert [each["expires"] for each in post(other, "get", {"ids": [0, 1, 2]}).json()["documents"]] == times
    time.sleep(max(0.0, times[0] - time.time()) + 0.1)
    assert post(other, "expire", {}).json() == {"removed": 1}
    assert post(one, "get", {"ids": [0, 1, 2]}).json()["unknown"] == [0]
    assert len(post(one, "check-and-add", body, headers=KEY).json()) == 3  # an answer, not another decision
    assert post(other, "get", {"ids": [0, 1, 2]}).json()["unknown"] == [0]


@pytest.mark.parametrize("form", ["one", "array", "lines"])
def test_a_request_that_is_repeated_at_another_service_gets_the_first_answer(two, form):
    one, other = two
    documents = [{"id": "a", "text": FERRY}, {"id": "b", "text": LATER}]

    def ask(client, documents=documents):
        if form == "lines":
            return client.post("/v1/stores/default/check-and-add", content=lines(documents), headers=KEY | LINES)
        return post(client, "check-and-add", documents[0] if form == "one" else documents, headers=KEY)

    first = ask(one)
    assert first.status_code == 200
    again = ask(other)
    assert again.content == ask(one).content == first.content
    if form != "lines":
        assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (None, "true")
        is_problem(ask(other, [{"id": "a", "text": BREAD}]), 422, "key_reused")
    assert other.get("/v1/stores/default/info").json()["documents"] == 1


def test_the_same_key_at_two_services_at_the_same_moment_has_one_answer(two):
    """The second has looked for a note, and waits for the lock, while the first decides."""
    one, other = two
    entered, goes_on, told = threading.Event(), threading.Event(), {}
    store = one.service.workers["default"].held.store
    adding = store.check_and_add_many

    def slow(*arguments, notes, **named):
        def noting(answers):
            entered.set()
            assert goes_on.wait(60)
            return notes(answers)

        return adding(*arguments, notes=noting, **named)

    store.check_and_add_many = slow
    body = [{"id": "a", "text": FERRY}]

    def ask(name, client):
        told[name] = post(client, "check-and-add", body, headers=KEY)

    first, second = (threading.Thread(target=ask, args=each) for each in (("one", one), ("other", other)))
    first.start()
    assert entered.wait(60)
    second.start()
    mixed = threading.Thread(target=lambda: told.update(mixed=add(other, "b", BREAD)))  # waits behind, and is decided
    mixed.start()
    time.sleep(0.1)
    goes_on.set()
    for each in (first, second, mixed):
        each.join(60)
    assert told["one"].content == told["other"].content
    assert told["one"].json()[0]["is_new"]
    assert told["other"].headers["idempotency-replayed"] == "true"
    assert told["mixed"]["is_new"]


def test_named_stores_may_be_in_databases_and_in_folders(server, schema, tmp_path):
    places = {
        "news": server.place(schema, "news"),
        "pages": server.place(schema, "pages"),
        "local": str(tmp_path / "s"),
    }
    for each in places.values():
        new_store(each)
    assert named_stores([f"{name}={each}" for name, each in places.items()]) == places
    with asking(places) as client:
        workers = client.service.workers
        assert [workers[name]._look_seconds is None for name in places] == [False, False, True]
        for name in places:
            assert post(client, "check-and-add", {"id": name, "text": FERRY}, store=name, headers=KEY).json()["is_new"]
            assert client.get(f"/v1/stores/{name}/info").json()["documents"] == 1
        assert client.get("/v1/ready").json() == {"ready": True, "stores": dict.fromkeys(places)}


def test_without_requests_a_service_follows_what_others_write(place, impatient):
    new_store(place)
    with asking(place, limits=impatient) as one, asking(place, limits=impatient) as other:
        add(one, "a", FERRY)
        soon(lambda: 'neardup_store_documents{store="default"} 1.0' in other.get("/metrics").text)


def test_a_database_that_is_away_is_told_and_used_again_when_it_is_back(own_server, impatient):
    place, log = own_server.place("s"), []
    new_store(place)
    with asking(place, limits=impatient, log=log) as one, asking(place, limits=impatient) as other:
        add(one, "a", FERRY)
        own_server.stop()
        for name, body in (
            ("check", {"text": FERRY}),
            ("check-and-add", {"id": "b", "text": BREAD}),
            ("remove", {"ids": ["a"]}),
        ):
            answer = post(one, name, body)
            assert (
                is_problem(answer, 503, "store_unavailable")
                == "The database of the store cannot be reached. Nothing was changed."
            )
            assert answer.headers["retry-after"] == "1"
        for client in (one, other):  # the other one was not asked
            soon(lambda client=client: client.get("/v1/ready").status_code == 503)
            assert client.get("/v1/ready").json() == {"ready": False, "stores": {"default": "unavailable"}}
            assert client.get("/v1/health").status_code == 200
        own_server.start()
        for client in (one, other):
            soon(lambda client=client: client.get("/v1/ready").status_code == 200)
        assert add(one, "b", BREAD)["is_new"]
        assert not add(other, "c", LATER)["is_new"]
        assert 'neardup_store_failures_total{store="default"} 0' not in one.get("/metrics").text
    events = [each["event"] for each in log if each["event"].startswith("store")]
    assert set(events) == {"store_unreachable", "store_reached_again"}
    assert not any(FERRY in json.dumps(each) for each in log)


def test_requests_are_refused_at_once_while_a_database_is_away(own_server, monkeypatch):
    """The first waits for it; those within the next second do not."""
    monkeypatch.setattr(connection, "MIN_PATIENCE_SECONDS", 0.3)
    place = own_server.place("s")
    new_store(place)
    with asking(place, limits=Limits(reopen_seconds=60.0)) as client:
        worker = client.service.workers["default"]
        own_server.stop()
        is_problem(post(client, "check", {"text": FERRY}), 503, "store_unavailable")
        attempts, connected = [], connection.Database.connected
        monkeypatch.setattr(connection.Database, "connected", lambda self: attempts.append(1) or connected(self))
        for _ in range(5):
            is_problem(post(client, "check-and-add", {"id": "b", "text": BREAD}), 503, "store_unavailable")
        assert attempts == []
        worker.held.store._files.database.patience = 600.0
        worker.held._tried_at -= 60
        is_problem(post(client, "check", {"text": FERRY}), 503, "store_unavailable")
        assert attempts == [1]  # not for ten minutes
        own_server.start()
        worker.held._tried_at -= 60
        assert add(client, "b", BREAD)["is_new"]


@pytest.mark.parametrize("arrives", [True, False])
def test_an_unknown_outcome_is_told_and_the_key_finds_it_out(place, impatient, monkeypatch, arrives):
    new_store(place)
    commit, is_away = shared_files.commit, threading.Event()
    connected = connection.Database.connected

    def lost(session):
        if arrives:
            commit(session)
        is_away.set()
        session.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    def gone(self):
        if is_away.is_set():
            raise LostError("a test")
        return connected(self)

    with asking(place, limits=impatient) as one, asking(place, limits=impatient) as other:
        monkeypatch.setattr(connection.Database, "connected", gone)
        monkeypatch.setattr(shared_files, "commit", lost)
        answer = post(one, "check-and-add", {"id": "a", "text": FERRY}, headers=KEY)
        assert "Documents may be added. Repeat the request" in is_problem(answer, 504, "outcome_unknown")
        assert answer.headers["retry-after"] == "1"
        monkeypatch.setattr(shared_files, "commit", commit)
        is_away.clear()
        for client in (other, one):
            soon(lambda client=client: client.get("/v1/ready").status_code == 200)
        again = post(other, "check-and-add", {"id": "a", "text": FERRY}, headers=KEY)
        assert again.json()["is_new"]
        assert again.headers.get("idempotency-replayed") == ("true" if arrives else None)
        assert post(one, "check-and-add", {"id": "a", "text": FERRY}, headers=KEY).content == again.content


def test_what_the_role_may_not_do_is_refused_and_the_store_stays_ready(server, place, schema):
    new_store(place)
    with Store(place) as owned, asking(place) as client:
        add(client, "a", FERRY)
        role = f"adds_{schema}"
        server.execute(f"CREATE ROLE {role} LOGIN")
        server.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        server.execute(f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {schema} TO {role}")
        forgets = ("judgements", "skipped", "skipped_contents", "orphans")
        server.execute(f"GRANT DELETE ON {', '.join(f'{schema}.{table}' for table in forgets)} TO {role}")
        try:
            with asking(place.replace("neardup@", f"{role}@")) as limited:
                assert post(limited, "remove", {"ids": ["a"]}).json()["removed"] == 1
                answer = post(limited, "compact", {})
                assert "permission denied" in is_problem(answer, 500, "not_granted")
                assert "retry-after" not in answer.headers
                assert limited.get("/v1/ready").status_code == 200
                assert add(limited, "b", BREAD)["is_new"]
                server.execute(f"REVOKE INSERT ON {schema}.documents FROM {role}")
                is_problem(post(limited, "check-and-add", {"id": "c", "text": FERRY}), 500, "not_granted")
                assert post(limited, "check", {"text": FERRY}).json()["is_new"]
                server.execute(f"GRANT INSERT ON {schema}.documents TO {role}")
                assert add(limited, "c", FERRY)["is_new"]
                assert not add(client, "d", FERRY)["is_new"]
            assert len(owned) == 2
        finally:
            server.execute(f"DROP OWNED BY {role}")
            server.execute(f"DROP ROLE {role}")


def test_a_database_that_has_gone_back_is_refused_with_what_to_do(server, place, schema, impatient):
    new_store(place)
    with asking(place, limits=impatient) as client:
        add(client, "a", FERRY)
        server.execute(f"UPDATE {schema}.changes SET request = 'another'")
        server.execute(f"UPDATE {schema}.stores SET position = 0, request = ''")
        soon(lambda: client.get("/v1/ready").status_code == 503)
        assert "has gone back to an older state" in is_problem(
            post(client, "check", {"text": FERRY}), 503, "store_unavailable"
        )


def test_the_end_of_a_service_finishes_what_waits_for_the_lock(server, place, schema):
    import psycopg

    new_store(place)
    identity = server.execute(f"SELECT id FROM {schema}.stores")[0][0]
    told = []
    with Served("--store", place) as served, served.client() as client:
        with psycopg.connect(server.url()) as holding:
            holding.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"neardup store {identity}",))
            asked = threading.Thread(target=lambda: told.append(add(client, "a", FERRY)))
            asked.start()
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            soon(lambda: server.execute(waiting) == [(1,)])
            served.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            holding.rollback()
        asked.join(60)
        assert served.end() == 0
    assert told[0]["is_new"]
    with nd.Store(place) as store:
        assert store.get("a") is not None


def test_nothing_shows_the_password_of_a_place(own_server, impatient, capsys, monkeypatch):
    place = own_server.place("s").replace("neardup@", f"neardup:{SECRET}@")
    more = f"{own_server.place('s', 'more')}&password={SECRET}"
    new_store(place)
    new_store(more)
    said, log = [], []
    with asking({"default": place, "more": more}, limits=impatient, log=log) as client:
        add(client, "a", FERRY)
        paths = ("/v1/stores", "/metrics", "/v1/ready", *(f"/v1/stores/{name}/info" for name in ("default", "more")))
        said += [client.get(path).text for path in paths]
        own_server.stop()
        said += [post(client, "check", {"text": BREAD}, store=name).text for name in ("default", "more")]
        said += [client.get(path).text for path in paths]
    said += list(map(json.dumps, log))

    def command(*arguments):
        code = 0
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code
        done = capsys.readouterr()
        said.extend([done.out, done.err])
        return code

    assert command("serve", "--store", place) == 1
    assert "neardup@" in said[-1]
    own_server.start()
    for each in (place, more):
        assert command("store", "info", each) == 0
        assert command("serve", "--store", f"{each}&store2=x") == 2
        assert command("serve", "--store", each, "--store", each) == 2
        assert command("serve", "--store", f"a={each}", "--store", f"b={each}") == 2
        assert command("serve", "--store", each.replace("schema=s", "schema=none")) == 2
    assert any("another store with the name" in each for each in said)
    assert any("has another name already" in each for each in said)
    assert any("is no store" in each for each in said)
    assert [each for each in said if SECRET in each] == []


@pytest.mark.parametrize(
    "place",
    [
        f"postgresql://u:{SECRET}/x@h/d",
        f"postgresql://u:{SECRET}?x@h/d",
        f"postgresql://u:{SECRET}#x@h/d",
        f"postgres://u:{SECRET}/@h:1/d",
        f"postgresql://u:{SECRET}@x@h/d",
    ],
)
def test_a_password_that_is_not_encoded_is_refused_and_not_shown(place):
    for call in (lambda: nd.Store(place), lambda: named_stores([place, place])):
        with pytest.raises(nd.OptionError, match="in the user or the password") as caught:
            call()
        assert SECRET not in str(caught.value)


def test_the_client_goes_on_where_a_service_was_away(own_server, impatient, monkeypatch):
    """Its requests are sent again with their keys, until the database is back."""
    from neardup.service.client import calls
    from service.serving import listening

    monkeypatch.setattr(calls, "LONGEST_PAUSE_SECONDS", 0.05)
    place = own_server.place("s")
    new_store(place)
    texts = [f"{FERRY} {number * 91} {number * 37}" for number in range(60)]
    with listening({"default": place}, limits=impatient) as url, nd.Client(url, retries=1_000) as client:
        stopping = threading.Thread(
            target=lambda: (time.sleep(0.2), own_server.stop(signal.SIGQUIT), own_server.start())
        )
        stopping.start()
        answers = [client.check_and_add(number, text) for number, text in enumerate(texts)]
        while stopping.is_alive():
            answers.append(client.check_and_add("x", BREAD))
        stopping.join()
        answers = answers[:60]
        assert [each.is_new for each in client.check_many(texts)] == [False] * 60
    with nd.Store(place) as store:
        kept = [number for number in range(60) if store.get(number)]
        assert kept == [number for number, each in enumerate(answers) if each.is_new]
