"""A store that nobody closes lets go of all its files at once, and never takes away those of another store at its place."""

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import textwrap
import warnings

import pytest

import neardup as nd
from neardup.store.store import Store

TEXTS = [" ".join(f"w{number}x{place}" for place in range(20)) for number in range(8)]


@pytest.fixture
def uncollected():
    """Cycles stay until the end: nothing but references keeps what is used no more."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def open_files(folder):
    """The files in a folder that this process has open."""
    found = []
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{each}"))
    return sorted(path for path in found if path.startswith(str(folder)))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are listed by /proc of Linux")
@pytest.mark.parametrize("mode", ["w", "r"])
@pytest.mark.parametrize("durable", ["each", "batch"])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_a_dropped_store_lets_go_of_its_files_at_once(tmp_path, uncollected, mode, durable, method):
    Store(tmp_path / "s", method=method, min_similarity=0.5).close()
    store = Store(tmp_path / "s", mode=mode, durable=durable)
    if mode == "w":
        store.check_and_add("a", TEXTS[0])
    assert open_files(tmp_path / "s")
    del store
    assert not open_files(tmp_path / "s")
    with Store(tmp_path / "s") as store:
        assert len(store) == (mode == "w" and durable == "each")
        assert store.verify().is_sound


def test_a_dropped_store_lets_the_next_one_write_on_every_back_end(back_end, tmp_path, uncollected):
    place = back_end.place()
    if back_end.name == "postgresql":
        place += f"&replica={tmp_path / 'replica'}"
    for number in range(3):
        store = Store(place, durable="batch")
        store.check_and_add(number, TEXTS[number])
        store.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            del store
    with Store(place) as store:
        assert len(store) == 3


@pytest.mark.parametrize("removed", [True, False])
def test_a_store_whose_folder_was_replaced_refuses_to_write(tmp_path, removed):
    one = Store(tmp_path / "s")
    one.check_and_add("a", TEXTS[0])
    shutil.rmtree(tmp_path / "s")
    if not removed:
        with Store(tmp_path / "s") as other:
            other.check_and_add("b", TEXTS[1])
    with pytest.raises(
        nd.InputError, match="is not the folder any more that was opened: it was removed, or another one"
    ):
        one.check_and_add("c", TEXTS[2])
    one.close()
    if not removed:
        with Store(tmp_path / "s") as other:
            assert (len(other), other.get("b").id) == (1, "b")


REUSED = """
import gc, os, subprocess, sys
from neardup.store.store import Store

folder, how = sys.argv[1:]
texts = [" ".join(f"w{number}x{place}" for place in range(20)) for number in range(50)]
gc.disable()
mount = ["mount", "-t", "tmpfs", "none", folder]
subprocess.run(mount, check=True)
one = Store(f"{folder}/s")
one.check_and_add("a", texts[0])
if how == "cycle":
    one.itself = one
if how != "closed":
    del one
subprocess.run(mount, check=True)
other = Store(f"{folder}/s")
other.check_and_add_many(list(range(50)), texts)
if how == "closed":
    one.close()
gc.collect()
asked = "from neardup.store.store import Store; print(len(Store({!r}, mode='r')))".format(f"{folder}/s")
assert subprocess.check_output([sys.executable, "-c", asked]).split() == [b"50"]
assert other.verify().is_sound
other.close()
with Store(f"{folder}/s") as store:
    assert len(store) == 50
print("whole")
"""


@pytest.mark.parametrize("how", ["dropped", "cycle", "closed"])
def test_a_late_connection_leaves_a_store_alone_that_is_mounted_at_its_place(tmp_path, how):
    """A new file system has the same numbers of files, by which SQLite would take its files for those of the old one."""
    (tmp_path / "m").mkdir()
    alone = ["unshare", "--mount", "--map-root-user"]
    if (
        shutil.which("unshare") is None
        or subprocess.run(
            [*alone, "mount", "-t", "tmpfs", "none", tmp_path / "m"], check=False, capture_output=True
        ).returncode
    ):
        pytest.skip("needs `unshare`, and the right to mount in a namespace")
    done = subprocess.run(
        [*alone, sys.executable, "-c", textwrap.dedent(REUSED), tmp_path / "m", how],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
