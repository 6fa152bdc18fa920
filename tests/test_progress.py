"""What is told of a run while it goes on."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import deduplicate_files, fingerprint_files
from neardup.io.spool import Spool, mapped_array, peak_temporary_bytes
from neardup.progress import LogProgress, Progress, Stage, TerminalProgress, duration, told


class Clock:
    """A clock that goes on by so many seconds a look."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


class Watched(Progress):
    """Keeps how far each stage was at every step."""

    def __init__(self):
        super().__init__()
        self.shares = {}

    def read(self, count):
        super().read(count)
        self.shares.setdefault(self.at.name, []).append(self.at.share)


def test_a_stage_of_documents_knows_its_share_and_the_time_that_is_left():
    stage = Stage("count", 400, began=10.0, documents=100, read_bytes=5_000_000)
    assert stage.share == 0.25
    assert stage.seconds_left(20.0) == 30.0
    assert told(stage, 20.0) == "25 %, 100 documents, 10 documents/s, 0.5 MB/s, about 30 s left"


def test_a_stage_of_an_unknown_number_of_documents_goes_by_bytes():
    stage = Stage("fingerprint", None, began=0.0, documents=3, read_bytes=30, total_bytes=120)
    assert (stage.share, stage.seconds_left(2.0)) == (0.25, 6.0)


def test_a_stage_of_which_nothing_is_known_promises_nothing():
    stage = Stage("join", None, began=0.0)
    assert (stage.share, stage.seconds_left(5.0), told(stage, 5.0)) == (None, None, "")
    assert stage.rates(0.0) == ""


def test_a_log_has_a_line_a_stage_and_one_every_half_minute_of_a_long_one(capsys):
    progress = LogProgress(clock=Clock(8.0))
    with progress.stage("count", 60):
        for _ in range(6):
            progress.advance(10)
    assert capsys.readouterr().err.splitlines() == [
        "neardup: count: 67 %, 40 documents, 1 documents/s, about 20 s left",
        "neardup: count: 64.0 s, 60 documents, 1 documents/s",
    ]


def test_a_terminal_is_shown_a_line_that_moves_and_then_what_the_stage_took(capsys):
    progress = TerminalProgress(clock=Clock(1.0))
    with progress.stage("fingerprint"):
        progress.expect(200)
        progress.advance(5)
        progress.read(100)
    assert "neardup: fingerprint: 4.0 s, 5 documents" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(40, "40 s"), (719.9, "12 minutes"), (12_600, "3.5 hours"), (259_200, "3.0 days")],
)
def test_durations_are_told_in_the_unit_that_is_read_best(seconds, said):
    assert duration(seconds) == said


def write_shards(tmp_path):
    rows = [{"id": number, "text": f"document {number} of many, " * 40} for number in range(30_000)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (tmp_path / "plain.jsonl").write_bytes(lines)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(lines, 1))
    (tmp_path / "none.jsonl").write_bytes(b"")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "table.parquet", row_group_size=10_000)


@pytest.mark.parametrize("name", ["plain.jsonl", "packed.jsonl.gz", "table.parquet"])
def test_the_first_pass_knows_its_share_by_the_bytes_of_each_format(tmp_path, name):
    write_shards(tmp_path)
    progress = Watched()
    result = deduplicate_files(tmp_path / name, dry_run=True, progress=progress)
    shares = progress.shares["fingerprint"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any(0 < share < 0.9 for share in shares)
    assert result.summary.read_bytes["fingerprint"] == (tmp_path / name).stat().st_size


def test_a_file_of_fingerprints_a_shard_counts_the_bytes_of_all_shards(tmp_path):
    write_shards(tmp_path)
    (tmp_path / "table.parquet").unlink()
    progress = Watched()
    fingerprint_files(tmp_path, f"{tmp_path}/out/", progress=progress)
    shares = progress.shares["fingerprint"]
    assert shares == sorted(shares)
    assert shares[0] < 1.0 == shares[-1]
    assert progress.read_bytes == {
        "fingerprint": sum(path.stat().st_size for path in tmp_path.iterdir() if path.is_file())
    }


def test_the_summary_counts_bytes_read_and_written_by_stage(tmp_path):
    write_shards(tmp_path)
    output = tmp_path / "out.jsonl"
    result = deduplicate_files(tmp_path / "plain.jsonl", str(output))
    size = (tmp_path / "plain.jsonl").stat().st_size
    summary = result.summary
    assert summary.read_bytes["write"] == size
    assert summary.read_bytes["total"] == sum(count for name, count in summary.read_bytes.items() if name != "total")
    audit = tmp_path / "out.duplicates.jsonl"
    assert summary.written_bytes == {
        "write": output.stat().st_size + audit.stat().st_size,
        "total": output.stat().st_size + audit.stat().st_size,
    }


def test_temporary_files_are_counted_at_their_height(tmp_path):
    before = peak_temporary_bytes()
    with Spool(np.uint64, temp_dir=str(tmp_path)) as spool:
        spool.write(np.zeros(before // 8 + 1000, np.uint64))
        mapped = mapped_array(500, np.uint32, temp_dir=str(tmp_path))
        del mapped
    assert peak_temporary_bytes() >= before + 10_000
