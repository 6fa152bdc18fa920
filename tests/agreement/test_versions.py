"""Whatever reads texts finds by a recipe of version 2 what `match` finds: in memory, in files, in stores and over HTTP."""

import functools
import json
import random
from pathlib import Path

import pytest

import naive
import naive_repeats
import neardup as nd
from agreement.runners import call
from service.serving import listening

WORDS = {
    "all-scripts": ("ฉัน ชอบ กิน ข้าว ผัด กับ เพื่อน ที่ ร้าน อาหาร ใกล้ บ้าน ทุก วัน เสาร์ 👍🏽".split(), ""),
    "unmarked": ("ذَهَبَ الوَلَدُ إِلى المَدرَسَةِ صَباحًا وَقَرَأَ كِتابًا جَديدًا été forêt père naïf".split(), " "),
}
"""Words and what stands between them, by a recipe that these texts need."""
RECIPES = {name: nd.RECIPES[name].recipe for name in WORDS}
FIRST = 12
"""Rows that stores and indexes get before they are opened again."""


@functools.cache
def texts_for(recipe):
    """Sixteen texts, each followed by a near copy: with another word, and without its marks if the recipe removes these."""
    words, between = WORDS[recipe]
    chance, found = random.Random(recipe), []
    for _ in range(16):
        some = chance.choices(words, k=40)
        copy = [*some[:-1], words[0]]
        found += [between.join(some), between.join(copy)]
        if recipe == "unmarked":
            found[-1] = naive.NORMALIZERS["marks"](found[-1])
    return found


def removed_rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["row"] for line in file]


def tokens_of(recipe, text):
    """The tokens of the definition."""
    for name in RECIPES[recipe].normalize:
        text = naive.NORMALIZERS[name](text)
    return naive.words(text, 2)


def files(recipe, texts, *flags):
    call("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", recipe, *flags)
    return removed_rows("out.duplicates.jsonl")


def proven(recipe, texts):
    found = files(recipe, texts)
    assert nd.verify_files("out.jsonl").proven
    assert nd.explain("out.duplicates.jsonl", 1).removed
    call("report", "out.duplicates.jsonl", "-o", "page.html")
    return found


def resumed(recipe, texts):
    files(recipe, texts, "--resume")
    return files(recipe, texts, "--resume")


def stages(recipe, texts):
    call("fingerprint", "in.jsonl", "-o", "f.parquet", "--recipe", recipe)
    call("pairs", "in.jsonl", "-o", "p.parquet", "--recipe", recipe)
    call("clusters", "p.parquet", "--documents", "f.parquet", "-o", "c.parquet")
    call("apply", "c.parquet", "in.jsonl", "-o", "out.jsonl")
    return removed_rows("out.duplicates.jsonl")


def rows_in_memory(recipe, texts):
    return nd.deduplicate([{"text": text} for text in texts], recipe=recipe).duplicates["row"].to_pylist()


def against_a_reference(recipe, texts):
    return [
        2 * row + 1
        for row in nd.deduplicate(texts[1::2], against=texts[::2], recipe=recipe).duplicates["row"].to_pylist()
    ]


def two_lists(recipe, texts):
    return [2 * row + 1 for row in sorted(set(nd.match(texts[1::2], texts[::2], recipe=recipe).left.tolist()))]


def new_in(given, first=0):
    """The rows of answers to documents that are not new."""
    return [first + row for row, answer in enumerate(given) if not answer.is_new]


def store(recipe, texts):
    with nd.Store("s", recipe=recipe) as held:
        found = new_in(held.check_and_add_many(range(FIRST), texts[:FIRST]))
    with nd.Store("s") as held:
        return found + new_in(held.check_and_add_many(range(FIRST, len(texts)), texts[FIRST:]), FIRST)


def stream(recipe, texts):
    with nd.Stream("s", recipe=recipe) as held:
        return [row for row, text in enumerate(texts) if held.add(row, text) is not None]


def filtered_by_a_store(recipe, texts):
    call(
        "filter", "in.jsonl", "-o", "out.jsonl", "--audit", "gone.jsonl", "--store", "s", "--create", "--recipe", recipe
    )
    return removed_rows("gone.jsonl")


def store_of_a_run(recipe, texts):
    files(recipe, texts)
    call("store", "build", "s", "out.duplicates.jsonl")
    with nd.Store("s") as held:
        return [row for row, text in enumerate(texts) if row not in {match.id for match in held.check(text).matches}]


def service(recipe, texts):
    nd.Store("s", recipe=recipe).close()
    with listening({"default": "s"}) as url, nd.Client(url) as client:
        found = new_in(client.check_and_add_many(list(range(FIRST)), texts[:FIRST]))
        assert [client.check(text).is_new for text in texts[:FIRST]] == [False] * FIRST
    with listening({"default": "s"}) as url, nd.Client(url) as client:
        return found + new_in([client.check_and_add(row, texts[row]) for row in range(FIRST, len(texts))], FIRST)


BY_TEXTS = (
    files, proven, resumed, stages, rows_in_memory, against_a_reference, two_lists, store, stream, filtered_by_a_store,
    store_of_a_run, service,
)  # fmt: skip


def file_of_fingerprints(recipe, texts):
    call("fingerprint", "in.jsonl", "-o", "f.parquet", "--recipe", recipe)
    call("pairs", "f.parquet", "-o", "p.jsonl", "--min-similarity", 0)
    with open("p.jsonl", encoding="utf-8") as file:
        return {tuple(int(json.loads(line)[side]) for side in ("left_id", "right_id")) for line in file}


def index(recipe, texts):
    call("index", "build", "i", "in.jsonl", "--recipe", recipe)
    pairs = [(part.left.tolist(), part.right.tolist()) for part in nd.Index.open("i").pairs()]
    return {tuple(map(int, pair)) for left, right in pairs for pair in zip(left, right, strict=True)}


BY_FINGERPRINTS = (file_of_fingerprints, index)


@pytest.fixture
def texts(recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("in.jsonl", "w", encoding="utf-8") as file:
        for row, text in enumerate(texts_for(recipe)):
            file.write(json.dumps({"id": row, "text": text}, ensure_ascii=False) + "\n")
    return texts_for(recipe)


@pytest.mark.parametrize("recipe", WORDS)
@pytest.mark.parametrize("product", BY_TEXTS, ids=lambda each: each.__name__)
def test_texts_that_match_in_version_2_are_found(product, recipe, texts):
    assert product(recipe, texts) == [row for row in range(len(texts)) if row % 2]
    assert not nd.match(texts).left.tolist()


@pytest.mark.parametrize("recipe", WORDS)
@pytest.mark.parametrize("product", BY_FINGERPRINTS, ids=lambda each: each.__name__)
def test_fingerprints_of_version_2_are_found(product, recipe, texts):
    pairs = nd.match(texts, recipe=recipe, method="simhash", min_similarity=0)
    expected = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert len(expected) > 8
    assert product(recipe, texts) == expected


@pytest.mark.parametrize("recipe", WORDS)
def test_repeated_passages_are_those_of_the_tokens_of_version_2(recipe, texts):
    size = 20
    documents = [[tokens_of(recipe, text)] for text in texts]
    expected = naive_repeats.cuts(naive_repeats.repeated_windows(documents, size), size)
    summary = nd.passages(texts, recipe=recipe, min_tokens=size).summary
    assert summary.cut_tokens == sum(end - first for *_, first, end in expected) > 100
    call("passages", "in.jsonl", "-o", "out.jsonl", "--recipe", recipe, "--min-tokens", size)
    assert nd.verify_files("out.jsonl").proven
    assert json.loads(Path("out.summary.json").read_bytes())["cut_tokens"] == summary.cut_tokens


@pytest.mark.parametrize("recipe", ["all-scripts"])
def test_passages_of_leaks_are_compared_by_the_tokens_of_version_2(recipe, texts):
    items = [text[:60] for text in texts[::2]]
    found = nd.leaks(texts, items, recipe="all-scripts", min_run=20).items
    assert found["strength"].to_pylist() == ["contained"] * len(items)
    assert not nd.leaks(texts, items, min_run=20).leaked.any()
    with open("items.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(items))
    call("leaks", "in.jsonl", "--against", "items.jsonl", "-o", "leaks.jsonl", "--recipe", "all-scripts")
    with open("leaks.jsonl", encoding="utf-8") as file:
        assert len(file.readlines()) == len(items)


@pytest.mark.parametrize("recipe", WORDS)
def test_a_split_by_version_2_keeps_near_copies_on_one_side(recipe, texts):
    call("split", "in.jsonl", "-o", "sides/", "--shares", "a=0.5,b=0.5", "--recipe", recipe)
    ids = [
        [json.loads(line)["id"] for line in Path(f"sides/{side}.jsonl").read_text("utf-8").splitlines()]
        for side in "ab"
    ]
    assert all(sorted(each) == sorted({row ^ 1 for row in each}) and len(each) == len(texts) // 2 for each in ids)
    assert nd.verify_files("sides/").proven
