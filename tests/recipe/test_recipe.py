"""Recipes: what is refused, what the digest depends on, and what is named."""

import dataclasses
import json
import shutil
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import neardup as nd
from neardup.fingerprints.files.fingerprint_file import read_fingerprint_file
from neardup.recipe import stored_parts
from neardup.recipe.files import identities, jieba_files
from neardup.recipe.presets import find_recipe
from neardup.recipe.serialization import check_same, stored_recipe
from neardup.recipe.tables.parts import HASHES, UNICODE
from neardup.recipe.tables.spellings import meant_name
from neardup.text.unicode_tables import UNICODE_VERSION


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bits": 0}, "`bits=0`: give an integer from 1 to 512"),
        ({"bits": 513}, "bits=513"),
        ({"bits": True}, "bits=True"),
        ({"bits": "64"}, "bits='64'"),
        ({"word_shingle": 0}, "`word_shingle=0`: give an integer from 1 to 64"),
        ({"cjk_shingle": 65}, "cjk_shingle=65"),
        ({"weights": "idf"}, "`weights='idf'`: give one of uniform, tf, log, sqrt, tfidf"),
        ({"hash": "md55"}, "`hash='md55'`: give one of xxh3.*did you mean md5"),
        ({"min_tokens": 0}, "min_tokens=0"),
        ({"max_distance": 129}, "`max_distance=129`: give an integer from 0 to the number of bits"),
        ({"bits": 0, "weights": "x"}, "bits=0.*weights='x'"),
        ({"bits": 64.0}, "`bits=64.0`: give an integer"),
        ({"max_distance": -1}, "`max_distance=-1`: give an integer from 0"),
        ({"hash": len}, r"hash=.*wrap a function of your own: HashFunction\(function, name=…, version=…, bits=…\)"),
        ({"weights": "tf", "keywords": "by_lenght"}, "or 'by_length' .did you mean by_length"),
        ({"profile": ["leonsim"]}, r"`profile=\['leonsim'\]`: give one of leonsim, moz"),
        ({"profile": "leonsin", "bits": 64}, "`profile='leonsin'`: give one of .* .did you mean leonsim"),
        (
            {"profile": "leonsim", "bits": 65},
            "`bits=65` with `profile='leonsim'`: give one of 8, 16, .*, 56, 64, 72, .*, 128",
        ),
        (
            {"segmenter": "jieba", "hmm": 1, "mode": "A"},
            "`hmm=1`: give true or false; `mode='A'` with `segmenter='jieba'`",
        ),
    ],
)
def test_recipes_that_are_not_possible_are_refused(fields, message):
    with pytest.raises(nd.OptionError, match=message):
        nd.Recipe(**fields)


def test_a_problem_elsewhere_is_none_of_the_distance():
    with pytest.raises(nd.OptionError) as refused:
        nd.Recipe(weights="x", max_distance=3)
    assert "max_distance" not in str(refused.value)
    with pytest.raises(
        nd.OptionError, match=r"^This recipe is not possible. `bits=0`: give an integer from 1 to 512.$"
    ):
        nd.Recipe(bits=0, max_distance=3)


def test_damaged_document_frequencies_hide_no_other_problem(tmp_path):
    path = tmp_path / "df.parquet"
    path.write_bytes(b"damaged")
    with pytest.raises(nd.DataError, match="cannot be read as a file of document frequencies"):
        nd.Recipe(weights="tfidf", document_frequencies=path)
    with pytest.raises(
        nd.OptionError, match="`bits=0`: give an integer.*cannot be read as a file of document frequencies"
    ):
        nd.Recipe(weights="tfidf", document_frequencies=path, bits=0)


def test_integers_of_numpy_are_integers():
    found = nd.Recipe(bits=np.int64(64), keywords=np.uint8(5), max_distance=np.int32(3))
    assert json.dumps(found.as_dict()) == json.dumps(nd.Recipe(bits=64, keywords=5).as_dict())
    assert nd.VectorRecipe(dimension=np.int64(3), seed=np.uint64(1)) == nd.VectorRecipe(dimension=3, seed=1)
    assert json.loads(json.dumps(nd.VectorRecipe(dimension=np.int64(3)).as_dict()))["dimension"] == 3
    for given in (np.float64(64), np.bool_(1)):
        with pytest.raises(nd.OptionError, match="bits="):
            nd.Recipe(bits=given)


def test_every_field_that_decides_bits_changes_the_digest(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("法律\n", encoding="utf-8")
    other = {
        "word_shingle": 2,
        "cjk_shingle": 3,
        "weights": "tf",
        "bits": 64,
        "min_tokens": 9,
        "hash": "md5",
        "keywords": 5,
        "normalize": ["lower"],
        "segmenter": "characters",
        "stop_words": ["en"],
        "version": 2,
    }
    for name, value in other.items():
        assert nd.Recipe(**{name: value}).digest() != nd.Recipe().digest(), name
    of_segmenter = {"mode": "search", "hmm": False, "dictionary": str(words)}
    for name, value in of_segmenter.items():
        assert nd.Recipe(segmenter="jieba", **{name: value}).digest() != nd.Recipe(segmenter="jieba").digest(), name
    nd.fit(["red"], tmp_path / "df.parquet")
    corpora = [nd.Recipe(weights="tfidf", segmenter="jieba", document_frequencies="jieba")]
    corpora += [nd.Recipe(weights="tfidf", document_frequencies=tmp_path / "df.parquet")]
    assert len({recipe.digest() for recipe in corpora}) == 2
    assert nd.Recipe(profile="moz", bits=64).digest() != nd.Recipe(profile="mfonda", bits=64).digest()
    undecided = {"max_distance", "document_frequencies", "profile", "profile_window"}
    assert {field.name for field in dataclasses.fields(nd.Recipe)} == {*other, *of_segmenter} | undecided
    assert nd.Recipe(max_distance=3).digest() == nd.Recipe().digest()


def test_digests_of_named_recipes_are_frozen():
    """A changed digest means changed bits: stored fingerprints would no longer be comparable. Raise VERSION, and say so in CHANGELOG."""
    of_packages = {"cppjieba", "fnv1a", "go-fnv1a"}  # whose digests know the version of jieba
    assert {name: named.recipe.digest() for name, named in nd.RECIPES.items() if name not in of_packages} == {
        "default": "149758eb4496a2d6",
        "default-64": "5d9c6844f5e11755",
        "all-scripts": "15a41b30d4aab48f",
        "all-scripts-64": "7f05988b1614c670",
        "unmarked": "6ea7c8d2e9559b7f",
        "textbook": "33c7a4508fd1c732",
        "leonsim": "524d5c5a8b672944",
        "moz": "c57a491df58452ae",
        "moz-character": "42a66227a162ea7b",
        "mfonda": "9bee07d243133a2e",
        "mfonda-unicode": "d66bfe71c0b1ff9f",
        "mfonda-cjk": "c474d8101a00d322",
        "ferd": "2b98155be46ecc8a",
        "ferd-md5": "50982a2ecc620cb1",
        "ferd-sha512": "8dcab071ebd22c73",
        "ferd-phash": "bb099416939a4bfa",
        "clickhouse-ngram": "98c149ac8a0d2858",
        "clickhouse-ngram-any-case": "e74e37948e32dfbb",
        "clickhouse-ngram-utf8": "76a7f02f12fbb880",
        "clickhouse-ngram-utf8-any-case": "5deb0e568520791f",
        "clickhouse-words": "661516e4b2c8a608",
        "clickhouse-words-any-case": "08f7b67957a6b41a",
        "data-juicer": "5ad3aa9422983231",
        "data-juicer-character": "c7597676fb6b4053",
        "data-juicer-punctuation": "9b9f9ae04acd0083",
        "text-dedup-0.3.0": "561ebb6ee5e6c1fc",
        "text-dedup-0.3.1": "d18a1c9c02dba905",
        "text-dedup-0.4.0": "32bfeb92aaa34282",
        "text-dedup-0.4.1": "d4de0b5e7b46601d",
        "wayback": "eb21c0e272238dd8",
    }


def test_the_recipe_names_the_unicode_version_of_the_tables():
    assert UNICODE == UNICODE_VERSION


def test_a_recipe_can_be_kept_in_a_toml_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('bits = 64\nweights = "tf"\nmax_distance = 3\n')
    assert find_recipe(str(path)) == nd.Recipe(bits=64, weights="tf", max_distance=3)
    path.write_text("bits = 64\n")
    assert find_recipe(str(path)).max_distance is None


def test_recipe_files_that_cannot_be_used_are_refused(tmp_path):
    path = tmp_path / "mine.toml"
    with pytest.raises(
        nd.OptionError, match="no recipe 'best'. Give one of default, default-64, all-scripts, .* or a file"
    ):
        find_recipe("best")
    with pytest.raises(nd.OptionError, match=r"no recipe 'go-fnv1' \(did you mean go-fnv1a\?\). Give one of default"):
        find_recipe("go-fnv1")
    with pytest.raises(nd.InputError, match="no recipe file"):
        find_recipe(str(path))
    path.write_text("bits = [")
    with pytest.raises(nd.InputError, match="is not valid TOML"):
        find_recipe(str(path))
    path.write_bytes(b"bits = 64\nweights = '\xff'\n")
    with pytest.raises(nd.InputError, match=r"mine.toml', line 2: this is not UTF-8"):
        find_recipe(str(path))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(nd.InputError, match="cannot be read: Is a directory. Give a file"):
        find_recipe(str(tmp_path / "folder.toml"))
    path.write_text("colour = 3\n")
    with pytest.raises(nd.OptionError, match="a recipe has no `colour`. It has `word_shingle`"):
        find_recipe(str(path))


def test_a_recipe_without_a_distance_needs_one():
    with pytest.raises(nd.OptionError, match="has no distance of its own. Give `max_distance`"):
        nd.deduplicate(["a"], recipe=nd.Recipe(bits=96, max_distance=None), method="simhash")


def test_fingerprints_of_two_recipes_are_not_mixed_and_both_are_shown():
    default, other = nd.Recipe(), nd.Recipe(bits=64, segmenter="characters", cjk_shingle=2, stop_words=["en"])
    with pytest.raises(nd.RecipeMismatch) as refused:
        check_same(default, other.as_dict(), "b.parquet", "that of a.parquet")
    said = str(refused.value)
    assert said.startswith(
        f"b.parquet was made by the recipe {other.digest()}, not by {default.digest()}, that of a.parquet: "
        'bits: 64 there, 128 here; segmenter: characters there, words here; stop_words: [{"words": "'
    )
    assert said.endswith(
        "}] there, [] here. Distances between fingerprints of two recipes mean nothing. Make both with the same recipe."
    )
    with pytest.raises(nd.RecipeMismatch, match="of vectors there, of texts here"):
        check_same(default, nd.VectorRecipe(dimension=3), "b.parquet")
    with pytest.raises(nd.RecipeMismatch, match="which is asked for: version: 0 there, 1 here"):
        check_same(default, default.as_dict() | {"version": 0}, "b.parquet")
    check_same(other, json.loads(json.dumps(other.as_dict())), "b.parquet")


def test_a_recipe_file_names_files_by_paths_relative_to_itself(tmp_path, monkeypatch):
    (tmp_path / "words.txt").write_text("51区\n", encoding="utf-8")
    (tmp_path / "stop.txt").write_text("的\n", encoding="utf-8")
    path = tmp_path / "mine.toml"
    fields = 'segmenter = "jieba"\nmode = "search"\nhmm = false\nnormalize = ["simplified", "nfkc_casefold"]\n'
    path.write_text(fields + 'dictionary = "words.txt"\nstop_words = ["zh", "stop.txt"]\n', encoding="utf-8")
    found = find_recipe(str(path))
    assert (found.segmenter, found.mode, found.hmm) == ("jieba", "search", False)
    assert found.normalize == ("simplified", "nfkc_casefold")
    assert found.dictionary.lines == ("51区",)
    assert [each.name for each in found.stop_words] == ["zh", str(tmp_path / "stop.txt")]
    monkeypatch.chdir(tmp_path)
    assert find_recipe("mine.toml").digest() == found.digest()


def test_a_recipe_file_gets_all_its_problems_at_once(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'bit = 64\ncolour = 1\nbits = "64"\nsegmenter = "jeiba"\nnormalize = "nfkc"\nkeywords = 5\nweights = "uniform"\n'
        'stop_words = ["zhh", 3]\nhmm = 1\ndictionary = "nowhere.txt"\n'
    )
    with pytest.raises(nd.OptionError) as refused:
        find_recipe(str(path))
    for said in (
        str(path),
        "a recipe has no `bit` (did you mean `bits`?)",
        "a recipe has no `colour`. It has",
        "`bits='64'`: give an integer",
        "`segmenter='jeiba'`: give one of words, characters, whitespace, jieba, rjieba, cppjieba, sudachi, icu (did you mean jieba?)",
        "`normalize='nfkc'`: give a list of names",
        "`keywords` with `weights='uniform'`",
        "stop list 'zhh': give one of zh, ja, en, or an existing file (did you mean zh?)",
        "`stop_words`: 3 is neither a name nor a path",
        "`hmm=1`: give true or false",
        f"dictionary '{tmp_path / 'nowhere.txt'}' cannot be read: No such file or directory",
    ):
        assert said in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"segmenter": "characters", "cjk_shingle": 3}, "`cjk_shingle=3` is for `segmenter='words'`"),
        (
            {"mode": "search"},
            "`mode='search'` with `segmenter='words'`: words has no modes; jieba, rjieba and sudachi have",
        ),
        ({"segmenter": "cppjieba", "mode": "search"}, "cppjieba has no modes; jieba, rjieba and sudachi have"),
        ({"segmenter": "sudachi", "mode": "search"}, "sudachi has A, B, C"),
        ({"segmenter": "sudachi", "hmm": False}, "only jieba, rjieba and cppjieba have a hidden Markov model"),
        ({"segmenter": str.split}, "wrap a function of your own: Segmenter"),
        ({"segmenter": ["words"]}, "give one of words, characters"),
        ({"dictionary": 3, "segmenter": "jieba"}, "`dictionary=3`: give the path of a file, or one of gojieba"),
        ({"stop_words": "zh"}, "`stop_words='zh'`: give a list of names, of zh, ja, en, or paths"),
        ({"normalize": [3]}, "`normalize=3`: give one of"),
    ],
)
def test_segmenters_and_lists_that_contradict_each_other_are_refused(fields, said):
    with pytest.raises(nd.OptionError, match=said):
        nd.Recipe(**fields)


def test_a_dictionary_is_for_segmenters_that_have_one(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a\n")
    with pytest.raises(
        nd.OptionError,
        match="`dictionary` with `segmenter='words'`: only jieba, rjieba, cppjieba and sudachi have dictionaries",
    ):
        nd.Recipe(dictionary=path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty, line 1 on"),
        (b"\n \n", "is empty"),
        ("法律\n条文\n".encode() + b"\xff\n", "line 3: this is not UTF-8"),
        (b"a\nb\0c\n", "line 2: a zero byte"),
    ],
)
def test_lists_that_cannot_be_used_are_refused_by_name_and_line(tmp_path, content, said):
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    for fields in ({"stop_words": [path]}, {"segmenter": "jieba", "dictionary": path}):
        with pytest.raises(nd.OptionError, match=f"(stop list|dictionary) '{path}'.* {said}"):
            nd.Recipe(**fields)


@pytest.mark.parametrize(
    ("segmenter", "content", "said"),
    [
        ("jieba", "法律\n条文 3 n x\n", "line 2: '条文 3 n x' is not a word, or a word and its count"),
        ("jieba", "法律 9999999999999\n", "line 1"),
        ("sudachi", "a,b\n", "line 1: 2 columns; an entry of Sudachi's user dictionary .* has 18"),
    ],
)
def test_entries_of_dictionaries_that_are_none_are_refused_by_line(tmp_path, segmenter, content, said):
    path = tmp_path / "words.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(nd.OptionError, match=f"dictionary '{path}', {said}"):
        nd.Recipe(segmenter=segmenter, dictionary=path)


def test_the_content_of_a_list_decides_the_digest_not_its_path_or_its_line_ends(tmp_path):
    digests = []
    for name, content in (("a", "法律\n条文\n"), ("b", "\ufeff法律\r\n\r\n条文"), ("c", "法律\n")):
        (tmp_path / name).write_text(content, encoding="utf-8", newline="")
        digests.append(nd.Recipe(segmenter="jieba", dictionary=tmp_path / name).digest())
    assert digests[0] == digests[1] != digests[2]
    both = nd.Recipe(stop_words=["en", tmp_path / "a"])
    assert both.digest() == nd.Recipe(stop_words=[str(tmp_path / "b"), "en"]).digest()


def test_versions_of_packages_decide_the_digest(monkeypatch):
    before = nd.Recipe(segmenter="rjieba").digest(), nd.Recipe(normalize=["simplified"]).digest()
    monkeypatch.setattr("neardup.recipe.stored_parts.version_of", lambda name: "0.0.1")
    after = nd.Recipe(segmenter="rjieba").digest(), nd.Recipe(normalize=["simplified"]).digest()
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_stored_recipe_comes_back_whole_where_its_parts_are_at_hand():
    for recipe in (
        nd.Recipe(),
        nd.Recipe(segmenter="jieba", mode="search", hmm=False, stop_words=["zh", "en"], bits=64),
        nd.Recipe(segmenter="sudachi", mode="A", normalize=["simplified", "lower"]),
        nd.Recipe(normalize=[], keywords=3),
    ):
        found = stored_recipe(json.loads(json.dumps(recipe.as_dict())))
        assert found.digest() == recipe.digest()
        assert (
            nd.fingerprint(["法律 条文"], recipe=found).tolist()
            == nd.fingerprint(["法律 条文"], recipe=recipe).tolist()
        )


def test_recipes_from_before_there_were_kernels_are_of_rjieba_and_keep_their_digests():
    former = nd.Recipe().as_dict() | {"segmenter": {"name": "jieba", "rjieba": metadata.version("rjieba")}}
    found = stored_recipe(former)
    assert found == nd.Recipe(segmenter="rjieba")
    assert found.as_dict() == former
    assert found.digest() != nd.Recipe(segmenter="jieba").digest()
    with pytest.raises(nd.RecipeMismatch, match="segmenter"):
        check_same(nd.Recipe(segmenter="jieba"), former, "old.parquet")
    keywords = former | {"weights": {"name": "jieba_tfidf", "jieba": metadata.version("jieba")}}
    assert stored_recipe(keywords) == nd.Recipe(segmenter="rjieba", weights="jieba_tfidf")


def test_the_digest_of_jieba_is_of_its_words_and_not_of_its_version(monkeypatch):
    recipe = nd.Recipe(segmenter="jieba")
    assert recipe.as_dict()["segmenter"] == {"name": "jieba", "words": jieba_files.words_digest()}
    before, stored = recipe.digest(), recipe.as_dict()
    monkeypatch.setattr(stored_parts, "version_of", lambda _: "9.9")
    assert nd.Recipe(segmenter="jieba").digest() == before
    monkeypatch.setattr(identities, "words_digest", lambda: "0" * 16)
    assert nd.Recipe(segmenter="jieba").digest() != before
    with pytest.raises(
        nd.OptionError, match=r"dictionary and model .*, and here jieba .* has 0000.*Install the version"
    ):
        nd.fingerprint(["法律"], recipe=stored_recipe(stored))


def test_a_stored_recipe_keeps_its_digest_and_says_what_is_not_at_hand(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("法律\n", encoding="utf-8")
    elsewhere = nd.Recipe(segmenter="rjieba").as_dict()
    elsewhere["segmenter"]["rjieba"] = "0.0.1"
    other_words = nd.Recipe(segmenter="jieba").as_dict()
    other_words["segmenter"]["words"] = "0" * 16
    for part, values in (
        ("segmenter", nd.Recipe(segmenter=nd.Segmenter(str.split, name="mine", version="7")).as_dict()),
        ("segmenter", elsewhere),
        ("segmenter", other_words),
        ("dictionary", nd.Recipe(segmenter="jieba", dictionary=path).as_dict()),
        ("stop_words", nd.Recipe(stop_words=[path]).as_dict()),
        ("normalize", nd.Recipe().as_dict() | {"normalize": [{"name": "simplified", "opencc": "0.0.1"}]}),
    ):
        found = stored_recipe(values)
        assert found.as_dict() == values
        with pytest.raises(
            nd.OptionError,
            match=f"`{part}`: (only its identity, .* is stored.*Give the recipe itself|.* made with .*Install)",
        ):
            nd.fingerprint(["法律"], recipe=found)


def test_fingerprints_by_a_callers_segmenter_can_be_stored_and_paired(tmp_path):
    recipe = nd.Recipe(segmenter=nd.Segmenter(str.split, name="split", version="1"), max_distance=3, bits=64)
    texts = tmp_path / "texts.jsonl"
    line = json.dumps({"id": "a", "text": "one two three four five six seven eight nine"})
    texts.write_text(line + "\n" + line.replace('"a"', '"b"') + "\n")
    nd.fingerprint_files([str(texts)], str(tmp_path / "found.parquet"), recipe=recipe)
    stored = read_fingerprint_file(tmp_path / "found.parquet")
    assert stored.made_by().digest() == stored.digest == recipe.digest()
    nd.pair_files(
        [str(tmp_path / "found.parquet")],
        str(tmp_path / "pairs.jsonl"),
        method="simhash",
        max_distance=3,
        min_similarity=0,
    )
    assert json.loads((tmp_path / "pairs.jsonl").read_text())["distance"] == 0


ROSES = ["a rose is a rose is a rose, said she to them", "A rose is a rose is a rose, said she to them!", "a tulip"]
WITH_RECIPE = {
    "fingerprint": lambda given: nd.fingerprint(ROSES, recipe=given).tolist(),
    "fingerprint_features": lambda given: nd.fingerprint_features([{"a": 1}], recipe=given).tolist(),
    "keywords": lambda given: nd.keywords(ROSES, recipe=given),
    "compare": lambda given: nd.compare(*ROSES[:2], recipe=given).left,
    "similarity": lambda given: nd.similarity(*ROSES[:2], kind="cosine", recipe=given),
    "deduplicate": lambda given: nd.deduplicate(ROSES, recipe=given).summary.recipe,
    "match": lambda given: nd.match(ROSES, recipe=given).distance.tolist(),
    "fit": lambda given: nd.fit(ROSES, "df.parquet", recipe=given, overwrite=True).digest,
    "evaluate": lambda given: nd.evaluate(ROSES, recipe=given).recipe,
    "Stream": lambda given: nd.Stream(recipe=given).recipe,
    "Index": lambda given: nd.Index(max_distance=3, recipe=given).recipe,
    "deduplicate_files": lambda given: (
        nd.deduplicate_files("in.txt", dry_run=True, recipe=given, lines=True).summary.recipe
    ),
    "deduplicate_units": lambda given: (
        nd.deduplicate_units("in.jsonl", dry_run=True, unit="line", recipe=given).summary.found.recipe
    ),
    "passages": lambda given: nd.passages(ROSES, recipe=given).summary.recipe,
    "passages_files": lambda given: nd.passages_files("in.txt", dry_run=True, recipe=given, lines=True).summary.recipe,
    "fingerprint_files": lambda given: nd.fingerprint_files("in.txt", "out/", recipe=given, lines=True, overwrite=True),
    "pair_files": lambda given: nd.pair_files("in.txt", "out.jsonl", recipe=given, lines=True, overwrite=True),
    "evaluate_files": lambda given: nd.evaluate_files("in.txt", recipe=given, lines=True).recipe,
    "estimate_files": lambda given: nd.estimate_files("in.txt", recipe=given, lines=True).method,
    "fit_files": lambda given: nd.fit_files("in.txt", "df.parquet", recipe=given, lines=True, overwrite=True).digest,
    "build_index": lambda given: nd.build_index("index", "in.txt", recipe=given, lines=True, overwrite=True),
    "filter_files": lambda given: nd.filter_files(
        "new", "in.txt", "new.txt", recipe=given, lines=True, overwrite=True, create=True
    ),
}
"""Whatever takes a recipe, and something that the recipe decides."""


@pytest.fixture
def roses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("\n".join(ROSES), encoding="utf-8")
    Path("in.jsonl").write_text(json.dumps({"text": "\n".join(ROSES)}) + "\n", encoding="utf-8")
    Path("mine.toml").write_text('word_shingle = 3\ncjk_shingle = 3\nweights = "tf"\nbits = 64\nmax_distance = 3\n')


@pytest.mark.parametrize("name", WITH_RECIPE)
def test_a_recipe_is_given_as_itself_by_its_name_or_by_its_path(name, roses):
    call, named = WITH_RECIPE[name], nd.RECIPES["textbook"]
    found = call(named.recipe)
    for given in (named, "textbook", "mine.toml", Path("mine.toml")):
        shutil.rmtree("new", ignore_errors=True)
        assert call(given) == found


@pytest.mark.parametrize("name", WITH_RECIPE)
def test_what_is_no_recipe_is_refused_with_what_to_give(name, roses):
    for given, problem, said in (
        ("leonsin", nd.OptionError, r"There is no recipe 'leonsin' \(did you mean leonsim\?\)"),
        (
            "other.toml",
            nd.InputError,
            r"There is no recipe file 'other.toml'\. Give an existing file, or a name that `neardup recipes` lists\.",
        ),
        (
            17,
            nd.OptionError,
            r"`recipe=17`: give a Recipe, the name of one, such as 'default', or the path of a .toml file",
        ),
        ({"bits": 64}, nd.OptionError, r"`recipe=\{'bits': 64\}`: give a Recipe, the name of one"),
    ):
        with pytest.raises(problem, match=said):
            WITH_RECIPE[name](given)
    if name not in ("Index", "build_index"):
        with pytest.raises(nd.OptionError, match="this recipe is for vectors. Give one for texts"):
            WITH_RECIPE[name](nd.VectorRecipe(dimension=2))


def test_keywords_of_a_comparison_are_one_number_or_two():
    for given, counts in ((2, (2, 2)), ((1, 3), (1, 3)), ([3, "by_length"], (3, 5)), (None, (6, 5))):
        found = nd.compare("a b c d e f", "a b c d e", keywords=given)
        assert (len(found.left.features), len(found.right.features)) == counts
    for given in ((1, 2, 3), (), (1,)):
        with pytest.raises(nd.OptionError, match="give a number, or two, of the left and of the right text"):
            nd.compare("a", "b", keywords=given)
    for given in (0, (1, 0), "some"):
        with pytest.raises(nd.OptionError, match=r"keywords=.*: give an integer of at least 1, or 'by_length'"):
            nd.compare("a", "b", keywords=given)


@pytest.mark.parametrize("name", HASHES)
def test_every_hash_is_meant_by_its_other_spellings_and_never_by_the_name_of_another(name):
    for given in {name.upper(), name.replace("_", "-"), name.replace("_", ""), name.replace("-", " ").title()} - {name}:
        assert meant_name(given, HASHES) == name


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"hash": "fnv64a"}, "fnv1a_64"),
        ({"hash": "FNV64"}, "fnv1_64"),
        ({"hash": "SHA1"}, "sha1"),
        ({"hash": "PHASH"}, "phash2"),
        ({"hash": "jenkins"}, "lookup3"),
        ({"weights": "TF-IDF"}, "tfidf"),
        ({"segmenter": "JIEBA"}, "jieba"),
    ],
)
def test_names_of_other_programs_suggest_the_one_that_is_here(given, meant, tmp_path):
    (key, value), path = next(iter(given.items())), tmp_path / "mine.toml"
    path.write_text(f'{key} = "{value}"\n')
    for call in (lambda: nd.Recipe(**given), lambda: nd.fingerprint(["a"], recipe=path)):
        with pytest.raises(nd.OptionError, match=rf"did you mean {meant}\?"):
            call()


@pytest.mark.parametrize("given", ["sha256", "crc32", "xxhash", "siphash", "fnv1a", "murmur3", "xxh64"])
def test_another_hash_is_never_suggested_as_if_it_were_the_same(given):
    with pytest.raises(nd.OptionError, match="give one of") as refused:
        nd.Recipe(hash=given)
    assert "did you mean" not in str(refused.value)


@pytest.mark.parametrize("content", ["bits = 64\nbits = 128", "bits = 64\nbits = 128\nweights = 'tf'\n"])
def test_a_key_of_a_recipe_that_occurs_twice_is_refused_by_its_name(content, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(nd.InputError, match="line 2: bits has a value already"):
        nd.fingerprint(["a"], recipe=path)
    path.write_text(content.replace("bits", "word_shingle"))
    with pytest.raises(nd.InputError, match="line 2: word_shingle has a value already"):
        nd.similarity("a", "a", similarity=path)
