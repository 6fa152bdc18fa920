"""How many duplicates differ in digits only: on screen, in the summary and in the audit of everything that removes."""

import json
from pathlib import Path

import pytest
from cli_corpora import read_lines, write_lines

import neardup as nd

ORDER = "Your order {} of March 4 has left our house today, and comes within {} days to the address that you gave us; thank you."
TEXTS = [ORDER.format(*each) for each in (("1001", "2"), ("99", "14"), ("1001", "two"), ("１００１", "٣"))]
TEXTS.append(TEXTS[0].upper())
EXPECTED = {1: True, 2: False, 3: True, 4: False}
"""By row, whether it differs from the first in digits only; the last is an exact duplicate."""
CLOSE = ("--min-similarity", "0.5", "--method", "exact")
SAID = "1 exact, 3 near (jaccard >= 0.5); 2 differ in digits only"


@pytest.fixture(autouse=True)
def inputs(place):
    write_lines("in.jsonl", [{"id": f"d{row}", "text": text} for row, text in enumerate(TEXTS)])
    write_lines("units.jsonl", [{"id": "d", "text": "\n".join(TEXTS)}])
    write_lines("old.jsonl", [{"id": "old", "text": TEXTS[0]}])


def told(path="out.duplicates.jsonl"):
    return {line["row"]: line["only_digits"] for line in read_lines(path)}


def summary(done):
    found = json.loads(done.out)
    return found["only_digits"], found["digits_unknown"]


@pytest.mark.parametrize(
    "more", [(), ("--cluster", "components"), ("--resume",), ("--keep", "last"), ("--memory", "64M")]
)
def test_of_documents(run, more):
    call = ("dedup", "in.jsonl", "-o", "out.jsonl", *CLOSE, *more)
    run(*call, leaves_nothing=False).ok("; 2 differ in digits only" if more != ("--keep", "last") else "in digits only")
    if more == ("--keep", "last"):
        assert told() == {0: False, 1: True, 2: False, 3: True}
        return
    assert told() == EXPECTED
    again = [each for each in call if each != "--resume"]
    assert summary(run(*again, "--overwrite", "--json", leaves_nothing=False)) == (2, 0)
    run("verify", "out.jsonl", "--quiet", leaves_nothing=False).ok()


def test_against_a_reference_and_of_lines(run):
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "old.jsonl", *CLOSE).ok("; 2 differ in digits only")
    assert told() == {0: False, **EXPECTED}
    run("dedup", "units.jsonl", "-o", "u.jsonl", "--unit", "line", *CLOSE).ok("; 2 differ in digits only")
    assert {line["unit"]: line["only_digits"] for line in read_lines("u.duplicates.jsonl")} == EXPECTED


def test_where_fingerprints_are_all_that_is_known_it_is_null(run):
    run("fingerprint", "in.jsonl", "-o", "prints.parquet").ok()
    run("pairs", "in.jsonl", "-o", "pairs.parquet", *CLOSE).ok()
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet").ok()
    done = run("apply", "clusters.parquet", "in.jsonl", "-o", "out.jsonl").ok()
    assert "digits" not in done.err  # what cannot be known is no news
    unknown = {1: None, 2: None, 3: None, 4: False}
    assert told() == unknown
    assert summary(run("apply", "clusters.parquet", "in.jsonl", "-o", "o.jsonl", "--json")) == (None, 3)
    run("fingerprint", "old.jsonl", "-o", "old.parquet").ok()
    by_distance = ("--against", "old.parquet", "--min-similarity", "0", "--max-distance", "60")
    run("dedup", "in.jsonl", "-o", "far.jsonl", *by_distance).ok()
    near = [
        line["only_digits"] for line in read_lines("far.duplicates.jsonl") if line["reference"] and not line["exact"]
    ]
    assert near
    assert set(near) == {None}
    for name in ("out", "far"):
        run("verify", f"{name}.jsonl", leaves_nothing=False).ok()
    forged = read_lines("out.duplicates.jsonl")
    assert forged[1]["row"] == 2
    write_lines("out.duplicates.jsonl", [line | {"only_digits": True} if line["row"] == 2 else line for line in forged])
    told_of = run("verify", "out.jsonl", leaves_nothing=False).refused(code=1).out
    assert b"its only_digits is false, but true is stated" in told_of
    done = run("filter", "in.jsonl", "--create", "--index", "i", "--max-distance", "60", "-o", "f.jsonl").ok()
    assert "digits" not in done.err
    assert set(told("f.duplicates.jsonl").values()) == {None}


@pytest.mark.parametrize("texts", [True, False])
def test_stores_know_it_if_they_keep_texts(run, texts):
    flags = (*CLOSE, *(["--texts"] if texts else []))
    said = "1 exact, 3 near; 2 differ in digits only" if texts else "1 exact, 3 near\n"
    expected = EXPECTED if texts else {1: None, 2: None, 3: None, 4: False}
    done = run("filter", "in.jsonl", "--create", "--store", "s", "-o", "out.jsonl", *flags).ok()
    assert ("; 2 differ in digits only" in done.err, "digits" in done.err) == (texts, texts)
    assert told() == expected
    run("store", "create", "added", *flags).ok()
    run("store", "add", "added", "in.jsonl", "-o", "answers.jsonl").ok(said)
    given = {row: line.get("only_digits") for row, line in enumerate(read_lines("answers.jsonl"))}
    assert given == {0: None, **{row: each for row, each in expected.items() if row < 4}, 4: None}
    with nd.Store("added") as store:
        assert [answer.only_digits for answer in store.check_many(TEXTS)] == [
            None,
            *(given[row] for row in (1, 2, 3)),
            None,
        ]
        [answer] = store.check_and_add_many(["late"], [TEXTS[1].replace("99", "7")])
        assert answer.only_digits == (True if texts else None)


def test_an_id_that_comes_again_is_compared_as_it_was(place):
    with nd.Store("s", texts=True, min_similarity=0.5) as store:
        other = "Something else altogether, which nobody has written before, not even once, as far as we know."
        found = store.check_and_add_many(["x", "b", "x", "c"], [TEXTS[0], TEXTS[1], other, TEXTS[2]])
        assert [answer.only_digits for answer in found] == [None, True, None, None]


def test_an_audit_without_the_column_is_read_as_it_was(run):
    run("dedup", "in.jsonl", "-o", "out.jsonl", *CLOSE).ok()
    older = [
        {name: value for name, value in line.items() if name != "only_digits"}
        for line in read_lines("out.duplicates.jsonl")
    ]
    Path("out.duplicates.jsonl").unlink()
    write_lines("out.duplicates.jsonl", older)
    done = run("verify", "out.jsonl").refused(code=1)
    assert b"digits_unknown is 3, but the summary has 0" in done.out
    summary = json.loads(Path("out.summary.json").read_bytes())
    Path("out.summary.json").write_text(json.dumps({k: v for k, v in summary.items() if "digits" not in k}))
    run("explain", "out.duplicates.jsonl", "d1").ok()
    run("verify", "out.jsonl").ok()
