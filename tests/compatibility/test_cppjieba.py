"""cppjieba, compiled, with the segmenter `cppjieba` and the recipes `cppjieba`, `fnv1a` and `go-fnv1a`."""

import gzip
import json
import random
import re
import subprocess
from dataclasses import replace

import pytest

import naive_hashes
import neardup as nd
from compatibility import tools
from compatibility.corpus import CHARACTERS, TEXTS
from neardup.recipe.files.dictionaries import jieba_entries
from neardup.recipe.files.word_lists import user_dictionary
from neardup.text.segmenters.cppjieba import SEPARATORS, cutter
from neardup.text.segmenters.cutting import CutterSettings
from places import DATA

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
MANY = 1000
GOJIEBA = user_dictionary("gojieba")
HASHES = {"cppjieba": naive_hashes.lookup3, "fnv1a": naive_hashes.fnv1a_64, "go-fnv1a": naive_hashes.go_fnv1a}


@pytest.fixture(scope="module")
def cppjieba():
    try:
        return tools.compile_cppjieba()
    except tools.NotInstalledError as error:
        pytest.skip(f"cppjieba cannot be compiled: {error}")


def answers(cppjieba, texts, numbers, folder, *, user=False):
    paths = [folder / str(i) for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    dictionary = folder / "user.dict.utf8"
    dictionary.write_text("\n".join(GOJIEBA.lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        [cppjieba.program, cppjieba.files, dictionary if user else ""],
        input="".join(f"{number} {path}\n" for number, path in zip(numbers, paths, strict=True)).encode(),
        capture_output=True,
        check=True,
    )
    found = done.stdout.decode().split("\x1e\n")[:-1]
    assert len(found) == len(texts)
    return [each.split("\x1f") if each else [] for each in found]


def keywords_of(cppjieba, texts, numbers, folder, *, user):
    found = answers(cppjieba, texts, numbers, folder, user=user)
    return [[(word, float(weight)) for word, weight in (each.split("\t") for each in of_text)] for of_text in found]


def simhash(weighted, define):
    sums = [0.0] * 64
    for word, weight in weighted:
        value = define(word.encode())
        for bit in range(64):
            sums[bit] += weight if value >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


def laws():
    path = DATA / "zh_laws_national" / "docs.jsonl.gz"
    if not path.exists():
        pytest.skip("the open evaluation data are not in ../shared/data")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def corpus(name):
    """1,000 poems, laws, or passages of laws that are as long as a short poem."""
    if name == "poems":
        try:
            return random.Random(1).sample(tools.poems(), MANY)
        except tools.NotInstalledError as error:
            pytest.skip(f"the poems cannot be downloaded: {error}")
    texts = laws()
    if name == "laws":
        return texts[:MANY]
    passages = [passage for text in texts for passage in re.findall(r"[^\n]{20,60}", text)]
    return random.Random(1).sample(passages, MANY)


@pytest.mark.parametrize("hmm", [True, False])
@pytest.mark.parametrize("name", ["laws", "passages", "poems", "odd texts"])
def test_words_are_those_of_cppjieba(name, hmm, cppjieba, tmp_path):
    texts = corpus(name) if name != "odd texts" else [re.sub("[\0\x1e\x1f]", " ", text) for text in TEXTS + CHARACTERS]
    cut = cutter(CutterSettings("cppjieba", None, hmm, tuple(jieba_entries(GOJIEBA)), ""))
    expected = answers(cppjieba, texts, [-1 if hmm else -2] * len(texts), tmp_path, user=True)
    for text, words in zip(texts, expected, strict=True):
        assert cut(text) == [word for word in words if word not in SEPARATORS]


@pytest.mark.parametrize("keywords", ["by_length", 5, 22, None])
@pytest.mark.parametrize("recipe", HASHES)
@pytest.mark.parametrize("name", ["laws", "passages", "poems"])
def test_keywords_and_fingerprints_are_those_of_cppjieba(name, recipe, keywords, cppjieba, tmp_path):
    texts = corpus(name)
    numbers = [
        min(max(len(text.encode()) // 120, 5), 200) if keywords == "by_length" else keywords or 10**6 for text in texts
    ]
    theirs = keywords_of(cppjieba, texts, numbers, tmp_path, user=recipe != "cppjieba")
    stop_words = [cppjieba.files / "stop_words.utf8"]
    ours = replace(nd.RECIPES[recipe].recipe, stop_words=stop_words, keywords=keywords)
    assert nd.keywords(texts, recipe=ours) == theirs  # in the same order, to the last digit
    expected = [simhash(each, HASHES[recipe]) for each in theirs]
    assert nd.fingerprint(texts, recipe=ours, threads=1).tolist() == expected
