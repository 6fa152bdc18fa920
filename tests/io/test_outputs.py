"""Outputs appear complete or not at all, where they were asked for, and replace nothing unawares."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from neardup.errors import InputError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards
from neardup.io.outputs.output_names import STANDARD_OUTPUT, output_folder, output_names, stem
from neardup.io.outputs.outputs import Outputs

Make = Callable[..., Shard]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(*names: str) -> list[Shard]:
    """JSON lines of these names."""
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("{}\n")
    return find_shards(names)


def write(outputs: Outputs, path: Path, text: str = "new") -> None:
    """Claim an output and write it."""
    outputs.claim(path).write_text(text)


def everything() -> dict[str, str]:
    """All files below the current folder."""
    return {str(path): path.read_text() for path in sorted(Path().rglob("*")) if path.is_file()}


def refusal(*paths: str, **options: object) -> str:
    """The message of the refusal; nothing may have happened."""
    before = sorted(Path().rglob("*"))
    with pytest.raises(InputError) as caught, Outputs(map(Path, paths), **options):  # type: ignore[arg-type]
        pass
    assert sorted(Path().rglob("*")) == before
    return str(caught.value)


def test_files_appear_together_when_all_is_done() -> None:
    with Outputs([Path("a.jsonl"), Path("b.jsonl")]) as outputs:
        write(outputs, Path("a.jsonl"), "a")
        write(outputs, Path("b.jsonl"), "b")
        assert not Path("a.jsonl").exists()
        assert all(name.startswith((".a.jsonl.partial-", ".b.jsonl.partial-")) for name in everything())
        outputs.commit()
    assert everything() == {"a.jsonl": "a", "b.jsonl": "b"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_nothing_is_left_when_something_fails(error: type[BaseException]) -> None:
    with pytest.raises(error), Outputs([Path("out/sub/a")], folder=Path("out")) as outputs:  # noqa: PT012
        write(outputs, Path("out/sub/a"))
        raise error
    assert list(Path().iterdir()) == []


def test_nothing_is_left_without_commit() -> None:
    with Outputs([Path("a")]) as outputs:
        write(outputs, Path("a"))
    assert list(Path().iterdir()) == []


def test_an_output_that_exists_is_refused_and_replaced_only_if_asked_for() -> None:
    Path("a").write_text("old")
    assert refusal("a") == "a exists already. Name another output, or pass `overwrite=True` to replace it."
    with pytest.raises(ValueError, match="stop"), Outputs([Path("a")], overwrite=True) as outputs:  # noqa: PT012
        write(outputs, Path("a"))
        raise ValueError("stop")
    assert everything() == {"a": "old"}
    with Outputs([Path("a")], overwrite=True) as outputs:
        write(outputs, Path("a"))
        outputs.commit()
    assert everything() == {"a": "new"}


def test_an_output_that_is_an_input_is_refused_under_any_name() -> None:
    (shard,) = found("a.jsonl")
    Path("link").symlink_to("a.jsonl")
    os.link("a.jsonl", "hard")
    for name in ("a.jsonl", "link", "hard", "../" + Path.cwd().name + "/a.jsonl"):
        message = f"{name} is an input, and no run replaces what it reads. Name another file."
        for overwrite in (False, True):
            assert refusal(name, reads=ReadFiles([shard]), overwrite=overwrite) == message


def test_a_link_stays_a_link_and_its_file_is_replaced() -> None:
    Path("sub").mkdir()
    Path("sub/real").write_text("old")
    Path("link").symlink_to("sub/real")
    with Outputs([Path("link")], overwrite=True) as outputs:
        write(outputs, Path("link"))
        outputs.commit()
    assert Path("link").is_symlink()
    assert Path("sub/real").read_text() == "new"


def test_all_problems_are_reported_together_before_any_work() -> None:
    for name in "abcdefgh":
        Path(name).write_text("old")
    assert refusal("a", "b").splitlines() == [
        "a, b exist already. Name another output, or pass `overwrite=True` to replace them."
    ]
    assert refusal(*"abcdefgh").startswith("a, b, c, d, e and 3 more exist already. ")


def test_two_outputs_cannot_be_one_file() -> None:
    Path("link").symlink_to("a")
    message = "a and link are the same file, but two outputs. Name another for one of them."
    assert refusal("a", "link") == message
    assert refusal("a", "link", overwrite=True) == message


def test_only_regular_files_are_replaced() -> None:
    Path("folder").mkdir()
    assert (
        refusal("folder", overwrite=True) == "folder is a folder; a file is to be written there. Name another output."
    )
    message = "/dev/null is not a regular file. Name another output, or - for standard output."
    assert refusal("/dev/null", overwrite=True) == message
    Path("file").touch()
    assert refusal("file/a") == "file/a cannot be written: Not a directory."


def test_a_missing_folder_is_refused_but_that_of_a_sharded_output_is_made() -> None:
    here = Path.cwd()
    assert refusal("gone/a") == f"The folder {here}/gone does not exist. Make it, or name another output."
    assert refusal("gone/a", "out/b", folder=Path("out")).startswith(f"The folder {here}/gone does not exist.")
    with Outputs([Path("out/b/c"), Path("out/d")], folder=Path("out")) as outputs:
        write(outputs, Path("out/b/c"))
        write(outputs, Path("out/d"))
        outputs.commit()
    assert everything() == {"out/b/c": "new", "out/d": "new"}


def test_a_folder_that_cannot_be_written_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("neardup.io.outputs.outputs.tempfile.TemporaryFile", denied)
    message = f"The folder {Path.cwd()} cannot be written: Permission denied. Name another output."
    assert refusal("a") == message


def test_a_file_that_appears_meanwhile_is_not_replaced() -> None:
    with pytest.raises(InputError, match="b exists"), Outputs([Path("a"), Path("b")]) as outputs:  # noqa: PT012
        write(outputs, Path("a"))
        write(outputs, Path("b"))
        Path("b").write_text("another program's")
        outputs.commit()
    assert everything() == {"b": "another program's"}


def test_files_have_the_usual_permissions() -> None:
    mask = os.umask(0o027)
    try:
        with Outputs([Path("a")]) as outputs:
            write(outputs, Path("a"))
            outputs.commit()
    finally:
        os.umask(mask)
    assert stat.S_IMODE(Path("a").stat().st_mode) == 0o640


def test_long_names_can_be_written() -> None:
    name = Path("文" * 80 + ".jsonl")
    with Outputs([name]) as outputs:
        write(outputs, name)
        outputs.commit()
    assert everything() == {str(name): "new"}


def test_standard_output_needs_no_file() -> None:
    with Outputs([STANDARD_OUTPUT]) as outputs:
        assert outputs.claim(STANDARD_OUTPUT) == STANDARD_OUTPUT
        outputs.commit()
    assert list(Path().iterdir()) == []


def test_only_announced_outputs_can_be_claimed() -> None:
    with pytest.raises(ValueError, match="b is not one of the outputs"), Outputs([Path("a")]) as outputs:
        outputs.claim(Path("b"))


def test_claiming_twice_gives_the_same_file() -> None:
    with Outputs([Path("a")]) as outputs:
        assert outputs.claim(Path("a")) == outputs.claim(Path("a"))


def test_a_file_takes_all_shards() -> None:
    shards = found("a.jsonl", "b.ndjson")
    for out in ("out.jsonl", "out.ndjson.gz", "out.json.zst", "sub/out.jsonl"):
        assert output_names(out, shards) == [Path(out)] * 2
    assert output_names("-", shards) == [STANDARD_OUTPUT] * 2


def test_a_folder_gets_each_shard_under_its_relative_name() -> None:
    found("data/a.jsonl", "data/sub/b.jsonl.gz")
    shards = find_shards(["data"])
    expected = [Path("out/a.jsonl"), Path("out/sub/b.jsonl.gz")]
    assert output_names("out/", shards) == expected
    Path("out").mkdir()
    assert output_names("out", shards) == expected
    assert output_folder("out") == output_folder("out/") == Path("out")
    assert output_folder("other") is None
    assert output_folder("-") is None


def test_shards_that_would_have_one_output_are_named() -> None:
    shards = found("a/x.jsonl", "b/x.jsonl")
    with pytest.raises(InputError) as caught:
        output_names("out/", shards)
    assert str(caught.value) == (
        "a/x.jsonl and b/x.jsonl would both be written to out/x.jsonl. Give the folder above them as input."
    )


def test_an_output_folder_with_inputs_in_it_is_refused() -> None:
    found("data/a.jsonl", "data/out/b.jsonl")
    shards = find_shards(["data"])
    with pytest.raises(
        InputError, match=r"data/out/b\.jsonl lies in the output folder data/out\. Name another folder\."
    ):
        output_names("data/out", shards)
    assert output_names("data", shards) == [Path("data/a.jsonl"), Path("data/out/b.jsonl")]  # in place


def test_the_output_must_have_the_format_of_the_inputs(shard: Make) -> None:
    table = shard(pa.table({"text": ["a"]}), "a.parquet")
    lines = shard(b"{}\n", "b.jsonl")
    with pytest.raises(InputError) as caught:
        output_names("out.csv", [lines])
    assert str(caught.value) == (
        f"{lines.name} is jsonl, but the output is csv. Rows are written as they are, or converted to JSON lines, Parquet "
        "or Arrow: name an output of such a format, or a folder (OUT/), which keeps the files apart."
    )
    with pytest.raises(InputError, match=r"a\.parquet is parquet, but the output is csv"):
        output_names("out.csv", [table])
    assert output_names("out.jsonl", [lines, table]) == [Path("out.jsonl")] * 2
    with pytest.raises(InputError, match=r"a\.parquet is parquet, but the output is jsonl on standard output"):
        output_names("-", [lines, table])
    with pytest.raises(
        InputError, match=r"out\.doc: the ending does not tell the format of the output\. Allowed: \.jsonl"
    ):
        output_names("out.doc", [lines])
    assert output_names("out/", [lines, table]) == [Path("out/b.jsonl"), Path("out/a.parquet")]


def test_parquet_files_that_differ_are_seen_before_any_work(shard: Make) -> None:
    shards = [shard(pa.table({"text": ["a"]}), "a.parquet"), shard(pa.table({"text": [1]}), "b.parquet")]
    with pytest.raises(InputError, match='column "text" is string in one, int64 in the other'):
        output_names("out.parquet", shards)
    assert len(output_names("out/", shards)) == 2


def test_files_beside_the_output_are_named_by_its_stem() -> None:
    Path("kept").mkdir()
    assert stem("out.jsonl.gz") == "out"
    assert stem("sub/out.v2.parquet") == "sub/out.v2"
    assert stem("survivors/") == "survivors"
    assert stem("sub/survivors/") == "sub/survivors"
    assert stem("kept") == "kept"
    assert stem("./") == str(Path.cwd())
    assert stem("out.doc") == "out.doc"
