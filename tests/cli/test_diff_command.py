"""`neardup diff`: what one of two runs on the same inputs removed, and the other did not."""

import gzip
import itertools
import json
import random
import shutil
from pathlib import Path

import pytest
from cli_corpora import BREAD, CHAIN, FERRY, FERRY_EDITED, ROWS, lines, write_lines

import neardup as nd

SIMILAR = {"id": "similar", "text": FERRY.replace("winter", "summer").replace("dogs", "cats").replace("ten", "six")}


def two_runs(run, rows=(*ROWS, SIMILAR), first=(), second=("--min-similarity", "0.4"), name="in.jsonl"):
    if rows is not None:
        write_lines(name, rows)
    run("dedup", name, "-o", "a.jsonl", *first).ok()
    run("dedup", name, "-o", "b.jsonl", *second).ok()
    return "a.summary.json", "b.summary.json"


def found_by(run, *words):
    done = run("diff", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def of_files(a, b, key=("row",), survivor=("survivor_id", "survivor_row")):
    """The slow, obvious definition: from the lines of two audits, all read into memory."""
    of = [
        {tuple(line[name] for name in key): line for line in map(json.loads, Path(each).read_text().splitlines())}
        for each in (a, b)
    ]
    members = [
        {
            number: {name for line in group for name in (line["row"], line["survivor_row"]) if name is not None}
            for number, group in itertools.groupby(
                sorted(each.values(), key=lambda line: line["cluster_id"]), key=lambda line: line["cluster_id"]
            )
            for group in [list(group)]
        }
        for each in of
    ]
    both = of[0].keys() & of[1].keys()
    return {
        "removed_by_both": len(both),
        "only_a": len(of[0].keys() - both),
        "only_b": len(of[1].keys() - both),
        "other_survivor": sum(any(of[0][k][s] != of[1][k][s] for s in survivor) for k in both),
        "other_cluster": sum(members[0][of[0][k]["cluster_id"]] != members[1][of[1][k]["cluster_id"]] for k in both),
    }


def test_another_threshold_removes_more_and_the_other_run_says_why_it_did_not(run):
    done = run("diff", *two_runs(run)).ok()
    out = done.out.decode()
    assert "A        a.summary.json: removed 2 documents of 6 (33.3 %)" in out
    assert "options  min_similarity: 0.8 in A, 0.4 in B" in out
    assert "both     removed 2 documents; 2 in clusters with other members\nonly A   removed 0 documents\n" in out
    assert "only B   removed 1 document: 1 at 0.45 to 0.5\n" in out
    assert "kept     3 documents by both" in out
    assert '"similar" (row 5) was removed by B only\n  B keeps "ferry" (row 0): similarity 0.' in out
    assert "[-ten-] {+six+}" in " ".join(out.split())
    assert "  A kept both: similarity 0." in out
    assert " is below 0.8" in out


def test_runs_that_removed_the_same_say_so(run):
    found = found_by(run, *two_runs(run, second=("--threads", "1", "--memory", "64M")))
    assert (found["same"], found["options"], found["samples"]) == (True, [], [])
    assert b"options  the same in both" in run("diff", "a.summary.json", "b.summary.json").out


OTHER = {
    "keep": ["--keep", "longest"],
    "components": ["--cluster", "components", "--min-similarity", "0.5"],
    "drop": ["--cluster", "components", "--drop-matched"],
    "most": ["--keep-most", "2"],
    "simhash": ["--max-distance", "3", "--min-similarity", "0"],
    "cosine": ["--similarity", "cosine"],
    "minhash": ["--method", "minhash"],
    "recipe": ["--recipe", "textbook"],
    "within": ["--within", "part"],
    "guard": ["--guard", "same-numbers"],
    "annotate": ["--annotate", "--min-similarity", "0.5"],
    "columns": ["--text", "text", "--text", "part", "--min-similarity", "0.3"],
    "parquet": ["--audit", "b.duplicates.parquet"],
}


def corpus(seed, documents=60):
    """Documents near one another, with repeated and missing ids."""
    chance = random.Random(seed)
    words = [f"{chance.choice(['oak', 'tide', 'lamp', 'rye'])}{i}" for i in range(30)]
    bases = [[chance.choice(words) for _ in range(25)] for _ in range(8)]
    for i in range(documents):
        text = list(chance.choice(bases))
        for _ in range(chance.randrange(4)):
            text[chance.randrange(len(text))] = chance.choice([*words, "12", "13"])
        yield {"id": f"d{i % 50}", "part": chance.choice("ab"), "text": " ".join(text)} | (
            {"id": None} if i == 7 else {}
        )


@pytest.mark.parametrize("option", OTHER)
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_the_obvious_definition(run, option, seed):
    summaries = two_runs(run, list(corpus(seed)), second=OTHER[option])
    found = found_by(run, *summaries, "--list", "differing.jsonl", "--samples", "1000")
    if option == "parquet":
        Path("b.duplicates.jsonl").write_bytes(Path("a.duplicates.jsonl").read_bytes())
    expected = of_files("a.duplicates.jsonl", "b.duplicates.jsonl")
    assert {name: found[name] for name in expected} == expected
    assert found["kept_by_both"] == 60 - sum(expected[name] for name in ("removed_by_both", "only_a", "only_b"))
    listed = [json.loads(line) for line in Path("differing.jsonl").read_text().splitlines()]
    assert [each["row"] for each in listed] == sorted(each["row"] for each in listed)
    assert len(listed) == expected["only_a"] + expected["only_b"] + expected["other_survivor"] == len(found["samples"])
    assert sum(each["only_a"] for each in found["bands"]) == expected["only_a"]
    assert all(each["says"] for each in found["samples"] if each["kind"] != "other_survivor")
    assert {(each["row"], each["removed_by"]) for each in listed} == {
        (each["row"], each["removed_by"]) for each in found["samples"]
    }


@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_lines_and_paragraphs_are_compared_by_their_number_in_the_document(run, unit):
    between = "\n" if unit == "line" else "\n\n"
    rows = [
        {"id": "one", "title": "Ferry", "text": between.join([FERRY, BREAD, FERRY_EDITED])},
        {"id": "two", "title": "Bread", "text": between.join([BREAD, FERRY])},
    ]
    unit_of = ("--unit", unit, "--text", "title", "--text", "text")
    summaries = two_runs(run, rows, first=unit_of, second=(*unit_of, "--min-similarity", "0.99"))
    found = found_by(run, *summaries)
    expected = of_files("a.duplicates.jsonl", "b.duplicates.jsonl", ("row", "unit"))
    assert {name: found[name] for name in ("removed_by_both", "only_a", "only_b")} == {
        "removed_by_both": 2, "only_a": 1, "only_b": 0,
    }  # fmt: skip
    assert found["only_a"] == expected["only_a"]
    assert found["unit"] == unit
    out = run("diff", *summaries).out.decode()
    assert 'unit 3 of "one" (row 0) was removed by A only' in out
    assert "[-winter.-]{+summer.+}" in "".join(out.split())


def test_a_reference_is_an_option_and_its_survivors_are_told_from_those_of_the_inputs(run):
    write_lines("known.jsonl", [{"id": "known", "text": FERRY}])
    found = found_by(run, *two_runs(run, second=("--against", "known.jsonl")))
    assert (found["only_b"], found["other_survivor"]) == (1, 2)
    assert {"name": "against", "a": None, "b": ["known.jsonl"]} in found["options"]
    [alone] = [each for each in found["samples"] if each["kind"] == "only_b"]
    assert (alone["id"], alone["b"]["reference"], alone["says"]) == (
        "ferry",
        "known.jsonl",
        "did not compare with this reference",
    )


def test_rejected_rows_are_not_counted_as_kept_where_both_read_alike(run):
    write_lines("in.jsonl", [*ROWS, {"id": "none"}, SIMILAR])
    skip = ("--on-error", "skip")
    found = found_by(run, *two_runs(run, None, skip, (*skip, "--min-similarity", "0.4")))
    assert (found["documents"], found["kept_by_both"]) == ([6, 6], 3)


def test_of_runs_that_read_other_texts_and_not_all_rows_what_both_kept_is_not_known(run):
    write_lines("in.jsonl", [{"id": "x", "text": FERRY, "note": None}, {"id": "y", "text": None, "note": FERRY}])
    skip = ("--on-error", "skip")
    found = found_by(run, *two_runs(run, None, skip, (*skip, "--text", "note")))
    assert (found["kept_by_both"], found["documents"]) == (None, [1, 1])


def test_other_inputs_are_refused_unless_the_caller_knows_that_they_are_the_same(run):
    summaries = two_runs(run)
    write_lines("more.jsonl", [*ROWS, SIMILAR, {"id": "more", "text": BREAD}])
    run("dedup", "more.jsonl", "-o", "c.jsonl").ok()
    refused = run("diff", "a.summary.json", "c.summary.json").refused(
        "The inputs differ: a.summary.json read 6 rows of in.jsonl"
    )
    assert "Give the runs of one corpus" in refused.err
    Path("packed.jsonl.gz").write_bytes(gzip.compress(Path("in.jsonl").read_bytes()))
    run("dedup", "packed.jsonl.gz", "-o", "d.jsonl").ok()
    run("diff", "a.summary.json", "d.summary.json").refused(
        "the bytes of the files are not the same", "pass --same-inputs"
    )
    assert found_by(run, "a.summary.json", "d.summary.json", "--same-inputs")["same"]
    assert summaries


def test_runs_of_standard_input_are_compared_if_the_caller_knows(run):
    rows = lines([*ROWS, SIMILAR])
    run("dedup", "-", "-o", "a.jsonl", stdin=rows).ok()
    run("dedup", "-", "-o", "b.jsonl", "--min-similarity", "0.4", stdin=rows).ok()
    run("diff", "a.summary.json", "b.summary.json").refused("Nothing proves that the inputs are the same")
    found = run("diff", "a.summary.json", "b.summary.json", "--same-inputs").ok()
    assert b"only B   removed 1 document" in found.out
    assert b"no texts are shown" in found.out


def test_audits_outputs_and_moved_files_stand_for_their_summaries(run):
    two_runs(run)
    Path("moved").mkdir()
    for name in ("b.summary.json", "b.duplicates.jsonl"):
        shutil.move(name, "moved")
    for given in ("moved/b.summary.json", "moved/b.duplicates.jsonl"):
        assert found_by(run, "a.jsonl", given)["only_b"] == 1
    Path("moved/b.duplicates.jsonl").unlink()
    run("diff", "a.jsonl", "moved/b.summary.json").refused("names the audit b.duplicates.jsonl, which is missing")


def test_texts_that_cannot_be_read_again_are_named_and_the_rest_is_told(run):
    summaries = two_runs(run)
    write_lines("in.jsonl", [*ROWS[::-1], SIMILAR])
    done = run("diff", *summaries).ok()
    assert b"no texts are shown: The inputs are not what they were" in done.out
    assert b"A kept both: similarity 0." in done.out


def test_audits_of_many_files_are_read_in_the_order_of_the_rows(run):
    rows = list(corpus(5, 90))
    names = ["z.jsonl", "m.jsonl", "b.jsonl", "a.jsonl"]
    for number, name in enumerate(names):
        write_lines(name, rows[number::4])
    for out, more in (("x/", []), ("y/", ["--min-similarity", "0.5"])):
        run("dedup", *names, "-o", out, "--audit", f"audit-{out}", *more).ok()
    found = found_by(run, "audit-x/", "audit-y.summary.json")
    assert found["only_b"] > 0
    every = ["".join(path.read_text() for path in sorted(Path(folder).iterdir())) for folder in ("audit-x", "audit-y")]
    for name, text in zip(("a.txt", "b.txt"), every, strict=True):
        Path(name).write_text(text)
    expected = of_files("a.txt", "b.txt")
    assert {name: found[name] for name in expected} == expected


def test_a_run_in_stages_is_compared_with_one_in_one_go(run):
    for number in range(2):
        write_lines(f"s{number}.jsonl", list(corpus(7))[number::2])
    shards = ["s0.jsonl", "s1.jsonl"]
    run("fingerprint", *shards, "-o", "prints/").ok()
    run("pairs", "prints/", "-o", "pairs.parquet", "--max-distance", "10").ok()
    run("clusters", "pairs.parquet", "--documents", "prints/", "-o", "clusters.parquet").ok()
    Path("audits").mkdir()
    for shard in shards:
        run(
            "apply", "clusters.parquet", shard, "-o", f"kept-{shard}", "--audit", f"audits/{shard}.duplicates.jsonl"
        ).ok()
    run("dedup", *shards, "-o", "once/", "--max-distance", "10", "--min-similarity", "0").ok()
    found = found_by(run, "audits/", "once.summary.json")
    assert (found["only_a"], found["only_b"], found["other_survivor"]) == (0, 0, 0)
    assert found["removed_by_both"] > 0
    run("diff", "audits/s0.jsonl.summary.json", "once.summary.json").refused(
        "Apply all shards, with one folder for all audits"
    )


def test_what_is_no_run_of_dedup_is_refused_by_name(run):
    two_runs(run)
    run("passages", "in.jsonl", "-o", "p.jsonl").ok()
    run("split", "in.jsonl", "--shares", "train=0.5,test=0.5", "-o", "s/").ok()
    write_lines("test.jsonl", [{"id": "t", "text": FERRY}])
    run("decontaminate", "in.jsonl", "--against", "test.jsonl", "-o", "d.jsonl").ok()
    run("leaks", "in.jsonl", "--against", "test.jsonl", "-o", "l.jsonl").ok()
    for summary, command in (
        ("p.summary.json", "passages"),
        ("s/", "split"),
        ("d.jsonl", "decontaminate"),
        ("l.summary.json", "leaks"),
    ):
        run("diff", "a.summary.json", summary).refused(
            f"was written by `neardup {command}`. Compared are runs of `neardup dedup`"
        )
    Path("dry.json").write_bytes(run("dedup", "in.jsonl", "--dry-run", "--json").out)
    run("diff", "a.summary.json", "dry.json").refused("has no audit: it is of a dry run")
    Path("engine.json").write_text('{"stages": [], "duplicates": 3}')
    run("diff", "a.summary.json", "engine.json").refused("a run on Spark or Ray", code=1)
    Path("other.json").write_text("[1]")
    run("diff", "a.summary.json", "other.json").refused("is not the summary of a run", code=1)
    run("diff", "a.summary.json", "gone.json").refused("There is no 'gone.json'. Give the summary of a run")
    run("diff", "a.summary.json", "in.jsonl").refused("in.jsonl is no summary, and in.summary.json")
    run("dedup", "in.jsonl", "-o", "u.jsonl", "--unit", "line").ok()
    run("diff", "a.summary.json", "u.summary.json").refused(
        "a.summary.json removed documents, and u.summary.json removed lines"
    )


def test_an_audit_of_another_run_is_refused(run):
    summaries = two_runs(run)
    Path("b.duplicates.jsonl").write_bytes(Path("a.duplicates.jsonl").read_bytes())
    run("diff", *summaries).refused("has 2 removals, but its summary counts 3", code=1)
    Path("b.duplicates.jsonl").write_text("".join(reversed(Path("a.duplicates.jsonl").read_text().splitlines(True))))
    run("diff", *summaries).refused("is not the audit of this run", code=1)


def test_outputs_are_not_replaced_and_options_are_checked(run):
    summaries = two_runs(run)
    Path("d.html").write_text("mine")
    run("diff", *summaries, "-o", "d.html").refused("d.html exists already")
    run("diff", *summaries, "-o", "d.html", "--overwrite", "--quiet").ok()
    assert "<!doctype html>" in Path("d.html").read_text()
    run("diff", *summaries, "-o", "d.txt").refused("a report is a page")
    run("diff", *summaries, "--list", "d.csv").refused("--list d.csv: the list is JSON lines")
    run("diff", *summaries, "--list", "a.duplicates.jsonl", "--overwrite").refused(
        "is an audit, and no run replaces what it reads"
    )
    run("diff", *summaries, "--list", "in.jsonl", "--overwrite").refused("in.jsonl is an input")
    run("diff", *summaries, "--samples", "-1").refused("--samples -1: give how many of each kind")
    run("diff", *summaries, "--seed", "-1").refused("--seed -1: give an integer from 0")


def test_samples_are_the_same_for_a_seed_and_others_for_another(run):
    summaries = two_runs(run, list(corpus(1)), second=("--min-similarity", "0.3"))
    chosen = [
        [each["row"] for each in found_by(run, *summaries, "--samples", "2", "--seed", str(seed))["samples"]]
        for seed in (0, 0, 1, 2)
    ]
    assert chosen[0] == chosen[1]
    assert len({tuple(each) for each in chosen}) > 1


def test_the_library_compares_two_runs(run):
    summaries = two_runs(run)
    found = nd.diff(*summaries, list="differing.jsonl")
    assert repr(found) == "RunDiff(2 removed by both, 0 only by A, 1 only by B)"
    assert found.samples[0].pairs[0].texts == (FERRY, SIMILAR["text"])
    assert Path("differing.jsonl").read_text().count("\n") == 1
    with pytest.raises(nd.OptionError, match="samples"):
        nd.diff(*summaries, samples=True)


def test_clusters_with_other_members_are_counted(run):
    rows = [{"id": str(i), "text": text} for i, text in enumerate(CHAIN)]
    found = found_by(
        run, *two_runs(run, rows, ("--min-similarity", "0.6"), ("--min-similarity", "0.6", "--cluster", "components"))
    )
    assert found["other_cluster"] == found["removed_by_both"] > 0


def values_in(found):
    for key in list(found) if isinstance(found, dict) else range(len(found)):
        yield found, key
        if isinstance(found[key], dict | list):
            yield from values_in(found[key])


@pytest.mark.parametrize("unit", [(), ("--unit", "line")])
def test_damaged_summaries_are_refused_in_words(run, unit):
    summaries = two_runs(run, first=unit, second=(*unit, "--min-similarity", "0.4"))
    written, chance = Path("b.summary.json").read_text(), random.Random(1)
    for _ in range(60):
        changed = json.loads(written)
        within, key = chance.choice(list(values_in(changed)))
        within[key] = chance.choice([None, -1, "x", [], {}, True, 10**25])
        Path("b.summary.json").write_text(json.dumps(changed))
        assert run("diff", *summaries).code in (0, 1, 2)


def test_outputs_of_any_format_stand_for_their_summaries(run):
    Path("in.csv").write_text("id,text\n" + "".join(f'{row["id"]},"{row["text"]}"\n' for row in ROWS))
    write_lines("in.json", ROWS)
    for name in ("csv", "json"):
        run("dedup", f"in.{name}", "-o", f"a-{name}.{name}").ok()
        run("dedup", f"in.{name}", "-o", f"b-{name}.{name}", "--min-similarity", "0.99").ok()
        assert found_by(run, f"a-{name}.{name}", f"b-{name}.{name}")["only_a"] == 1
