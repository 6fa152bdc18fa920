"""An index on disk: a crash leaves the old or the new one, damage is found, and readers go on while one writes."""

import builtins
import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from neardup.hamming.index.files import saving
from neardup.hamming.index.files.folder import writing
from neardup.hamming.index.files.segment_file import SegmentFile, read_segment_file
from neardup.hamming.index.index import Index
from neardup.hamming.index.methods.table import METHODS
from neardup.io.checksums import checksum

VALUES = np.random.default_rng(5).integers(0, 2**64, 5_000, np.uint64)


class Killed(BaseException):
    """The process ends here."""


def filled():
    """An index of more documents than its buffer takes."""
    index = Index(max_distance=3)
    index.add(range(5_000), VALUES)
    return index


def everything(index):
    found = index.query_many(VALUES)
    ids = found.ids.tolist() if isinstance(found.ids, np.ndarray) else found.ids.to_pylist()
    return found.offsets.tolist(), ids, found.distances.tolist()


def changed(path):
    """An index at `path`, and what is to be done to it."""
    index = Index.open(path)
    index.add(range(10_000, 14_000), VALUES[1_000:])
    index.remove(range(100))
    return index


@pytest.mark.parametrize("method", ["block-tables", "bit-lists"])
def test_a_writer_killed_at_any_step_leaves_the_old_or_the_new_index(tmp_path, monkeypatch, method):
    first = Index(max_distance=3, method=method)
    first.add(range(3_000), VALUES[:3_000])
    first.save(tmp_path / "start")
    old = everything(Index.open(tmp_path / "start"))
    new = everything(changed(tmp_path / "start"))
    assert old != new
    steps = {"left": -1}

    def counted(original):
        def step(*args, **kwargs):
            if steps["left"] == 0:
                raise Killed
            steps["left"] -= 1
            return original(*args, **kwargs)

        return step

    original_open = Path.open

    class Half:
        """A file that writes half of what it should when the process ends."""

        def __init__(self, file):
            self._file = file

        def write(self, data):
            if steps["left"] == 0:
                self._file.write(bytes(data)[: len(data) // 2])
                self._file.flush()
                raise Killed
            steps["left"] -= 1
            return self._file.write(data)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

        def __getattr__(self, name):
            return getattr(self._file, name)

    def opened(self, mode="r", *args, **kwargs):
        file = original_open(self, mode, *args, **kwargs)
        return Half(file) if mode in ("xb", "wb") else file

    outcomes = set()
    for kill_at in range(200):
        path = tmp_path / f"run{kill_at}"
        shutil.copytree(tmp_path / "start", path)
        index = changed(path)
        reader = Index.open(path)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", counted(os.fsync))
            patch.setattr(Path, "replace", counted(Path.replace))
            patch.setattr(Path, "unlink", counted(Path.unlink))
            patch.setattr(Path, "open", opened)
            steps["left"] = kill_at
            try:
                index.save()
                done = True
            except Killed:
                done = False
            steps["left"] = -1
        found = everything(Index.open(path))
        assert found in (old, new), kill_at
        assert everything(reader) == old
        outcomes.add(found == new)
        again = changed(path)  # whatever is left lying about is no hindrance
        again.save()
        assert Index.open(path).info(verify=True).damaged == {}
        named = json.loads((path / "index.json").read_text())["segments"]
        kept = {"index.json", "lock"} | {
            segment[key]["name"] for segment in named for key in ("file", "removed") if segment[key]
        }
        assert {file.name for file in path.iterdir()} == kept
        shutil.rmtree(path)
        if done:
            break
    assert done
    assert outcomes == {False, True}


def test_a_reader_keeps_what_it_opened_while_another_process_writes(tmp_path):
    index = filled()
    index.save(tmp_path / "index")
    reader = Index.open(tmp_path / "index")
    before = everything(reader)
    program = (
        "import sys, numpy as np; from neardup import Index\n"
        "index = Index.open(sys.argv[1]); index.remove(range(2000)); index.merge(); index.save()"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "index")], check=True)
    assert everything(reader) == before
    assert len(Index.open(tmp_path / "index")) == 3_000
    with pytest.raises(nd.InputError, match="Another process has changed the index"):
        reader.save()


def test_one_process_writes_at_a_time(tmp_path):
    index = Index(max_distance=3)
    index.save(tmp_path / "index")
    with writing(tmp_path / "index"), pytest.raises(nd.InputError, match="Another process writes"):
        index.save()


def test_a_reserved_index_is_changed_by_nobody_else(tmp_path):
    index = Index(max_distance=3)
    with pytest.raises(nd.OptionError, match="never saved, so it has no folder .* Give the path"), index.reserved():
        pass
    index.save(tmp_path / "index")
    other = Index.open(tmp_path / "index")
    with index.reserved():
        with pytest.raises(nd.InputError, match="Another process writes"):
            other.save()
        index.add([1], VALUES[:1])
        index.save()
        index.save()
    with pytest.raises(nd.InputError, match="Another process has changed"), other.reserved():
        pass
    index.save()
    assert len(Index.open(tmp_path / "index")) == 1


@pytest.mark.parametrize("method", METHODS)
def test_every_damaged_page_is_found_and_named(tmp_path, method):
    index = Index(max_distance=2, method=method)
    index.add([f"é{i}" for i in range(5_000)], VALUES)
    index.save(tmp_path / "index")
    [file] = (tmp_path / "index").glob("segment-*")
    whole = file.read_bytes()
    assert read_segment_file(file).damaged_pages() == []
    file.write_bytes(whole[:5_000] + bytes([whole[5_000] ^ 1]) + whole[5_001:])
    assert Index.open(tmp_path / "index").info(verify=True).damaged == {file.name: [0]}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda whole: b"", "is no segment"),
        (lambda whole: whole[:100], "truncated"),
        (lambda whole: whole[:-1], "truncated"),
        (lambda whole: whole[:-5000] + whole[-4000:], "should have"),
        (lambda whole: b"PAR1" + whole[4:], "is no segment"),
        (lambda whole: whole[:8] + b"\2" + whole[9:], "format 2; this version reads 1"),
        (lambda whole: whole[:30] + b"x" + whole[31:], "its header or its checksums"),
        (lambda whole: whole[:-38] + b"xx" + whole[-36:], "its header or its checksums"),
    ],
)
def test_a_damaged_segment_is_refused_with_what_is_wrong(tmp_path, damage, said):
    index = filled()
    index.save(tmp_path / "index")
    [file] = (tmp_path / "index").glob("segment-*")
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(nd.DataError, match=said):
        Index.open(tmp_path / "index")


@pytest.mark.parametrize("method", METHODS)
def test_arrays_that_are_wrong_in_spite_of_their_checksums_never_lead_outside_of_them(tmp_path, method, monkeypatch):
    monkeypatch.setattr(SegmentFile, "damaged_pages", lambda _: [])
    index = Index(max_distance=3, method=method)
    index.add([f"é{i}" for i in range(6_000)], np.concatenate([VALUES, VALUES[:1_000]]))
    index.save(tmp_path / "index")
    [file] = (tmp_path / "index").glob("segment-*")
    whole = np.frombuffer(file.read_bytes(), np.uint8)
    refused = 0
    for seed in range(4):
        choose, damaged = np.random.default_rng(seed), whole.copy()
        damaged[choose.integers(4_096, len(whole) - 600, 2_000)] = 255 >> seed
        file.write_bytes(damaged.tobytes())
        for use in (
            lambda index: index.query_many(VALUES)[0],
            lambda index: index.query_many(VALUES, nearest=True)[0],
            lambda index: list(index.pairs(threads=1)),
            lambda index: index.query(VALUES[0]),
            Index.merge,
        ):
            with contextlib.suppress(nd.DataError):
                use(Index.open(tmp_path / "index"))
                continue
            refused += 1
    assert refused >= 4


def test_damage_is_not_written_anew_as_if_it_were_whole(tmp_path):
    index = filled()
    index.save(tmp_path / "index")
    [file] = (tmp_path / "index").glob("segment-*")
    whole = bytearray(file.read_bytes())
    whole[-5_000] ^= 1
    file.write_bytes(whole)
    index = Index.open(tmp_path / "index")
    index.add([7_000], VALUES[:1])
    with pytest.raises(nd.DataError, match="is damaged; `neardup index info .* --verify` names the pages"):
        index.merge()


def merged(index):
    index.merge()
    return everything(index)


def copied(index):
    index.save(index._storage.home.path.with_name("copy"), overwrite=True)
    return everything(index)


USES = {
    "query": lambda index: index.query(VALUES[0]),
    "query_many": lambda index: everything(index),
    "find_short": lambda index: index.find_short(VALUES[:2].reshape(1, 2)).ids.to_pylist(),
    "pairs": lambda index: [pairs.distances.tolist() for pairs in index.pairs(threads=1)],
    "groups": lambda index: index.groups().ids.to_pylist(),
    "remove": lambda index: index.remove(["é7", "short"]),
    "hit_probability": lambda index: index.hit_probability(),
    "len": len,
    "merge": merged,
    "copy": copied,
}


def refusal(home, use, right):
    """What is said of a damaged index; empty if the answer is right."""
    try:
        found = use(Index.open(home))
    except nd.DataError as problem:
        return str(problem)
    assert found == right
    return ""


@pytest.mark.parametrize("method", METHODS)
def test_any_flipped_byte_of_an_index_is_refused_by_the_name_of_its_file(tmp_path, method):
    home = tmp_path / "index"
    index = Index(max_distance=2, method=method)
    index.add([f"é{i}" for i in range(300)], np.concatenate([VALUES[:200], VALUES[:100]]))
    index.add_short(["short"], VALUES[:2].reshape(1, 2))
    index.save(home)
    index.remove(["é3"])
    index.save()
    right = {name: use(Index.open(home)) for name, use in USES.items()}
    choose = np.random.default_rng(1)
    told = dict.fromkeys(USES, 0)
    for file in sorted(home.glob("[irs]*")):
        whole = file.read_bytes()
        for place in {*choose.integers(0, len(whole), 12).tolist(), *range(0, 28, 7), len(whole) - 1}:
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
            for name, use in USES.items():
                said = refusal(home, use, right[name])
                assert not said or str(file) in said
                assert not said or "Restore it, or build the index anew" in said or "format" in said
                told[name] += bool(said)
            file.write_bytes(whole)
    assert all(told[name] for name in USES)
    random = METHODS[method].code.hits is not None
    assert told["query_many"] > told["len"]
    assert (told["hit_probability"] > told["len"]) == random


@pytest.mark.parametrize("step", ["sweep", "sync", "read"])
def test_an_error_after_the_manifest_has_its_name_says_that_the_index_is_changed(tmp_path, monkeypatch, step):
    home = saved_index(tmp_path / "index", VALUES[:3_000])
    index = Index.open(home)
    index.add(range(3_000, 5_000), VALUES[3_000:])
    index.merge()
    original = os.fsync

    def failing(handle):
        if (home / "index.json.new").exists() or json.loads((home / "index.json").read_text())["generation"] == 1:
            return original(handle)
        raise OSError(5, "Input/output error")

    if step == "sweep":
        monkeypatch.setattr(Path, "unlink", lambda *_, **__: failing(0))
        index.save()
    elif step == "sync":
        monkeypatch.setattr(os, "fsync", failing)
        with pytest.raises(nd.InputError, match="was changed as you asked, but .* Input/output error. Do not repeat"):
            index.save()
    else:
        monkeypatch.setattr(saving, "read_segment_file", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.save()
    monkeypatch.undo()
    assert len(Index.open(home)) == (3_000 if step == "read" else 5_000)


def test_a_folder_is_reserved_for_an_index_that_will_be_saved_there(tmp_path):
    home = tmp_path / "new"
    first, second = Index(max_distance=3), Index(max_distance=3)
    with first.reserved(home):
        with pytest.raises(nd.InputError, match="Another process writes to the index at .*new"), second.reserved(home):
            pass
        with pytest.raises(nd.InputError, match="Another process writes to the index at .*new"):
            second.save(home)
        first.add([1], VALUES[:1])
        first.save(home)
        first.save()
    with pytest.raises(nd.InputError, match="Another process has made an index at .*new"), second.reserved(home):
        pass
    assert len(Index.open(home)) == 1


def saved_index(path, values, removed=()):
    index = Index(max_distance=2)
    index.add(range(len(values)), values)
    index.save(path)
    if index.remove(removed):
        index.save()
    return path


@pytest.mark.parametrize("kind", ["segment", "removed"])
def test_a_file_of_another_index_is_refused(tmp_path, kind):
    home = saved_index(tmp_path / "index", VALUES[:200], removed=[1])
    other = saved_index(tmp_path / "other", VALUES[200:400], removed=[2])
    [file], [its] = home.glob(f"{kind}-*"), other.glob(f"{kind}-*")
    assert file.name == its.name
    assert file.stat().st_size == its.stat().st_size
    shutil.copy(its, file)
    with pytest.raises(
        nd.DataError, match=f"{file.name} is another file than the one that the index wrote under this name"
    ):
        Index.open(home)


def test_a_damaged_index_is_not_copied_as_if_it_were_whole(tmp_path):
    home = saved_index(tmp_path / "index", VALUES)
    [file] = home.glob("segment-*")
    whole = bytearray(file.read_bytes())
    whole[-5_000] ^= 1
    file.write_bytes(whole)
    with pytest.raises(nd.DataError, match=r"segment-1-0 is damaged"):
        Index.open(home).save(tmp_path / "copy")
    assert not (tmp_path / "copy" / "index.json").exists()


def test_a_manifest_that_leads_out_of_its_folder_is_refused(tmp_path):
    home = saved_index(tmp_path / "index", VALUES[:100])
    other = saved_index(tmp_path / "other", VALUES[:100])
    values = json.loads((home / "index.json").read_text())
    values["segments"][0]["file"]["name"] = f"{other}/segment-1-0"
    del values["checksum"]
    (home / "index.json").write_text(json.dumps(values | {"checksum": checksum(values)}))
    with pytest.raises(nd.DataError, match=r"index.json is no manifest of an index"):
        Index.open(home)


def test_an_index_without_its_manifest_or_that_cannot_be_read_is_refused(tmp_path):
    home = saved_index(tmp_path / "index", VALUES[:100])
    manifest, [segment] = home / "index.json", home.glob("segment-*")
    kept = manifest.read_bytes()
    manifest.unlink()
    with pytest.raises(nd.DataError, match=r"index.json is missing, although .* has files of an index. Restore it"):
        Index.open(home)
    manifest.write_bytes(kept)
    segment.unlink()
    segment.mkdir()
    with pytest.raises(nd.InputError, match="segment-1-0 cannot be read: Is a directory"):
        Index.open(home)


def test_what_was_removed_is_checked_when_it_is_opened(tmp_path):
    index = filled()
    index.remove([3])
    index.save(tmp_path / "index")
    index.remove([4])
    index.save()
    assert index.info(verify=True).damaged == {}
    [file] = (tmp_path / "index").glob("removed-*")
    whole = bytearray(file.read_bytes())
    whole[4_200] ^= 1
    file.write_bytes(whole)
    assert index.info(verify=True).damaged == {file.name: [0]}
    with pytest.raises(nd.DataError, match=r"removed-.* is damaged: its pages \[0\]"):
        Index.open(tmp_path / "index")


def test_a_reader_verifies_what_it_opened_while_another_process_writes(tmp_path):
    index = filled()
    index.save(tmp_path / "index")
    reader = Index.open(tmp_path / "index")
    index.merge()
    index.save()
    assert reader.info(verify=True).damaged == {}


def test_files_of_others_are_never_removed(tmp_path):
    (tmp_path / "notes").mkdir()
    mine = tmp_path / "notes" / "segment-mine.txt"
    mine.write_text("precious")
    index = Index(max_distance=3)
    with pytest.raises(nd.InputError, match="is no index"):
        index.save(tmp_path / "notes")
    assert [file.name for file in (tmp_path / "notes").iterdir()] == [mine.name]
    for place in (mine, mine / "below"):
        with pytest.raises(nd.InputError, match="is no (index|folder)"):
            index.save(place)
    index.save(tmp_path / "index")
    (tmp_path / "index" / mine.name).write_text("precious")
    index.save()
    assert (tmp_path / "index" / mine.name).read_text() == "precious"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "damaged or no manifest"),
        (b"[]", "damaged or no manifest"),
        (b'{"format": 1}', "damaged or no manifest"),
        (b"[" * 100_000, "damaged or no manifest"),
        (b'{"format": 9, "checksum": 1}', "format 9; this version reads 2"),
        (
            b'{"format": 1, "checksum": 1}',
            "format 1; this version reads 2. Build .*: `neardup index build .* --overwrite`",
        ),
        (b'{"format": 2, "checksum": 1}', "its checksum is another"),
        (b'{"format": 2, "checksum": 3373919818}', "is no manifest of an index"),
    ],
)
def test_a_damaged_manifest_is_refused(tmp_path, content, said):
    (tmp_path / "index.json").write_bytes(content)
    with pytest.raises(nd.DataError, match=said):
        Index.open(tmp_path)


def test_what_is_no_place_for_an_index_is_refused(tmp_path):
    with pytest.raises(nd.InputError, match="There is no index at"):
        Index.open(tmp_path / "none")
    index = Index(max_distance=3)
    with pytest.raises(nd.OptionError, match="never saved"):
        index.save()
    for state in ({"seen": {1, 2}}, {"a": 1, 2: 3}):
        index.state = state
        with pytest.raises(nd.OptionError, match="index.state is not of plain values"):
            index.save(tmp_path / "index")
    index.state = None
    index.save(tmp_path / "index")
    with pytest.raises(nd.InputError, match="has an index"):
        Index(max_distance=3).save(tmp_path / "index")
    index.add(range(5_000), VALUES)
    index.save()
    [file] = (tmp_path / "index").glob("segment-*")
    file.unlink()
    with pytest.raises(nd.DataError, match="is missing"):
        Index.open(tmp_path / "index")


def test_a_copy_may_be_saved_elsewhere(tmp_path):
    index = filled()
    index.save(tmp_path / "a")
    index.save(tmp_path / "b")
    shutil.rmtree(tmp_path / "a")
    assert everything(Index.open(tmp_path / "b")) == everything(index)
    assert builtins.len(index) == 5_000


def test_ids_that_are_a_slice_of_others_are_stored_without_these(tmp_path):
    ids = pa.array([f"document {i}" for i in range(20_000)], pa.large_string())
    index = Index(max_distance=3, method="scan")
    index.add(ids.slice(0, 10_000), np.arange(10_000, dtype=np.uint64))
    index.save(tmp_path / "index")
    [path] = (tmp_path / "index").glob("segment-*")
    assert read_segment_file(path).arrays["id_bytes"].tobytes() == "".join(ids[:10_000].to_pylist()).encode()
    assert Index.open(tmp_path / "index").query(9_999)[0][0] == "document 9999"
