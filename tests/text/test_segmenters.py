"""Segmenters: what each gives, that threads and workers change nothing, and what is refused."""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from guards import not_empty
from neardup.fingerprints.by_features import fingerprint_folded
from neardup.recipe import stored_parts
from neardup.recipe.presets import find_recipe
from neardup.recipe.serialization import stored_recipe
from neardup.recipe.stored_parts import is_installed
from neardup.recipe.tables.segmenters import SEGMENTERS
from neardup.resources.threads import in_order
from neardup.text.normalizers import normalized
from neardup.text.segmenters import sudachi, workers
from neardup.text.segmenters.cutting import CutterSettings, cutter_of
from neardup.text.segmenters.table import SEGMENTER_TABLE, tokens_of
from neardup.text.segmenters.tokens import from_joined
from neardup.text.segmenters.workers import Worker, cut_by_package
from strategies import any_text, texts

ALIENS = "美国“51区”雇员称内部有9架飞碟,曾看见灰色外星人"
TOKYO = "国家公務員は東京都庁に行った。"
MIXED = "The 京都 office of 東京都庁 moved: 我们的法律 changed in Heisei 30年、カタカナも。"
ICU = pytest.param(
    "icu", marks=pytest.mark.skipif(not is_installed("icu4py"), reason="the extra [icu] is not installed")
)
RJIEBA = CutterSettings("rjieba", None, True, (), "")


def tokens(given_texts, recipe):
    """The tokens of each text, as strings."""
    found = tokens_of(normalized(pa.array(given_texts, pa.large_string()), recipe.normalize), recipe)
    edges = found.documents
    return [[found.text(i) for i in range(edges[d], edges[d + 1])] for d in range(len(given_texts))]


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture(autouse=True)
def _no_workers_left():
    yield
    workers.end_workers()


def test_every_segmenter_that_recipes_know_is_in_the_table():
    assert set(SEGMENTER_TABLE) == set(SEGMENTERS)


@pytest.mark.parametrize(("segmenter", "cut"), [("characters", naive.characters), ("whitespace", naive.between_spaces)])
@given(given_texts=st.tuples(texts, any_text))
def test_characters_are_letters_marks_and_numbers_and_whitespace_cuts_at_white_space_alone(segmenter, cut, given_texts):
    expected = [cut(naive.normalize(text)) for text in given_texts]
    assert tokens(given_texts, nd.Recipe(segmenter=segmenter)) == expected
    as_they_are = nd.Recipe(segmenter=segmenter, normalize=[])
    assert tokens(given_texts, as_they_are) == [cut(text) for text in given_texts]


@given(st.tuples(texts, any_text))
def test_words_need_no_normalized_text(given_texts):
    assert tokens(given_texts, nd.Recipe(normalize=[])) == [naive.words(text) for text in given_texts]


def test_features_of_characters_have_nothing_between():
    shown = nd.compare("石の橋", "石の橋", recipe=nd.Recipe(segmenter="characters", word_shingle=2))
    assert [feature.name for feature in shown.left.features] == ["の橋", "石の"]


def test_the_worked_example_is_segmented_with_a_user_dictionary_and_a_stop_list(tmp_path):
    dictionary = write(tmp_path / "words.txt", "51区\n9架 3 n\n")
    stop = write(tmp_path / "stop.txt", "的\n了\n在\n")  # keeps 称, 有 and 曾
    expected = "美国 / 51区 / 雇员 / 称 / 内部 / 有 / 9架 / 飞碟 / 曾 / 看见 / 灰色 / 外星人".split(" / ")
    recipe = nd.Recipe(segmenter="jieba", dictionary=dictionary, stop_words=[stop])
    assert tokens([ALIENS, "他在飞碟里"], recipe) == [expected, ["他", "飞碟", "里"]]
    [alone] = tokens([ALIENS], nd.Recipe(segmenter="jieba"))
    assert alone == "美国 51 区 雇员 称 内部 有 9 架 飞碟 曾 看见 灰色 外星人".split()


def test_the_words_of_a_dictionary_are_normalized_as_texts_are(tmp_path):
    recipe = nd.Recipe(segmenter="jieba", dictionary=write(tmp_path / "words.txt", "ＡＢ型区\n"))
    assert tokens(["在ab型区内"], recipe) == [["在", "ab型区", "内"]]


def test_jieba_guesses_words_by_its_model_and_has_a_search_mode():
    text = "他来到了网易杭研大厦"
    assert tokens([text], nd.Recipe(segmenter="jieba")) == [["他", "来到", "了", "网易", "杭研", "大厦"]]
    assert tokens([text], nd.Recipe(segmenter="jieba", hmm=False)) == [["他", "来到", "了", "网易", "杭", "研", "大厦"]]
    assert tokens([ALIENS], nd.Recipe(segmenter="jieba", mode="search"))[0][-2:] == ["外星", "外星人"]


@pytest.mark.parametrize("package", ["jieba", "rjieba"])
def test_segmenters_give_what_their_packages_give_but_for_punctuation(package):
    cut = importlib.import_module(package).cut
    given_texts = [ALIENS, TOKYO, MIXED, "", "，。"]
    found = tokens(given_texts, nd.Recipe(segmenter=package, normalize=[]))
    assert found == [[t for t in cut(text) if naive.characters(t)] for text in given_texts]


def test_a_word_with_a_count_of_0_is_removed_and_never_guessed(tmp_path):
    text = "他来到了网易杭研大厦"
    recipe = nd.Recipe(segmenter="jieba", dictionary=write(tmp_path / "words.txt", "杭研 0\n来到 0\n"))
    assert tokens([text], recipe) == [["他来", "到", "了", "网易", "杭", "研", "大厦"]]


def test_sudachi_has_three_modes():
    found = {mode: tokens([TOKYO], nd.Recipe(segmenter="sudachi", mode=mode))[0] for mode in ("A", "B", "C", None)}
    assert found["A"][:3] == ["国家", "公務", "員"]
    assert found["B"][:2] == ["国家", "公務員"]
    assert found["C"][0] == "国家公務員"
    assert {"".join(each) for each in found.values()} == {TOKYO[:-1]}
    assert found[None] == found["C"]
    assert nd.Recipe(segmenter="sudachi", mode="C").digest() == nd.Recipe(segmenter="sudachi").digest()


def test_sudachi_takes_the_source_of_a_user_dictionary(tmp_path):
    entry = "霧島市立図書室,4786,4786,-9000,霧島市立図書室,名詞,固有名詞,一般,*,*,*,キリシマシリツトショシツ,霧島市立図書室,*,*,*,*,*\n"
    text = "霧島市立図書室へ行く。"
    assert "霧島市立図書室" not in tokens([text], nd.Recipe(segmenter="sudachi"))[0]
    recipe = nd.Recipe(segmenter="sudachi", dictionary=write(tmp_path / "user.csv", entry))
    assert tokens([text], recipe)[0][0] == "霧島市立図書室"
    broken = nd.Recipe(segmenter="sudachi", dictionary=write(tmp_path / "broken.csv", entry.replace("4786", "x")))
    said = "dictionary '.*broken.csv': SudachiPy cannot build it: .* in the entry '霧島市立図書室,x,x,-9000"
    with pytest.raises(nd.OptionError, match=said):
        tokens([text], broken)
    with pytest.raises(nd.OptionError, match=said):
        list(in_order(lambda each: tokens([each], broken), [text] * 3, 2))


def test_sudachi_cuts_texts_that_are_longer_than_it_takes_at_the_ends_of_sentences():
    long = (TOKYO * 3000)[:-1]
    found = list(sudachi.pieces(long))
    assert "".join(found) == long
    assert max(map(len, found)) <= sudachi.MAX_CHARACTERS
    assert all(piece.endswith("。") for piece in found[:-1])
    assert "".join(sudachi.pieces("あ" * 20_000)) == "あ" * 20_000
    assert (
        tokens([long], nd.Recipe(segmenter="sudachi"))[0] == tokens([TOKYO], nd.Recipe(segmenter="sudachi"))[0] * 3000
    )


WRITTEN = {
    "ไปซื้อน้ำที่ร้านกาแฟ": ["ไป", "ซื้อ", "น้ำ", "ที่", "ร้าน", "กาแฟ"],
    "ດື່ມນ້ຳໜາວໝົດ": ["ດື່ມ", "ນ້ຳ", "ໜາວ", "ໝົດ"],
    "ខ្ញុំទៅផ្សារ": ["ខ្ញុំ", "ទៅ", "ផ្សារ"],
    "ကျွန်တော်စာအုပ်ဖတ်တယ်": ["ကျွန်တော်", "စာအုပ်", "ဖတ်", "တယ်"],
}
"""Thai, Lao, Khmer and Burmese as they are written, and their words."""


@pytest.mark.parametrize("segmenter", [ICU])
@pytest.mark.parametrize("form", ["NFC", "NFKC", "NFD"])
def test_icu_cuts_scripts_without_spaces_into_the_same_words_in_every_normal_form(segmenter, form):
    given_texts = [unicodedata.normalize(form, text) for text in WRITTEN]
    expected = [[unicodedata.normalize(form, word) for word in words] for words in WRITTEN.values()]
    assert tokens(given_texts, nd.Recipe(segmenter=segmenter, normalize=[])) == expected
    folded = [[naive.normalize(word) for word in words] for words in WRITTEN.values()]
    assert tokens([*WRITTEN], nd.Recipe(segmenter=segmenter)) == folded


@pytest.mark.parametrize("segmenter", [ICU])
@given(text=st.text(st.sampled_from("ำํานໜຫຳໍາa ก😀."), max_size=12))
def test_icu_leaves_every_character_as_it_is(segmenter, text):
    assert "".join(cutter_of(CutterSettings(segmenter, None, True, (), ""))(text)) == text


GUESSED = {
    "以太币、火币以及莱特币": ["以太", "币", "火", "币", "以及", "莱特", "币"],
    "买U盘和T恤": ["买", "U", "盘", "和", "T恤"],
    "30.0cm2的管，AB-12c": ["30.0", "cm2", "的", "管", "AB", "12", "c"],
    "张力在吉林省": ["张力", "在", "吉林省"],
    "蓝翔的区块链": ["蓝翔", "的", "区块链"],
}
"""The words of cppjieba, compiled; jieba cuts most of these texts differently."""


def test_cppjieba_cuts_as_the_compiled_cppjieba_does():
    recipe = nd.Recipe(segmenter="cppjieba", dictionary="gojieba", normalize=[])
    assert dict(zip(GUESSED, tokens([*GUESSED], recipe), strict=True)) == GUESSED
    assert tokens([*GUESSED], nd.Recipe(segmenter="jieba", normalize=[])) != [*GUESSED.values()]


def test_options_of_cppjieba(tmp_path):
    text = "他来到了网易杭研大厦"
    assert tokens([text], nd.Recipe(segmenter="cppjieba")) == [["他", "来到", "了", "网易", "杭研", "大厦"]]
    assert tokens([text], nd.Recipe(segmenter="cppjieba", hmm=False)) == [
        ["他", "来到", "了", "网易", "杭", "研", "大厦"]
    ]
    words = write(tmp_path / "words.txt", "杭\n网易杭 3 n\n到了 9999999\n")
    recipe = nd.Recipe(segmenter="cppjieba", dictionary=words)
    assert tokens([text], recipe) == [["他来", "到了", "网易杭", "研", "大厦"]]  # as cppjieba, compiled


def test_a_dictionary_of_the_package_is_a_name_in_python_and_in_files_and_survives_storage(tmp_path):
    write(tmp_path / "mine.toml", 'segmenter = "cppjieba"\ndictionary = "gojieba"\nhash = "go-fnv1a"\nbits = 64\n')
    write(tmp_path / "gojieba", "不是\n")
    found = find_recipe(str(tmp_path / "mine.toml"))
    assert found.dictionary.lines == ("云计算", "蓝翔 nz", "区块链 10 nz")
    assert found == nd.Recipe(segmenter="cppjieba", dictionary="gojieba", hash="go-fnv1a", bits=64)
    again = stored_recipe(json.loads(json.dumps(found.as_dict())))
    assert (again.digest(), again.dictionary.name) == (found.digest(), "gojieba")
    assert nd.fingerprint(["区块链"], recipe=again) == nd.fingerprint(["区块链"], recipe=found)
    with pytest.raises(nd.OptionError, match="dictionary 'gojieba', line 1: 1 columns; an entry of Sudachi's"):
        nd.Recipe(segmenter="sudachi", dictionary="gojieba")


@pytest.mark.parametrize("segmenter", ["jieba", "rjieba", "cppjieba", "sudachi", ICU])
def test_zero_bytes_in_texts_are_spaces_for_packages(segmenter):
    recipe = nd.Recipe(segmenter=segmenter)
    assert tokens(["法律\0条文\0", "\0", "東京"], recipe) == tokens(["法律 条文 ", " ", "東京"], recipe)


@given(st.lists(texts, max_size=4))
@settings(max_examples=30)
def test_a_callers_segmenter_gives_what_the_same_tokens_give(given_texts):
    recipe = nd.Recipe(segmenter=nd.Segmenter(naive.words, name="naive words", version="1"))
    assert tokens(given_texts, recipe) == [
        naive.words(naive.normalize(text).replace("\0", " ")) for text in given_texts
    ]


def test_tokens_of_a_caller_may_be_empty_or_hold_zero_bytes_or_nothing_that_is_a_word():
    odd = nd.Segmenter(lambda text: ["a\0b", "", "…", text, "\0"], name="odd", version="1")
    assert tokens(["x", "y"], nd.Recipe(segmenter=odd)) == [["a b", "x"], ["a b", "y"]]


@given(any_text, any_text)
def test_joined_tokens_come_apart_as_they_were(left, right):
    parts = [naive.between_spaces(left.replace("\0", "")), naive.between_spaces(right.replace("\0", ""))]
    joined = "\0".join([token for part in parts for token in part]).encode()
    found = from_joined(joined, np.array([len(part) for part in parts]))
    assert [found.text(i) for i in range(len(found.starts))] == parts[0] + parts[1]
    assert found.documents.tolist() == [0, len(parts[0]), len(parts[0]) + len(parts[1])]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda text: text, "The segmenter 'mine' gave str: it must give a list of strings"),
        (lambda text: [1], "gave what is no token: sequence item 0: expected str instance, int found"),
        (lambda text: ["\ud800"], "gave what is no token: .*surrogates not allowed"),
    ],
)
def test_what_a_caller_gives_must_be_strings(function, said):
    with pytest.raises(nd.OptionError, match=said):
        nd.fingerprint(["a"], recipe=nd.Recipe(segmenter=nd.Segmenter(function, name="mine", version="1")))


def test_what_a_callers_function_raises_is_told_with_its_cause():
    def fail(text):
        raise TypeError("mine alone")

    with pytest.raises(
        nd.CallableError, match="The segmenter 'mine' raised TypeError: mine alone, where it was given 'a'"
    ) as told:
        nd.fingerprint(["a"], recipe=nd.Recipe(segmenter=nd.Segmenter(fail, name="mine", version="1")))
    assert isinstance(told.value.__cause__, TypeError)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"function": 3}, "`function=3`: give a function"),
        ({"name": ""}, "`name=''`: give a string that is not empty"),
        ({"version": 1}, "`version=1`: give a string"),
        ({"name": "jieba"}, "this is a segmenter of the package"),
    ],
)
def test_segmenters_of_a_caller_need_a_name_and_a_version(fields, said):
    values = {"function": str.split, "name": "mine", "version": "1"} | fields
    with pytest.raises(nd.OptionError, match=said):
        nd.Segmenter(values.pop("function"), **values)


def test_segmenters_of_a_caller_are_told_apart_by_name_and_version():
    one, same = (nd.Segmenter(function, name="mine", version="1") for function in (str.split, list))
    other = nd.Segmenter(str.split, name="mine", version="2")
    assert nd.Recipe(segmenter=one).digest() == nd.Recipe(segmenter=same).digest()
    assert nd.Recipe(segmenter=one).digest() != nd.Recipe(segmenter=other).digest()


@pytest.mark.parametrize(
    ("segmenter", "package", "extra"),
    [
        ("jieba", "jieba", "zh"),
        ("rjieba", "rjieba", "rjieba"),
        ("cppjieba", "jieba", "zh"),
        ("sudachi", "sudachipy", "ja"),
        ("icu", "icu4py", "icu"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch, segmenter, package, extra):
    monkeypatch.setattr(stored_parts, "version_of", lambda name: None if name == package else "1")
    recipe = nd.Recipe(segmenter=segmenter)
    with pytest.raises(nd.MissingExtra, match=rf"needs {package}\. Install it: pip install 'neardup\[{extra}\]'"):
        nd.fingerprint(["a"], recipe=recipe)
    assert None in recipe.as_dict()["segmenter"].values()


@pytest.mark.parametrize("segmenter", ["jieba", "rjieba", "sudachi", "characters", ICU])
def test_threads_and_workers_change_nothing(segmenter, monkeypatch):
    recipe = nd.Recipe(segmenter=segmenter)
    given_texts = [ALIENS, TOKYO, "", MIXED] * 5
    expected = nd.fingerprint(given_texts, recipe=recipe, threads=1)
    monkeypatch.setattr("neardup.fingerprints.simhash.in_chunks", lambda array: (array.slice(i, 1) for i in range(20)))
    np.testing.assert_array_equal(nd.fingerprint(given_texts, recipe=recipe, threads=3), expected)


def test_no_more_workers_than_threads_are_started_and_they_are_used_again():
    recipe = nd.Recipe(segmenter="rjieba")
    for _ in range(2):
        list(in_order(lambda text: tokens([text], recipe), [ALIENS] * 12, 2))
    first = {worker.process for worker in workers._IDLE}
    assert 1 <= len(first) <= 2
    list(in_order(lambda text: tokens([text], recipe), [ALIENS] * 2, 2))
    assert {worker.process for worker in workers._IDLE} >= first
    list(in_order(lambda text: tokens([text], nd.Recipe(segmenter="rjieba", hmm=False)), [ALIENS] * 2, 2))
    assert not {worker.process for worker in workers._IDLE} & first
    assert not [process for process in first if Path(f"/proc/{process}").exists()]


def test_jieba_needs_no_workers():
    list(in_order(lambda text: tokens([text], nd.Recipe(segmenter="jieba")), [ALIENS] * 12, 2))
    assert workers._IDLE == []


def test_one_thread_needs_no_worker():
    nd.fingerprint([ALIENS], recipe=nd.Recipe(segmenter="rjieba"), threads=1)
    assert workers._IDLE == []


def test_a_worker_that_dies_is_an_error_and_leaves_nothing_behind():
    worker = Worker(RJIEBA)
    os.kill(worker.process, signal.SIGKILL)
    with pytest.raises(
        ChildProcessError, match="worker process of the segmenter rjieba ended with code -9.*fewer `threads`"
    ):
        worker.cut(b"a", np.array([0, 1]).tobytes())
    worker.end()


def test_what_fails_in_a_worker_is_shown_and_the_worker_is_ended():
    def cut(_):
        return cut_by_package(b"\xff", np.array([0, 1]).tobytes(), RJIEBA)

    with pytest.raises(
        ChildProcessError, match=r"(?s)segmenter rjieba failed in a worker process:.*UnicodeDecodeError"
    ):
        list(in_order(cut, range(2), 2))
    assert workers._IDLE == []


PROGRAM = """
import sys, threading, time
import neardup as nd
from neardup.text.segmenters import workers
from neardup.text.segmenters.workers import Worker
from neardup.text.segmenters.cutting import CutterSettings
from neardup.recipe.tables.segmenters import SEGMENTERS
nd.fingerprint(["法律 条文"] * 3, recipe=nd.Recipe(segmenter="rjieba"), threads=1)
worker = Worker(CutterSettings("rjieba", None, True, (), ""))
worker.cut(b"a", bytes(8) + b"\\1" + bytes(7))
workers._IDLE.append(worker)
print(worker.process, flush=True)
if sys.argv[1] == "wait":
    time.sleep(100)
"""


def ended(process):
    """Whether a process ends within a few seconds."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            state = re.search(r"State:\s+(\w)", Path(f"/proc/{process}/status").read_text())
        except OSError:
            return True
        if state is not None and state[1] in "ZX":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("how", [None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_however_it_ends(how):
    program = [sys.executable, "-c", PROGRAM, "wait" if how else "end"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        worker = int(running.stdout.readline())
        if how:
            running.send_signal(how)
        running.wait()
        running.stderr.read()
    assert ended(worker)


def test_a_fork_does_not_share_workers():
    list(in_order(lambda text: tokens([text], nd.Recipe(segmenter="rjieba")), [ALIENS] * 2, 2))
    assert workers._IDLE
    mine = list(workers._IDLE)
    workers._forget()
    assert workers._IDLE == []
    workers._IDLE.extend(mine)


def test_one_recipe_gives_sensible_tokens_of_mixed_scripts():
    [found] = tokens([MIXED], nd.Recipe())
    assert found == [
        *("the", "京", "都", "office", "of", "東", "京", "都", "庁", "moved", "我", "们", "的", "法", "律", "changed"),
        *("in", "heisei", "30", "年", "カ", "タ", "カ", "ナ", "も"),
    ]
    shown = nd.compare(MIXED, MIXED, recipe=nd.Recipe()).left
    assert {"office", "東 京", "京 都", "法 律", "heisei", "カ タ", "30"} <= {
        feature.name for feature in shown.features
    }


def test_each_script_finds_its_near_duplicates_by_one_recipe():
    texts_of = {
        "en": "The committee shall publish its yearly report in March, and every member may ask for a printed copy of it.",
        "zh": "委员会应当在每年三月公布年度报告，每一位委员都可以要求得到一份印刷本，报告不收取任何费用。",
        "ja": "委員会は毎年三月に年次報告書を公表し、委員はだれでも印刷された一部を無料で求めることができる。",
    }
    changed = {"en": "every one", "zh": "全体委员", "ja": "全員が"}
    all_of = [text for language, text in texts_of.items() for text in (text, text + changed[language])]
    pairs = nd.join(nd.fingerprint(all_of), max_distance=nd.RECIPES["default"].recipe.max_distance)
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == [(0, 1), (2, 3), (4, 5)]
    mixed = [" ".join(all_of[::2]), " ".join(all_of[1::2])]
    assert nd.distance(*nd.fingerprint(mixed)) <= nd.RECIPES["default"].recipe.max_distance


def test_the_general_way_serves_texts_of_no_tokens_at_all():
    for segmenter in not_empty(SEGMENTERS):
        values, _, counts = fingerprint_folded(
            normalized(pa.array(["", "。", "…"], pa.large_string()), ["nfkc_casefold"]), nd.Recipe(segmenter=segmenter)
        )
        assert not values.any()
        assert counts.tolist() == [0, 0, 0]
