"""A store is compacted while services answer: what was answered is there, what was removed is not, and nobody is refused for it."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import neardup as nd
from service.serving import listening, new_store, texts_of


def test_a_service_answers_while_its_store_is_compacted(tmp_path):
    compacted_under_load([new_store(tmp_path / "s")])


def test_services_on_one_database_answer_while_their_store_is_compacted(place):
    new_store(place)
    compacted_under_load([place, place])


def compacted_under_load(places):
    """Ask, add and compact at the same time; `places`: of the store, one for each service."""
    texts = texts_of(random.Random(11), 1_500, copies=0.0)
    names, is_over = [f"kept-{number}" for number in range(1_000)], threading.Event()
    kept = dict(zip(names, texts, strict=False))
    with listening({"default": places[0]}) as one, listening({"default": places[-1]} if len(places) > 1 else {}) as two:
        urls = [one, two][: len(places)]
        with nd.Client(one) as client:
            assert all(each.is_new for each in client.check_and_add_many(names, texts[:1_000]))

        def add(writer):
            added = {}
            with nd.Client(urls[writer % len(urls)], retries=0) as client:
                for number, text in enumerate(texts[1_000 + 250 * writer : 1_250 + 250 * writer]):
                    if is_over.is_set():
                        break
                    assert client.check_and_add(f"{writer}-{number}", text).is_new
                    added[f"{writer}-{number}"] = text
            return added

        def check(reader):
            rng, count = random.Random(reader), 0
            with nd.Client(urls[reader % len(urls)], retries=0) as client:
                while not is_over.is_set():
                    name = rng.choice(names[500:])
                    assert client.check(kept[name]).duplicate_of == name
                    count += 1
            return count

        with ThreadPoolExecutor(4) as pool, nd.Client(one) as client:
            adding, checking = ([pool.submit(work, each) for each in range(2)] for work in (add, check))
            try:
                for removed in (names[:300], names[300:500]):
                    assert client.remove(removed) == len(removed)
                    assert client.info().gone >= len(removed)
                    assert client.compact()
                    assert client.info().gone == 0
                    for name in removed:
                        del kept[name]
            finally:
                is_over.set()
            added = {name: text for each in adding for name, text in each.result().items()}
            assert all(each.result() for each in checking)
        assert added
        for url in urls:
            with nd.Client(url) as client:
                for some in (kept, added):
                    assert [each.duplicate_of for each in client.check_many(list(some.values()))] == list(some)
                assert all(client.get(name) is None for name in names[:5] + names[295:305] + names[490:500])
    with nd.Store(places[0]) as store:
        assert len(store) == len(kept) + len(added)
        assert store.verify().is_sound
