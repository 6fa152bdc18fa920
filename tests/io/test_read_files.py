"""What a run reads is never replaced: files under any of their names, and what lies in a folder."""

import os
from pathlib import Path

import pytest

from neardup.errors import InputError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.shards import find_shards
from neardup.io.storage.places import place_of


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in.jsonl", "labels.jsonl", "store/record.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("{}\n")
    return tmp_path


@pytest.fixture
def reads(here):
    shards = find_shards("in.jsonl")
    return ReadFiles(shards, {"the file of labels": [Path("labels.jsonl")], "the store": [Path("store")]})


def test_a_file_has_all_of_its_names(reads, here):
    Path("link.jsonl").symlink_to("labels.jsonl")
    os.link("labels.jsonl", "hard.jsonl")
    for name in ("labels.jsonl", "link.jsonl", "hard.jsonl", str(here / "labels.jsonl")):
        message = f"{name} is the file of labels, and no run replaces what it reads. Name another file."
        assert reads.problem(Path(name)) == message


def test_a_folder_stands_for_all_that_is_or_may_be_in_it(reads):
    for name in ("store/record.json", "store/new.jsonl", "store"):
        message = f"{name} lies in the folder of the store, where nothing else belongs. Name a file elsewhere."
        assert reads.problem(Path(name)) == message


def test_what_is_not_there_yet_is_known_by_its_name():
    reads = ReadFiles(others={"the store": [Path("later")]})
    assert reads.problem(Path("./later")) is not None
    assert reads.problem(Path("later.jsonl")) is None


def test_other_files_may_be_written(reads):
    for name in ("out.jsonl", "stores", "in.jsonl.gz", "nowhere/in.jsonl", "in.jsonl/out"):
        assert reads.problem(Path(name)) is None


def test_all_that_would_be_replaced_is_named_once(reads):
    paths = [Path("in.jsonl"), Path("out.jsonl"), Path("labels.jsonl"), Path("in.jsonl")]
    with pytest.raises(InputError) as refused:
        reads.refuse(paths)
    assert [line.split(",")[0] for line in str(refused.value).splitlines()] == [
        "in.jsonl is an input",
        "labels.jsonl is the file of labels",
    ]


def test_a_remote_file_is_known_by_its_url():
    reads = ReadFiles(others={"the reference": [place_of("s3://bucket/a.jsonl")]})
    assert reads.problem(place_of("s3://bucket/a.jsonl")) is not None
    assert reads.problem(place_of("s3://bucket/b.jsonl")) is None
