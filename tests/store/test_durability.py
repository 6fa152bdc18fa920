"""What a store has acknowledged is there after a crash; what it has not is not; refusals say what to do."""

import shutil
from pathlib import Path

import pytest

import neardup as nd
from neardup.store.record.record import Record
from neardup.store.session.folder import RECORD
from neardup.store.store import Store

TEXT = "the ferry crosses the river at noon and the bell of the old church rings twice"
OTHER = "bread needs flour and water and salt and a day of patience and a hot oven"


def test_a_store_remembers(tmp_path):
    with Store(tmp_path / "s") as store:
        assert store.check_and_add("a", TEXT).is_new
        assert not store.check_and_add("b", TEXT.upper()).is_new
        assert store.check(OTHER).is_new
        assert len(store) == 1
        assert repr(store).endswith("1 documents, exact, jaccard)")
    with Store(tmp_path / "s") as store:
        answer = store.check(TEXT)
        assert (answer.duplicate_of, answer.exact, answer.matches[0].similarity) == ("a", True, 1.0)
        assert store.get("a").tokens == 16
        assert store.get("b") is None
        assert store.check_and_add(7, OTHER).is_new
        assert store.check(OTHER).duplicate_of == 7


@pytest.mark.parametrize("step", ["contents", "sync", "documents", "record"])
def test_a_crash_leaves_all_of_a_batch_or_nothing(tmp_path, monkeypatch, step):
    with Store(tmp_path / "s") as store:
        store.check_and_add("a", TEXT)

    def crash(*_):
        raise KeyboardInterrupt

    with Store(tmp_path / "s") as store:
        broken = {
            "contents": (store._files.contents, "append"),
            "sync": (store._files.contents, "sync"),
            "documents": (store._files.record, "add_documents"),
            "record": (store._files.record, "set_facts"),
        }[step]
        monkeypatch.setattr(*broken, crash)
        with pytest.raises(KeyboardInterrupt):
            store.check_and_add("b", OTHER)
        monkeypatch.undo()
    with Store(tmp_path / "s") as store:
        assert len(store) == 1
        assert store.check(OTHER).is_new
        assert store.check_and_add("b", OTHER).is_new
        assert store.check_and_add("c", TEXT + " again").duplicate_of == "a"


def test_options_that_do_not_exist_are_refused(tmp_path):
    with pytest.raises(nd.OptionError, match=r"`meth`: Store\(\) has no such option \(did you mean `method`\?\)"):
        Store(tmp_path / "s", meth="exact")


def test_options_of_a_store_stay(tmp_path):
    with Store(tmp_path / "s", min_similarity=0.7, recipe=nd.Recipe(bits=64)):
        pass
    with pytest.raises(nd.OptionError, match=r"was made with `min_similarity=0\.7`"):
        Store(tmp_path / "s", min_similarity=0.8)
    with pytest.raises(nd.RecipeMismatch, match="which was given"):
        Store(tmp_path / "s", recipe="default")
    with Store(tmp_path / "s", min_similarity=0.7, recipe=nd.Recipe(bits=64)) as store:
        assert store.recipe.bits == 64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "auto"}, "a store has one of exact, minhash, simhash"),
        ({"method": "minhash", "similarity": "edit"}, "promises nothing for it"),
        ({"min_similarity": 2}, "give a number from 0"),
        ({"method": "simhash", "recipe": nd.Recipe(bits=32)}, "no distance of its own"),
    ],
)
def test_options_that_are_not_possible_are_refused(tmp_path, options, message):
    with pytest.raises(nd.OptionError, match=message):
        Store(tmp_path / "s", **options)


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_bad_documents_are_refused_and_nothing_is_lost(tmp_path, keep):
    with Store(tmp_path / "s", keep=keep) as store:
        store.check_and_add("a", TEXT)
        for ids, texts, message in (
            (["b"], [], "1 ids for 0 texts"),
            ([True], [OTHER], "The id True is a bool. Give a string or an integer"),
            ([None], [OTHER], "The id None is a NoneType"),
            ([1.5], [OTHER], "The id 1.5 is a float"),
            (["\ud800"], [OTHER], "is not valid Unicode: surrogates not allowed"),
            (["b"], [None], "A text is None"),
            (["b"], ["\ud800"], "no string of valid Unicode"),
            (["b"], [7], "A text is of type int. Give strings"),
            (["b"], [["a", "b"]], "A text is a set or a list of elements: a store has texts only"),
            (["b"], [{1, 2}], "A text is a set or a list of elements"),
        ):
            with pytest.raises(nd.OptionError, match=message):
                store.check_and_add_many(ids, texts)
        for metadata, message in (
            (float("nan"), "is no plain value"),
            ({1, 2}, "is no plain value"),
            ("\ud800", "not valid Unicode"),
        ):
            with pytest.raises(nd.OptionError, match=message):
                store.check_and_add("b", OTHER, metadata=metadata)
        assert len(store) == 1
        assert store.check_and_add_many([], []) == []


def test_an_id_that_is_known_is_a_copy_or_an_update(tmp_path):
    near = TEXT + " again"
    with Store(tmp_path / "s") as store:
        assert store.check_and_add("a", TEXT).is_new
        assert store.check_and_add("a", TEXT.upper()).duplicate_of == "a"
        assert store.check_and_add("b", near).duplicate_of == "a"
        answers = store.check_and_add_many(["a", "c", "a", "d", "a"], [OTHER, near, TEXT, OTHER, near])
        assert [answer.duplicate_of for answer in answers] == [None, None, "c", None, "c"]
        assert store.get("a") is None
        assert [store.check(text).duplicate_of for text in (TEXT, near, OTHER)] == ["c", "c", "d"]


def test_the_state_of_a_program_is_as_durable_as_its_documents(tmp_path):
    def stop(answers):
        raise KeyboardInterrupt(len(answers))

    with Store(tmp_path / "s") as store:
        assert store.state is None
        store.check_and_add_many(["a"], [TEXT], state={"at": 1})
        store.check_and_add_many([], [], state=lambda answers: store.state | {"empty": answers})
        with pytest.raises(KeyboardInterrupt):
            store.check_and_add_many(["b"], [OTHER], state=stop)
    with Store(tmp_path / "s") as store:
        assert store.state == {"at": 1, "empty": []}
        assert store.check_and_add_many(["b"], [OTHER], state=lambda answers: {"new": answers[0].is_new})[0].is_new
        assert store.state == {"new": True}
        assert (store.info().documents, store.info().removed) == (2, 0)
        assert store.info().bytes["record"] > 0


def test_a_store_that_was_killed_while_it_was_made_is_made_again(tmp_path, monkeypatch):
    def set_facts(self, facts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Record, "set_facts", set_facts)
        with pytest.raises(KeyboardInterrupt):
            Store(tmp_path / "s")
    with Store(tmp_path / "s", min_similarity=0.5) as store:
        assert store.check_and_add("a", TEXT).is_new


def test_reading_makes_no_store(tmp_path):
    with pytest.raises(nd.InputError, match="is no store. Name the folder of one"):
        Store(tmp_path / "s", mode="r")
    assert not (tmp_path / "s").exists()


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(nd.InputError, match="is there, and is no store"):
        Store(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["rows-0", "compared-0"])
def test_files_that_are_cut_or_changed_are_refused(tmp_path, name):
    with Store(tmp_path / "s") as store:
        store.check_and_add("a", TEXT)
    path = Path(tmp_path, "s", name)
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(nd.DataError, match="but the store knows of"):
        Store(tmp_path / "s")
    path.write_bytes(content[:67] + bytes([content[67] ^ 1]) + content[68:])
    with pytest.raises(nd.DataError, match="is damaged: document 0"), Store(tmp_path / "s") as store:
        store.check(TEXT + " again")


def test_other_formats_and_damage_of_the_record_are_refused(tmp_path, monkeypatch):
    with Store(tmp_path / "s"):
        pass
    shutil.copytree(tmp_path / "s", tmp_path / "t")
    with monkeypatch.context() as patch:
        patch.setattr("neardup.store.record.record.FORMAT", 2)
        with pytest.raises(
            nd.DataError, match="has version 1 of the format of stores; this version of neardup reads 2"
        ):
            Store(tmp_path / "s")
    (tmp_path / "t" / RECORD).write_bytes(b"no database" * 1000)
    with pytest.raises(nd.DataError, match="is damaged"):
        Store(tmp_path / "t")
