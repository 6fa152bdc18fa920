"""`neardup plan`: what a join would take."""

import json
import re

import pytest
from cli_corpora import ROWS, write_lines

import neardup as nd
from near_copies import near_copies
from neardup.hamming.block_plan import plan_join
from neardup.hamming.index.planning import plan_index
from neardup.hamming.index.planning.machine import TYPICAL


def plan(run, *arguments):
    done = run("plan", *arguments, "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_texts_are_counted_and_sampled(run):
    write_lines("in.jsonl", [{"text": text} for text in near_copies(400)])
    found = plan(run, "in.jsonl")
    exact, minhash = found["estimates"]
    assert (exact["method"], minhash["method"], found["method"]) == ("exact", "minhash", "exact")
    done = json.loads(run("dedup", "in.jsonl", "-o", "out.jsonl", "--json").out)
    assert done["method"] == found["method"]
    # A run estimates nothing where exact is quick whatever the texts share; a plan always shows its figures.
    assert done["reason"] == "exact takes no more than 5 s on the reference machine"
    assert found["reason"].startswith("exact would not take more than 2 times as long as minhash and more than 5 s")
    assert exact["postings"] == pytest.approx(done["join"]["postings"], rel=0.2)
    assert exact["meetings"] == pytest.approx(done["join"]["looked_at"], rel=0.5)
    assert exact["candidates"] == pytest.approx(done["join"]["pairs"], rel=0.5)


def test_more_documents_take_more_of_everything(run):
    write_lines("in.jsonl", [{"text": text} for text in near_copies(400)])
    now, then = plan(run, "in.jsonl"), plan(run, "in.jsonl", "--documents", "4000000")
    assert (now["documents"], now["different_texts"]) == (400, 358)
    assert (then["documents"], then["different_texts"]) == (4_000_000, 3_580_000)
    assert then["based_on"] == "a sample of 400 documents of 358 different texts"
    assert then["run"]["seconds"]["total"] >= 1000 * now["run"]["seconds"]["total"]
    assert then["run"]["documents"] == 4_000_000
    for small, large in zip(now["estimates"], then["estimates"], strict=True):
        for name in ("candidates", "meetings", "memory_bytes", "seconds"):
            assert large[name] >= 1000 * small[name]


def test_without_texts_a_known_corpus_stands_in(run):
    found = plan(run, "--documents", "500000")
    assert found["based_on"] == "pieces of 3 KB of the texts of Python packages"
    exact, _ = found["estimates"]
    assert exact["postings"] == pytest.approx(13_000_000, rel=0.1)  # as measured
    assert (found["method"], found["different_texts"]) == ("exact", None)
    million = plan(run, "--documents", "1000000", "--threads", "2")["run"]
    assert million["input_bytes"] == pytest.approx(3.36e9, rel=0.02)  # as measured
    assert million["seconds"]["fingerprint"] == pytest.approx(9.7, rel=0.05)
    assert million["seconds"]["write"] == pytest.approx(4.0, rel=0.05)
    assert "an extrapolation" in plan(run, "--documents", "500000000")["based_on"]


def test_a_join_of_fingerprints_is_planned_by_its_tables(run):
    found = plan(run, "--documents", "10000000", "--max-distance", "3", "--bits", "64")
    assert (found["method"], found["estimates"], found["fingerprints"]["tables"]) == ("simhash", [], 6)
    shown = run("plan", "--documents", "10000000", "--max-distance", "3", "--bits", "64").out.decode()
    assert "         6 tables of 6 blocks, keys of 21 bits\n" in shown
    assert found["run"] is None


def test_an_index_is_planned_beside_the_join():
    found = nd.plan_files(documents=2**26, max_distance=3, bits=64, memory="12G")
    assert found.index == nd.plan(2**26, max_distance=3, bits=64, memory="12G")
    assert found.fingerprints == plan_join(2**26, bits=64, max_distance=3)


def test_an_index_too_large_for_the_memory_is_dealt_out(run):
    shown = run(
        "plan", "--documents", "8000000000", "--max-distance", "3", "--bits", "64", "--memory", "64G"
    ).out.decode()
    assert "auto takes" not in shown
    assert "Past one machine: no exact method fits in 68,719,476,736 bytes" in shown
    found = plan(run, "--documents", "8000000000", "--max-distance", "3", "--bits", "64", "--memory", "64G")
    assert found["index"]["shards"]["shards"] > 1


def test_fingerprint_files_give_the_spread_and_the_number_of_documents(run):
    write_lines("in.jsonl", [{"text": text} for text in near_copies(400)])
    assert run("fingerprint", "in.jsonl", "-o", "in.parquet").code == 0
    found = plan(run, "--fingerprints", "in.parquet", "--max-distance", "3")
    assert (found["documents"], found["index"]["bits"]) == (400, 128)
    assert found["index"]["based_on"] == "the spread of 400 fingerprints"
    more = plan(run, "--fingerprints", "in.parquet", "--max-distance", "3", "--documents", "1000000")
    assert more["index"]["documents"] == 1_000_000


def test_a_check_prints_both_columns(run, monkeypatch):
    monkeypatch.setattr(plan_index, "measure_machine", lambda: TYPICAL)
    done = run("plan", "--documents", "3000", "--max-distance", "2", "--bits", "64", "--check")
    shown = done.out.decode()
    assert "Checked with 3,000 documents" in shown
    assert "predicted" in shown
    assert "measured" in shown


def test_fingerprints_of_two_recipes_are_refused(run):
    write_lines("in.jsonl", ROWS)
    for recipe, name in (("default", "a.parquet"), ("default-64", "b.parquet")):
        assert run("fingerprint", "in.jsonl", "-o", name, "--recipe", recipe).code == 0
    run("plan", "--fingerprints", "a.parquet", "--fingerprints", "b.parquet", "--max-distance", "3").refused(
        "that of a.parquet: bits: 64 there, 128 here"
    )


def test_what_a_person_reads_names_the_choice(run):
    write_lines("in.jsonl", ROWS)
    shown = run("plan", "in.jsonl", "--quiet", "--threads", "2").out.decode()
    assert shown.startswith(
        "planned  5 documents in 722 B\n         4 different texts\nby       a sample of 5 documents of 4"
    )
    assert "\ntakes    less than 1 s on 2 threads of this machine\n" in shown
    assert re.search(
        r"^ {9}\d+\.\d s to read and to make fingerprints, \d+\.\d s for exact, \d+\.\d s to write$", shown, re.M
    )
    assert re.search(r"^needs    [\d.]+ [MG]iB of memory", shown, re.M)
    assert re.search(
        r"^method   exact\nexact    \d+\.\d s of that: \d+ postings?, \d+ visits?, \d+ candidate", shown, re.M
    )
    assert re.search(r"^minhash  \d+\.\d s instead: \d+ candidate", shown, re.M)
    assert max(map(len, shown.splitlines())) <= 80
    assert "\nwhy " not in shown
    assert "\nwhy      exact would not take" in run("plan", "in.jsonl", "--verbose").out.decode()


def test_a_plan_and_a_dry_run_expect_the_same_of_the_whole_run(run):
    write_lines("in.jsonl", [{"text": text} for text in near_copies(400)])
    planned = plan(run, "in.jsonl")["run"]
    expected = json.loads(run("dedup", "in.jsonl", "--dry-run", "--json", "--quiet").out)["estimate"]
    assert planned.keys() == expected.keys()
    same = ("documents", "input_bytes", "sampled_documents", "sampled_bytes", "method", "reason", "temporary_bytes")
    assert {name: planned[name] for name in same} == {name: expected[name] for name in same}
    assert planned["seconds"].keys() == expected["seconds"].keys()


def test_what_is_shown_of_the_whole_run_adds_up():
    found = nd.plan_files(documents=500_000, threads=4)
    parts = found.run.parts
    assert sum(parts.values()) == pytest.approx(found.run.seconds["total"], abs=0.01)
    assert found.method_seconds(4)["exact"] == parts["method"]
    assert found.method_seconds(4)["minhash"] == found.estimates[1].seconds / 4


def test_fewer_documents_than_were_read_are_planned_by_a_part_of_them(run):
    write_lines("in.jsonl", [{"text": text} for text in near_copies(400)])
    found = plan(run, "in.jsonl", "--documents", "100")
    assert found["documents"] == 100
    assert found["run"]["sampled_documents"] == 100
    assert found["run"]["input_bytes"] < plan(run, "in.jsonl")["run"]["input_bytes"] / 3


def test_a_recipe_with_a_distance_plans_its_own_run(run):
    write_lines("in.jsonl", [{"text": text} for text in near_copies(400)])
    found = plan(run, "in.jsonl", "--recipe", "textbook")
    assert (found["method"], found["run"]["method"]) == ("simhash", "simhash")
    assert found["fingerprints"]["comparisons"] > 0
    assert "simhash" in run("plan", "in.jsonl", "--recipe", "textbook", "--quiet").out.decode()


def test_a_similarity_that_only_exact_serves_is_planned(run):
    write_lines("in.jsonl", ROWS)
    found = plan(run, "in.jsonl", "--similarity", "containment")
    assert [each["method"] for each in found["estimates"]] == ["exact"]
    assert found["reason"].endswith("; no other method serves containment")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give texts to sample as INPUT, or their number as --documents."),
        (["--documents", "0"], "--documents 0: give an integer from 1 up."),
        (["--documents", "5", "--min-similarity", "0.7"], "without texts only 0.8 is known. Give texts."),
        (["--documents", "5", "--similarity", "edit"], "without texts only jaccard is known. Give texts."),
        (["in.jsonl", "--max-distance", "3"], "A plan for --max-distance needs the number of documents"),
        (["--documents", "5", "--max-distance", "700"], "--max-distance 700 is not a whole number from 0 to 128"),
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["--documents", "5", "--check"], "--fingerprints and --check are for the plan of an index"),
        (["in.jsonl", "--text", "body"], 'has no column "body"'),
        (["in.jsonl", "--min-similarity", "0"], "by its similarity"),
    ],
)
def test_what_cannot_be_planned_is_refused(run, arguments, message):
    write_lines("in.jsonl", ROWS)
    run("plan", *arguments).refused(message)


def test_the_probabilities_of_permuted_prefixes_are_listed_for_every_combination(run):
    lists = ("--bits", "64", "--max-distance", "3,6", "--prefix", "16", "--tables", "8,20")
    rows = json.loads(run("plan", *lists, "--json").out)["rows"]
    assert [(row["distance"], row["prefix"], row["tables"]) for row in rows] == [
        (3, 16, 8), (3, 16, 20), (6, 16, 8), (6, 16, 20),
    ]  # fmt: skip
    assert [round(value, 4) for value in rows[2]["hit"].values()] == [0.7607, 0.8436, 0.7915]
    lines = run("plan", *lists).out.decode().splitlines()
    assert lines[3].split() == ["6", "16", "8", "0.7607", "0.8436", "0.7915"]
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--prefix", "16"), "Give --bits, --max-distance, --prefix and --tables together"),
        (
            ("--bits", "64", "--max-distance", "6", "--prefix", "16", "--tables", "0"),
            "--tables 0: give an integer from 1 up",
        ),
        (
            ("--bits", "64", "--max-distance", "6", "--prefix", "65", "--tables", "8"),
            "--prefix 65: neither can be more than",
        ),
        (("--bits", "64", "--max-distance", "6", "--prefix", "x", "--tables", "8"), "'x' is not a valid integer"),
        (
            ("--prefix", "16", "--tables", "8", "--documents", "9", "--threads", "1"),
            "which has no use for --documents, --threads",
        ),
        (("--documents", "9", "--max-distance", "3,6"), "--max-distance: give one distance; several are for --prefix"),
    ],
)
def test_impossible_tables_of_probabilities_are_refused(run, arguments, said):
    run("plan", *arguments).refused(said)


def test_a_run_that_cuts_passages_is_planned_by_a_sample(run):
    write_lines("in.jsonl", [{"text": text} for text in near_copies(200)])
    told = run("plan", "in.jsonl", "--min-tokens", "20").ok().out.decode()
    assert told.startswith("planned  200 documents in ")
    assert "by       a sample of 200 documents\ntakes    " in told
    assert re.search(r"s to read twice, .* s to cut, .* s to write\nneeds    .* of memory", told)
    found = plan(run, "in.jsonl", "--min-tokens", "20")
    assert (found["method"], found["estimates"], found["run"]["documents"]) == (None, [], 200)
    assert set(found["run"]["seconds"]) >= {"read", "windows", "earliest", "cuts", "cut", "write", "total"}
    one = nd.plan_files("in.jsonl", min_tokens=20, text=["text"], keep="longest", threads=1)
    assert one.run.documents == 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in.jsonl", "--documents", "9"], "plans a run that cuts passages, which has no --documents. Leave one of them out"),
        (["--max-distance", "3"], "which has no --max-distance"),
        (["in.jsonl", "--min-similarity", "0.5"], "which has no --min-similarity"),
        ([], "a run that cuts passages is planned by a sample. Give texts as INPUT"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_run_that_cuts_passages_has_not_is_refused(run, arguments, message):
    write_lines("in.jsonl", [{"text": "a"}])
    run("plan", *arguments, "--min-tokens", "20").refused(message)
