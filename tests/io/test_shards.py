"""From inputs to shards: files, folders, globs, standard input, and every refusal."""

import gzip
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from neardup.errors import InputError
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.endings import ALLOWED, split_ending
from neardup.resources.temporary_files import TemporaryFiles
from neardup.resources.unfinished import TemporaryFolder


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes files below the current folder, which is a new one."""
    monkeypatch.chdir(tmp_path)

    def make(*names: str) -> None:
        for name in names:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(name)

    return make


def found(*inputs: str) -> list[Shard]:
    """The shards of inputs in the current folder."""
    return find_shards(inputs)


def refusal(*inputs: str) -> str:
    """The message of the refusal."""
    with pytest.raises(InputError) as caught:
        found(*inputs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.jsonl", ("a", "jsonl", "plain")),
        ("a.ndjson.gz", ("a", "jsonl", "gzip")),
        ("a.json.zst", ("a", "jsonl", "zstd")),
        ("a.b.JSONL.GZ", ("a.b", "jsonl", "gzip")),
        ("a.parquet", ("a", "parquet", "plain")),
        ("a.jsonl.parquet", ("a.jsonl", "parquet", "plain")),
        ("a.parquet.gz", None),
        ("a.txt", ("a", "txt", "plain")),
        ("a.md.gz", ("a", "txt", "gzip")),
        ("a.csv.zst", ("a", "csv", "zstd")),
        ("a.tsv", ("a", "tsv", "plain")),
        ("a.doc", None),
        ("a.gz", None),
        ("a", None),
        (".jsonl", None),
    ],
)
def test_the_ending_tells_format_and_compression(name: str, parts: tuple[str, str, str] | None) -> None:
    assert split_ending(name) == parts


def test_files_come_in_the_order_given(corpus: Callable[..., None]) -> None:
    corpus("b.jsonl", "sub/a.parquet")
    first, second = found("b.jsonl", "sub/a.parquet")
    assert (first.name, first.relative, first.format, first.compression) == ("b.jsonl", "b.jsonl", "jsonl", "plain")
    assert (second.name, second.relative, second.format) == ("sub/a.parquet", "a.parquet", "parquet")
    assert (first.size, first.modified) == (7, Path("b.jsonl").stat().st_mtime_ns)


def test_a_folder_stands_for_the_files_below_it_by_relative_path(corpus: Callable[..., None]) -> None:
    corpus(
        "data/z.jsonl", "data/a/2.jsonl.gz", "data/a/10.parquet", "data/a-b.ndjson.zst", "data/readme.md", "data/x.json"
    )
    corpus("data/.hidden.jsonl", "data/.git/a.jsonl")
    shards = found("data/")
    assert [shard.relative for shard in shards] == ["a-b.ndjson.zst", "a/10.parquet", "a/2.jsonl.gz", "z.jsonl"]
    assert [shard.name for shard in shards] == [
        "data/a-b.ndjson.zst",
        "data/a/10.parquet",
        "data/a/2.jsonl.gz",
        "data/z.jsonl",
    ]
    assert [shard.compression for shard in shards] == ["zstd", "plain", "gzip", "plain"]


def test_a_folder_may_be_called_like_a_file(corpus: Callable[..., None]) -> None:
    corpus("out.parquet/part-0.parquet", "out.parquet/_SUCCESS")
    assert [shard.relative for shard in found("out.parquet")] == ["part-0.parquet"]


def test_globs_are_expanded_and_sorted(corpus: Callable[..., None]) -> None:
    corpus("data/b/x.jsonl", "data/a/x.jsonl", "data/a/y.parquet", "data/c/deep/x.jsonl", "data/x.jsonl")
    assert [shard.relative for shard in found("data/*/x.jsonl")] == ["a/x.jsonl", "b/x.jsonl"]
    assert [shard.relative for shard in found("data/**/x.jsonl")] == [
        "a/x.jsonl",
        "b/x.jsonl",
        "c/deep/x.jsonl",
        "x.jsonl",
    ]
    assert [shard.relative for shard in found("data/[bc]")] == ["b/x.jsonl", "c/deep/x.jsonl"]
    assert [shard.name for shard in found("data/**")] == [
        "data/a/x.jsonl", "data/a/y.parquet", "data/b/x.jsonl", "data/c/deep/x.jsonl", "data/x.jsonl",
    ]  # fmt: skip


def test_a_name_with_brackets_is_a_file_if_it_is_there(corpus: Callable[..., None]) -> None:
    corpus("data[1].jsonl", "data1.jsonl")
    assert [shard.name for shard in found("data[1].jsonl")] == ["data[1].jsonl"]


def test_json_files_are_taken_when_named_but_not_from_folders(corpus: Callable[..., None]) -> None:
    corpus("data/c4.json.gz")
    assert [shard.compression for shard in found("data/*.json.gz")] == ["gzip"]
    assert [shard.format for shard in found("data/c4.json.gz")] == ["jsonl"]
    assert refusal("data") == (
        f"data: this folder has no file with a known ending. {ALLOWED}. "
        "Its .json.gz files are read only if they are named: 'data/**/*.json.gz'."
    )


def test_links_are_followed_but_not_in_circles(corpus: Callable[..., None]) -> None:
    corpus("data/real.jsonl", "elsewhere/blob", "far/x.jsonl")
    Path("data/linked.jsonl").symlink_to(Path("elsewhere/blob").resolve())
    Path("data/folder").symlink_to(Path("far").resolve())
    Path("data/circle").symlink_to(Path("data").resolve())
    assert [shard.relative for shard in found("data")] == ["folder/x.jsonl", "linked.jsonl", "real.jsonl"]


def test_what_is_not_there_is_named(corpus: Callable[..., None]) -> None:
    corpus()
    assert refusal("gone.jsonl") == "gone.jsonl: there is no such file or folder."
    assert (
        refusal("gone/*.jsonl") == "gone/*.jsonl: no file matches. Check the pattern; hidden files are never matched."
    )
    Path("broken.jsonl").symlink_to("nowhere")
    assert refusal("broken.jsonl") == "broken.jsonl cannot be read: No such file or directory."


def test_an_unknown_ending_is_refused_with_what_is_allowed(corpus: Callable[..., None]) -> None:
    corpus("a.doc", "data/a.doc")
    allowed = f"{ALLOWED}."
    assert refusal("a.doc") == f"a.doc: the ending does not tell the format. {allowed}"
    assert refusal("*.doc") == f"a.doc: the ending does not tell the format. {allowed}"
    assert refusal("data") == f"data: this folder has no file with a known ending. {allowed}"


def test_data_in_an_unknown_compression_is_not_passed_over(corpus: Callable[..., None]) -> None:
    corpus("data/a.jsonl", "data/b.jsonl.br")
    assert refusal("data") == (f"data/b.jsonl.br: .br is not read. {ALLOWED}. Compress it anew, or move it elsewhere.")


def test_all_problems_are_reported_together(corpus: Callable[..., None]) -> None:
    corpus("a.doc")
    assert len(refusal("gone.jsonl", "a.doc", "").splitlines()) == 3


def test_no_input_and_empty_names_are_refused(corpus: Callable[..., None]) -> None:
    corpus()
    assert refusal() == "No input is given. Name files, folders or globs, or - for standard input."
    assert refusal("").startswith("An input is an empty string. Name a file")


def test_the_same_file_twice_is_refused(corpus: Callable[..., None]) -> None:
    corpus("data/a.jsonl")
    Path("link.jsonl").symlink_to("data/a.jsonl")
    os.link("data/a.jsonl", "hard.jsonl")
    assert refusal("data/a.jsonl", "data/a.jsonl") == "data/a.jsonl is given twice. Name it once."
    assert refusal("-", "-") == "- is given twice. Name it once."
    for other in ("./data/a.jsonl", "link.jsonl", "hard.jsonl", "data", "data/*"):
        assert "given twice" in refusal("data/a.jsonl", other)
    assert refusal("data", "link.jsonl") == (
        "link.jsonl is given twice (as data/a.jsonl): all its rows would be duplicates. Name it once."
    )


def test_a_file_that_cannot_be_read_is_refused(corpus: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    corpus("a.jsonl", "data/a.jsonl")

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refusal("a.jsonl") == "a.jsonl cannot be read: Permission denied."
    monkeypatch.setattr(Path, "iterdir", denied)
    assert refusal("data") == "data cannot be read: Permission denied."


def test_what_is_no_regular_file_is_refused(corpus: Callable[..., None]) -> None:
    corpus()
    os.mkfifo("pipe.jsonl")
    assert refusal("pipe.jsonl") == "pipe.jsonl is not a regular file. Give its contents on standard input: -"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no file names that are not UTF-8")
def test_a_file_name_may_be_any_bytes(corpus: Callable[..., None]) -> None:
    corpus()
    Path(os.fsdecode(b"caf\xe9.jsonl")).write_text("{}")
    (shard,) = found("*.jsonl")
    assert shard.name == r"caf\xe9.jsonl"
    assert shard.path.read_text() == "{}"


@pytest.mark.parametrize(("compression", "ending"), [("plain", ""), ("gzip", ".gz"), ("zstd", ".zst")])
def test_standard_input_is_kept_in_a_temporary_file(
    corpus: Callable[..., None], monkeypatch: pytest.MonkeyPatch, compression: str, ending: str
) -> None:
    corpus("temporary/x", "a.jsonl")
    temporary = TemporaryFolder(Path("temporary"), TemporaryFiles())
    data = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}[compression](b'{"text": "a"}\n')
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    first, second = find_shards(["-", "a.jsonl"], temporary=temporary)
    assert (first.name, first.relative, first.compression) == ("stdin", "stdin.jsonl", compression)
    assert first.path == Path(f"temporary/stdin.jsonl{ending}")
    assert first.path.read_bytes() == data
    assert second.name == "a.jsonl"


@pytest.mark.parametrize(
    ("content", "name", "dialect"),
    [
        (b"PAR1....", "stdin.parquet", None),
        (b"ARROW1..", "stdin.arrow", None),
        (b"\xff\xff\xff\xff...", "stdin.arrows", None),
        (b'{"text": "a"}', "stdin.jsonl", None),
        (b"text\na\n", "stdin.csv", ","),
    ],
)
def test_what_standard_input_holds_is_known_by_its_first_bytes_or_a_dialect(
    corpus: Callable[..., None], monkeypatch: pytest.MonkeyPatch, content: bytes, name: str, dialect: str | None
) -> None:
    corpus("temporary/x")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    folder = TemporaryFolder(Path("temporary"), TemporaryFiles())
    [found] = find_shards(["-"], temporary=folder, reading=Reading(dialect=dialect))
    assert (found.name, found.relative, found.path.name) == ("stdin", name, name)
