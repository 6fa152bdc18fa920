"""Two writers that no lock keeps apart, as on a network file system, at the same moment: one is refused, and nothing is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd

WRITER, SECONDS = Path(__file__).with_name("two_writers.py"), 4
REFUSALS = ("has a second writer: ", "has changed the index at", "cannot be written to: ", "database is locked")


def run_together(path, durable, method, names):
    """What two writers say, and with which codes they end."""
    writers = [
        subprocess.Popen(
            [sys.executable, str(WRITER), str(path), name, str(SECONDS), str(seed), durable, method],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed, name in enumerate(names)
    ]
    try:
        for writer in writers:
            assert json.loads(writer.stdout.readline()) == {"ready": True}
        for writer in writers:
            writer.stdin.write("\n")
            writer.stdin.flush()
        said = [writer.communicate() for writer in writers]
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert [(writer.returncode, err) for writer, (_, err) in zip(writers, said, strict=True)] == [(0, "")] * 2
    return [json.loads(line) for out, _ in said for line in out.splitlines()]


@pytest.mark.parametrize(("method", "durable"), [("exact", "each"), ("minhash", "batch"), ("simhash", "each")])
def test_nothing_that_was_acknowledged_is_lost_and_one_writer_is_refused(tmp_path, method, durable):
    lines, said = [], "has a second writer: "
    for names in ("ab", "cd", "ef", "gh"):  # on a machine that is busy, two may miss one another
        lines += run_together(tmp_path / "s", durable, method, names)
        if any(said in line.get("refused", "") for line in lines):
            break
    added = {name for line in lines for name in line.get("added", ())}
    removing = {name for line in lines for name in line.get("removing", ())}
    refused = [line["refused"] for line in lines if "refused" in line]
    assert any(said in each for each in refused)
    assert [each for each in refused if not any(words in each for words in REFUSALS)] == []
    with nd.Store(tmp_path / "s") as store:
        assert store.verify().is_sound
        assert [name for name in sorted(added - removing) if store.get(name) is None] == []
    assert len(added) > 10


def test_a_store_that_two_make_at_once_is_made_once(tmp_path, monkeypatch):
    from neardup.store.record.record import Record

    monkeypatch.setattr("neardup.store.session.folder.fcntl.flock", lambda *_: None)
    is_complete, seen = Record.is_complete.fget, []

    def slow(record):
        found = is_complete(record)
        if not seen:  # between the look and the making, another process makes the store, and adds to it
            seen.append(found)
            with nd.Store(tmp_path / "s") as other:
                other.check_and_add("first", "a text of which the other one knows nothing")
        return found

    monkeypatch.setattr(Record, "is_complete", property(slow))
    with nd.Store(tmp_path / "s") as store:
        assert seen == [False]
        assert store.get("first").id == "first"
        assert store.verify().is_sound
