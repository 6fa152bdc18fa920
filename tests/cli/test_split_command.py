"""`neardup split`: files for each side, rows as they were, nothing that matches on two sides; and earlier splits that stay."""

import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import (
    BREAD,
    BRIDGE,
    CHAIN,
    CLOCK,
    FERRY,
    FERRY_EDITED,
    FERRY_SHOUTED,
    files,
    lines,
    read_lines,
    write_lines,
)

import neardup as nd

pytestmark = pytest.mark.filterwarnings("ignore::neardup.SplitWarning")
OAK, TULIP = "An oak stood at the corner of the yard.", "Tulips are sold by the dozen on market days."
ROWS = [
    {"id": "ferry", "text": FERRY, "repo": "a", "lang": "en"},
    {"id": "bread", "text": BREAD, "repo": None, "lang": "en"},
    {"id": "edited", "text": FERRY_EDITED, "repo": None, "lang": "en"},
    {"id": "bridge", "text": BRIDGE, "repo": "a", "lang": "zh"},
    {"id": "clock", "text": CLOCK, "repo": "b", "lang": "en"},
    {"id": "shouted", "text": FERRY_SHOUTED, "repo": None, "lang": "de"},
    {"id": "oak", "text": OAK, "repo": None, "lang": "de"},
    {"id": "tulip", "text": TULIP, "repo": None, "lang": None},
]
SHARES = ("--shares", "train=0.5,test=0.5")
SPLIT = ("split", "in.jsonl", *SHARES, "-o", "out")


@pytest.fixture(autouse=True)
def inputs(place):
    write_lines("in.jsonl", ROWS)


def ids(name):
    return [row["id"] for row in read_lines(name)]


def side_of(folder="out", sides=("train", "test")):
    return {row["id"]: side for side in sides for row in read_lines(f"{folder}/{side}.jsonl")}


def summary(folder="out"):
    return json.loads(Path(folder, "split.summary.json").read_text())


def test_each_side_is_a_file_with_rows_as_they_were(run):
    done = run(*SPLIT)
    assert (done.code, done.out) == (0, b"")
    done.said("read     8 documents", "split    train  4 documents (50.0 %), asked for 50 %", "output   out/")
    assert files() == ["in.jsonl", "out/split.summary.json", "out/test.jsonl", "out/train.jsonl"]
    side = side_of()
    assert side.keys() == {row["id"] for row in ROWS}
    assert side["ferry"] == side["edited"] == side["shouted"]
    for name in ("train", "test"):
        assert Path(f"out/{name}.jsonl").read_bytes() == lines([row for row in ROWS if side[row["id"]] == name])
    found = summary()
    assert [(each["side"], each["documents"]) for each in found["sides"]] == [("train", 4), ("test", 4)]
    assert (found["units"], found["largest"], found["files"]["sides"]) == (
        6, 3, {"train": "train.jsonl", "test": "test.jsonl"},
    )  # fmt: skip
    assert nd.split(ROWS, "train=0.5,test=0.5", min_similarity=0.8) == [side[row["id"]] for row in ROWS]


def test_the_order_of_rows_and_their_ids_do_not_matter_and_repeated_ids_neither(run):
    run(*SPLIT).ok()
    texts = {row["text"]: side_of()[row["id"]] for row in ROWS}
    write_lines("in.jsonl", [row | {"id": 7} for row in ROWS[::-1]])
    run(*SPLIT, "--overwrite").ok()
    found = {row["text"]: side for side in ("train", "test") for row in read_lines(f"out/{side}.jsonl")}
    assert found == texts
    run("verify", "out").ok()


def test_groups_strata_and_within(run):
    run(*SPLIT, "--group", "repo", "--stratify", "lang").ok().said("stratum  en: 4 documents: ")
    side = side_of()
    assert len({side[name] for name in ("ferry", "edited", "shouted", "bridge")}) == 1
    assert [each["value"] for each in summary()["strata"]] == ["de", "en", "zh", None]
    assert run("verify", "out").out.decode().splitlines()[2] == "ok      groups  2  no value of repo is on two sides"
    run(*SPLIT, "--within", "lang", "--overwrite").ok()
    assert summary()["units"] == 7  # the shouted ferry is German
    run("verify", "out").ok()


def test_other_formats_and_several_inputs(run):
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table, "in.parquet")
    Path("shards/deep").mkdir(parents=True)
    Path("shards/a.jsonl").write_bytes(lines(ROWS[:4]))
    Path("shards/deep/b.jsonl.gz").write_bytes(gzip.compress(lines(ROWS[4:])))
    run("split", "in.jsonl", *SHARES, "-o", "one").ok()
    side = side_of("one")
    run("split", "in.parquet", *SHARES, "-o", "columns/").ok()
    for name in ("train", "test"):
        assert pq.read_table(f"columns/{name}.parquet").to_pylist() == [row for row in ROWS if side[row["id"]] == name]
        assert pq.read_schema(f"columns/{name}.parquet").equals(pq.read_schema("in.parquet"))
    run("split", "shards", *SHARES, "-o", "many").ok()
    assert {path for path in files() if path.startswith("many/train/")} == {
        "many/train/a.jsonl",
        "many/train/deep/b.jsonl.gz",
    }
    for name in ("train", "test"):
        first = Path(f"many/{name}/a.jsonl").read_bytes()
        second = gzip.decompress(Path(f"many/{name}/deep/b.jsonl.gz").read_bytes())
        assert first + second == lines([row for row in ROWS if side[row["id"]] == name])
    run("verify", "many").ok()
    done = run("split", "-", *SHARES, "-o", "piped", stdin=lines(ROWS)).ok()
    assert Path("piped/train.jsonl").read_bytes() == Path("one/train.jsonl").read_bytes()
    assert "output   piped/" in done.err


def test_texts_in_files_of_their_own_go_to_folders(run):
    for row in ROWS:
        Path("texts").mkdir(exist_ok=True)
        Path(f"texts/{row['id']}.txt").write_text(row["text"])
    run("split", "texts", *SHARES, "-o", "out").ok()
    found = [path.relative_to("out") for path in map(Path, files()) if path.parts[0] == "out"]
    assert sorted(path.stem for path in found if path.suffix == ".txt") == sorted(row["id"] for row in ROWS)
    assert {path.parts[0] for path in found} == {"train", "test", "split.summary.json"}
    run("verify", "out").ok()


def test_lines_and_csv(run):
    Path("in.csv").write_text("id,text\n" + "".join(f'{row["id"]},"{row["text"]}"\n' for row in ROWS))
    run("split", "in.csv", *SHARES, "-o", "cells").ok()
    assert sorted(
        line for side in ("train", "test") for line in Path(f"cells/{side}.csv").read_text().splitlines()[1:]
    ) == sorted(Path("in.csv").read_text().splitlines()[1:])
    Path("in.log").write_text("".join(f"{row['text']}\n" for row in ROWS))
    run("split", "in.log", "--lines", *SHARES, "-o", "logs").ok()
    assert {path for path in files() if path.startswith("logs/")} == {
        "logs/split.summary.json",
        "logs/test.log",
        "logs/train.log",
    }
    run("verify", "logs").ok()


def test_rows_that_cannot_be_read_are_set_aside(run):
    write_lines("in.jsonl", [*ROWS, {"id": "none", "text": None}])
    run(*SPLIT).refused("row 8 (counted from 0)", code=1)
    done = run(*SPLIT, "--on-error", "skip").ok()
    done.said("1 row could not be read: out/split.rejects.jsonl")
    assert (summary()["rows"], summary()["rejected"]) == (9, 1)
    run("verify", "out").ok()


def test_nothing_to_split_and_all_in_one(run):
    Path("in.jsonl").write_bytes(b"")
    run(*SPLIT).ok("read     0 documents")
    assert Path("out/train.jsonl").read_bytes() == b""
    write_lines("in.jsonl", [{"id": number, "text": text} for number, text in enumerate(CHAIN)])
    done = run(*SPLIT, "--overwrite", "--min-similarity", "0.6").ok()
    done.said("train: 5 of its 5 documents stay together, so one set of matching documents decides this side")
    assert summary()["warnings"][1].startswith("train has 100.0 % of the documents, and 50 % were asked for")
    run("verify", "out").ok()


def test_a_dry_run_and_the_summary_on_standard_output(run):
    done = run("split", "in.jsonl", *SHARES, "--dry-run").ok("a dry run: nothing was written")
    assert files() == ["in.jsonl"]
    done = run(*SPLIT, "--json")
    assert json.loads(done.out)["sides"] == summary()["sides"]


@pytest.mark.parametrize("threads", [1, 3])
def test_resources_do_not_matter_and_a_run_is_resumed(run, threads):
    run(*SPLIT).ok()
    call = ("split", "in.jsonl", *SHARES, "-o", "again", "--memory", "64M", "--resume")
    run(*call, "--threads", threads).ok()
    assert side_of("again") == side_of()
    run(*call).ok("this run was done before")
    run(*call, "--seed", "1").refused("seed was 0, is 1")


def test_verify_finds_what_is_wrong_with_a_split(run):
    run(*SPLIT).ok()
    side = side_of()
    other = "test" if side["ferry"] == "train" else "train"
    rows = {name: read_lines(f"out/{name}.jsonl") for name in ("train", "test")}
    edited = next(row for row in rows[side["ferry"]] if row["id"] == "edited")
    write_lines(f"out/{side['ferry']}.jsonl", [row for row in rows[side["ferry"]] if row["id"] != "edited"])
    write_lines(f"out/{other}.jsonl", [*rows[other], edited])
    done = run("verify", "out", "--json")
    found = json.loads(done.out)
    assert (done.code, found["proven"]) == (1, False)
    assert [check["name"] for check in found["checks"] if check["failures"]] == ["apart", "counts"]
    assert '"edited" (out/' in found["checks"][1]["first"][0]
    write_lines("out/train.jsonl", [*rows["train"], {"id": "new", "text": "Nobody knows this text."}])
    write_lines("out/test.jsonl", rows["test"][1:])
    shown = run("verify", "out").out.decode()
    assert "is in no input: its text or its id is another" in shown
    assert "is on no side" in shown
    run("verify", "out", "--min-similarity", "0.5").refused(
        "--min-similarity: the summary of the split, out/split.summary.json, has it"
    )


NEW = [
    {"id": "new", "text": "A text that nobody has seen before today.", "repo": None, "lang": "en"},
    {"id": "other", "text": "And quite another one, about nothing at all.", "repo": None, "lang": "en"},
    {"id": "ferry too", "text": FERRY.replace("winter", "autumn"), "repo": None, "lang": "en"},
]


def test_an_earlier_split_stays_and_new_documents_go_where_they_match(run):
    run(*SPLIT).ok()
    before = side_of()
    write_lines("more.jsonl", [*NEW, *ROWS])
    run("split", "more.jsonl", *SHARES, "-o", "next", "--previous", "out", "--seed", "9").ok("8 documents dealt before")
    after = side_of("next")
    assert {name: after[name] for name in before} == before
    assert after["ferry too"] == before["ferry"]
    assert ids("next/conflicts.jsonl") == []
    assert len({after["new"], after["other"]}) == 2  # the shares are met
    run("verify", "next").ok()
    write_lines("only.jsonl", NEW)
    run("split", "only.jsonl", *SHARES, "-o", "third", "--previous", "out", "--previous", "next").ok()
    assert side_of("third") == {row["id"]: after[row["id"]] for row in NEW}


def chained(run):
    """A split of two texts that do not match, the first and the last of a chain, on different sides."""
    first, last = (" ".join(f"{word}{number}" for number in range(40)) for word in ("left", "right"))
    middle = " ".join([*first.split()[:20], *last.split()[20:]])
    write_lines("old.jsonl", [{"id": "first", "text": first}, {"id": "last", "text": last}])
    run("split", "old.jsonl", *SHARES, "-o", "old", "--min-similarity", "0.3").ok()
    assert len(set(side_of("old").values())) == 2
    return first, middle, last


def test_what_matches_two_sides_is_in_conflict_and_counted(run):
    first, middle, last = chained(run)
    rows = [
        ("middle", middle),
        ("near first", first.replace("left0 ", "new ")),
        ("first", first),
        ("last", last),
        ("apart", OAK),
    ]
    write_lines("new.jsonl", [{"id": name, "text": text} for name, text in rows])
    call = ("split", "new.jsonl", *SHARES, "-o", "next", "--min-similarity", "0.3", "--previous", "old")
    done = run(*call).ok("1 new document of two sides at once: in conflicts, on no side")
    side = side_of("next")
    assert side["near first"] == side["first"] == side_of("old")["first"]
    assert side["last"] == side_of("old")["last"]
    assert ids("next/conflicts.jsonl") == ["middle"]
    assert (summary("next")["conflicts"], summary("next")["dealt_before"]) == (1, 2)
    assert "2 documents dealt before, on the same side as then" in done.err
    run("verify", "next").ok().out.decode().endswith("1 in conflict; no two on different sides match, by theorem\n")


def test_new_documents_that_only_together_match_two_sides_are_in_conflict_together(run):
    first, _, last = chained(run)
    a, b = first.split(), last.split()
    chain = [a[:32] + b[32:], a[:20] + b[20:], a[:8] + b[8:]]
    write_lines("new.jsonl", [{"id": number, "text": " ".join(words)} for number, words in enumerate(chain)])
    run("split", "new.jsonl", *SHARES, "-o", "next", "--min-similarity", "0.3", "--previous", "old").ok()
    assert ids("next/conflicts.jsonl") == [0, 1, 2]


def test_a_group_of_an_earlier_split_stays_together(run):
    run(*SPLIT, "--group", "repo").ok()
    before = side_of()
    rows = [{"id": "same repo", "text": OAK + " Again.", "repo": "b"}, {"id": "torn", "text": TULIP, "repo": "b"}]
    write_lines("new.jsonl", rows)
    run("split", "new.jsonl", *SHARES, "-o", "next", "--previous", "out", "--group", "repo").ok()
    after = side_of("next")
    assert after["same repo"] == before["clock"]
    assert after["torn"] == before["tulip"]  # what was dealt before never moves


OTHERS = [
    (("--min-similarity", "0.7"), "--min-similarity was 0.8, and is 0.7"),
    (("--similarity", "containment"), "--similarity was 'jaccard', and is 'containment'"),
    (("--recipe", "all-scripts"), "--recipe was 'default', and is 'all-scripts'"),
    (("--group", "repo"), "--group was None, and is 'repo'"),
    (("--within", "lang"), "--within was None, and is 'lang'"),
    (("--html", "whole"), "--html was None, and is 'whole'"),
]


@pytest.mark.parametrize(("options", "said"), OTHERS)
def test_another_way_to_match_than_before_is_refused_by_name(run, options, said):
    run(*SPLIT).ok()
    call = ("split", "in.jsonl", *SHARES, "-o", "next", "--previous", "out", *options)
    run(*call).refused("--previous: out was split in another way", said, "or split all again without --previous")


def test_a_side_that_a_group_decides_is_told_by_its_column(run):
    write_lines("in.jsonl", [{"id": number, "text": text, "site": "a"} for number, text in enumerate(CHAIN)])
    done = run(*SPLIT, "--group", "site").ok()
    done.said("so one set of documents that match, or share a value of 'site', decides this side")


def test_a_split_has_no_audit_to_explain(run):
    run(*SPLIT).ok()
    run("explain", "out", "1").refused(
        "out is a split", "`neardup verify out` proves it, and `neardup pairs` with `--against`"
    )


def test_other_earlier_splits_that_do_not_fit_are_refused(run):
    run(*SPLIT).ok()
    call = ("split", "in.jsonl", "-o", "next", "--previous")
    run(*call, "out", "--shares", "train=0.5,dev=0.5").refused("out has the side 'test', and --shares has train, dev")
    run(*call, "in.jsonl", *SHARES).refused("in.jsonl is not the folder of a split: it has no split.summary.json")
    run(*SPLIT, "--previous", "out", "--overwrite").refused("out/train.jsonl")
    shutil.copy("out/train.jsonl", "out/test.jsonl")
    run(*call, "out", *SHARES).refused("have the same text, on two sides", code=1)
    Path("out/split.summary.json").write_text("{}")
    run(*call, "out", *SHARES).refused("is not the summary of a split", code=1)


def test_a_function_that_says_what_may_match_is_for_one_split(run):
    nd.split_files("in.jsonl", "out", shares="train=0.5,test=0.5", within=str.isascii)
    assert summary()["units"] == 6
    run("verify", "out").refused(
        "out was split within the values of a function, str.isascii(), which is not known here"
    )
    with pytest.raises(nd.OptionError, match="`within`: with `previous`, give the name of a column"):
        nd.split_files("in.jsonl", "new", shares="train=0.5,test=0.5", within=str.isascii, previous="out")


REFUSED = [
    (("split", "in.jsonl", "-o", "out"), "Missing option '--shares'"),
    (("split", "in.jsonl", *SHARES), "Give -o a folder; or pass --dry-run"),
    (
        ("split", "in.jsonl", *SHARES, "-o", "-"),
        "-o -: a split has a file for each side. Give a folder, such as splits/",
    ),
    (
        ("split", "in.jsonl", *SHARES, "-o", "out.jsonl"),
        "a split has a file for each side. Give a folder, such as out/",
    ),
    (("split", "in.jsonl", *SHARES, "-o", "out", "--group", "team"), "team"),
    (("split", "in.jsonl", *SHARES, "-o", "out", "--stratify", "team"), "team"),
    (("split", "in.jsonl", "--shares", "train=0.5", "-o", "out"), "a split has two sides or more"),
    (("split", "in.jsonl", "--shares", "train=80,test=20", "-o", "out"), "Give a number above 0 and below 1"),
    (("split", "in.jsonl", *SHARES, "-o", "out", "--min-similarity", "0"), "every two documents would match"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_cannot_be_split_is_refused_in_words(run, call, said):
    assert said in run(*call).refused().err
    assert files() == ["in.jsonl"]


def test_outputs_that_exist_are_not_replaced(run):
    run(*SPLIT).ok()
    run(*SPLIT).refused("exist already. Name another output, or pass --overwrite to replace them.")
    run("split", "out", *SHARES, "-o", "out").refused("lies in the output folder")
