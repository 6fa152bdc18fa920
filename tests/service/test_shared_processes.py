"""Processes that serve one store in PostgreSQL, with overlapping streams, kills and outages: what was answered is there, in one order."""

import contextlib
import json
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import neardup as nd
from service.serving import Served, new_store, post, texts_of

AGAIN = (502, 503, 504)


@contextlib.contextmanager
def serving(place, count):
    """Some services on one store, which start at the same time."""
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda _: Served("--store", place, "--quiet"), range(count)))
    try:
        yield found
    finally:
        for each in found:
            each.end(signal.SIGKILL)


def requests_of(rng, texts, writer):
    """Bodies by key: one document, or some, of texts that other writers have, too."""
    numbers, found = list(range(len(texts))), {}
    rng.shuffle(numbers)
    while numbers:
        some = [numbers.pop() for _ in range(min(len(numbers), rng.choice((1, 1, 1, 7))))]
        documents = [{"id": f"{writer}-{number}", "text": texts[number]} for number in some]
        found[f"{writer}-{some[0]}"] = documents[0] if len(documents) == 1 else documents
    return found


def new_numbered_store(server, schema, place, **options):
    """A store whose notes have the order of their requests: where a row lies in its table does not tell it."""
    new_store(place, **options)
    server.execute(f"ALTER TABLE {schema}.notes ADD COLUMN turn bigserial")


def in_order(server, schema):
    """The keys in the order of commits: notes and changes of a transaction have its id."""
    query = f"SELECT key FROM {schema}.notes JOIN {schema}.changes ON notes.xmin = changes.xmin ORDER BY position, turn"
    return [key.rpartition("\n")[2] for (key,) in server.execute(query)]


def agrees_with_one(server, schema, place, folder, bodies, answers, texts, **options):
    """Whether a store that got the requests alone, in the order of commits, gives the same answers, and has the same documents."""
    order = in_order(server, schema)
    assert sorted(order) == sorted(bodies)
    with nd.Store(folder, min_similarity=0.7, **options) as alone, nd.Store(place) as shared:
        for key in order:
            body, told = bodies[key], answers[key]
            for document, answer in zip(
                [body] if isinstance(body, dict) else body, [told] if isinstance(told, dict) else told, strict=True
            ):
                found = alone.check_and_add(document["id"], document["text"])
                assert (found.is_new, found.duplicate_of) == (answer["is_new"], answer["duplicate_of"])
        names = [each["id"] for body in bodies.values() for each in ([body] if isinstance(body, dict) else body)]
        assert [alone.get(each) is None for each in names] == [shared.get(each) is None for each in names]
        assert alone.check_many(texts) == shared.check_many(texts)
        assert shared.verify().is_sound


@pytest.mark.parametrize(
    ("count", "keep"),
    [
        (2, "first"),
        pytest.param(4, "first", marks=pytest.mark.slow),
        pytest.param(4, "longest", marks=pytest.mark.long),
    ],
)
def test_services_with_overlapping_streams_decide_as_one_in_the_order_of_commits(
    server, schema, place, tmp_path, count, keep
):
    new_numbered_store(server, schema, place, keep=keep)
    texts = texts_of(random.Random(6), 60)
    bodies = {writer: requests_of(random.Random(writer), texts, writer) for writer in range(2 * count)}
    with serving(place, count) as services:

        def write(writer):
            with services[writer % count].client() as client:
                return {
                    key: post(client, "check-and-add", body, headers={"Idempotency-Key": key}).json()
                    for key, body in bodies[writer].items()
                }

        with ThreadPoolExecutor(2 * count) as pool:
            answers = {key: answer for some in pool.map(write, bodies) for key, answer in some.items()}
        assert [each.end() for each in services] == [0] * count
    everything = {key: body for some in bodies.values() for key, body in some.items()}
    agrees_with_one(server, schema, place, tmp_path / "one", everything, answers, texts, keep=keep)


@pytest.mark.parametrize("kills", [2, pytest.param(6, marks=pytest.mark.long)])
def test_a_service_that_is_killed_under_load_has_lost_nothing_and_others_go_on(server, schema, place, tmp_path, kills):
    """Writers send what was not answered again, with its key, to the other service."""
    new_numbered_store(server, schema, place)
    rng, texts = random.Random(kills), texts_of(random.Random(8), 150 * kills)
    bodies = {writer: requests_of(random.Random(writer), texts, writer) for writer in range(4)}
    answers, is_over = {}, threading.Event()
    with serving(place, 2) as services:

        def write(writer):
            at = writer % 2
            for key, body in bodies[writer].items():
                while not is_over.is_set():
                    try:
                        with services[at].client() as client:
                            answer = post(client, "check-and-add", body, headers={"Idempotency-Key": key})
                    except httpx.TransportError:
                        at = 1 - at
                        continue
                    if answer.status_code in AGAIN:
                        continue
                    assert answer.status_code == 200, answer.text
                    answers[key] = answer.content
                    break

        with ThreadPoolExecutor(4) as pool:
            writing = [pool.submit(write, writer) for writer in bodies]
            for kill in range(kills):
                before = len(answers)
                time.sleep(rng.uniform(0.1, 0.5))
                while len(answers) < before + 12 and not all(each.done() for each in writing):
                    time.sleep(0.01)  # the machine has other work
                services[kill % 2].process.kill()
                services[kill % 2].end()
                services[kill % 2] = Served("--store", place, "--quiet")
            while len(answers) < 40 and not all(each.done() for each in writing):
                time.sleep(0.01)
            is_over.set()
            for each in writing:
                each.result()
        everything = {key: body for some in bodies.values() for key, body in some.items()}
        for each in services:
            with each.client() as client:
                for key in rng.sample(sorted(answers), 20):
                    again = post(client, "check-and-add", everything[key], headers={"Idempotency-Key": key})
                    assert (again.content, again.headers["idempotency-replayed"]) == (answers[key], "true")
        for each in services:
            assert each.end() == 0
    assert len(answers) >= 40
    done = {key: everything[key] for key in in_order(server, schema)}
    assert set(answers) <= set(done)
    told = {key: json.loads(value) for key, value in answers.items()}
    for key in set(done) - set(answers):  # decided, and the answer was lost
        assert key.partition("-")[0].isdigit()
        told[key] = kept_answer(server, schema, key)
    agrees_with_one(server, schema, place, tmp_path / "one", done, told, texts)


def kept_answer(server, schema, key):
    """The answer that was kept by a key."""
    ((value,),) = server.execute(f"SELECT value FROM {schema}.notes WHERE key = %s", (f"-\n\n{key}",))
    return json.loads(json.loads(value)["answer"])


@pytest.mark.slow
@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGQUIT])
def test_a_database_that_stops_and_starts_under_load_loses_nothing(own_server, tmp_path, how):
    place, texts = own_server.place("s"), texts_of(random.Random(9), 300)
    new_numbered_store(own_server, "s", place)
    bodies = {writer: requests_of(random.Random(writer), texts, writer) for writer in range(4)}
    refused = []
    with serving(place, 2) as services:

        def write(writer):
            found = {}
            with services[writer % 2].client() as client:
                for key, body in bodies[writer].items():
                    while True:
                        answer = post(client, "check-and-add", body, headers={"Idempotency-Key": key})
                        if answer.status_code == 200:
                            break
                        assert answer.status_code in AGAIN, answer.text
                        refused.append(answer.json()["code"])
                        time.sleep(0.05)
                    found[key] = answer.json()
            return found

        with ThreadPoolExecutor(4) as pool:
            writing = [pool.submit(write, writer) for writer in bodies]
            for away in (0.1, 6.5):
                time.sleep(0.5)
                own_server.stop(how)
                time.sleep(away)
                own_server.start()
            answers = {key: answer for each in writing for key, answer in each.result().items()}
        assert [each.end() for each in services] == [0, 0]
    everything = {key: body for some in bodies.values() for key, body in some.items()}
    agrees_with_one(own_server, "s", place, tmp_path / "one", everything, answers, texts)
    assert set(refused) <= {"store_unavailable", "outcome_unknown", "busy"}
