"""Texts are worked on in blocks, which get smaller where too many are alike; what is decided does not depend on it."""

import random

import pytest
from sizes import set_sizes
from streams import WAYS, decisions, near_copies, streamed

from neardup.store.formats.segments import TooManyPairsError
from neardup.store.session.batching import Blocks
from neardup.store.store import Store


def family(count, words, seed):
    """Pages that differ from one in a few words."""
    rng = random.Random(seed)
    base = [f"w{rng.randrange(5000)}" for _ in range(words)]
    for _ in range(count):
        page = list(base)
        for _ in range(rng.randrange(1, 6)):
            page[rng.randrange(words)] = f"x{rng.randrange(10**6)}"
        yield " ".join(page)


def test_blocks_get_smaller_and_larger_again():
    blocks, sizes = Blocks(64), []

    def work(some):
        size = some.stop - some.start
        if some.start < 40 and size > 10:
            raise TooManyPairsError
        sizes.append(size)
        return list(range(some.start, some.stop))

    assert [number for part in blocks.over(200, work) for number in part] == list(range(200))
    assert max(sizes[:3]) <= 10
    assert max(sizes) > 30
    assert list(blocks.over(0, work)) == []


@pytest.mark.parametrize(("method", "similarity", "least"), WAYS)
def test_decisions_do_not_depend_on_blocks(tmp_path, monkeypatch, method, similarity, least):
    options = {"method": method, "similarity": similarity, "min_similarity": least}
    texts = list(near_copies(120, 8))
    expected = decisions(texts, **options)
    set_sizes(monkeypatch, pairs=130)
    with Store(tmp_path / "s", **options) as store:
        assert streamed(store, texts, 60) == expected
        assert store.check_many(texts) == [store.check(text) for text in texts]
    with Store(tmp_path / "all", keep="always", **options) as store:
        store.check_and_add_many(range(120), texts)
        assert store.verify().is_sound
        assert store.check_many(texts) == [store.check(text) for text in texts]
        some = store.pairs()
    monkeypatch.undo()
    with Store(tmp_path / "all") as store:
        assert store.pairs() == some


@pytest.mark.parametrize("method", ["exact", "minhash"])
def test_a_family_of_near_equal_pages_is_decided_as_the_batch_decides_it(tmp_path, method):
    texts = list(family(700, 600, 3))
    options = {"method": method, "min_similarity": 0.8}
    with Store(tmp_path / "s", **options) as store:
        sizes = []
        over = store._files.blocks.over
        store._files.blocks.over = lambda count, work: over(count, lambda some: (sizes.append(some), work(some))[1])
        assert streamed(store, texts, 700) == decisions(texts, **options)
        assert len(store) == 1
    assert len(sizes) > (2 if method == "exact" else 0)
