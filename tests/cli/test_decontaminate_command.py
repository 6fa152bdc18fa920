"""`neardup decontaminate`: documents that hold items of a benchmark go, and nothing else."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CLOCK, FERRY, files, lines, read_lines, survivors, write_lines

import neardup as nd

QUESTION = "How many grams of salt go into the plain loaf of the village bakery?"
HAN = "河上的老石桥建于明代，全长八十六米，共有七个拱。"
ROWS = [
    {"id": "clock", "text": CLOCK},
    {
        "id": "quiz",
        "text": f"{FERRY} Now a quiz!\nHow many grams of SALT go into the plain loaf of the village bakery?  {BREAD}",
    },
    {"id": "again", "text": CLOCK},
    {"id": "bridge", "text": BRIDGE},
    {"id": "empty", "text": ""},
]
ITEMS = [
    {"key": "salt", "question": QUESTION},
    {"key": "short", "question": "How many?"},
    {"key": "han", "question": HAN},
]
NAMED = ("--against", "bench.jsonl", "--against-text", "question", "--against-id", "key")


@pytest.fixture(autouse=True)
def inputs(place):
    write_lines("in.jsonl", ROWS)
    write_lines("bench.jsonl", ITEMS)


def test_documents_that_hold_an_item_go_and_the_corpus_is_not_compared_with_itself(run):
    done = run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl")
    assert (done.code, done.out) == (0, b"")
    done.said(
        "kept     3 documents (60.0 %)\nremoved  2 documents (40.0 %)",
        "note     1 item of fewer than 8 tokens: not checked",
        "         bench.jsonl: 2 of 2 checked items (100.0 %) in 2 documents\n",
    )
    assert Path("out.jsonl").read_bytes() == lines([ROWS[0], ROWS[2], ROWS[4]])
    assert files() == [
        "bench.jsonl",
        "in.jsonl",
        "out.contaminated.jsonl",
        "out.items.jsonl",
        "out.jsonl",
        "out.summary.json",
    ]
    quiz, bridge = read_lines("out.contaminated.jsonl")
    assert quiz == {
        "id": "quiz",
        "row": 1,
        "item_id": "salt",
        "item_row": 0,
        "benchmark": "bench.jsonl",
        "item_share": 1.0,
        "item_run": 14,
        "items": 1,
        "passage_items": 1,
        "passage": "How many grams of SALT go into the plain loaf of the village bakery?",
        "passage_characters": 68,
    }
    assert (bridge["id"], bridge["item_id"], bridge["passage"]) == ("bridge", "han", HAN)
    salt, short, han = read_lines("out.items.jsonl")
    assert salt == {
        "id": "salt",
        "benchmark": "bench.jsonl",
        "row": 0,
        "tokens": 14,
        "is_checked": True,
        "reason": None,
        "is_contaminated": True,
        "documents": 1,
        "item_share": 1.0,
        "item_run": 14,
        "passage_items": 1,
        "strongest": [{"id": "quiz", "row": 1, "item_share": 1.0, "item_run": 14, "passage_items": 1}],
    }
    assert (short["is_checked"], short["reason"], short["documents"]) == (False, "2 tokens, fewer than 8", 0)
    assert [document["id"] for document in han["strongest"]] == ["bridge"]
    summary = json.loads(Path("out.summary.json").read_bytes())
    counts = (
        "rows",
        "documents",
        "clean",
        "contaminated",
        "items",
        "checked_items",
        "short_items",
        "contaminated_items",
    )
    assert [summary[name] for name in counts] == [5, 5, 3, 2, 3, 2, 1, 2]
    assert summary["files"]["items"] == "out.items.jsonl"
    assert summary["files"]["against_text"] == ["question"]


def test_a_passage_that_many_items_share_is_marked_everywhere(run):
    told = (
        "Read the question with care, choose the best of the four answers, and explain in a sentence why you chose it. Write "
        "the letter of your answer on a line of its own at the end, with nothing after it, or your answer will not be counted."
    )
    questions = [
        f"{told} In the village, what makes the {thing} so {how}?"
        for thing in ("bread", "clock", "ferry", "bridge")
        for how in ("salty", "late", "slow", "old")
    ]
    write_lines("bench.jsonl", [{"key": n, "question": question} for n, question in enumerate(questions)])
    write_lines(
        "in.jsonl", [{"id": "told", "text": f"{BREAD} {told}"}, {"id": "whole", "text": f"{CLOCK} {questions[5]}"}]
    )
    done = run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl", "--report", "page.html")
    done.said(
        "note     1 document by a passage that stands in 10 items or more, such as an instruction: see `passage_items`\n"
    )
    assert [(line["id"], line["passage_items"]) for line in read_lines("out.contaminated.jsonl")] == [
        ("told", 16),
        ("whole", 1),
    ]
    found = read_lines("out.items.jsonl")
    assert [line["passage_items"] for line in found] == [1 if n == 5 else 16 for n in range(16)]
    assert [each["passage_items"] for each in found[5]["strongest"]] == [1, 16]
    assert json.loads(Path("out.summary.json").read_bytes())["shared_passages"] == 1
    page = Path("page.html").read_text()
    assert page.count("<td>in 16 items</td>") == 16
    assert "Documents whose passage stands in 10 items or more: 1." in page


def test_an_unrelated_question_removes_no_book():
    book = " ".join(f"word{i}" for i in range(500))
    found = nd.decontaminate(["word7 word8 word9", book], against=["an unrelated question about something else"])
    assert found.clean == ["word7 word8 word9", book]


def test_json_and_quiet(run):
    done = run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl", "--json", "--quiet")
    shown = json.loads(done.out)
    assert (shown["contaminated"], done.err) == (2, "")
    assert shown["benchmarks"] == [
        {"benchmark": "bench.jsonl", "items": 3, "checked": 2, "contaminated": 2, "documents": 2}
    ]


def test_a_dry_run_says_what_is_there_and_writes_nothing(run):
    before = files()
    done = run("decontaminate", "in.jsonl", *NAMED, "--dry-run")
    assert "removed  2 documents (40.0 %): they hold 2 items" in done.err
    assert files() == before


def test_annotations_are_of_all_rows(run):
    run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl", "--annotate")
    rows = read_lines("out.jsonl")
    assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
    clean = {"is_contaminated": False, "item_id": None, "benchmark": None, "item_share": None, "item_run": None}
    assert rows[0] == ROWS[0] | clean
    assert rows[1] == ROWS[1] | {
        "is_contaminated": True,
        "item_id": "salt",
        "benchmark": "bench.jsonl",
        "item_share": 1.0,
        "item_run": 14,
    }


def test_a_folder_of_shards_of_all_formats_with_benchmarks_of_all_formats(run):
    quiz, clock = ROWS[1]["text"], ROWS[0]["text"]
    write_lines("corpus/a.jsonl", ROWS)
    Path("corpus/b.csv").write_text(f'id,text\nquiz2,"{quiz}"\nclock2,"{clock}"\n', encoding="utf-8")
    Path("corpus/c.jsonl.gz").write_bytes(gzip.compress(lines(ROWS[:2])))
    Path("corpus/d.txt").write_text(quiz, encoding="utf-8")
    Path("corpus/e.txt").write_text(clock, encoding="utf-8")
    pq.write_table(pa.table({"id": [1, 2], "text": [clock, quiz]}), "corpus/f.parquet")
    Path("corpus/g.tsv").write_text(f"id\ttext\nclock3\t{clock}\n", encoding="utf-8")
    Path("tests").mkdir()
    pq.write_table(pa.table({"question": [QUESTION], "key": [7]}), "tests/one.parquet")
    Path("tests/two.csv.gz").write_bytes(gzip.compress(f"key,question\nhan,{HAN}\nsalt,{QUESTION}\n".encode()))
    names = ("--against-text", "question", "--against-id", "key")
    run("decontaminate", "corpus", "--against", "tests", *names, "-o", "out/", "--audit", "audits/").ok()
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "a.jsonl", "b.csv", "c.jsonl.gz", "e.txt", "f.parquet", "g.tsv",
    ]  # fmt: skip
    assert survivors("out/a.jsonl") == ["clock", "again", "empty"]
    assert gzip.decompress(Path("out/c.jsonl.gz").read_bytes()) == lines(ROWS[:1])
    assert pq.read_table("out/f.parquet")["id"].to_pylist() == [1]
    [parquet] = read_lines("audits/f.contaminated.jsonl")
    assert (parquet["id"], parquet["item_id"], parquet["benchmark"]) == (2, 7, "tests/one.parquet")
    by_name = {each["benchmark"]: each for each in json.loads(Path("audits.summary.json").read_bytes())["benchmarks"]}
    assert [by_name[name]["documents"] for name in ("tests/one.parquet", "tests/two.csv.gz")] == [5, 6]
    assert [each["documents"] for each in read_lines("audits.items.jsonl")] == [5, 1, 5]


def test_lines_of_text_files_are_documents_and_items(run):
    Path("in.txt").write_text(f"{CLOCK}\n{ROWS[1]['text'].replace(chr(10), ' ')}\n", encoding="utf-8")
    Path("bench.txt").write_text(f"{QUESTION}\n", encoding="utf-8")
    run("decontaminate", "in.txt", "--against", "bench.txt", "-o", "out.txt", "--lines")
    assert Path("out.txt").read_text(encoding="utf-8") == f"{CLOCK}\n"
    assert read_lines("out.items.jsonl")[0]["id"] == "bench.txt:0"


def test_pages_are_html_and_items_are_not(run):
    pytest.importorskip("trafilatura")
    page = f"<html><body><p>{CLOCK}</p><p>How many grams of <b>salt</b> go into the plain loaf of the village bakery?</p></body></html>"
    write_lines("pages.jsonl", [{"id": "page", "text": page}, {"id": "other", "text": f"<p>{CLOCK}</p>"}])
    run("decontaminate", "pages.jsonl", *NAMED, "-o", "out.jsonl", "--html", "whole")
    assert survivors("out.jsonl") == ["other"]


def test_standard_input_and_output(run):
    done = run("decontaminate", "-", *NAMED, "-o", "-", "--quiet", stdin=lines(ROWS))
    assert (done.code, done.out) == (0, lines([ROWS[0], ROWS[2], ROWS[4]]))
    done = run("decontaminate", "-", *NAMED, "-o", "-", "--audit", "gone.jsonl", stdin=lines(ROWS))
    assert done.out == lines([ROWS[0], ROWS[2], ROWS[4]])
    assert len(read_lines("gone.jsonl")) == 2
    assert len(read_lines("gone.items.jsonl")) == 3


def test_threads_never_change_a_byte(run):
    rows = [{"id": i, "text": f"{CLOCK} {i} " * 60 + (QUESTION if i % 7 == 0 else "")} for i in range(400)]
    write_lines("many.jsonl", rows)
    for threads in (1, 4):
        run("decontaminate", "many.jsonl", *NAMED, "-o", f"out{threads}.jsonl", "--threads", threads)
    for ending in (".jsonl", ".contaminated.jsonl", ".items.jsonl"):
        assert Path("out1" + ending).read_bytes() == Path("out4" + ending).read_bytes()
    assert len(read_lines("out1.contaminated.jsonl")) == 58
    salt = read_lines("out1.items.jsonl")[0]
    assert (salt["documents"], [each["id"] for each in salt["strongest"]]) == (58, list(range(0, 70, 7)))


def test_rows_that_cannot_be_read_are_set_aside_and_items_say_so(run):
    Path("in.jsonl").write_bytes(lines(ROWS[:2]) + b"{broken\n")
    Path("bench.jsonl").write_bytes(b'{"key": "none", "question": null}\n' + lines(ITEMS[:1]))
    run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl").refused(code=1)
    done = run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl", "--on-error", "skip")
    done.said("1 row could not be read: out.rejects.jsonl", "1 row of benchmarks could not be read: not checked")
    assert survivors("out.jsonl") == ["clock"]
    none, salt = read_lines("out.items.jsonl")
    assert (none["is_checked"], none["documents"], salt["documents"]) == (False, 0, 1)
    assert "null" in none["reason"]


def test_a_part_of_an_item_is_enough_by_share_or_by_run(run):
    long = " ".join(f"w{i}" for i in range(200))
    write_lines("bench.jsonl", [{"text": long}])
    texts = {"part": 45, "run": 60, "most": 170}
    write_lines("in.jsonl", [{"id": name, "text": " ".join(long.split()[:end])} for name, end in texts.items()])
    run("decontaminate", "in.jsonl", "--against", "bench.jsonl", "-o", "out.jsonl")
    assert survivors("out.jsonl") == ["part"]
    most = read_lines("out.contaminated.jsonl")[1]
    assert (most["item_share"], most["item_run"]) == (168 / 198, 170)
    run(
        "decontaminate",
        "in.jsonl",
        "--against",
        "bench.jsonl",
        "-o",
        "strict.jsonl",
        "--min-run",
        1000,
        "--min-share",
        1,
    )
    assert survivors("strict.jsonl") == ["part", "run", "most"]


def test_that_no_item_was_checked_is_told(run):
    write_lines("in.jsonl", ROWS)
    write_lines("short.jsonl", [{"text": "too short"}])
    Path("empty.jsonl").touch()
    for name in ("short.jsonl", "empty.jsonl"):
        run("decontaminate", "in.jsonl", "--against", name, "-o", f"from-{name}").ok(
            "warning  no item was checked, so nothing could be found"
        )


def test_the_report_shows_benchmarks_items_and_passages(run):
    pytest.importorskip("jinja2")
    write_lines("in.jsonl", [*ROWS, {"id": "<b>", "text": QUESTION + " <script>"}])
    run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl", "--report", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "3 of 6 documents hold items of benchmarks" in page
    assert "2 of 2 checked items are in the corpus" in page
    assert HAN in page
    assert "&lt;b&gt;" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.jsonl", "-o", "out.jsonl"), "Missing option '--against'"),
        (("in.jsonl", *NAMED), "Give -o a file"),
        (("in.jsonl", *NAMED, "-o", "-", "--json"), "would both write to standard output"),
        (("gone.jsonl", *NAMED, "-o", "out.jsonl"), "gone.jsonl: there is no such file"),
        (("in.jsonl", "--against", "gone.jsonl", "-o", "out.jsonl"), "gone.jsonl: there is no such file"),
        (("in.jsonl", "--against", "-", "-o", "out.jsonl"), "--against -: a benchmark is read from files"),
        (
            ("in.jsonl", "--against", "in.jsonl", "-o", "out.jsonl"),
            "in.jsonl is given twice: its rows would be contaminated by themselves",
        ),
        (
            ("in.jsonl", "--against", "bench.jsonl", "-o", "out.jsonl"),
            "Name the one that is meant with --against-text.",
        ),
        (("in.jsonl", *NAMED, "-o", "bench.jsonl"), "bench.jsonl"),
        (("in.jsonl", *NAMED, "-o", "in.jsonl"), "in.jsonl"),
        (("in.jsonl", *NAMED, "-o", "out.jsonl", "--min-share", "0"), "--min-share 0.0: give a number above 0"),
        (("in.jsonl", *NAMED, "-o", "out.jsonl", "--min-run", "3"), "--min-run 3: give an integer from 5"),
        (("in.jsonl", *NAMED, "-o", "out.jsonl", "--min-tokens", "4"), "--min-tokens 4: give an integer from 5"),
        (("in.jsonl", *NAMED, "-o", "out.csv"), "in.jsonl is jsonl"),
        (("in.jsonl", *NAMED, "-o", "out.jsonl", "--report", "page.txt"), "Give a name that ends in .html"),
        (("in.jsonl", *NAMED, "-o", "out.jsonl", "--resume"), "No such option '--resume'"),
        (("in.jsonl", *NAMED, "-o", "-", "--on-error", "skip"), "has no place for the rejects"),
    ],
)
def test_calls_that_make_no_sense_are_refused(run, arguments, message):
    before = files()
    done = run("decontaminate", *arguments)
    assert done.code != 0
    assert message in done.err
    assert files() == before
    assert read_lines("bench.jsonl") == ITEMS


def test_a_benchmark_is_never_overwritten(run):
    run("decontaminate", "in.jsonl", *NAMED, "-o", "bench.jsonl", "--overwrite").refused(
        "bench.jsonl is a benchmark, and no run replaces what it reads. Name another file."
    )
    assert read_lines("bench.jsonl") == ITEMS


def test_columns_of_annotations_that_are_there_already_are_refused(run):
    write_lines("in.jsonl", [{"text": CLOCK, "item_id": 3}])
    done = run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl", "--annotate")
    assert done.code != 0
    assert "item_id" in done.err


def test_the_library_names_benchmarks_and_takes_what_deduplicate_takes(place):
    table = pa.Table.from_pylist(ROWS)
    found = nd.decontaminate(
        table,
        against={"bread": [{"q": QUESTION, "n": 1}], "bridges": pa.table({"q": [HAN], "n": [2]})},
        against_text="q",
        against_id="n",
    )
    assert found.clean["id"].to_pylist() == ["clock", "again", "empty"]
    assert found.contaminated["item_id"].to_pylist() == [1, 2]
    assert found.contaminated["benchmark"].to_pylist() == ["bread", "bridges"]
    assert found.kept.tolist() == [True, False, True, False, True]
    assert found.annotations["item_id"].to_pylist() == [None, 1, None, 2, None]
    assert repr(found) == "DecontaminationResult(5 documents → 3 clean, 2 contaminated by 2 of 2 items)"
    assert "<table>" in found._repr_html_()
    with pytest.raises(nd.OptionError, match="did you mean `min_share`"):
        nd.decontaminate(table, against=[QUESTION], min_shares=0.5)
    files = nd.decontaminate_files("in.jsonl", "out.jsonl", against="bench.jsonl", against_text="question")
    assert repr(files).startswith("FileDecontamination(5 documents → 3 clean, 2 contaminated by 2 of 3 items")


def test_no_texts_and_no_items(place):
    assert nd.decontaminate([], against=[QUESTION]).clean == []
    assert nd.decontaminate([], against=[]).contaminated.num_rows == 0
    assert nd.decontaminate([CLOCK], against={}).clean == [CLOCK]
    for nothing in ([], iter([])):
        assert nd.decontaminate(nothing, against=["too short"]).summary.items == 1


@pytest.mark.parametrize(("output", "audit"), [("out.jsonl", "out.contaminated.jsonl"), ("out/", "audits/")])
def test_its_audit_is_not_taken_for_one_of_dedup(run, output, audit):
    run("decontaminate", "in.jsonl", *NAMED, "-o", output, "--audit", audit)
    commands = [
        ["explain", audit, "quiz"],
        ["report", audit, "-o", "page.html"],
        ["verify", output, "--audit", audit, "in.jsonl"],
    ]
    if output == "out.jsonl":
        Path("other.jsonl").write_bytes(Path(audit).read_bytes())
        commands += [["explain", "other.jsonl", "quiz"]]
    for command in commands:
        run(*command).refused("is an audit of `neardup decontaminate`: its lines have the item")


@pytest.mark.parametrize("named", [(), ("in.jsonl",)])
def test_its_output_is_not_verified_as_if_documents_had_been_compared(run, named):
    run("decontaminate", "in.jsonl", *NAMED, "-o", "out.jsonl")
    run("verify", "out.jsonl", *named).refused(
        "out.jsonl was written by `neardup decontaminate`, as out.contaminated.jsonl says"
    )
    again = run("decontaminate", "out.jsonl", *NAMED, "--dry-run")  # as it advises
    assert "kept     3 documents (100.0 %)\nremoved  0 documents (0.0 %)" in again.err
