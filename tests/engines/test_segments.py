"""Packed rows in files: what a task wrote is read back, by bucket, from a local folder and from an object store."""

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.engines.job.bucket_files import SEGMENT, Written, as_table, contents, in_table, of_buckets, write
from neardup.engines.job.folder import Folder
from neardup.engines.packing import Packed

PIECES = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 4), st.binary(max_size=20)), max_size=12)


@pytest.fixture(params=["local", "memory"])
def folder(request, tmp_path):
    if request.param == "local":
        return Folder(str(tmp_path))
    pytest.importorskip("fsspec")
    return Folder(f"memory://segments-{tmp_path.name}")


@given(tasks=st.lists(PIECES, max_size=3), first=st.integers(0, 5), last=st.integers(0, 5))
def test_buckets_are_read_back(tasks, first, last):
    written, files = [], {}
    for number, pieces in enumerate(tasks):
        file = io.BytesIO()
        segments = write(file, ((name, Packed(bucket, 1, content)) for name, bucket, content in pieces))
        written.append(Written(str(number), segments))
        files[str(number)] = file.getvalue()
    again = in_table(as_table(written))
    told = [each for each in written if each.segments]
    assert [(each.file, list(each.segments)) for each in again] == [(each.file, list(each.segments)) for each in told]
    for name in ("a", "b"):
        given_segments = [(each.file, each.segments[name]) for each in again if name in each.segments]
        found = [
            files[file][int(one["offset"]) : int(one["offset"]) + int(one["size"])]
            for file, some in of_buckets(given_segments, first, last)
            for one in some
        ]
        wanted = [piece[2] for pieces in tasks for piece in pieces if piece[0] == name and first <= piece[1] < last]
        assert sorted(found) == sorted(wanted)


def test_an_index_without_rows_is_read_back():
    assert in_table(as_table([])) == []
    assert as_table([]).column("bucket").type == pa.int32()


def test_files_appear_whole_or_not_at_all(folder):
    folder.make("rows")
    with folder.writing("rows/one") as file:
        file.write(b"some bytes")
    with pytest.raises(KeyError), folder.writing("rows/two") as file:
        file.write({}["others"])
    assert folder.names() == ["rows/one"]
    assert folder.names("rows") == ["one"]
    assert folder.names("nothing") == []
    assert folder.read("rows/one") == b"some bytes"
    assert folder.ranges("rows/one", [(5, 5), (0, 4)]) == [b"bytes", b"some"]
    assert folder.other_file() == f"{folder}/rows/one"


def test_notes_are_read_back(folder):
    notes = folder.notes("finished")
    assert notes.read() == []
    notes.add({"number": 1})
    notes.add({"number": 2})
    assert sorted(each["number"] for each in notes.read()) == [1, 2]
    with folder.writing("finished/x.json") as file:
        file.write(b'{"number')
    with pytest.raises(nd.DataError, match="The record in .* is damaged. Give another folder as `work=`"):
        notes.read()


def test_damaged_and_missing_rows_are_refused(folder):
    folder.make("")
    with folder.writing("one") as file:
        segments = write(file, [("a", Packed(0, 1, b"some bytes"))])["a"]
    assert contents(folder, [("one", segments)]) == [b"some bytes"]
    with folder.writing("other") as file:
        file.write(b"some bytez")
    with pytest.raises(nd.DataError, match="other is damaged: its content is not what was written"):
        contents(folder, [("other", segments)])
    with pytest.raises(
        nd.DataError, match="nothing is not there. Either a file of this job was removed, or the folder"
    ):
        contents(folder, [("nothing", segments)])


def test_a_folder_that_is_not_shared_is_told(tmp_path):
    with (
        pytest.raises(
            nd.InputError, match="is not there. The folder of `work=` must be one that the driver and all workers"
        ),
        Folder(str(tmp_path / "nothing")).writing("rows/one"),
    ):
        pass


def test_where_a_piece_is_takes_28_bytes():
    assert SEGMENT.itemsize == 28
