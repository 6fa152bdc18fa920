"""Our own Parquet files: a flipped bit anywhere is told, or changes nothing that is read."""

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from marks import long
from neardup.errors import DataError
from neardup.io.outputs.sealed_parquet import BrokenSealError, SealedWriter, read_sealed
from neardup.survivors.records.cluster_file import is_cluster_file

BATCH = pa.record_batch(
    {
        "number": np.arange(1000),
        "text": pa.array([None if i % 7 == 0 else f"text {i % 50}" for i in range(1000)], pa.large_string()),
        "name": pa.array([f"file {i % 3}" for i in range(1000)]).dictionary_encode(),
    }
)


def write(path, *batches, **metadata):
    writer = SealedWriter(path, BATCH.schema, {"neardup.made": "here"})
    for batch in batches:
        writer.write(batch)
    writer.close({f"neardup.{name}": text for name, text in metadata.items()})


@pytest.mark.parametrize("batches", [(), (BATCH,), (BATCH.slice(0, 1), BATCH.slice(0, 0), BATCH.slice(1))])
def test_what_is_written_is_read(tmp_path, batches):
    write(tmp_path / "a.parquet", *batches, more="\u6f22")
    table, metadata = read_sealed(tmp_path / "a.parquet")
    assert table.to_pylist() == [row for batch in batches for row in batch.to_pylist()]
    assert (metadata["neardup.made"], metadata["neardup.more"]) == ("here", "\u6f22")


READ = """
import json, sys
from pathlib import Path
import pyarrow as pa
from neardup.survivors.records.cluster_file import is_cluster_file
from neardup.io.outputs.sealed_parquet import BrokenSealError, read_sealed
folder, expected = Path(sys.argv[1]), read_sealed(Path(sys.argv[1]) / "a.parquet")
content, found = (folder / "a.parquet").read_bytes(), {"told": 0, "same": 0, "wrong": []}
for place, bit in json.loads(sys.stdin.read()):
    flipped = bytearray(content)
    flipped[place] ^= 1 << bit
    (folder / "b.parquet").write_bytes(flipped)
    print(place, bit, file=sys.stderr, flush=True)  # the last is the culprit, should the process end here
    try:
        table, metadata = read_sealed(folder / "b.parquet")
    except (OSError, pa.ArrowException, BrokenSealError):
        found["told"] += 1
        continue
    ours = {name: text for name, text in metadata.items() if name.startswith("neardup.")}
    same = table.equals(expected[0]) and ours.items() <= expected[1].items() and len(ours) == 4
    found["same"] += same
    if not same:
        found["wrong"].append([place, bit])
print(json.dumps(found))
"""


@pytest.mark.parametrize("flips", [300, 2_000, long(10_000)])
def test_a_flipped_bit_is_told_or_changes_nothing(tmp_path, flips):
    """In a process of its own: the reader of damaged files is Arrow's."""
    write(tmp_path / "a.parquet", BATCH, BATCH.slice(0, 10), more="content " * 20)
    size, choose = (tmp_path / "a.parquet").stat().st_size, random.Random(flips)
    footer = [[place, bit] for place in range(size - 300, size) for bit in range(8)]
    places = [[choose.randrange(size), choose.randrange(8)] for _ in range(flips // 2)]
    places += choose.choices(footer, k=flips // 2)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path)],
        input=json.dumps(places),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-200:]
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["told"] > flips / 2


@pytest.mark.parametrize("flips", [300, 6_000])
def test_whether_a_damaged_file_is_of_clusters_or_of_fingerprints_can_be_asked(tmp_path, monkeypatch, flips):
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(
        "".join(json.dumps({"id": i, "text": "the ferry leaves at nine"}) + "\n" for i in range(3))
    )
    nd.fingerprint_files("in.jsonl", "prints.parquet")
    nd.pair_files("in.jsonl", "pairs.parquet")
    nd.cluster_files("pairs.parquet", "clusters.parquet", documents="prints.parquet")
    content, choose = Path("clusters.parquet").read_bytes(), random.Random(3)
    places = [(5702, 3), *((choose.randrange(len(content)), choose.randrange(8)) for _ in range(flips))]
    for place, bit in places:
        if place < len(content):
            flipped = bytearray(content)
            flipped[place] ^= 1 << bit
            Path("clusters.parquet").write_bytes(flipped)
            assert is_cluster_file("clusters.parquet") in (True, False), place


def test_a_file_without_a_seal_is_refused(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(pa.table(BATCH), tmp_path / "a.parquet")
    with pytest.raises(BrokenSealError, match="it has no seal"):
        read_sealed(tmp_path / "a.parquet")


def test_a_changed_line_of_pairs_or_of_their_summary_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [f"the ferry leaves at ten past nine from the old pier every day of week {i % 2}" for i in range(6)]
    Path("in.jsonl").write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)))
    nd.fingerprint_files("in.jsonl", "prints.parquet")
    nd.pair_files("in.jsonl", "pairs.jsonl")
    nd.cluster_files("pairs.jsonl", "clusters.parquet", documents="prints.parquet")
    for name, old, new in (
        ("pairs.jsonl", b'"distance": ', b'"distance": 1'),
        ("pairs.jsonl.summary.json", b'"min_similarity": 0.', b'"min_similarity": 0.1'),
    ):
        content = Path(name).read_bytes()
        assert old in content
        Path(name).write_bytes(content.replace(old, new, 1))
        with pytest.raises(DataError, match="not (those that were|what was) written"):
            nd.cluster_files("pairs.jsonl", "other.parquet", documents="prints.parquet")
        Path(name).write_bytes(content)
