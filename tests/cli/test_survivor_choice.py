"""Which documents survive: by the values of columns, by source, within groups, and against a reference."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CLOCK, FERRY, FERRY_EDITED, ROWS, files, read_lines, survivors, write_lines

import neardup as nd

SCORED = [
    {"id": "a", "text": FERRY, "score": 3, "day": "2024-05-01", "lang": "en"},
    {"id": "b", "text": FERRY_EDITED, "score": None, "day": "2024-04-30T23:30:00-02:00", "lang": "en"},
    {"id": "c", "text": FERRY.upper(), "score": 10, "day": "2024-05-01T01:00:00Z", "lang": "fr"},
    {"id": "d", "text": BREAD, "day": "2023-01-01", "lang": "en"},
]


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("max:score", ["c", "d"]),
        ("min:score", ["a", "d"]),
        ("max:day", ["b", "d"]),
        ("min:day", ["a", "d"]),
        ("max:lang", ["c", "d"]),
        ("max:id", ["c", "d"]),
    ],
)
def test_the_largest_or_smallest_value_of_a_column_survives_and_none_comes_last(run, rule, kept):
    write_lines("in.jsonl", SCORED)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--keep", rule)
    assert (done.code, survivors("out.jsonl")) == (0, kept)


def test_values_of_parquet_and_json_lines_are_compared_together(run):
    write_lines("in/a.jsonl", [{"id": "a", "text": FERRY, "meta": {"score": 2.5}}])
    scores = pa.array([{"score": 7}, {"score": 1}], pa.struct([("score", pa.int32())]))
    pq.write_table(pa.table({"id": ["b", "c"], "text": [FERRY_EDITED, BREAD], "meta": scores}), "in/b.parquet")
    assert run("dedup", "in", "-o", "out/", "--keep", "max:meta.score").code == 0
    assert Path("out/a.jsonl").read_bytes() == b""
    assert pq.read_table("out/b.parquet").column("id").to_pylist() == ["b", "c"]


def test_a_column_that_some_shards_lack_is_refused_with_their_names(run):
    write_lines("in/a.jsonl", SCORED)
    write_lines("in/b.jsonl", ROWS)
    write_lines("in/c.jsonl", ROWS)
    done = run("dedup", "in", "-o", "out/", "--keep", "max:score").refused(
        'in/b.jsonl, in/c.jsonl have no column "score"'
    )
    assert "in/a.jsonl" not in done.err


def test_numbers_among_text_are_refused(run):
    write_lines("in.jsonl", [*SCORED, {"id": "e", "text": CLOCK, "score": "good"}])
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--keep", "max:score")
    assert (done.code, files()) == (1, ["in.jsonl"])
    assert """has text, such as 'good' (row 4, id "e"), among numbers, such as""" in done.err


@pytest.mark.parametrize(
    ("values", "best", "compared_as"),
    [((9, "10"), "d1", "numbers"), (("2025-01-09", "20250110"), "d1", "dates"), (("9%", "10%"), "d0", "text")],
)
def test_a_note_and_the_summary_say_how_values_are_compared(run, values, best, compared_as):
    write_lines("in.jsonl", [{"id": f"d{at}", "text": FERRY, "score": value} for at, value in enumerate(values)])
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--keep", "max:score")
    assert f"note     keep max:score compares {compared_as}\n" in done.err
    assert json.loads(Path("out.summary.json").read_bytes())["compared_as"] == compared_as
    assert survivors("out.jsonl") == [best]


ODD = {
    "n/a": ("9", "10", "n/a"),
    "?": ("9", "10", "?"),
    "a thousand": ("9", "10", "1,000"),
    "a mark": ("9", "10", "\ufeff11"),
    "a number": (9, "2025-01-10", "2025-01-09"),
    "no time": ("2025-01-09", "2025-10-10", "unknown"),
    "a short date": ("2025-01-09", "2025-10-10", "2025-1-9"),
    "a date": ("2025-01-09", "10", "9"),
    "text": ("nine", "ten", "10"),
}
"""Values of which one is odd."""


@pytest.mark.parametrize("values", ODD.values(), ids=ODD)
def test_one_odd_value_is_refused_wherever_values_are_ranked(run, values):
    rows = [{"id": f"d{at}", "text": FERRY, "score": value} for at, value in enumerate(values)]
    write_lines("in.jsonl", rows)
    best = ("--keep", "max:score")
    told = run("dedup", "in.jsonl", "-o", "out.jsonl", *best)
    assert (told.code, files()) == (1, ["in.jsonl"])
    assert re.search(r'Column "score" has \w+, such as \S+ \(row \d, id "d\d"\), among \w+, such as', told.err)
    run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--value", "score")
    run("pairs", "prints.parquet", "-o", "pairs.jsonl", "--method", "simhash", "--min-similarity", "0")
    done = run("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet", *best)
    assert (done.code, done.err) == (1, told.err)
    with pytest.raises(nd.DataError, match=r'Column "score" has \w+, such as \S+ \(row \d\), among'):
        nd.deduplicate(rows, keep="max:score")
    left = list(values)
    with pytest.raises(nd.DataError, match=r"^The function of `keep` has"):
        nd.deduplicate([FERRY] * 3, keep=lambda _: left.pop())


def test_a_preferred_source_survives_before_what_comes_first(run):
    write_lines("web/a.jsonl", ROWS)
    write_lines("books/x.jsonl", [{"id": "book", "text": FERRY_EDITED}])
    write_lines("news.jsonl", [{"id": "news", "text": FERRY}, {"id": "bread2", "text": BREAD}])
    for sources, kept in (
        ("books,news.jsonl", ["book"]),
        ("news.jsonl,books", ["news", "bread2"]),
        ("*.jsonl,books", ["ferry", "bread"]),
    ):
        run("dedup", "web", "books", "news.jsonl", "-o", "out.jsonl", "--overwrite", "--prefer-source", sources).ok()
        assert set(kept) <= set(survivors("out.jsonl")), sources
    assert len(read_lines("out.jsonl")) == 3


def test_a_source_that_nothing_is_of_is_refused_before_any_work(run):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--prefer-source", "in.jsonl,in.json")
    assert (done.code, files()) == (2, ["in.jsonl"])
    done.said("--prefer-source in.json: no input is of this source.", "called: in.jsonl")


def test_only_documents_with_equal_values_match_equal_texts_included(run):
    rows = [
        *SCORED,
        {"id": "e", "text": FERRY, "lang": "fr"},
        {"id": "f", "text": FERRY},
        {"id": "g", "text": FERRY, "lang": None},
    ]
    write_lines("in.jsonl", rows)
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--within", "lang").code == 0
    assert survivors("out.jsonl") == ["a", "c", "d", "f"]
    removed = {line["id"]: line["survivor_id"] for line in read_lines("out.duplicates.jsonl")}
    assert removed == {"b": "a", "e": "c", "g": "f"}


REFERENCE = [{"id": "test-1", "text": FERRY}, {"id": "test-2", "text": FERRY}, {"id": "test-3", "text": CLOCK}]


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("method", ["auto", "exact", "minhash", "simhash"])
def test_what_is_near_a_reference_is_removed_and_names_it(run, method, cluster):
    write_lines("in.jsonl", [*ROWS, {"id": "bread2", "text": BREAD}])
    write_lines("ref/one.jsonl", REFERENCE[:1])
    write_lines("ref/two.jsonl", REFERENCE[1:])
    before = {name: Path(name).read_bytes() for name in files()}
    done = run(
        "dedup", "in.jsonl", "-o", "out.jsonl", "--against", "ref", "--method", method, "--cluster", cluster, "--json"
    ).ok()
    assert survivors("out.jsonl") == ["bread", "bridge"]
    audit = {line["id"]: line for line in read_lines("out.duplicates.jsonl")}
    assert set(audit) == {"ferry", "edited", "shouted", "bread2"}
    for name in ("ferry", "edited", "shouted"):
        assert audit[name]["survivor_id"] == "test-1"
        assert audit[name]["survivor_row"] is None
        assert (audit[name]["reference"], audit[name]["reference_row"]) == ("ref/one.jsonl", 0)
    assert (audit["ferry"]["exact"], audit["ferry"]["similarity"], audit["edited"]["exact"]) == (True, 1.0, False)
    assert (audit["bread2"]["survivor_row"], audit["bread2"]["reference"]) == (2, None)
    found = json.loads(done.out)
    assert (found["rows"], found["documents"], found["survivors"], found["duplicates"]) == (6, 6, 2, 4)
    assert (found["reference_documents"], found["against_reference"], found["clusters"]) == (3, 3, 2)
    assert {name: Path(name).read_bytes() for name in before} == before


def test_a_reference_need_not_have_the_column_that_is_preferred_by_but_that_which_must_be_equal(run):
    write_lines("in.jsonl", SCORED)
    write_lines("ref.jsonl", [{"id": "r", "text": FERRY, "lang": "fr"}])
    flags = ("--keep", "max:score", "--within", "lang", "--against", "ref.jsonl")
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", *flags).code == 0
    assert survivors("out.jsonl") == ["a", "d"]
    write_lines("ref.jsonl", REFERENCE)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", *flags).refused('ref.jsonl has no column "lang"')


def test_a_reference_that_is_an_input_or_standard_input_is_refused(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "./in.jsonl").refused("in.jsonl is given twice")
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "-").refused(
        "--against -: a reference is read from files."
    )


def test_an_incremental_run_against_an_earlier_output_removes_what_was_there(run):
    write_lines("monday.jsonl", ROWS)
    write_lines(
        "tuesday.jsonl", [{"id": "t1", "text": FERRY_EDITED}, {"id": "t2", "text": CLOCK}, {"id": "t3", "text": BRIDGE}]
    )
    assert run("dedup", "monday.jsonl", "-o", "kept/").code == 0
    assert run("dedup", "tuesday.jsonl", "-o", "new/", "--against", "kept").code == 0
    assert survivors("new/tuesday.jsonl") == ["t2"]
    assert run("dedup", "tuesday.jsonl", "-o", "annotated.jsonl", "--against", "kept", "--annotate").code == 0
    first = read_lines("annotated.jsonl")[0]
    assert (first["is_duplicate"], first["duplicate_of"], first["cluster_size"]) == (True, "ferry", 2)


def test_a_reference_may_be_fingerprints(run):
    write_lines(
        "in.jsonl",
        [*ROWS, {"id": "new", "text": "Something that nobody wrote before, in a few more words than eight."}],
    )
    write_lines("old/a.jsonl", [{"id": "other", "text": BRIDGE}])
    write_lines("old/b.jsonl", [{"id": "x", "text": CLOCK}, {"id": "old", "text": FERRY_EDITED, "lang": "en"}])
    assert run("fingerprint", "old/a.jsonl", "-o", "a.parquet").code == 0
    assert run("fingerprint", "old/b.jsonl", "-o", "b.parquet").code == 0
    by_distance = ("--min-similarity", "0", "--max-distance", "30")
    texts = run("dedup", "in.jsonl", "-o", "out1.jsonl", "--against", "old", *by_distance)
    prints = run(
        "dedup", "in.jsonl", "-o", "out2.jsonl", "--against", "a.parquet", "--against", "b.parquet", *by_distance
    )
    assert (texts.code, prints.code) == (0, 0)
    assert Path("out1.jsonl").read_bytes() == Path("out2.jsonl").read_bytes()
    audit = read_lines("out2.duplicates.jsonl")
    assert {line["only_digits"] for line in audit if line["reference"] is not None and not line["exact"]} == {None}
    known = [
        line | {"only_digits": None if line["reference"] else line["only_digits"]}
        for line in read_lines("out1.duplicates.jsonl")
    ]
    assert [line | {"only_digits": None if line["reference"] else line["only_digits"]} for line in audit] == known
    ferry = next(line for line in audit if line["id"] == "ferry")
    assert (ferry["survivor_id"], ferry["reference"], ferry["reference_row"]) == ("old", "old/b.jsonl", 1)
    again = run(
        "dedup",
        "in.jsonl",
        "-o",
        "out3.jsonl",
        "--against",
        "a.parquet",
        "--against",
        "b.parquet",
        "--resume",
        *by_distance,
    )
    assert (again.code, Path("out3.jsonl").read_bytes()) == (0, Path("out1.jsonl").read_bytes())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--min-similarity 0"),
        (("--min-similarity", "0", "--recipe", "default-64"), "recipe"),
        (("--min-similarity", "0", "--against", "old.jsonl"), "only fingerprint files"),
        (("--min-similarity", "0", "--within", "lang"), "neardup fingerprint --value lang"),
    ],
)
def test_fingerprints_that_cannot_be_a_reference_are_refused(run, options, said):
    write_lines("in.jsonl", SCORED)
    write_lines("old.jsonl", [{"id": "old", "text": FERRY_EDITED, "lang": "en"}])
    assert run("fingerprint", "old.jsonl", "-o", "old.parquet").code == 0
    before = files()
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "old.parquet", *options)
    assert (done.code, files()) == (2, before)
    assert said in done.err


def test_a_reference_goes_with_preferred_sources(run):
    write_lines("web/a.jsonl", ROWS)
    write_lines("books/x.jsonl", [{"id": "book", "text": BREAD + " And a little more."}])
    write_lines("old.jsonl", [{"id": "old", "text": FERRY_EDITED}])
    run("dedup", "web", "books", "-o", "out.jsonl", "--prefer-source", "books", "--against", "old.jsonl").ok()
    assert {line["survivor_id"] for line in read_lines("out.duplicates.jsonl")} >= {"book", "old"}
