"""URLs as places of files: names, stores of other kinds, and packages that are missing."""

import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import gcsfs
import huggingface_hub
import pytest

from neardup.errors import InputError, MissingExtra
from neardup.io.corpora.shards import find_shards
from neardup.io.storage import stores
from neardup.io.storage.places import identity, place_of
from neardup.io.storage.remote import RemotePath
from neardup.jobs.removal.dedup import deduplicate_files


@pytest.fixture(autouse=True)
def _no_store() -> Iterator[None]:
    stores.store_of.cache_clear()
    yield
    stores.store_of.cache_clear()
    fsspec.filesystem("memory").store.clear()


@pytest.mark.parametrize("given", ["a.jsonl", "/a/b.jsonl", "-", "C:/x", "odd:name", "s3:/one-slash"])
def test_what_is_no_url_is_a_local_path(given: str) -> None:
    assert place_of(given) == Path(given)


def test_a_file_url_is_a_local_path() -> None:
    assert place_of("file:///a/b.jsonl") == Path("/a/b.jsonl")


def test_urls_have_the_parts_of_paths() -> None:
    place = RemotePath("s3://bucket/folder/a.jsonl.gz")
    assert (place.name, place.suffix, place.stem, str(place)) == ("a.jsonl.gz", ".gz", "a.jsonl", place.url)
    assert place.parent == RemotePath("s3://bucket/folder/")
    assert place.parent / "deep/b" == RemotePath("s3://bucket/folder/deep/b")
    assert place.with_name("c") == RemotePath("s3://bucket/folder/c")
    assert identity(place.parent) == identity(RemotePath("s3://bucket/folder"))
    assert identity(place) != identity(RemotePath("gs://bucket/folder/a.jsonl.gz"))


@pytest.mark.parametrize(
    ("url", "kind", "key"),
    [
        ("gs://bucket/folder/a.jsonl", gcsfs.GCSFileSystem, "bucket/folder/a.jsonl"),
        ("hf://datasets/owner/name/a.parquet", huggingface_hub.HfFileSystem, "datasets/owner/name/a.parquet"),
        ("memory://folder/a.jsonl", fsspec.get_filesystem_class("memory"), "/folder/a.jsonl"),
    ],
)
def test_each_scheme_has_its_store(monkeypatch: pytest.MonkeyPatch, url: str, kind: type, key: str) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9")  # gcsfs asks for no credentials then
    store, found = RemotePath(url)._store
    assert isinstance(store, kind)
    assert found == key


@pytest.mark.parametrize(
    ("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs"), ("hf", "huggingface_hub"), ("s3", "fsspec")]
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, scheme: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, scheme, raising=False)
    with pytest.raises(MissingExtra, match=f"{scheme}:// needs .* Run: pip install 'neardup\\[remote\\]'"):
        find_shards(f"{scheme}://bucket/a.jsonl")


def test_a_package_that_is_not_of_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paramiko", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "sftp", raising=False)
    with pytest.raises(MissingExtra, match="sftp:// needs a package that is not installed: .*paramiko"):
        find_shards("sftp://host/a.jsonl")


def test_any_store_of_fsspec_can_be_read_and_written(tmp_path: Path) -> None:
    store = fsspec.filesystem("memory")
    content = b'{"text": "a rose is a rose"}\n'
    store.pipe_file("/in/a.jsonl", content)
    store.pipe_file("/in/deep/b.jsonl", content)
    done = deduplicate_files("memory://in", "memory://out/")
    assert (done.summary.survivors, store.cat_file("/out/a.jsonl")) == (1, content)
    assert store.cat_file("/out/deep/b.jsonl") == b""
    assert sorted(store.find("/out")) == ["/out/a.jsonl", "/out/deep/b.jsonl"]


def test_a_large_file_goes_to_any_store(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(5000))
    RemotePath("memory://large").upload(tmp_path / "large", part_bytes=1000)
    assert RemotePath("memory://large").read_bytes() == bytes(5000)
    with pytest.raises(FileNotFoundError):
        RemotePath("memory://other").upload(tmp_path / "missing", part_bytes=1000)


def test_a_remote_file_is_not_opened_for_writing() -> None:
    with pytest.raises(ValueError, match="upload"):
        RemotePath("memory://a").open("wb")


def test_a_folder_is_no_file() -> None:
    fsspec.filesystem("memory").pipe_file("/in/a.jsonl", b"")
    with pytest.raises(IsADirectoryError):
        RemotePath("memory://in").status()


def test_a_folder_without_texts_is_refused() -> None:
    fsspec.filesystem("memory").pipe_file("/in/a.pdf", b"")
    with pytest.raises(InputError, match="memory://in/: this folder has no file with a known ending"):
        find_shards("memory://in/")


def test_removing_what_is_not_there_is_refused_or_passed_over() -> None:
    RemotePath("memory://none").unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        RemotePath("memory://none").unlink()
