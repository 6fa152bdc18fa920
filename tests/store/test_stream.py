"""`Stream`: documents in order, decided as a batch is; in a store that lasts, or in a folder of which nothing stays."""

import gc
import os
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from streams import of_batch

import neardup as nd
from near_copies import edited_copies
from neardup.recipe.kinds import ElementRecipe

TEXT = "All the bells of the town rang at noon on Sunday, as ever."
OTHER = "A night ferry to the islands leaves from the old customs pier."
WAYS = {
    "nothing": {},
    "containment": {"similarity": "containment", "min_similarity": 0.7},
    "edit": {"similarity": "edit"},
    "cosine": {"similarity": "cosine", "recipe": nd.Recipe(weights="tf")},
    "words": {"similarity": nd.Similarity(word_shingle=1), "min_similarity": 0.7},
    "minhash": {"method": "minhash", "min_similarity": 0.7},
    "simhash": {"method": "simhash", "similarity": "weighted"},
    "distance": {"method": "simhash", "min_similarity": 0, "max_distance": 12, "recipe": "default-64"},
}
"""Options, by what they are about."""
COPIES = [*edited_copies(12, 4), "", "Hm, yes", "hm,  YES", "", "\u3000"]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The system's folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def in_parts(stream, texts, size, first=0):
    """What a stream says of texts that come so many at a time."""
    found = []
    for begin in range(0, len(texts), size):
        some = texts[begin : begin + size]
        found += stream.add_many(range(first + begin, first + begin + len(some)), some)
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 4), (1000, None)])
def test_a_stream_is_decided_as_the_batch_is(tmp_path, way, size, threads):
    options = WAYS[way]
    expected, half = of_batch(COPIES, **options), len(COPIES) // 2
    assert 5 < sum(each is None for each in expected) < len(COPIES) - 5
    with nd.Stream(threads=threads, **options) as stream:
        assert in_parts(stream, COPIES, size) == expected
        assert len(stream) == sum(each is None for each in expected)
    with nd.Stream(tmp_path / "s", threads=threads, **options) as stream:
        found = in_parts(stream, COPIES[:half], size)
    with nd.Stream(tmp_path / "s", threads=threads) as stream:
        assert found + in_parts(stream, COPIES[half:], size, half) == expected


def test_ids_and_texts_come_in_many_forms():
    texts, names = [TEXT, OTHER, TEXT.upper()], ["a", "b", "c"]
    forms = [
        (names, texts),
        (iter(names), (text for text in texts)),
        (pa.array(names), pa.array(texts)),
        (pa.chunked_array([names[:1], names[1:]]), pa.chunked_array([texts[:2], texts[2:]])),
        (pa.array(names), pa.array(texts).dictionary_encode()),
        (np.array(names), np.array(texts, object)),
    ]
    for ids, given in forms:
        assert nd.Stream().add_many(ids, given) == [None, None, nd.Match("a", 1.0, 0, exact=True)]
    for numbers in ([7, 8, 9], range(7, 10), np.arange(7, 10), pa.array([7, 8, 9], pa.uint8())):
        found = nd.Stream().add_many(numbers, texts)
        assert found == [None, None, nd.Match(7, 1.0, 0, exact=True)]
        assert type(found[2].id) is int
    mixed = nd.Stream()
    assert mixed.add_many([7, "7"], texts[:2]) == [None, None]
    assert mixed.add(8, OTHER).id == "7"
    assert mixed.add_many([], []) == []
    assert mixed.add_many(pa.array([], pa.int64()), pa.array([], pa.large_string())) == []


def test_a_text_of_few_tokens_matches_only_what_equals_it():
    stream = nd.Stream()
    assert stream.add_many([1, 2, 3], ["", "Hm, yes", "Hm, no"]) == [None, None, None]
    assert [each.id for each in stream.add_many([4, 5, 6], ["\u3000", "hm  YES", "HM no"])] == [1, 2, 3]


def test_what_lasts_is_a_store(tmp_path):
    with nd.Stream(tmp_path / "s", recipe="default-64", similarity="cosine", min_similarity=0.9) as stream:
        assert (stream.path, stream.recipe.bits, stream.options.min_similarity) == (tmp_path / "s", 64, 0.9)
        assert stream.add("a", TEXT) is None
        with pytest.raises(nd.InputError, match="Another process writes to the store"):
            nd.Stream(tmp_path / "s")
        stream.flush()
        with nd.Store(tmp_path / "s", mode="r") as reader:
            assert reader.get("a") is not None
    with nd.Store(tmp_path / "s") as store:
        assert (store.options.compared_by, store.keep) == ("cosine", "first")
        assert store.check_and_add("b", OTHER).is_new
    with nd.Stream(str(tmp_path / "s")) as stream:
        assert repr(stream) == f"Stream('{tmp_path / 's'}', 2 documents, exact, cosine)"
        assert stream.add("c", OTHER).id == "b"


def test_without_a_folder_nothing_stays(temporary):
    stream = nd.Stream()
    assert stream.path is None
    assert repr(stream) == "Stream(in a temporary folder, 0 documents, exact, jaccard)"
    assert len(list(temporary.iterdir())) == 1
    stream.close()
    stream.close()
    assert repr(stream) == "Stream(in a temporary folder, closed, exact, jaccard)"
    assert not list(temporary.iterdir())
    for each in (lambda: stream.add("a", TEXT), lambda: len(stream), stream.flush):
        with pytest.raises(nd.InputError, match="This stream is closed"):
            each()
    forgotten = nd.Stream()
    forgotten.add("a", TEXT)
    del forgotten
    gc.collect()
    assert not list(temporary.iterdir())
    with pytest.raises(nd.OptionError, match="min_similarity"):
        nd.Stream(min_similarity=2)
    assert not list(temporary.iterdir())


def test_what_does_not_last_is_never_synced(temporary, monkeypatch):
    def synced(_):
        raise AssertionError

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "fdatasync", synced)
    with nd.Stream() as stream:
        in_parts(stream, COPIES, 50)
        stream.flush()
        assert stream._store._files.record._base.execute("PRAGMA synchronous").fetchone() == (0,)


FORK = """
import os, sys, tempfile, neardup as nd
stream = nd.Stream()
stream.add("a", "a rose is a rose")
child = os.fork()
if not child:
    try:
        stream.add("b", "a tulip")
    except nd.InputError as problem:
        print(problem, flush=True)
    sys.exit()  # with all that Python does at its end
assert os.waitpid(child, 0)[1] == 0
assert len(os.listdir(tempfile.gettempdir())) == 1
print(stream.add("c", "A ROSE is a rose").id)
"""


def test_a_fork_leaves_the_stream_to_the_process_that_opened_it(temporary):
    done = subprocess.run(
        [sys.executable, "-c", FORK],
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    told, found = done.stdout.splitlines()
    assert told.startswith("This stream was opened in process ")
    assert (found, done.stderr, done.returncode) == ("a", "", 0)
    assert not list(temporary.iterdir())


def test_what_is_no_store_that_keeps_the_first_is_refused(tmp_path):
    nd.Index(max_distance=3).save(tmp_path / "ix")
    for given in (tmp_path / "ix", str(tmp_path / "ix")):
        with pytest.raises(
            nd.OptionError, match=r"is an index: a stream decides by the similarity .*`neardup filter --index"
        ):
            nd.Stream(given)
    with pytest.raises(
        nd.OptionError, match="`path` is an index: .* save the index and use `neardup filter --index FOLDER`"
    ):
        nd.Stream(nd.Index(max_distance=3))
    with pytest.raises(nd.OptionError, match="`path=3`: give the folder of a store, or nothing"):
        nd.Stream(3)
    with pytest.raises(nd.InputError, match="s3://b/s"):
        nd.Stream("s3://b/s")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").touch()
    with pytest.raises(nd.InputError, match="is there, and is no store"):
        nd.Stream(tmp_path / "texts")
    for keep in ("longest", "always"):
        nd.Store(tmp_path / keep, keep=keep).close()
        with pytest.raises(nd.OptionError, match=f"has `keep='{keep}'`, and a stream keeps the first"):
            nd.Stream(tmp_path / keep)
        nd.Store(tmp_path / keep).close()  # it was left to others


def test_options_that_are_not_the_stores_or_nobodys_are_refused(tmp_path):
    nd.Stream(tmp_path / "s", recipe="default-64").close()
    with pytest.raises(nd.RecipeMismatch):
        nd.Stream(tmp_path / "s", recipe="default")
    with pytest.raises(nd.OptionError, match="`min_similarity=0.8`"):
        nd.Stream(tmp_path / "s", min_similarity=0.9)
    with pytest.raises(nd.OptionError, match=r"`methd`: Stream\(\) has no such option \(did you mean `method`\?\)"):
        nd.Stream(methd="exact")
    with pytest.raises(nd.OptionError, match="`method='auto'`: a store has one of"):
        nd.Stream(method="auto")
    with pytest.raises(nd.OptionError, match="`max_distance=3`: `method='exact'` asks for no distance"):
        nd.Stream(max_distance=3)
    with pytest.raises(nd.OptionError, match="of given sets or lists. A stream takes texts"):
        nd.Stream(recipe=ElementRecipe())


def test_documents_that_are_none_are_refused_and_nothing_is_added():
    stream = nd.Stream()
    for ids, texts, kind, told in [
        (["a"], [TEXT, OTHER], nd.OptionError, "1 ids for 2 texts"),
        (["a", "b"], [TEXT, None], nd.DataError, "Text 1 is null"),
        (["a", "b"], pa.array([TEXT, None]), nd.DataError, "Text 1 is null"),
        (["a", None], [TEXT, OTHER], nd.OptionError, "The id None is a NoneType"),
        (["a", 1.5], [TEXT, OTHER], nd.OptionError, "The id 1.5 is a float"),
        (["a", True], [TEXT, OTHER], nd.OptionError, "The id True is a bool"),
        ("a", [TEXT], nd.OptionError, r"`ids='a'` is one id: give a list, even of one: \['a'\]"),
        (7, [TEXT], nd.OptionError, "`ids=7` is one id"),
        (1.5, [TEXT], nd.OptionError, "ids is a float: give a list of integers or strings"),
        (["a"], TEXT, nd.OptionError, "texts is one str"),
        (["a", "b"], [TEXT, "\ud800"], nd.DataError, "lone surrogate"),
        (["a", "b"], [TEXT, {"a", "set"}], nd.OptionError, "Text 1 is a set, not a string"),
        (["a", "b"], pa.array([["a"], ["b"]]), nd.OptionError, "texts has the type list<"),
        (["a"], [7], nd.OptionError, "Text 0 is a int, not a string"),
    ]:
        with pytest.raises(kind, match=told):
            stream.add_many(ids, texts)
    assert len(stream) == 0
