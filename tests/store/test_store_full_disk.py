"""A store that cannot be written to says so; what was acknowledged before is there, and it goes on once it can be written to."""

import contextlib
import errno
import os
import random
import resource
import subprocess
from unittest import mock

import pytest
from sizes import set_sizes

import neardup as nd
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def text(number):
    rng = random.Random(number)
    return " ".join(rng.choice("abcdefgh") * 3 + str(rng.randrange(100)) for _ in range(30))


DONE = 2048
"""Where it is said which documents of a store with texts have a duplicate and a judgement."""


def late(number):
    return f"{text(number)} or so"


def fill(path, said, **options):
    """Add documents until it fails; what the error was is written to a file that is there already, and has room.

    In a store with texts, a duplicate of each is remembered, and a pair is judged.
    """
    try:
        with Store(path, **options) as store:
            for number in range(len(store), 400):
                store.check_and_add(number, text(number))
                if options.get("texts"):
                    store.check_and_add(f"late {number}", late(number))
                    store.judge((number - 1, number), same=False)
                    os.pwrite(said, b"\1", DONE + number)
                os.pwrite(said, b"%8d" % (number + 1), 0)
    except nd.InputError as problem:
        os.pwrite(said, str(problem).encode(), 8)


@pytest.mark.parametrize(
    ("method", "texts"), [("exact", False), ("minhash", False), ("simhash", False), ("exact", True)]
)
def test_a_full_disk_loses_nothing(tmp_path, monkeypatch, method, texts):
    set_sizes(monkeypatch, chunk=4096, in_memory=400, learned=20)
    path, options = tmp_path / "s", {"method": method, "min_similarity": 0.7, "texts": texts}
    with Store(path, **options) as store:
        store.check_and_add(0, text(0))
    failed, all_done = set(), set[int]()
    for limit in (16 << 10, 48 << 10, 52 << 10, 60 << 10, 70 << 10, 90 << 10, 200 << 10, 4 << 20):
        said = os.open(tmp_path / "said", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # every file is refused what goes beyond
            code = 1
            try:
                fill(path, said)
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        added, message = os.pread(said, 8, 0), os.pread(said, 1000, 8).decode()
        all_done |= {number for number, flag in enumerate(os.pread(said, 400, DONE)) if flag}
        os.close(said)
        if message:
            assert str(path) in message
            assert "What was acknowledged before is kept" in message
            failed.add(limit)
        with Store(path, mode="r") as store:
            assert len(store) >= int(added.strip(b"\0") or 1)
            assert store.verify().is_sound
            assert not any(store.check(text(number)).is_new for number in range(len(store)))
            if texts:
                check_texts(store, all_done)
    assert not message
    assert len(failed) > 3
    with Store(path, mode="r") as store:
        assert len(store) == 400


def check_texts(store, done):
    """All documents and duplicates have their texts, and what was acknowledged is remembered and judged."""
    assert [store.get(number).text for number in range(len(store))] == list(map(text, range(len(store))))
    recent = store.recent(limit=1000)
    assert {each.id: each.text for each in recent} == {
        each.id: late(int(each.id.removeprefix("late "))) for each in recent
    }
    assert {f"late {number}" for number in done} <= {each.id for each in recent}
    judged = {(each.left.id, each.right.id) for each in store.judgements()}
    assert {(number - 1, number) for number in done} <= judged


def test_a_disk_that_is_full_when_a_store_is_compacted(tmp_path, monkeypatch):
    texts = [text(number) for number in range(40)]
    with Store(tmp_path / "s") as store:
        store.check_and_add_many(range(40), texts)
        store.remove([3, 4])
        expected = store.check_many(texts)
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", mock.Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
            with pytest.raises(nd.InputError, match="cannot be written to: No space left on device. What was acknowl"):
                store.compact()
        with pytest.raises(nd.InputError, match="A change of .* has failed before. Close the store, and open it again"):
            store.check_and_add("x", "y")
    with Store(tmp_path / "s") as store:
        store.compact()
        assert store.check_many(texts) == expected
        assert store.verify().is_sound


def test_a_store_on_a_read_only_file_system_can_be_read(tmp_path):
    with Store(tmp_path / "s") as store:
        store.check_and_add(0, text(0))
    (tmp_path / "ro").mkdir()
    for command in (["--bind", tmp_path / "s"], ["-o", "remount,ro,bind"]):
        done = subprocess.run(["mount", *command, tmp_path / "ro"], capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"no file systems can be mounted here: {done.stderr.decode().strip()}")
    try:
        with Store(tmp_path / "ro", mode="r") as store:
            assert store.check(text(0)).duplicate_of == 0
            assert store.verify().is_sound
        with pytest.raises(
            nd.InputError,
            match='/ro cannot be written to: Read-only file system. It can be read: .*`neardup store check`, and with `mode="r"',
        ):
            Store(tmp_path / "ro")
    finally:
        subprocess.run(["umount", "--lazy", tmp_path / "ro"], check=True)


def test_folders_that_cannot_be_made_are_refused(tmp_path):
    with pytest.raises(nd.InputError, match="/proc/store cannot be made: .*Name another folder"):
        Store("/proc/store")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("function", ["open", "fsync", "pwrite", "ftruncate"])
def test_a_store_that_cannot_be_opened_says_so_in_words(tmp_path, monkeypatch, function, error):
    """Each call of the system fails once, at each place."""
    real, left = getattr(os, function), 0

    def failing(*arguments, **named):
        nonlocal left
        left -= 1
        if left == -1:
            raise OSError(error, os.strerror(error))
        return real(*arguments, **named)

    monkeypatch.setattr(os, function, failing)
    for number in range(20):
        left = number
        with contextlib.suppress(nd.InputError):
            store = Store(tmp_path / str(number))
            is_done, left = left >= 0, -2
            store.close()
            if is_done:
                break
    monkeypatch.setattr(os, "open", mock.Mock(side_effect=OSError(error, os.strerror(error))))
    with pytest.raises(nd.InputError, match=os.strerror(error)):
        Store(tmp_path / "last")
