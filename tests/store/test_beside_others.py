"""Readers and copies beside a writer, forks, and threads that share a store."""

import contextlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sizes import set_sizes

import neardup as nd
from forked import ended, forked
from neardup.store.session import reader as open_files
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
WRITER = """
import sys
import neardup as nd
text = lambda n: " ".join(f"w{n}x{i}" for i in range(12))
recipe = sys.argv[4] if sys.argv[4:] else None
with nd.Store(sys.argv[1], method=sys.argv[2], min_similarity=float(sys.argv[3]), recipe=recipe) as store:
    store.check_and_add_many(["first"], ["a text that stays"])
    print("ready", flush=True)
    n = 0
    while True:
        store.check_and_add_many([str(i) for i in range(n, n + 100)], [text(i) for i in range(n, n + 100)])
        n += 100
        if n > 1000:
            store.remove([str(i) for i in range(n - 1100, n - 1000)])
        if n % 300 == 0:
            store.compact()
"""


def in_threads(work, names):
    """Work in a thread for each name; what one of them raises is raised."""
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(work, names))


@contextlib.contextmanager
def writing(path, method="exact", least=0.7, *recipe):
    command = [sys.executable, "-c", WRITER, str(path), method, str(least), *map(str, recipe)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize(("method", "least"), [("exact", 0.7), ("minhash", 0.7), ("simhash", 0.0)])
def test_readers_beside_a_writer_see_one_state(tmp_path, method, least):
    with writing(tmp_path / "s", method, least):
        end = time.monotonic() + 3
        while time.monotonic() < end:
            with Store(tmp_path / "s", mode="r") as store:
                for _ in range(3):
                    assert store.check("a text that stays").duplicate_of == "first"
                    assert store.get("first").id == "first"
                    assert store.pairs() == []
                    check = store.verify()
                    assert check.is_sound, check
                    store.info()


def test_several_readers_with_all_that_they_can_ask_beside_a_writer_that_compacts(tmp_path):
    (tmp_path / "stop.txt").write_text("that\n")
    (tmp_path / "mine.toml").write_text('stop_words = ["stop.txt"]\n')

    def ask(name):
        for number in range(4):
            with Store(tmp_path / "s", mode="r") as store:
                assert store.clusters() == []
                assert [match.id for match in store.neighbors("a text that stays")] == ["first"]
                store.export(tmp_path / f"{name}{number}")
            with Store.from_export(tmp_path / f"{name}{number}-again", tmp_path / f"{name}{number}") as copy:
                assert copy.check("A text that stays!").duplicate_of == "first"
                assert [each.lines for each in copy.recipe.stop_words] == [("that",)]
                assert len(copy) % 100 == 1
            options = {"against": tmp_path / "s", "threads": 1, "min_similarity": 0.7}
            found = nd.deduplicate_files(tmp_path / "in.jsonl", tmp_path / f"{name}{number}.jsonl", **options)
            assert (found.summary.documents, found.summary.survivors) == (2, 1)

    (tmp_path / "in.jsonl").write_text(
        '{"text": "a text that stays"}\n{"text": "and one that nobody has added so far"}\n'
    )
    with writing(tmp_path / "s", "exact", 0.7, tmp_path / "mine.toml"):
        in_threads(ask, "ab")


def test_a_backup_that_is_not_whole_is_found(tmp_path, monkeypatch):
    with Store(tmp_path / "s") as store:
        store.check_and_add("a", "one text of some words")
        monkeypatch.setattr(
            "neardup.store.formats.contents.Contents.copy_to", lambda _, target, __: (target / "x").touch()
        )
        with pytest.raises(nd.DataError, match="is missing"):
            store.backup(tmp_path / "b")


@pytest.mark.parametrize(("method", "least"), [("exact", 0.7), ("simhash", 0.0)])
def test_copies_beside_a_writer_are_sound(tmp_path, method, least):
    with writing(tmp_path / "s", method, least):
        for number in range(8):
            with Store(tmp_path / "s", mode="r") as store:
                store.backup(tmp_path / f"b{number}")
            with Store(tmp_path / f"b{number}") as copy:
                assert copy.verify().is_sound
                assert copy.get("first").id == "first"


def test_copies_into_the_store_are_refused(tmp_path):
    with Store(tmp_path / "s") as store:
        for copy in (store.backup, store.export):
            with pytest.raises(nd.InputError, match="is in the folder of the store. Name a folder elsewhere"):
                copy(tmp_path / "s" / "copy")


def test_readers_that_cannot_follow_say_so(tmp_path, monkeypatch):
    def fail(*_):
        raise FileNotFoundError(2, "No such file or directory", "order-1")

    with Store(tmp_path / "s"):
        pass
    monkeypatch.setattr(open_files.OpenFiles, "_follow", fail)
    with pytest.raises(nd.InputError, match="cannot be read: order-1: No such file"):
        Store(tmp_path / "s", mode="r")
    set_sizes(monkeypatch, attempts=1)
    with pytest.raises(nd.InputError, match="faster than it can be read. Ask again later"):
        Store(tmp_path / "s", mode="r")


def test_a_fork_does_not_touch_the_store(tmp_path):
    with Store(tmp_path / "s", durable="batch") as store:
        store.check_and_add("a", "one text of the parent")

        def use():
            with pytest.raises(nd.InputError, match="was opened in process"):
                store.check_and_add("b", "another text")
            store.close()

        assert ended(forked(use)) == 0
        store.check_and_add("c", "a third text, again of the parent")
    with Store(tmp_path / "s", mode="r") as store:
        assert (len(store), store.verify().is_sound) == (2, True)


def test_a_fork_that_lives_on_does_not_keep_the_lock(tmp_path):
    ours, theirs = os.pipe()
    with Store(tmp_path / "s") as store:
        store.check_and_add("a", "one text of the parent")
        child = os.fork()
        if child == 0:
            os.close(theirs)
            os.read(ours, 1)
            os._exit(0)
    try:
        with Store(tmp_path / "s") as store:
            assert len(store) == 1
    finally:
        os.close(theirs)
        os.close(ours)
        os.waitpid(child, 0)


def test_threads_share_a_store(tmp_path):
    def work(name):
        for i in range(30):
            text = " ".join(f"{name}{i}w{j}" for j in range(9))
            store.check_and_add(f"{name}{i}", text)
            assert store.check(text).duplicate_of == f"{name}{i}"
            if i % 3 == 0:
                assert store.remove([f"{name}{i}"]) == 1

    with Store(tmp_path / "s") as store:
        in_threads(work, "abcd")
        assert (len(store), store.verify().is_sound) == (80, True)
