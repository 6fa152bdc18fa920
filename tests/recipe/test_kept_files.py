"""What a recipe needs is kept with what it made: texts go with indexes, fingerprint files and audits without naming it again."""

import json
import os
import shutil
from pathlib import Path

import pytest

import neardup as nd
from neardup.fingerprints.files.fingerprint_file import fingerprint_file_recipe, read_fingerprint_file
from neardup.recipe.files import kept_files
from neardup.recipe.files.kept_files import KeptFile
from neardup.recipe.serialization import stored_recipe

NEWS = "美国雇员称内部有九架飞碟，曾看见灰色外星人的云计算中心建筑物"
TEXTS = [
    NEWS,
    "今天的天气很好，我们去公园散步，然后回家吃饭了，非常开心快乐",
    NEWS + "了",
    "图书馆每周二闭馆，其余时间早上九点开门",
]
FILES = ("user.txt", "stop.txt", "df.parquet")


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder with texts, and the recipe file that needs three others."""
    monkeypatch.chdir(tmp_path)
    Path("user.txt").write_text("云计算 5 n\n外星人\n", encoding="utf-8")
    Path("stop.txt").write_text("的\n了\n", encoding="utf-8")
    lines = [json.dumps({"id": f"t{i}", "text": text}, ensure_ascii=False) + "\n" for i, text in enumerate(TEXTS)]
    Path("texts.jsonl").write_text("".join(lines), encoding="utf-8")
    words = 'segmenter = "jieba"\ndictionary = "user.txt"\nstop_words = ["stop.txt", "zh"]\n'
    Path("words.toml").write_text(words, encoding="utf-8")
    nd.fit(["texts.jsonl"], "df.parquet", recipe="words.toml")
    rest = 'weights = "tfidf"\ndocument_frequencies = "df.parquet"\nhash = "fnv1a_64"\nbits = 64\nmin_tokens = 1\nmax_distance = 3\n'
    Path("classic.toml").write_text(words + rest, encoding="utf-8")
    return nd.Recipe(
        segmenter="jieba",
        dictionary="user.txt",
        stop_words=["stop.txt", "zh"],
        weights="tfidf",
        document_frequencies="df.parquet",
        hash="fnv1a_64",
        bits=64,
        min_tokens=1,
        max_distance=3,
    )


def remove_files():
    for name in FILES:
        os.remove(name)


def answers(path, **options):
    nd.query_index(path, output="answers.jsonl", texts=[NEWS], overwrite=True, **options)
    return [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]


def test_an_index_keeps_the_files_in_its_folder(made):
    nd.build_index("w.index", "texts.jsonl", recipe="classic.toml")
    before = answers("w.index")
    assert before[0] == {"id": 0, "neighbor_id": "t0", "distance": 0}
    remove_files()
    assert answers("w.index") == before
    assert nd.add_to_index("w.index", "texts.jsonl") == 4
    shutil.move("w.index", "elsewhere.index")
    assert len(answers("elsewhere.index")) == 2 * len(before)
    assert sorted(nd.Index.open("elsewhere.index").info(verify=True).recipe_fields["files"][0]) == [
        "digest",
        "kept",
        "kind",
        "path",
    ]
    assert nd.remove_from_index("elsewhere.index", ["t0"]) == 2
    assert not any(each["neighbor_id"] == "t0" for each in answers("elsewhere.index"))


def test_an_index_goes_on_with_its_files_wherever_it_is_saved(made):
    nd.build_index("w.index", "texts.jsonl", recipe="classic.toml")
    remove_files()
    index = nd.Index.open("w.index")
    index.save("copy.index")
    shutil.rmtree("w.index")
    assert index.recipe.digest() == made.digest()
    assert index.recipe.missing == ()
    assert answers("copy.index")[0]["neighbor_id"] == "t0"
    index.save()
    assert answers("copy.index")[0]["neighbor_id"] == "t0"


def test_filter_goes_on_without_naming_the_recipe(made):
    nd.filter_files("seen.index", "texts.jsonl", "fresh.jsonl", recipe="classic.toml", create=True)
    remove_files()
    result = nd.filter_files("seen.index", "texts.jsonl", "again.jsonl", create=True)
    assert (result.passed, result.duplicates) == (0, 4)


def test_a_stream_goes_on_without_naming_the_recipe(made):
    with nd.Stream("seen.store", recipe=made) as stream:
        assert stream.add("a", NEWS) is None
    remove_files()
    with nd.Stream("seen.store") as stream:
        assert stream.recipe.digest() == made.digest()
        assert stream.add("b", NEWS) == nd.Match("a", 1.0, 0, exact=True)


def test_fingerprint_files_make_indexes_that_take_texts(made):
    nd.fingerprint_files("texts.jsonl", "prints.parquet", recipe="classic.toml")
    remove_files()
    recipe = fingerprint_file_recipe("prints.parquet")
    assert (recipe.digest(), recipe.missing) == (made.digest(), ())
    nd.build_index("w.index", "prints.parquet", max_distance=3)
    assert answers("w.index")[0] == {"id": 0, "neighbor_id": "t0", "distance": 0}
    assert (
        nd.fingerprint(TEXTS, recipe=recipe).tolist()
        == read_fingerprint_file("prints.parquet").documents.fingerprints[:, 0].tolist()
    )


def test_audits_keep_the_files_for_explanations_and_reports(made):
    nd.deduplicate_files("texts.jsonl", "out.jsonl", recipe="classic.toml", min_similarity=0)
    remove_files()
    kept = nd.explain("out.duplicates.jsonl", "t3")
    assert kept.nearest_by == "distance"
    assert len(kept.neighbors) == 3
    page = nd.report("out.duplicates.jsonl", "out.html")
    assert not page.without_texts
    assert "user.txt" in Path("out.html").read_text()
    proof = nd.verify_files("out.jsonl")
    assert proof.proven


def test_runs_in_stages_keep_the_files(made):
    nd.fingerprint_files("texts.jsonl", "prints.parquet", recipe="classic.toml")
    nd.pair_files("prints.parquet", "pairs.parquet", max_distance=3)
    nd.cluster_files("pairs.parquet", "clusters.parquet", documents="prints.parquet")
    nd.apply_files("clusters.parquet", "texts.jsonl", "out.jsonl")
    remove_files()
    assert len(nd.explain("out.duplicates.jsonl", "t3").neighbors) == 3
    assert not nd.report("out.duplicates.jsonl", "out.html").without_texts


def test_large_files_are_kept_by_path_and_digest(made, monkeypatch):
    monkeypatch.setattr(kept_files, "SMALL_BYTES", 10)
    monkeypatch.setattr("neardup.hamming.index.files.stored_recipe.COPIED_BYTES", 10)
    recipe = nd.Recipe(segmenter="jieba", dictionary="user.txt", stop_words=["stop.txt"], min_tokens=1, max_distance=3)
    assert [sorted(each) for each in recipe.stored()["files"]] == [
        ["digest", "kind", "path"],
        ["digest", "kind", "path", "text"],
    ]
    nd.build_index("w.index", "texts.jsonl", recipe=recipe)
    assert answers("w.index")[0]["neighbor_id"] == "t0"
    assert [name for name in os.listdir("w.index") if name.startswith("words")] == [
        recipe.stored()["files"][1]["digest"].join(("words-", ".txt"))
    ]
    Path("user.txt").rename("moved.txt")
    with pytest.raises(
        nd.OptionError,
        match=r"`dictionary`: .*user.txt, but it is not there any more\. Put that file back, or give `recipe`",
    ):
        answers("w.index")
    with pytest.raises(nd.OptionError, match="not there any more"):
        nd.add_to_index("w.index", "texts.jsonl")
    Path("user.txt").write_text("云计算 6 n\n", encoding="utf-8")
    with pytest.raises(
        nd.OptionError, match="user.txt, but it has changed since: its digest is [0-9a-f]{16}, not [0-9a-f]{16}"
    ):
        answers("w.index")
    same = nd.Recipe(segmenter="jieba", dictionary="moved.txt", stop_words=["stop.txt"], min_tokens=1, max_distance=3)
    assert answers("w.index", recipe=same)[0]["neighbor_id"] == "t0"
    assert nd.add_to_index("w.index", "texts.jsonl", recipe=same) == 4
    other = nd.Recipe(segmenter="jieba", dictionary="user.txt", stop_words=["stop.txt"], min_tokens=1, max_distance=3)
    with pytest.raises(nd.RecipeMismatch, match="dictionary"):
        answers("w.index", recipe=other)
    assert answers("w.index")[0]["neighbor_id"] == "t0"  # the path of the file that was given is known now
    os.remove("moved.txt")
    os.mkdir("moved.txt")
    with pytest.raises(nd.OptionError, match="it is no file any more"):
        answers("w.index")
    assert nd.query_index("w.index", output="answers.jsonl", fingerprints=["0" * 32], overwrite=True) == 0


def test_an_index_takes_the_copy_of_a_file_that_was_gone(made, monkeypatch):
    monkeypatch.setattr(kept_files, "SMALL_BYTES", 10)
    recipe = nd.Recipe(segmenter="jieba", dictionary="user.txt", min_tokens=1, max_distance=3)
    nd.fingerprint_files("texts.jsonl", "prints.parquet", recipe=recipe)
    shutil.copy("user.txt", "copy.txt")
    Path("user.txt").write_text("云计算 6 n\n", encoding="utf-8")
    said = []
    nd.build_index("w.index", "prints.parquet", progress=lambda event: said.append(str(event.message)))
    assert any(
        "w.index keeps no copy of a file that its recipe needs for texts: what is stored was made" in each
        for each in said
    )
    shutil.copytree("w.index", "s.index")

    def kept(home):
        return [name for name in os.listdir(home) if name.startswith("words-")]

    assert kept("w.index") == []
    same = nd.Recipe(segmenter="jieba", dictionary="copy.txt", min_tokens=1, max_distance=3)
    assert nd.add_to_index("w.index", "texts.jsonl", recipe=same) == 4
    assert nd.filter_files("s.index", "texts.jsonl", "s.jsonl", recipe=same, create=True).passed == 0
    os.remove("copy.txt")
    for home in ("w.index", "s.index"):
        assert len(kept(home)) == 1
        assert not nd.Index.open(home).info(verify=True).damaged
        assert answers(home)[0]["neighbor_id"] == "t0"
        assert nd.filter_files(home, "texts.jsonl", f"{home}.jsonl", overwrite=True, create=True).passed == 0
    with pytest.raises(nd.RecipeMismatch):
        nd.Index.open("w.index").take_files("default")


def test_audits_name_what_is_missing_and_take_the_recipe(made, monkeypatch):
    monkeypatch.setattr(kept_files, "SMALL_BYTES", 10)
    nd.deduplicate_files("texts.jsonl", "out.jsonl", recipe="classic.toml", min_similarity=0)
    for name in FILES:
        shutil.copy(name, f"{name}.copy")
    shutil.copytree(".", "there", ignore=shutil.ignore_patterns("there"))
    os.remove("user.txt")
    with pytest.raises(nd.OptionError, match="`dictionary`: .* is not there any more"):
        nd.explain("out.duplicates.jsonl", "t3")
    assert len(nd.explain("out.duplicates.jsonl", "t3", recipe="there/classic.toml").neighbors) == 3
    with pytest.raises(nd.RecipeMismatch, match="which was given"):
        nd.explain("out.duplicates.jsonl", "t3", recipe="default")
    assert not nd.report("out.duplicates.jsonl", "out.html").without_texts
    assert nd.explain("out.duplicates.jsonl", "t2").removed


def test_functions_of_the_caller_are_given_again(made):
    recipe = nd.Recipe(segmenter=nd.Segmenter(list, name="letters", version="1"), min_tokens=1, max_distance=3, bits=64)
    nd.build_index("w.index", "texts.jsonl", recipe=recipe)
    with pytest.raises(nd.OptionError, match="`segmenter`: only its identity.*Give the recipe itself"):
        answers("w.index")
    assert answers("w.index", recipe=recipe)[0]["neighbor_id"] == "t0"
    assert nd.add_to_index("w.index", "texts.jsonl", recipe=recipe) == 4
    with pytest.raises(nd.RecipeMismatch):
        nd.add_to_index("w.index", "texts.jsonl", recipe=nd.Recipe(bits=64))
    nd.deduplicate_files("texts.jsonl", "out.jsonl", recipe=recipe, min_similarity=0)
    assert len(nd.explain("out.duplicates.jsonl", "t3", recipe=recipe).neighbors) == 3
    assert not nd.report("out.duplicates.jsonl", "out.html").without_texts


def test_an_index_of_unknown_fingerprints_takes_the_recipe(made):
    recipe = nd.Recipe(bits=64, min_tokens=1)
    index = nd.Index(max_distance=3)
    index.add(["a"], nd.fingerprint([NEWS], recipe=recipe))
    index.save("w.index")
    with pytest.raises(nd.InputError, match="does not know the recipe"):
        answers("w.index")
    assert answers("w.index", recipe=recipe) == [{"id": 0, "neighbor_id": "a", "distance": 0}]
    with pytest.raises(nd.OptionError, match="it makes fingerprints of 128 bits, and those of w.index have 64"):
        answers("w.index", recipe="default")


def test_damaged_copies_are_found_and_refused(made):
    nd.build_index("w.index", "texts.jsonl", recipe="classic.toml")
    remove_files()
    copies = {
        name.split("-")[0] + name[-8:]: name for name in os.listdir("w.index") if name.startswith(("words", "freq"))
    }
    assert len(copies) == 3
    for name in sorted(copies.values()):
        path = Path("w.index", name)
        before = path.read_bytes()
        path.write_bytes(before[:-3] + b"xx\n")
        assert name in nd.Index.open("w.index").info(verify=True).damaged
        with pytest.raises(nd.NeardupError):
            answers("w.index")
        path.unlink()
        assert name in nd.Index.open("w.index").info(verify=True).damaged
        with pytest.raises(nd.OptionError, match="is not there any more"):
            answers("w.index")
        path.write_bytes(before)
    assert nd.Index.open("w.index").info(verify=True).damaged == {}


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"kind": "words", "digest": "0" * 16, "path": "x", "kept": "../../etc/passwd"},
        {"kind": "other", "digest": "0" * 16, "path": "x"},
        {"kind": "frequencies", "digest": "0" * 16, "path": "x", "base64": "!"},
        {"kind": "words", "digest": "0" * 16, "path": "x", "text": 7},
    ],
)
def test_entries_that_cannot_be_read_are_refused(entry):
    with pytest.raises(nd.DataError, match="names its files in a way that cannot be read"):
        KeptFile.of_dict(entry)
    with pytest.raises(nd.DataError, match="names its files"):
        stored_recipe(nd.Recipe().as_dict() | {"files": [entry]})


def test_content_that_is_not_what_the_digest_says_is_not_used(made):
    values = json.loads(json.dumps(made.stored()))
    assert stored_recipe(values).missing == ()
    values["files"][0]["text"] = "别的\n"
    found = stored_recipe(values)
    assert found.digest() == made.digest()
    with pytest.raises(nd.OptionError, match="`dictionary`: .*it has changed since"):
        nd.fingerprint([NEWS], recipe=found)


def test_packages_of_other_versions_are_named(made):
    values = nd.Recipe(segmenter="rjieba").stored()
    values["segmenter"]["rjieba"] = "0.0.1"
    with pytest.raises(
        nd.OptionError, match=r"made with rjieba 0\.0\.1, and here is rjieba .*pip install rjieba==0\.0\.1"
    ):
        nd.fingerprint([NEWS], recipe=stored_recipe(values))


def test_frequencies_of_a_package_are_found_in_it(made, monkeypatch):
    recipe = nd.Recipe(segmenter="jieba", weights="tfidf", document_frequencies="jieba", min_tokens=1, max_distance=3)
    nd.build_index("w.index", "texts.jsonl", recipe=recipe)
    assert nd.Index.open("w.index").recipe.digest() == recipe.digest()
    assert answers("w.index")[0]["neighbor_id"] == "t0"
    assert os.listdir("w.index").count("frequencies") == 0
    monkeypatch.setattr(kept_files, "background_digest", lambda: "0" * 16)
    with pytest.raises(nd.OptionError, match="of the package jieba, but it has changed since.*Install the version"):
        answers("w.index")
