"""The version of the rule of short texts: recorded with what is made; what was made before keeps to its own, and says so."""

import json
from pathlib import Path

import pytest
from cli_corpora import read_lines, write_lines

import neardup as nd
from neardup.fingerprints.files import fingerprint_file
from neardup.hamming.index.files import folder
from neardup.io.checksums import checksum
from neardup.io.resume import run_folder
from neardup.recipe.short_rule import NAME, SHORT_RULE

TEXTS = ["我爱他", "你在吗", "我爱他吗你在吗，一起去图书馆看书学习中文好不好呢"]
"""By this recipe, nothing votes in the first two: one-character words are left out."""
RECIPE = "fnv1a"
SAID = "begun by version 1 of the rule of short texts, and keeps to it"


@pytest.fixture(autouse=True)
def inputs(place):
    pytest.importorskip("jieba")
    write_lines("in.jsonl", [{"id": f"d{row}", "text": text} for row, text in enumerate(TEXTS)])


def made_before(path):
    """A store of this recipe, without the fact."""
    with nd.Store(path, recipe=RECIPE, method="simhash", min_similarity=0) as store:
        assert store.info().short_rule == SHORT_RULE
        with store._files.changing():
            store._files.record._write("DELETE FROM facts WHERE name = ?", [(NAME,)])
            store._files.record.commit()


def test_a_store_of_before_decides_and_is_restored_as_it_was(run):
    made_before("old")
    done = run("store", "info", "old").ok()
    assert SAID in " ".join(done.out.decode().split())
    assert "neardup store build" in done.out.decode()
    assert json.loads(run("store", "info", "old", "--json").out)["short_rule"] == 1
    run("store", "export", "old", "exported").ok()
    nd.Store.from_export("restored", "exported").close()
    nd.Store("new", recipe=RECIPE, method="simhash", min_similarity=0).close()
    assert SAID not in run("store", "info", "new").out.decode()
    for path, version, expected in (
        ("old", 1, [True, False]),
        ("restored", 1, [True, False]),
        ("new", 2, [True, True]),
    ):
        with nd.Store(path) as store:
            assert store.info().short_rule == version
            assert [answer.is_new for answer in store.check_and_add_many(["a", "b"], TEXTS[:2])] == expected


def test_a_store_that_is_built_has_the_present_rule(run):
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", RECIPE, "--min-similarity", "0").ok()
    nd.Store.build("s", "out.jsonl").close()
    with nd.Store("s", mode="r") as store:
        assert store.info().short_rule == SHORT_RULE


def test_a_fingerprint_file_of_before_says_so(run, monkeypatch):
    original = fingerprint_file.fingerprint_metadata
    with monkeypatch.context() as patch:
        patch.setattr(
            fingerprint_file,
            "fingerprint_metadata",
            lambda recipe: {name: value for name, value in original(recipe).items() if name != fingerprint_file.SHORT},
        )
        run("fingerprint", "in.jsonl", "-o", "old.parquet", "--recipe", RECIPE).ok()
    run("fingerprint", "in.jsonl", "-o", "new.parquet", "--recipe", RECIPE).ok()
    for name, version in (("old", 1), ("new", SHORT_RULE)):
        assert fingerprint_file.read_fingerprint_file(f"{name}.parquet").short_rule == version
        done = run("pairs", f"{name}.parquet", "-o", f"{name}-pairs.parquet").ok()
        more = run(
            "clusters", f"{name}-pairs.parquet", "--documents", f"{name}.parquet", "-o", f"{name}-c.parquet"
        ).ok()
        for each in (done, more):
            assert (f"{name}.parquet was {SAID}" in each.err) == (version == 1)


def index_of_before(run, monkeypatch, path, *given):
    """An index as an earlier version made it: by its rule, and without the key in its manifest."""
    to_json = folder.Manifest.to_json

    def without_the_key(manifest):
        values = json.loads(to_json(manifest))
        del values[NAME], values["checksum"]
        return json.dumps(values | {"checksum": checksum(values)}).encode()

    with monkeypatch.context() as patch:
        patch.setattr("neardup.hamming.index.index.SHORT_RULE", 1)
        patch.setattr("neardup.jobs.indexes.index_inputs.SHORT_RULE", 1)
        patch.setattr(folder.Manifest, "to_json", without_the_key)
        run("index", "build", path, *given).ok()


def neighbors(run, *call):
    found = [json.loads(line) for line in run("index", "query", *call).out.splitlines()]
    return {(line["id"], line["neighbor_id"]) for line in found}


def test_an_index_of_before_is_searched_and_goes_on_as_it_began(run, monkeypatch):
    index_of_before(run, monkeypatch, "old", "in.jsonl", "--recipe", RECIPE)
    run("index", "build", "new", "in.jsonl", "--recipe", RECIPE).ok()
    both = {("d0", "d0"), ("d0", "d1"), ("d1", "d0"), ("d1", "d1"), ("d2", "d2")}
    alone = {("d0", "d0"), ("d1", "d1"), ("d2", "d2")}
    for name, version, expected in (("old", 1, both), ("new", SHORT_RULE, alone)):
        assert neighbors(run, name, "in.jsonl") == expected
        assert neighbors(run, name, "--literal", TEXTS[0]) == {(0, other) for at, other in expected if at == "d0"}
        shown = run("index", "info", name).ok().out.decode()
        assert (f"note: the index was {SAID}" in " ".join(shown.split())) == (version == 1)
        assert json.loads(run("index", "info", name, "--json").out)["short_rule"] == version
        write_lines("more.jsonl", [{"id": "again", "text": TEXTS[0]}, {"id": "other", "text": "他爱我"}])
        run("filter", "more.jsonl", "--index", name, "-o", f"{name}.jsonl").ok()
        left = [row["id"] for row in read_lines(f"{name}.jsonl")]
        assert left == ([] if version == 1 else ["other"])
        run("index", "add", name, "more.jsonl").ok()
        assert json.loads(run("index", "info", name, "--json").out)["short_rule"] == version


def test_fingerprint_files_of_another_rule_than_the_index_are_refused_if_texts_can_be_silent(run, monkeypatch):
    index_of_before(run, monkeypatch, "old", "in.jsonl", "--recipe", RECIPE)
    index_of_before(run, monkeypatch, "usual", "in.jsonl")
    run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--recipe", RECIPE).ok()
    run("fingerprint", "in.jsonl", "-o", "usual.parquet").ok()
    for call in (("index", "add", "old", "prints.parquet"), ("index", "query", "old", "prints.parquet")):
        run(*call).refused(
            "prints.parquet was made by version 2 of the rule of short texts, and old by version 1: texts in which no feature"
        )
        run(*call[:2], "usual", "usual.parquet").ok()
    run("index", "build", "made", "prints.parquet").ok()
    assert json.loads(run("index", "info", "made", "--json").out)["short_rule"] == SHORT_RULE


def test_a_resumed_run_of_before_goes_on_as_it_began(run, monkeypatch):
    call = ("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", RECIPE, "--min-similarity", "0", "--resume")
    with monkeypatch.context() as patch:
        patch.setattr("neardup.jobs.removal.dedup_steps.find_duplicates", _interrupted)
        with pytest.raises(_Interrupted):
            run(*call)
    manifest = Path("out.resume/run.json")
    content = json.loads(manifest.read_bytes())["content"]
    assert content.pop(NAME) == SHORT_RULE
    manifest.write_bytes(run_folder._sealed(content))
    run(*call, leaves_nothing=False).ok(SAID)
    assert [row["id"] for row in read_lines("out.jsonl")] == ["d0", "d2"]


class _Interrupted(BaseException):
    """The process ends here."""


def _interrupted(*_, **__):
    raise _Interrupted
