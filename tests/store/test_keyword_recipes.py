"""The recipes of Chinese keywords in all that remembers: a batch, `neardup filter`, a stream, a store and an index say the same."""

import json
import random

import numpy as np
import pytest

import neardup as nd
from neardup.jobs.streams.filter import filter_files

pytest.importorskip("jieba", reason="needs the extra [zh]")

SENTENCES = (
    "全国人民代表大会常务委员会负责解释法律。",
    "公民有依照法律纳税的义务。",
    "不用多久，我就会升职加薪，当上CEO，走上人生巅峰。",
    "我是拖拉机学院手扶拖拉机专业的。",
    "春茶只取一芽一叶，清明前采摘。",
    "河上的石桥建于明代，桥下有三个桥洞。",
    "地方各级人民政府应当加强对森林防火工作的领导。",
    "生产经营单位必须遵守安全生产的法律、法规。",
    "图书馆周一闭馆，周末开放到晚上九点。",
    "这部小说写的是一个渔村里三代人的故事。",
)
TEXTBOOK = nd.Recipe(
    segmenter="jieba",
    stop_words=["zh"],
    weights="tfidf",
    document_frequencies="jieba",
    keywords=22,
    hash="fnv1a_64",
    bits=64,
    min_tokens=1,
    max_distance=3,
)
RECIPES = {"cppjieba": "cppjieba", "fnv1a": "fnv1a", "go-fnv1a": "go-fnv1a", "the textbooks'": TEXTBOOK}


def edited(count=80, seed=2):
    """Texts of some sentences; every third one is one before it with another end, other order, or a sentence less."""
    choose, texts = random.Random(seed), []
    for i in range(count):
        if i % 3 == 2:
            parts = choose.choice(texts).split("。")[:-1]
            change = choose.randrange(3)
            if change == 0:
                choose.shuffle(parts)
            elif change == 1 and len(parts) > 1:
                parts.pop()
            texts.append("。".join(parts) + ("！。" if change == 2 else "。"))
        else:
            texts.append("".join(choose.sample(SENTENCES, choose.randint(1, 6))))
    return texts


TEXTS = edited()


def by_definition(recipe):
    """For each text the first of those nearest that stay, and the distance; None if it stays itself."""
    prints = nd.fingerprint(TEXTS, recipe=recipe)
    kept, found = [], []
    for i, own in enumerate(prints):
        near = [(int(np.bitwise_count(own ^ prints[j])), j) for j in kept]
        best = min((each for each in near if each[0] <= 3), default=None)
        found.append(best)
        if best is None:
            kept.append(i)
    return found


@pytest.fixture(params=RECIPES.values(), ids=RECIPES)
def recipe(request):
    return request.param


def test_texts_have_near_ones_and_others(recipe):
    found = by_definition(recipe)
    assert 20 < found.count(None) < len(TEXTS) - 10
    assert any(each is not None and TEXTS[each[1]] != TEXTS[i] for i, each in enumerate(found))


def test_a_batch_and_a_stream_and_a_store_keep_what_the_definition_keeps(recipe, tmp_path):
    expected = by_definition(recipe)
    stay = [i for i, each in enumerate(expected) if each is None]
    options = {"method": "simhash", "min_similarity": 0, "recipe": recipe}
    batch = nd.deduplicate(TEXTS, keep="first", cluster="star", **options)
    removed = set(batch.duplicates.column("row").to_pylist())
    assert [i for i in range(len(TEXTS)) if i not in removed] == stay
    with nd.Stream(**options) as stream:
        found = stream.add_many(range(len(TEXTS)), TEXTS)
    with nd.Store(tmp_path / "store", **options) as store:
        told = [store.check_and_add(i, text) for i, text in enumerate(TEXTS[:50])]
    with nd.Store(tmp_path / "store") as store:  # opened again: the recipe is its own
        told += store.check_and_add_many(range(50, len(TEXTS)), TEXTS[50:])
    distances = [each and each[0] for each in expected]
    assert [each and each.distance for each in found] == distances
    assert [each.matches[0].distance if each.matches else None for each in told] == distances
    assert [i for i, each in enumerate(told) if each.is_new] == stay


def test_filter_and_an_index_find_what_the_definition_finds(recipe, tmp_path):
    expected = by_definition(recipe)
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    filter_files(
        tmp_path / "index",
        [source],
        tmp_path / "new.jsonl",
        recipe=recipe,
        max_distance=3,
        integer_ids=True,
        create=True,
    )
    kept = [json.loads(line)["id"] for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert kept == [i for i, each in enumerate(expected) if each is None]
    prints = nd.fingerprint(TEXTS, recipe=recipe)
    found = nd.Index.open(tmp_path / "index").query_many(prints, nearest=True)
    assert found.distances.tolist() == [0 if each is None else each[0] for each in expected]
