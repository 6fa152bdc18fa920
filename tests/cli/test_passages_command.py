"""`neardup passages`: what stood earlier is cut, what is not cut stays byte for byte, and the log names each copy."""

import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CLOCK, FERRY, files, lines, read_lines, write_lines

import neardup as nd

NOTICE = "All rights reserved by the paper"
ROWS = [
    {"id": "ferry", "text": f"{FERRY}\n{NOTICE}.", "n": 1},
    {"id": "bread", "text": f"{BREAD}\n{NOTICE}, which is old.", "n": 2},
    {"id": "notice", "text": f"{NOTICE}!", "n": 3},
    {"id": "bridge", "text": f"{BRIDGE}{NOTICE}", "n": 4},
    {"id": "twice", "text": f"{CLOCK} x {CLOCK}", "n": 5},
    {"id": "empty", "text": "", "n": 6},
]
LEFT = {
    "ferry": ROWS[0]["text"],
    "bread": f"{BREAD}\n, which is old.",
    "bridge": BRIDGE,
    "twice": f"{CLOCK} x .",
    "empty": "",
}
SIZE = ("--min-tokens", "6")


@pytest.fixture(autouse=True)
def inputs(place):
    write_lines("in.jsonl", ROWS)


def test_what_stood_earlier_is_cut_and_told(run):
    done = run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE)
    assert (done.code, done.out) == (0, b"")
    tokens = nd.passages(ROWS, min_tokens=6).summary.tokens
    assert done.err.splitlines()[0] == f"read     6 documents, {tokens} tokens"
    done.said(
        "cut      40 tokens (",
        ") in 4 passages\n         3 documents (50.0 %) changed\n         1 document (16.7 %) removed, of which nothing was left\n",
        "output   out.jsonl\naudit    out.passages.jsonl\n",
    )
    assert {row["id"]: row["text"] for row in read_lines("out.jsonl")} == LEFT
    assert files() == ["in.jsonl", "out.jsonl", "out.passages.jsonl", "out.summary.json"]
    bread, notice, *_ = read_lines("out.passages.jsonl")
    assert bread == {
        "id": "bread",
        "row": 1,
        "start": len(BREAD) + 1,
        "end": len(BREAD) + 1 + len(NOTICE),
        "tokens": 6,
        "copy_id": "ferry",
        "copy_row": 0,
        "copy_start": len(FERRY) + 1,
        "copy_end": len(FERRY) + 1 + len(NOTICE),
        "copy_is_cut": False,
        "separator": None,
        "document_removed": False,
    }
    assert (notice["id"], notice["document_removed"]) == ("notice", True)
    summary = json.loads(Path("out.summary.json").read_bytes())
    names = ("rows", "documents", "changed", "removed", "kept_for_copies", "passages", "cut_tokens", "removed_tokens")
    assert [summary[name] for name in names] == [6, 6, 3, 1, 0, 4, 40, 0]
    assert summary["files"]["audit"] == "out.passages.jsonl"


def test_tokens_that_would_run_together_get_a_space_that_the_log_tells(run):
    write_lines(
        "in.jsonl", [{"text": "one two three"}, {"text": "zero-one two three-four"}, {"text": "a天one two three天b"}]
    )
    run("passages", "in.jsonl", "-o", "out.jsonl", "--min-tokens", "3").ok()
    assert [row["text"] for row in read_lines("out.jsonl")][1:] == ["zero--four", "a天天b"]
    assert [line["separator"] for line in read_lines("out.passages.jsonl")] == [None, None]
    write_lines("in.jsonl", [{"text": "河上的"}, {"text": "a河上的b"}])
    run("passages", "in.jsonl", "-o", "out.jsonl", "--min-tokens", "3", "--overwrite").ok()
    assert [row["text"] for row in read_lines("out.jsonl")][1:] == ["a b"]
    assert [line["separator"] for line in read_lines("out.passages.jsonl")] == [" "]


def test_json_quiet_and_a_dry_run(run):
    before = files()
    done = run("passages", "in.jsonl", "--dry-run", *SIZE).ok("cut      40 tokens", "a dry run: nothing was written")
    done = run("passages", "in.jsonl", "--dry-run", "--json", "--quiet", *SIZE)
    assert (json.loads(done.out)["cut_tokens"], done.err) == (40, "")
    assert files() == before
    run("passages", "in.jsonl", "-o", "-", "--json").refused("--json and -o - would both write to standard output")


def write_in(ending, rows, name="in"):
    """Rows in a file, or in files, of a format."""
    form, _, packed = ending.partition(".")
    path = Path(f"{name}.{ending}")
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
        return path
    if form in ("csv", "tsv"):
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], delimiter="\t" if form == "tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
        data = text.getvalue().encode()
    else:
        data = lines(rows)
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def read_as(path):
    """Its texts by id."""
    if ".parquet" in path.name:
        rows = pq.read_table(path).to_pylist()
    else:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        if ".jsonl" in path.name:
            rows = [json.loads(line) for line in text.splitlines()]
        else:
            rows = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if ".tsv" in path.name else ",")
    return {row["id"]: row["text"] for row in rows}


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "csv", "tsv", "csv.gz", "parquet"])
def test_every_format_is_cut_alike(run, ending):
    write_in(ending, ROWS)
    run("passages", f"in.{ending}", "-o", f"out.{ending}", *SIZE).ok()
    assert read_as(Path(f"out.{ending}")) == LEFT
    run("passages", "in.jsonl", "-o", "other.jsonl", *SIZE).ok()
    assert Path("out.passages.jsonl").read_bytes() == Path("other.passages.jsonl").read_bytes()


MIXED = [
    *ROWS[:-1],
    {"id": "lines", "text": f"{BRIDGE}\n\n{CLOCK}\r\n{NOTICE}\n  \n{FERRY}", "n": 7},
    {"id": "again", "text": f"{NOTICE} {NOTICE}\n{BRIDGE[:12]}, {BREAD.upper()}", "n": 8},
]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.zst", "csv", "tsv", "parquet"])
@pytest.mark.parametrize("align", [None, "line", "paragraph"])
@pytest.mark.parametrize("scope", ["all", "other-documents", "same-document"])
def test_every_format_gives_what_is_found_in_memory(ending, align, scope):
    write_in("jsonl" if "zst" in ending else ending, MIXED[:4], "a")
    write_in("jsonl" if "zst" in ending else ending, MIXED[4:], "b")
    write_in("jsonl" if "zst" in ending else ending, [{"id": "r", "text": BREAD, "n": 0}], "ref")
    given = ending.removesuffix(".zst")
    for against, reference in (((), None), (f"ref.{given}", [{"id": "r", "text": BREAD}])):
        options = {"min_tokens": 6, "align": align, "scope": scope}
        files_of = [f"a.{given}", f"b.{given}"]
        nd.passages_files(files_of, f"out.{ending}", against=against, overwrite=True, threads=2, **options)
        found = nd.passages(MIXED, against=reference, **options)
        if "zst" not in ending:
            assert read_as(Path(f"out.{ending}")) == {row["id"]: row["text"] for row in found.texts}
        nd.passages_files(files_of, f"out/{given}/", against=against, overwrite=True, audit="cuts/", **options)
        log = [
            line
            for name in ("a", "b")
            if Path(f"cuts/{name}.passages.jsonl").exists()
            for line in read_lines(f"cuts/{name}.passages.jsonl")
        ]
        names = found.cuts.column_names
        assert [{name: line[name] for name in names} for line in log] == found.cuts.to_pylist()
        both = read_as(Path(f"out/{given}/a.{given}")) | read_as(Path(f"out/{given}/b.{given}"))
        assert both == {row["id"]: row["text"] for row in found.texts}


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_annotated_rows_are_all_there_with_what_would_be_cut(run, ending):
    write_in(ending, ROWS)
    done = run("passages", f"in.{ending}", "-o", f"out.{ending}", "--annotate", *SIZE)
    done.ok("marked   40 tokens", "3 documents (50.0 %) would be changed", "1 document (16.7 %) would be removed")
    path = Path(f"out.{ending}")
    assert read_as(path) == {row["id"]: row["text"] for row in ROWS}
    if ending == "parquet":
        column = pq.read_table(path)["passages"]
        assert column.type == pa.list_(pa.list_(pa.int64()))
        found = column.to_pylist()
    elif ending == "csv":
        text = path.read_text(encoding="utf-8")
        found = [json.loads(row["passages"]) for row in csv.DictReader(io.StringIO(text, newline=""))]
    else:
        found = [row["passages"] for row in read_lines(path)]
    spans = [[list(span[1:]) for span in spans] for spans in nd.passages(ROWS, min_tokens=6).spans]
    assert found == spans
    texts = [row["text"] for row in ROWS]
    assert [texts[1][first:end] for first, end in spans[1]] == [NOTICE]


def test_text_files_are_one_document_each_and_removed_ones_have_no_file(run):
    for row in ROWS:
        Path("in").mkdir(exist_ok=True)
        Path(f"in/{row['n']}.txt").write_text(row["text"], encoding="utf-8")
    run("passages", "in", "-o", "out/", *SIZE).ok()
    found = {path.name: path.read_text(encoding="utf-8") for path in Path("out").iterdir()}
    assert found == {f"{row['n']}.txt": LEFT[row["id"]] for row in ROWS if row["id"] in LEFT}
    assert [line["id"] for line in read_lines("out.passages.jsonl")] == ["2.txt", "3.txt", "4.txt", "5.txt"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
def test_lines_that_are_documents_keep_their_ends(run, encoding):
    text = f"{FERRY} {NOTICE}.\r\n\r\n{NOTICE}\n{BREAD} {NOTICE}\r\n{BRIDGE}"
    Path("in.txt").write_bytes(text.encode(encoding))
    run("passages", "in.txt", "--lines", "-o", "out.txt", "--encoding", encoding, *SIZE).ok()
    assert Path("out.txt").read_bytes().decode(encoding) == f"{FERRY} {NOTICE}.\r\n{BREAD} \r\n{BRIDGE}"


def test_of_a_row_that_loses_a_passage_all_else_stays_byte_for_byte(run):
    odd = f'{{"b" :  "caf\\u00e9",\t"text":"x {NOTICE}", "title": "\\u00fc\\/", "n": 1.50}}'
    Path("in.jsonl").write_text(f'{{"text": "{NOTICE}", "title": ""}}\n{odd}\n', encoding="utf-8")
    run("passages", "in.jsonl", "-o", "out.jsonl", "--text", "title", "--text", "text", *SIZE).ok()
    assert Path("out.jsonl").read_text(encoding="utf-8").splitlines()[1] == odd.replace(NOTICE, "")
    [line] = read_lines("out.passages.jsonl")
    assert (line["column"], line["copy_column"], line["start"]) == ("text", "text", 2)
    run("passages", "in.jsonl", "-o", "all.jsonl", "--text", "title", "--text", "text", "--annotate", *SIZE).ok()
    assert [row["passages"] for row in read_lines("all.jsonl")] == [[], [[1, 2, 2 + len(NOTICE)]]]


def test_a_nested_column_is_cut(run):
    write_lines("in.jsonl", [{"id": row["id"], "meta": {"body": row["text"], "n": 1}} for row in ROWS])
    run("passages", "in.jsonl", "-o", "out.jsonl", "--text", "meta.body", *SIZE).ok()
    assert {row["id"]: row["meta"]["body"] for row in read_lines("out.jsonl")} == LEFT


def test_only_whole_lines_or_paragraphs_go(run):
    rows = [{"text": f"{NOTICE}\nx"}, {"text": f"{FERRY}\n{NOTICE}.\n\nit says {NOTICE}\n\n{NOTICE}"}]
    write_lines("in.jsonl", rows)
    for unit, left in (
        ("line", f"{FERRY}\n\nit says {NOTICE}\n"),
        ("paragraph", f"{FERRY}\n{NOTICE}.\n\nit says {NOTICE}"),
    ):
        run("passages", "in.jsonl", "-o", "out.jsonl", "--align", unit, "--overwrite", *SIZE).ok()
        assert read_lines("out.jsonl")[1]["text"] == left


def test_a_reference_stays_and_what_stands_in_it_is_cut(run):
    write_lines("ref/a.jsonl", [{"id": 7, "text": BREAD}])
    write_lines("ref/b.jsonl", [{"id": 8, "text": CLOCK}, {"id": 9, "text": f"so: {NOTICE}"}])
    run("passages", "in.jsonl", "--against", "ref", "-o", "out.jsonl", *SIZE).ok()
    kept = {row["id"]: row["text"] for row in read_lines("out.jsonl")}
    assert kept == {"ferry": f"{FERRY}\n.", "bread": ", which is old.", "bridge": BRIDGE, "twice": ". x .", "empty": ""}
    log = read_lines("out.passages.jsonl")
    assert log[0]["copy_row"] is None
    assert {(line["id"], line["copy_id"], line["reference"], line["reference_row"]) for line in log} >= {
        ("ferry", 9, "ref/b.jsonl", 1),
        ("bread", 7, "ref/a.jsonl", 0),
        ("twice", 8, "ref/b.jsonl", 0),
    }
    run("passages", "in.jsonl", "--against", "ref", "-o", "list.jsonl", "--list", *SIZE).ok()
    first = read_lines("list.jsonl")[0]
    assert (first["text"], first["count"], first["places"][0]) == (
        NOTICE,
        5,
        {
            "id": 9,
            "row": None,
            "start": 4,
            "end": 4 + len(NOTICE),
            "is_cut": False,
            "reference": "ref/b.jsonl",
            "reference_row": 1,
        },
    )
    found = nd.passages(ROWS, against=[{"id": 7, "text": BREAD}, {"id": 8, "text": CLOCK}], min_tokens=6)
    assert found.cuts["reference_row"].to_pylist()[0] == 0
    assert found.cuts["copy_row"].to_pylist()[0] is None


def test_the_list_goes_to_standard_output_or_to_a_file(run):
    done = run("passages", "in.jsonl", "-o", "-", "--list", *SIZE).ok("found    40 tokens")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [(each["count"], each["tokens"], each["total"], each["text"]) for each in found] == [
        (4, 6, 24, NOTICE),
        (2, 22, 44, CLOCK.removesuffix(".")),
    ]
    assert [place["id"] for place in found[0]["places"]] == ["ferry", "bread", "notice", "bridge"]
    run("passages", "in.jsonl", "-o", "list.jsonl.gz", "--list", "--quiet", *SIZE).ok()
    assert gzip.decompress(Path("list.jsonl.gz").read_bytes()) == done.out
    assert files() == ["in.jsonl", "list.jsonl.gz", "list.summary.json"]


def test_a_folder_of_shards_has_a_folder_of_logs(run):
    for number, row in enumerate(ROWS):
        write_lines(f"in/{number}/x.jsonl", [row])
    run("passages", "in", "-o", "out/", "--audit", "cuts/", *SIZE).ok("audit    cuts/")
    assert {row["id"]: row["text"] for number in range(6) for row in read_lines(f"out/{number}/x.jsonl")} == LEFT
    found = [line["id"] for number in range(6) for line in read_lines(f"cuts/{number}/x.passages.jsonl")]
    assert found == ["bread", "notice", "bridge", "twice"]
    run("passages", "in.jsonl", "-o", "cuts/out.jsonl", *SIZE).ok()
    assert "skipped" in run("dedup", "cuts", "-o", "other/").err  # logs are no documents


def test_standard_input_and_output(run):
    done = run("passages", "-", "-o", "-", *SIZE, stdin=lines(ROWS))
    assert {row["id"]: row["text"] for row in map(json.loads, done.out.splitlines())} == LEFT
    assert files() == ["in.jsonl"]
    run("passages", "-", "-o", "-", "--audit", "cuts.jsonl", *SIZE, stdin=lines(ROWS)).ok("audit    cuts.jsonl")
    assert len(read_lines("cuts.jsonl")) == 4


def test_rows_that_cannot_be_read_are_set_aside(run):
    Path("in.jsonl").write_bytes(lines(ROWS[:2]) + b'{"text": 3}\n' + lines(ROWS[2:]))
    run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE).refused("in.jsonl, row 2", code=1)
    run("passages", "in.jsonl", "-o", "out.jsonl", "--on-error", "skip", *SIZE).ok("1 row could not be read")
    assert {row["id"]: row["text"] for row in read_lines("out.jsonl")} == LEFT
    assert [line["row"] for line in read_lines("out.passages.jsonl")] == [1, 3, 4, 5]
    assert [line["row"] for line in read_lines("out.rejects.jsonl")] == [2]
    run("passages", "in.jsonl", "-o", "all.jsonl", "--on-error", "skip", "--annotate", *SIZE).ok()
    assert len(read_lines("all.jsonl")) == 6


def test_preferred_documents_keep_their_passages(run):
    write_lines("old/a.jsonl", ROWS[:1])
    write_lines("new/b.jsonl", [dict(ROWS[1], score=2, host="x"), dict(ROWS[3], score=5, host="y")])
    run("passages", "old", "new", "-o", "out/", "--prefer-source", "new", *SIZE).ok()
    assert {line["id"]: line["copy_id"] for line in read_lines("out.passages.jsonl")} == {
        "ferry": "bread",
        "bridge": "bread",
    }
    run("passages", "new", "-o", "best.jsonl", "--keep", "max:score", *SIZE).ok("keep max:score compares numbers")
    assert {line["id"]: line["copy_id"] for line in read_lines("best.passages.jsonl")} == {"bread": "bridge"}
    run("passages", "new", "-o", "within.jsonl", "--within", "host", *SIZE).ok()
    assert read_lines("within.passages.jsonl") == []


def test_a_file_of_options_is_taken(run):
    Path("neardup.toml").write_text("[passages]\nmin_tokens = 6\nalign = 'line'\n")
    run("passages", "in.jsonl", "-o", "out.jsonl", "--config", "neardup.toml").ok()
    assert json.loads(Path("out.summary.json").read_bytes())["options"]["align"] == "line"


def test_the_pages_of_html_files_become_their_texts(run):
    Path("in").mkdir()
    Path("in/a.html").write_text(f"<p>{NOTICE}</p><p>x</p>")
    Path("in/b.html").write_text(f"<h1>{FERRY}</h1><p>{NOTICE}</p>")
    run("passages", "in", "-o", "out/", "--html", "whole", *SIZE).ok()
    assert Path("out/a.html").read_text() == f"{NOTICE}\nx"
    assert Path("out/b.html").read_text() == f"{FERRY}\n"


@pytest.mark.parametrize("kind", [(), ("--annotate",), ("--list",)], ids=str)
@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_run_that_is_resumed_gives_the_same(run, kind, threads, monkeypatch):
    for number, row in enumerate(ROWS):
        write_lines(f"in/{number}.jsonl", [row])
    call = ("passages", "in", "-o", "out.jsonl", *SIZE, *kind, "--threads", threads)
    run(*call).ok()
    names = [name for name in files() if name.startswith("out") and "summary" not in name]
    whole = {name: Path(name).read_bytes() for name in names}
    for name in files():
        if name.startswith("out"):
            Path(name).unlink()
    for stage in ("cut_documents", "meet_any"):
        with monkeypatch.context() as patch:

            def interrupted(*_):
                raise KeyboardInterrupt

            patch.setattr(f"neardup.survivors.repeats.outcomes.{stage}", interrupted)
            run(*call, "--resume", leaves_nothing=False).refused("finished work stays in out.resume", code=130)
    done = run(*call, "--resume").ok("times a shard was not read again")
    assert {name: Path(name).read_bytes() for name in names} == whole
    again = run(*call, "--resume").ok("this run was done before")
    told = [each.err[each.err.index("read  ") :] for each in (done, again)]
    assert told[0] == told[1]
    run(*call, "--resume", "--min-left", "2").refused("out.resume")


REFUSED = [
    (("--min-tokens", "1"), "--min-tokens 1: give an integer from 2 to 1,048,576"),
    (("--min-left", "-1"), "--min-left -1: give an integer from 0"),
    (("--scope", "none"), "--scope none: give one of all, other-documents, same-document"),
    (("--align", "word"), "--align word: give one of line, paragraph"),
    (("--elements", "tags"), "No such option"),
    (("--list", "--annotate"), "--list with --annotate: the list is written instead of documents"),
    (("--list", "--audit", "cuts.jsonl"), "with --list: nothing is cut, so there is no log"),
    (("--text", "a", "--text", "b", "--html", "main"), "the text of a page is written to its column. Name one column"),
    (("--text", "a", "--text", "a"), "name each column once"),
    (("--lines", "--html", "whole"), "with --lines: the text of a page has several lines"),
    (("--keep", "best"), "best"),
    (("--similarity", "none.toml"), "none.toml"),
    (("--recipe", "none"), "none"),
    (("--against", "in.jsonl"), "in.jsonl is given twice"),
    (("--against", "-"), "a reference is read from files"),
    (("--against", "seen"), "seen is a store. This takes files of texts as a reference"),
    (("--against", "prints.parquet"), "prints.parquet holds fingerprints, and passages are found in texts"),
    (("--audit", "cuts.csv"), "the audit is JSON lines"),
    (("--within", "host"), "host"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[" ".join(options) for options, _ in REFUSED])
def test_what_cannot_be_is_refused(run, options, message):
    if "seen" in options:
        run("store", "create", "seen").ok()
    if "prints.parquet" in options:
        run("fingerprint", "in.jsonl", "-o", "prints.parquet").ok()
    before = files()
    run("passages", "in.jsonl", "-o", "out.jsonl", *options).refused(message)
    assert files() == before


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("out.csv", "in.jsonl is jsonl"),
        ("in.jsonl", "is an input"),
        ("there.jsonl", "there.jsonl exists already"),
    ],
)
def test_an_output_that_does_not_fit_is_refused(run, output, message):
    Path("there.jsonl").write_bytes(b"")
    run("passages", "in.jsonl", "-o", output).refused(message)


@pytest.mark.parametrize("output", ["list.csv", "list/", "list"])
def test_a_list_that_is_no_file_of_json_lines_is_refused(run, output):
    run("passages", "in.jsonl", "-o", output, "--list").refused(f"-o {output}: the list is one file of JSON lines")


def test_a_list_on_standard_output_has_no_place_for_rejects(run):
    run("passages", "in.jsonl", "-o", "-", "--list", "--on-error", "skip").refused("has no place for the rejects")


def test_columns_that_are_there_are_not_added(run):
    write_lines("in.jsonl", [{"text": "a", "passages": 1}])
    run("passages", "in.jsonl", "-o", "out.jsonl", "--annotate").refused("passages")
    Path("in.txt").write_text("a")
    run("passages", "in.txt", "-o", "out.txt", "--annotate").refused("in.txt")


def test_lists_and_stores_are_no_texts():
    with pytest.raises(nd.OptionError, match="`elements='tags'`: a list has no passages"):
        nd.passages_files("in.jsonl", "out.jsonl", elements="tags")
    with pytest.raises(nd.OptionError, match="`data` has sets or lists"):
        nd.passages([{"a", "b"}])
    with pytest.raises(nd.OptionError, match=r"`elements`: passages\(\) has no such option"):
        nd.passages(["a"], elements="tags")
    with pytest.raises(nd.OptionError, match="`source='host'`: it is for `prefer_source`"):
        nd.passages([{"text": "a", "host": "b"}], source="host")
    with pytest.raises(nd.OptionError, match="name each column once"):
        nd.passages([{"text": "a"}], text=["text", "text"])
    with pytest.raises(nd.OptionError, match="Name one column"):
        nd.passages([{"a": "a", "b": "b"}], text=["a", "b"], html="main")


def test_a_segmenter_whose_tokens_do_not_follow_one_another_is_refused(run):
    Path("overlap.toml").write_text("segmenter = 'jieba'\nmode = 'search'\n")
    text = "中华人民共和国中央人民政府今天成立了北京大学"
    write_lines("in.jsonl", [{"text": text}, {"text": text}])
    run("passages", "in.jsonl", "-o", "out.jsonl", "--similarity", "overlap.toml", *SIZE).refused(
        "its tokens do not stand in the text one after another"
    )
    assert files() == ["in.jsonl", "overlap.toml"]
