"""Variants of characters by tables, against OpenCC itself and against the longest match as anyone would write it."""

import random
import subprocess

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.text import normalizers
from neardup.text import variants as module
from neardup.text.normalizers import normalized
from neardup.text.variants import characters_changed, conversion, growth_of, variants_of

CONFIGS = {"simplified": "t2s", "shinjitai": "t2jp"}


def after(texts, step):
    found = normalized(pa.array(texts, pa.large_string()), [step])
    return [found[d] for d in range(len(found))]


def by_tables(text, replaced, monkeypatch):
    made = module.Conversion(str, variants_of(replaced), growth_of(replaced))
    monkeypatch.setattr(normalizers, "conversion", lambda _: made)
    return after([text], "simplified")[0]


keys = st.text(st.sampled_from("ab甲乙\U00020000"), min_size=1, max_size=4)
tables = st.dictionaries(keys, st.text(st.sampled_from("xy丙\U00020001"), min_size=1, max_size=5), max_size=8).map(
    lambda table: {key: value[:1] if len(key) == 1 else value for key, value in table.items()}
)


@given(text=st.text(st.sampled_from("ab甲乙\U00020000é."), max_size=120), replaced=tables)
@example("甲乙甲", {"甲乙": "丙", "甲乙甲乙": "x", "甲": "y"})
@example("a" * 70 + "甲", {"a": "x"})
@example("甲", {"甲乙": "x"})
def test_the_longest_key_at_each_place_is_replaced(text, replaced):
    pytest.importorskip("opencc", reason="the extra [zh] is not installed")
    replaced = {key: value for key, value in replaced.items() if not key.isascii()}
    with pytest.MonkeyPatch.context() as patch:
        assert by_tables(text, replaced, patch) == naive.with_variants(text, replaced)


def phrases_of(config):
    opencc = pytest.importorskip("opencc", reason="the extra [zh] is not installed")
    folder = module.Path(opencc.__file__).parent / "clib"
    return sorted(module._phrases(folder, config)), opencc.OpenCC(config).convert


@pytest.mark.parametrize("name", CONFIGS)
def test_texts_become_what_opencc_makes_of_them(name):
    phrases, convert = phrases_of(CONFIGS[name])
    characters = sorted(characters_changed(convert))
    chance = random.Random(1)
    pieces = [*phrases, *chance.sample(characters, 300), *"abc ，。のカé\n\U00020000\U0002f800", "a" * 70]
    texts = [
        "".join(piece[: chance.choice((1, 2, len(piece)))] for piece in chance.choices(pieces, k=chance.randrange(40)))
        for _ in range(500)
    ]
    assert conversion(CONFIGS[name]).variants is not None
    assert after(texts, name) == list(map(convert, texts))


def test_where_dictionaries_cannot_be_listed_opencc_does_the_work(monkeypatch):
    pytest.importorskip("opencc", reason="the extra [zh] is not installed")

    def fail(*_, **__):
        raise subprocess.CalledProcessError(1, "opencc_dict")

    monkeypatch.setattr(module.subprocess, "run", fail)
    found = conversion.__wrapped__("t2s")
    assert found.variants is None
    monkeypatch.setattr(normalizers, "conversion", lambda _: found)
    assert after(["頭髮", "", "a"], "simplified") == ["头发", "", "a"]


def test_old_and_new_kanji_are_near_duplicates_after_shinjitai():
    pytest.importorskip("opencc", reason="the extra [zh] is not installed")
    old, new = "圖書館は國民の教養と學術の發展に資する。", "図書館は国民の教養と学術の発展に資する。"
    recipe = nd.Recipe(normalize=["shinjitai", "nfkc_casefold"])
    assert nd.similarity(old, new, recipe=recipe) == 1
    assert nd.similarity(old, new) < 0.5


def test_a_character_that_becomes_several_is_refused_by_tables():
    with pytest.raises(ValueError, match="'xy'"):
        variants_of({"甲": "xy"})
    with pytest.raises(ValueError, match="1,024 characters"):
        variants_of({chr(0x4E00 + i) + "x": "y" for i in range(1024)})
