"""Columns that a store keeps as metadata, and rules by which a better document replaces others, in commands."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import FERRY, FERRY_EDITED, FERRY_SHOUTED, ROWS, lines, read_lines, write_lines

import neardup as nd
from naive_store import NaiveStore
from neardup.jobs.streams import filter_store_walk, line_walk, store_rows
from neardup.jobs.streams.filter_store import filter_with_store

OPTIONS = (("method", "exact"), ("min_similarity", 0.6))
STARS = [
    {"id": f"s{stars}", "text": text, "stars": stars}
    for stars, text in ((3, FERRY), (5, FERRY_EDITED), (4, FERRY_SHOUTED))
]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(store_rows, "DOCUMENTS_AT_ONCE", 5)
    monkeypatch.setattr(filter_store_walk, "DOCUMENTS_AT_ONCE", 7)
    monkeypatch.setattr(line_walk, "BLOCK_BYTES", 2_000)


def corpus(count=60):
    """Near copies of some texts, with numbers, which some lack."""
    choose = random.Random(3)
    words = [f"word{i}" for i in range(200)]
    texts = [choose.sample(words, 15) for _ in range(12)]
    rows = []
    for i in range(count):
        text = list(choose.choice(texts))
        for _ in range(choose.choice([0, 0, 1, 3])):
            text[choose.randrange(len(text))] = choose.choice(words)
        text += choose.choice([[], ["more"], ["more", "of", "it"]])
        stars = choose.choice([None, 1, 2, 3, 4.5])
        rows.append({"id": f"d{i}", "text": " ".join(text), **({} if stars is None else {"stars": stars})})
    return rows


@pytest.mark.parametrize("keep", ["last", "longest", "shortest", "max:stars", "min:stars"])
def test_what_is_passed_on_and_replaced_is_that_of_the_naive_store(run, keep):
    rows = corpus()
    naive = NaiveStore(OPTIONS, keep)
    passed, audit = [], []
    for row, each in enumerate(rows):
        before = len(naive.replaced)
        found = naive.add(each["id"], each["text"], {"stars": each.get("stars")})
        head = {"id": each["id"], "row": row}
        if found:
            alike, distance, exact, of = found[0]
            known = {"similarity": alike, "distance": distance, "exact": exact, "only_digits": False if exact else None}
            audit.append({**head, "survivor_id": of, **known, "status": "duplicate"})
            continue
        passed.append(each)
        for _, of, alike, distance in naive.replaced[before:]:
            audit.append({**head, "replaced_id": of, "similarity": alike, "distance": distance, "status": "new"})
    how = ["--keep", keep, "--min-similarity", "0.6", *(["--metadata", "stars"] if ":" in keep else [])]
    write_lines("a.jsonl", rows)
    run("filter", "--create", "--store", "seen", "a.jsonl", "-o", "out.jsonl", *how).ok()
    assert Path("out.jsonl").read_bytes() == lines(passed)
    assert read_lines("out.duplicates.jsonl") == audit
    assert any("replaced_id" in line for line in audit)
    piped = run("filter", "--create", "--store", "piped", "--audit", "piped.jsonl", *how, stdin=lines(rows))
    assert piped.out == lines(passed)
    assert read_lines("piped.jsonl") == audit
    run("store", "create", "added", *how[:4])
    done = run("store", "add", "added", "a.jsonl", "-o", "answers.jsonl", *how[4:])
    answers = read_lines("answers.jsonl")
    assert [(line["id"], name) for line in answers for name in line["replaces"]] == [
        (line["id"], line["replaced_id"]) for line in audit if "replaced_id" in line
    ]
    assert f"replaced {len(naive.replaced)} documents by better ones\n" in done.err
    with nd.Store("seen") as store, nd.Store("added") as other:
        kept = {row["id"] for row in rows if store.get(row["id"])}
        assert kept == naive.kept.keys() == {row["id"] for row in rows if other.get(row["id"])}


class Killed(BaseException):
    """The process ends here."""


def test_replacements_are_in_the_audit_once_after_an_interruption(run, monkeypatch):
    rows = corpus()
    write_lines("a.jsonl", rows)
    how = {"keep": "max:stars", "metadata": ["stars"], "min_similarity": 0.6}
    filter_with_store("whole", "a.jsonl", "whole.jsonl", **how, create=True)
    original, count = nd.Store.check_and_add_many, [0]

    def adds(self, *args, **kwargs):
        count[0] += 1
        if count[0] % 3 == 0:
            raise Killed
        return original(self, *args, **kwargs)

    runs = 0
    while not Path("out.jsonl").exists():
        runs += 1
        try:
            with monkeypatch.context() as patch:
                patch.setattr(nd.Store, "check_and_add_many", adds)
                filter_with_store("seen", "a.jsonl", "out.jsonl", threads=1, **how, create=True)
        except Killed:
            pass
    assert runs > 2
    for name in ("{}.jsonl", "{}.duplicates.jsonl"):
        assert Path(name.format("out")).read_bytes() == Path(name.format("whole")).read_bytes()


def test_columns_are_kept_and_shown(run):
    table = pa.table({"id": ["p"], "text": [ROWS[2]["text"]], "stars": [2], "site": [None]})
    pq.write_table(table.cast(table.schema.set(3, pa.field("site", pa.string()))), "a.parquet")
    Path("b.csv").write_text(f'id,text,stars,site\nc,"{FERRY}",2.5,here\nd,"{ROWS[4]["text"]}",,\n')
    run("store", "create", "seen", "--keep", "max:stars")
    how = ["--metadata", "stars", "--metadata", "site"]
    assert run("store", "add", "seen", "a.parquet", "b.csv", *how).code == 0
    with nd.Store("seen") as store:
        found = [store.get(name).metadata for name in "pcd"]
    assert found == [{"stars": 2}, {"stars": "2.5", "site": "here"}, {}]
    assert '"metadata": {"stars": "2.5", "site": "here"}' in run("store", "get", "seen", "c").out.decode()
    write_lines("c.jsonl", [{"id": "e", "text": FERRY_EDITED, "meta": {"stars": 1}, "x": [True, None]}])
    run("store", "create", "other")
    assert run("store", "add", "other", "c.jsonl", "--metadata", "meta.stars").code == 0
    with nd.Store("other") as store:
        assert store.get("e").metadata == {"meta.stars": 1}


@pytest.mark.parametrize(
    "values",
    [
        (3, 5, 4),
        ("3", "5.0", " 4"),
        ("2014-01-02", "2020-05-01T10:00:00+08:00", "2020-05-01T03:00:00+02:00"),
        (None, 1, None),
    ],
)
def test_the_best_by_a_column_is_kept(run, values):
    write_lines("a.jsonl", [row | {"stars": value} for row, value in zip(STARS, values, strict=True)])
    run("store", "create", "seen", "--keep", "max:stars")
    run("store", "add", "seen", "a.jsonl", "--metadata", "stars").said(
        "kept     2 new documents (66.7 %)\nremoved  1 duplicate (33.3 %)"
    )
    assert run("store", "get", "seen", "s3").code == 2
    assert run("store", "get", "seen", "s5").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["add", "best", "a.jsonl"],
            "This store was made to keep max:stars, and needs the column 'stars'. Name it: --metadata stars.",
        ),
        (["add", "best", "a.jsonl", "--metadata", "points"], 'a.jsonl has no column "points" in its first rows'),
        (["add", "seen", "a.jsonl", "--metadata", ""], "--metadata '': give names of columns, none of them empty"),
        (["add", "seen", "lines.txt", "--lines", "--metadata", "stars"], "stars"),
        (
            ["add", "best", "words.jsonl", "--metadata", "stars"],
            "words.jsonl, row 1 (counted from 0): 'stars' is 'many'. The store prefers",
        ),
        (["add", "seen", "lists.jsonl", "--metadata", "stars"], "lists.jsonl, row 0"),
        (["create", "new", "--keep", "best"], "--keep best: give one of first, always, last"),
        (["create", "new", "--keep", "max:"], "--keep max:: give one of first, always, last"),
        (["create", "new", "--keep", "max:KEY"], "min:KEY, with a name for KEY"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_refused_with_what_to_do(run, arguments, told):
    inputs()
    done = run("store", *arguments)
    assert (done.code in (1, 2), told in done.err) == (True, True), done.err
    if arguments[0] == "add":
        with nd.Store(arguments[1]) as store:
            assert len(store) == 0


def inputs():
    write_lines("a.jsonl", STARS)
    write_lines("words.jsonl", [STARS[0], STARS[1] | {"stars": "many"}])
    write_lines("lists.jsonl", [STARS[0] | {"stars": [1]}])
    Path("lines.txt").write_text("one\ntwo\n")
    nd.Store("best", keep="max:stars").close()
    nd.Store("seen").close()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--store", "best", "a.jsonl"], "needs the column 'stars'. Name it: --metadata stars"),
        (["--store", "new", "a.jsonl", "--keep", "min:stars"], "needs the column 'stars'. Name it: --metadata stars"),
        (["--store", "new", "a.jsonl", "--metadata", "points"], 'a.jsonl has no column "points" in its first rows'),
        (["--store", "new", "lines.txt", "--lines", "--metadata", "stars"], "stars"),
        (["--store", "new", "-", "--lines", "--metadata", "stars"], "stars"),
        (["--index", "ix", "a.jsonl", "--metadata", "stars"], "--metadata is for --store, not for --index"),
        (["--store", "seen", "a.jsonl", "--keep", "max:stars", "--metadata", "stars"], "was made with --keep first"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_filter_refuses_what_cannot_be_done(run, arguments, told):
    inputs()
    run("filter", "--create", *arguments, stdin=b"one\n").refused(told)
    assert not Path("new").exists()


def test_a_column_that_no_row_of_a_pipe_has_is_told(run):
    how = ["filter", "--create", "--store", "seen", "--metadata", "points", "--metadata", "stars"]
    done = run(*how, stdin=lines(STARS))
    assert (done.code, done.err.count("no row had a value in the column 'points'"), "'stars'" in done.err) == (
        0,
        1,
        False,
    )


def test_an_interrupted_run_with_other_columns_is_another_run(run, monkeypatch):
    write_lines("a.jsonl", corpus(30))
    count, original = [0], filter_store_walk.FilterStoreWalk.finish

    def finish(self, sinks):
        count[0] += 1
        if count[0] > 2:
            raise Killed
        original(self, sinks)

    monkeypatch.setattr(filter_store_walk.FilterStoreWalk, "finish", finish)
    with pytest.raises(Killed):
        filter_with_store("seen", "a.jsonl", "out.jsonl", threads=1, metadata="stars", create=True)
    monkeypatch.setattr(filter_store_walk.FilterStoreWalk, "finish", original)
    run("filter", "--create", "--store", "seen", "a.jsonl", "-o", "out.jsonl", leaves_nothing=False).refused(
        "was interrupted. The same command"
    )
    assert run("filter", "--create", "--store", "seen", "a.jsonl", "-o", "out.jsonl", "--metadata", "stars").code == 0
