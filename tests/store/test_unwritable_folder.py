"""A store in a folder that one may read, but not write to."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

import neardup as nd

TEXT = "the night ferry to the islands leaves at ten past nine"


@pytest.fixture
def folder():
    """A store that the tests' user, or another one if that is root, can read only."""
    place = Path(tempfile.mkdtemp())
    with nd.Store(place / "seen") as store:
        store.check_and_add("a", TEXT)
    place.chmod(0o755)
    permit(place / "seen", 0o555, 0o444)
    yield place / "seen"
    shutil.rmtree(place)


def permit(folder, folders, files):
    for each in folder.rglob("*"):
        each.chmod(folders if each.is_dir() else files)
    folder.chmod(folders)


@pytest.fixture
def reader(folder):
    """Act as another user than root, who may write everywhere."""
    if is_root := os.geteuid() == 0:
        os.seteuid(65534)
    yield folder
    if is_root:
        os.seteuid(0)
    permit(folder, 0o755, 0o644)


def test_it_can_be_read(reader):
    with nd.Store(reader, mode="r") as store:
        assert store.check(TEXT.upper()).duplicate_of == "a"
        assert store.info().documents == 1
    assert sorted(path.name for path in reader.iterdir() if "sqlite" in path.name) == ["record.sqlite"]


def test_writing_is_refused_in_words(reader):
    with pytest.raises(nd.InputError, match=r"seen cannot be written to: .*It can be read"):
        nd.Store(reader)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_reader_follows_a_writer_that_may_write(reader):
    with nd.Store(reader, mode="r") as store:
        for number in range(3):
            os.seteuid(0)
            with nd.Store(reader) as writer:
                writer.check_and_add(number, f"{number} {number + 1} {number + 2} an other text {number}")
                os.seteuid(65534)
                assert len(store) == 2 + number
                os.seteuid(0)
            os.seteuid(65534)
            assert len(store) == 2 + number
