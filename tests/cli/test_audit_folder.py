"""`--audit DIR/`: an audit of each shard, and what reads them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, CLOCK, FERRY, FERRY_EDITED, ROWS, files, read_lines, write_lines

import neardup

SHARDS = {
    "a/part-1": ROWS,
    "a/part-10": [{"id": "clock", "text": CLOCK}],
    "b/part-2": [{"id": "again", "text": FERRY_EDITED}, {"id": "loaf", "text": BREAD}, {"id": "time", "text": CLOCK}],
}


@pytest.fixture
def shards():
    for name, rows in SHARDS.items():
        write_lines(f"in/{name}.jsonl", rows)
    return [f"in/{name}.jsonl" for name in SHARDS]


def audits(folder):
    """The audits below a folder, as one."""
    return b"".join(path.read_bytes() for path in sorted(Path(folder).rglob("*.duplicates.jsonl")))


@pytest.mark.parametrize("flags", [(), ("--cluster", "components"), ("--unit", "line"), ("--against", "old.jsonl")])
def test_audits_of_shards_are_the_audit_of_all_one_after_another(run, shards, flags):
    write_lines("old.jsonl", [{"id": "old", "text": CLOCK}])
    run("dedup", "in", "-o", "whole/", "--audit", "whole.jsonl", *flags)
    done = run("dedup", "in", "-o", "out/", "--audit", "audits/", *flags)
    assert (done.code, Path("audits.summary.json").exists()) == (0, True)
    assert "audit    audits/\n" in done.err
    assert sorted(map(str, Path("audits").rglob("*.jsonl"))) == [f"audits/{name}.duplicates.jsonl" for name in SHARDS]
    assert audits("audits") == Path("whole.jsonl").read_bytes()
    assert len(read_lines("whole.jsonl")) > 3
    rows = [line["row"] for line in read_lines("audits/b/part-2.duplicates.jsonl")]
    assert rows
    assert min(rows) >= 6


def test_threads_and_one_output_file_change_no_audit(run, shards):
    for threads in (1, 4):
        run("dedup", "in", "-o", f"{threads}.jsonl", "--audit", f"audits{threads}/", "--threads", threads)
    assert audits("audits1") == audits("audits4") != b""
    assert run("dedup", "in", "-o", "-", "--audit", "audits/").code == 0
    assert audits("audits") == audits("audits1")


def test_stages_write_audits_of_shards_all_at_once_or_one_by_one(run, shards):
    """But for `only_digits`, which stages do not know: they have no texts."""
    run("dedup", "in", "-o", "whole/", "--audit", "whole/../audits/", "--method", "exact")
    run("fingerprint", "in", "-o", "prints.parquet")
    run("pairs", "in", "-o", "pairs.parquet", "--method", "exact")
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "c.parquet")
    assert run("apply", "c.parquet", "in", "-o", "once/", "--audit", "once-audits/").code == 0
    assert audits("once-audits").replace(b'"only_digits": null', b'"only_digits": false') == audits("audits")
    for number, name in enumerate(shards):
        run("apply", "c.parquet", name, "-o", f"kept/{number}/", "--audit", f"parts/{number}/").ok()
    assert audits("parts") == audits("once-audits")
    shown = run("explain", "parts", "again")
    assert shown.out.startswith(b'"again" (row 6) was removed.')
    shown = run("explain", "parts", "clock").out.decode()
    assert shown.startswith('"clock" (row 5) was kept. Most similar:\n  "time" (row 8): ')
    assert "a match; removed as a duplicate of this one" in shown


def test_a_part_of_the_shards_is_explained_with_the_rows_of_all(run, shards):
    run("fingerprint", "in", "-o", "prints.parquet")
    run("pairs", "in", "-o", "pairs.parquet", "--method", "exact")
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "c.parquet")
    run("apply", "c.parquet", "in/a/part-10.jsonl", "-o", "part.jsonl")
    found = neardup.explain("part.duplicates.jsonl", "clock")
    assert (found.row, found.removed) == (5, ())
    assert (found.neighbors[0].row, found.neighbors[0].verdict) == (8, "a match; removed as a duplicate of this one")
    elsewhere = neardup.explain("part.duplicates.jsonl", "again")  # which is of a shard that was not written
    assert (elsewhere.row, elsewhere.removed[0]["survivor_id"], elsewhere.neighbors) == (6, "ferry", ())
    write_lines("in/b/part-2.jsonl", ROWS)
    run("explain", "part.duplicates.jsonl", "clock").refused(
        "The inputs are not what they were when the audit was written"
    )
    Path("in/b/part-2.jsonl").unlink()
    assert "in/b/part-2.jsonl: there is no such file or folder." in run("explain", "part.duplicates.jsonl", "clock").err
    Path("c.parquet").unlink()
    run("explain", "part.duplicates.jsonl", "clock").refused(
        "the clusters of all shards are needed, but c.parquet: there is no such file. Run this in"
    )


def test_a_folder_of_audits_is_explained(run, shards):
    run("dedup", "in", "-o", "out/", "--audit", "audits/")
    for name in ("audits", "audits/"):
        assert run("explain", name, "again").out.startswith(b'"again" (row 6) was removed.')
        assert run("explain", name, "bread").out.startswith(b'"bread" (row 2) was kept.')
    assert run("explain", "audits/b/part-2.duplicates.jsonl", "again").code == 0
    run("explain", "audits/b/part-2.duplicates.jsonl", "bread").refused(
        "audits/b/part-2.summary.json, which tells where its text is, is missing."
    )


def test_audits_of_several_runs_explain_no_document_that_was_kept(run, shards):
    Path("kept").mkdir()
    for number, name in enumerate(shards[:2]):
        run("dedup", name, "-o", f"kept/{number}.jsonl")
    assert run("explain", "kept", "shouted").out.startswith(b'"shouted" (row 3) was removed.')
    run("explain", "kept", "clock").refused(
        "are of several runs, as kept/0.summary.json and kept/1.summary.json say. Give the audit of one."
    )


def test_of_text_files_only_those_removed_have_an_audit(run):
    for name, text in {"a": FERRY, "b": FERRY_EDITED, "c": BREAD, "d": FERRY}.items():
        Path("in").mkdir(exist_ok=True)
        Path(f"in/{name}.txt").write_text(text)
    assert run("dedup", "in", "-o", "out/", "--audit", "audits/").code == 0
    assert sorted(path.name for path in Path("audits").iterdir()) == ["b.duplicates.jsonl", "d.duplicates.jsonl"]
    Path("in/d.txt").write_text(CLOCK)
    assert run("dedup", "in", "-o", "out/", "--audit", "audits/", "--overwrite").code == 0
    assert [path.name for path in Path("audits").iterdir()] == ["b.duplicates.jsonl"]


def test_the_command_in_the_report_names_the_audit_as_a_folder(run, shards):
    assert run("dedup", "in", "-o", "out/", "--audit", "audits/", "--report", "page.html").code == 0
    assert "--audit audits/ " in Path("page.html").read_text()


def test_a_run_with_resume_writes_audits_of_shards(run, shards):
    run("dedup", "in", "-o", "whole/", "--audit", "whole-audits/")
    for _ in range(2):
        run("dedup", "in", "-o", "out/", "--audit", "audits/", "--resume").ok()
    assert audits("audits") == audits("whole-audits")
    assert json.loads(Path("audits.summary.json").read_bytes())["files"]["audit"] == "audits/"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("in", "-o", "out/", "--audit", "out/"),
            "--audit out: audits in the output folder out/ would be read with its documents",
        ),
        (("in", "-o", "out/", "--audit", "out/audit/"), "--audit out/audit: audits in the output folder out/ would be"),
        (("in", "-o", "out/", "--audit", "in/"), "in/a/part-1.jsonl lies in the folder of the audit, in."),
        (("in", "-o", "out/", "--audit", "audits"), "or a folder that ends in / (one file for each shard)."),
        (
            ("in/a/part-1.jsonl", "twin/part-1.parquet", "-o", "out/", "--audit", "audits/"),
            "in/a/part-1.jsonl and twin/part-1.parquet would both have the audit audits/part-1.duplicates.jsonl.",
        ),
        (("in", "-o", "out/", "--audit", "there/"), "there/b/part-2.duplicates.jsonl exists already."),
    ],
)
def test_folders_that_no_audit_can_go_to_are_refused(run, shards, arguments, message):
    Path("twin").mkdir()
    pq.write_table(pa.Table.from_pylist(ROWS), "twin/part-1.parquet")
    write_lines("there/b/part-2.duplicates.jsonl", [])
    before = files()
    run("dedup", *arguments).refused(message)
    assert files() == before
