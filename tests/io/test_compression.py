"""Compressed files: several members, damage of all kinds, the same bytes again."""

import bz2
import functools
import gzip
import lzma
import random
import sys
import tracemalloc
from pathlib import Path

import lz4.frame
import pytest
import zstandard

import neardup as nd
from neardup.errors import DataError, InputError, MissingExtra
from neardup.io.storage.compression import open_for_reading, open_for_writing
from neardup.io.storage.compressions import COMPRESSIONS, HEAD_BYTES, sniff

DATA = bytes(random.Random(7).choices(range(97, 123), k=300_000)) + b"\n"
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"


COMPRESS = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "lz4": functools.partial(lz4.frame.compress, content_checksum=True),
}
"""One member, stream or frame, by other programs than the tested one where there are any."""


def compressed(data: bytes, compression: str) -> bytes:
    return COMPRESS[compression](data)


def read_all(path: Path, compression: str) -> bytes:
    """What the file holds."""
    with open_for_reading(path, compression) as file:
        return file.read()


@pytest.mark.parametrize("compression", ["plain", *COMPRESSIONS])
def test_what_is_written_is_read_back(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    with open_for_writing(path, compression) as file:
        for start in range(0, len(DATA), 1000):
            file.write(DATA[start : start + 1000])
    assert read_all(path, compression) == DATA
    assert sniff(path.read_bytes()[:HEAD_BYTES]) == compression


@pytest.mark.parametrize("compression", ["plain", *COMPRESSIONS])
def test_a_file_to_which_nothing_was_written_is_whole(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    for _ in range(2):
        open_for_writing(path, compression).close()
        assert read_all(path, compression) == b""
        assert sniff(path.read_bytes()[:HEAD_BYTES]) == compression
    if compression == "zstd":
        assert zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()) == b""


@pytest.mark.parametrize("compression", ["plain", *COMPRESSIONS])
def test_the_same_bytes_give_the_same_file_whatever_its_name(tmp_path: Path, compression: str) -> None:
    for name in ("one", "other"):
        with open_for_writing(tmp_path / name, compression) as file:
            file.write(DATA)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_members_and_frames_are_read_one_after_another(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"".join(compressed(part, compression) for part in (b"a", b"", DATA, b"b")))
    assert read_all(path, compression) == b"a" + DATA + b"b"


def test_zero_bytes_after_gzip_data_are_padding(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(compressed(b"a", "gzip") + bytes(100_000) + compressed(b"b", "gzip") + bytes(100_000))
    assert read_all(path, "gzip") == b"ab"


def test_zstd_frames_to_be_skipped_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(SKIPPABLE + compressed(b"a", "zstd") + SKIPPABLE + compressed(b"b", "zstd") + SKIPPABLE)
    assert read_all(path, "zstd") == b"ab"
    assert sniff(SKIPPABLE) == "zstd"


def test_zstd_with_a_long_window_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(stream.compress(DATA) + stream.flush())
    assert zstandard.get_frame_parameters(path.read_bytes()).window_size == 1 << 28
    assert read_all(path, "zstd") == DATA


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("first", [b"", b"first"])
def test_truncated_data_is_never_taken_for_the_end(tmp_path: Path, compression: str, first: bytes) -> None:
    path = tmp_path / "shard.gz"
    before = compressed(first, compression) if first else b""
    whole = before + compressed(DATA, compression)
    for size in [len(before) + 1, len(before) + 5, len(before) + 12, len(whole) // 2, len(whole) - 5, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"is damaged, or is not .* data: it ends too early"):
            read_all(path, compression)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("change", ["flipped", "garbage", "plain"])
def test_damaged_data_is_refused_by_name(tmp_path: Path, compression: str, change: str) -> None:
    path = tmp_path / "shard.gz"
    whole = bytearray(compressed(DATA, compression))
    if change == "flipped":
        whole[len(whole) // 2] ^= 255
    path.write_bytes({"flipped": bytes(whole), "garbage": bytes(whole) + b"garbage", "plain": DATA}[change])
    with pytest.raises(DataError) as caught:
        read_all(path, compression)
    message = str(caught.value)
    assert message.startswith(f"{path} is damaged, or is not {compression} data: ")
    assert message.endswith(
        "It cannot be skipped, for nobody knows how many rows are lost: make or fetch the file again."
    )


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_an_empty_compressed_file_is_a_truncated_one(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(DataError, match="ends too early"):
        read_all(path, compression)


def test_an_empty_plain_file_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    assert read_all(path, "plain") == b""


@pytest.mark.parametrize(("compression", "ending"), [("gzip", ".gz"), ("zstd", ".zst")])
def test_compressed_data_under_a_plain_name_is_refused(tmp_path: Path, compression: str, ending: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(compressed(DATA, compression))
    with pytest.raises(DataError) as caught:
        open_for_reading(path, "plain", name="given.jsonl")
    assert str(caught.value) == (
        f"given.jsonl holds {compression} data, but its name does not end in {ending}. Rename it."
    )


def test_a_file_that_cannot_be_opened_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl cannot be read: No such file or directory\."):
        open_for_reading(tmp_path / "gone.jsonl", "plain")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        open_for_reading(tmp_path, "gzip")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_what_expands_beyond_measure_is_held_a_piece_at_a_time(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(compressed(bytes(64 << 20), compression))
    tracemalloc.start()
    try:
        with open_for_reading(path, compression) as file:
            assert sum(map(len, iter(functools.partial(file.read, 1 << 16), b""))) == 64 << 20
        assert tracemalloc.get_traced_memory()[1] < 24 << 20  # xz has a window of 8 MB
    finally:
        tracemalloc.stop()


def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    path = tmp_path / "in.jsonl.lz4"
    path.write_bytes(compressed(b'{"text": "a"}\n', "lz4"))
    for call in (lambda: open_for_reading(path, "lz4").read(), lambda: open_for_writing(tmp_path / "out", "lz4")):
        with pytest.raises(MissingExtra, match=r"pip install 'neardup\[lz4\]'"):
            call()


@pytest.mark.parametrize("kind", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_a_run_reads_and_writes_it_by_the_ending_of_a_name(tmp_path, kind):
    rows = b"".join(b'{"id": %d, "text": "one of %d texts of some words"}\n' % (i, i % 3) for i in range(7))
    (tmp_path / f"in.jsonl{kind.ending}").write_bytes(compressed(rows, kind.name))
    out = tmp_path / f"out.jsonl{kind.ending}"
    found = nd.deduplicate_files(tmp_path / f"in.jsonl{kind.ending}", out, audit=tmp_path / f"gone.jsonl{kind.ending}")
    assert found.summary.survivors == 3
    assert read_all(out, kind.name).splitlines() == rows.splitlines()[:3]
    assert len(read_all(tmp_path / f"gone.jsonl{kind.ending}", kind.name).splitlines()) == 4
    assert nd.verify_files(out, audit=tmp_path / f"gone.jsonl{kind.ending}").proven
