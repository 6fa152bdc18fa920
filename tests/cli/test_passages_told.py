"""`neardup explain` and `neardup report` of runs that cut passages: every cut beside its copy, in its context."""

import json
from pathlib import Path

import pytest
from cli_corpora import BREAD, CLOCK, files, lines, read_lines, write_lines
from test_passages_command import NOTICE, ROWS, SIZE

import neardup as nd


@pytest.fixture(autouse=True)
def inputs(place):
    write_lines("in.jsonl", ROWS)


def cut(run, *more):
    run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE, *more).ok()
    return "out.passages.jsonl"


def test_each_passage_is_shown_beside_its_copy(run):
    log = cut(run)
    shown = run("explain", log, "bread").ok().out.decode()
    assert shown.splitlines()[0] == '"bread" (row 1): 1 passage was cut.'
    assert f'6 tokens: a copy of "ferry" (row 0), characters {len(ROWS[0]["text"]) - 33} to ' in shown
    assert f"[{NOTICE}], which is old." in shown.split("    cut ")[1].splitlines()[0]
    assert f"[{NOTICE}].\n" in shown.split("    copy ")[1]
    shown = run("explain", log, "notice").ok().out.decode()
    assert shown.startswith('"notice" (row 2): 1 passage was cut, and the document was removed: too little was left.')
    assert run("explain", log, "ferry").ok().out.decode() == '"ferry" (row 0): nothing was cut.\n'


def test_documents_of_one_id_are_all_shown_and_integers_are_ids(run):
    write_lines("in.jsonl", [{"id": 7, "text": CLOCK}, {"id": 7, "text": f"x {CLOCK}"}, {"id": 8, "text": ""}])
    shown = run("explain", cut(run), "7").ok().out.decode()
    assert [line for line in shown.splitlines() if line[:1] == "7"] == [
        "7 (row 0): nothing was cut.",
        "7 (row 1): 1 passage was cut.",
    ]


def test_a_copy_in_a_reference_and_columns_are_named(run):
    write_lines("ref.jsonl", [{"id": 9, "title": "", "text": f"so: {NOTICE}"}])
    write_lines("in.jsonl", [dict(row, title=BREAD if row["n"] > 4 else "") for row in ROWS])
    log = cut(run, "--against", "ref.jsonl", "--text", "title", "--text", "text")
    shown = run("explain", log, "ferry").ok().out.decode()
    assert "of text, 6 tokens: a copy of 9 (row 0 of ref.jsonl, in the reference), characters 4 to " in shown
    assert f"    copy  so: [{NOTICE}]" in shown
    shown = run("explain", log, "empty").ok().out.decode()
    assert "of title, " in shown
    run("report", log, "-o", "page.html").ok()
    page = Path("page.html").read_text(encoding="utf-8")
    assert "column title" in page
    assert "in ref.jsonl, row 0" in page


def test_a_long_passage_is_shown_in_part(run):
    text = " ".join(f"word{i}" for i in range(400))
    write_lines("in.jsonl", [{"id": "a", "text": text}, {"id": "b", "text": f"one\ntwo {text}"}])
    shown = run("explain", cut(run), "b").ok().out.decode()
    assert "one⏎two [word0 word1 " in shown
    assert f"… {len(text) - 400:,} more characters …" in shown


def test_what_cannot_be_explained_is_refused(run):
    log = cut(run)
    run("explain", log).refused("Of the first that loses a passage: `neardup explain out.passages.jsonl bread`")
    run("explain", log, "nobody").refused("There is no document 'nobody' in out.passages.jsonl")
    run("explain", log, "bread", "--diff").refused("--diff: out.passages.jsonl is a log of cuts")
    run("explain", "none.passages.jsonl", "bread").refused("There is no log 'none.passages.jsonl'")
    write_lines("in.jsonl", [dict(row, text=row["text"].upper()) for row in ROWS])
    run("explain", log, "bread").refused("The inputs are not what they were")
    run("report", log, "-o", "page.html").ok("it shows no texts: The inputs are not what they were")
    assert NOTICE not in Path("page.html").read_text(encoding="utf-8")
    run("passages", "-", "-o", "piped.jsonl", *SIZE, stdin=lines(ROWS)).ok()
    run("explain", "piped.passages.jsonl", "bread").refused("They came on standard input")
    write_lines("in.jsonl", [{"id": 1, "text": "a"}])
    run("passages", "in.jsonl", "-o", "none.jsonl", *SIZE).ok()
    run("explain", "none.passages.jsonl").refused("none.passages.jsonl has none: nothing was cut")
    run("explain", "none.passages.jsonl", "1").ok()


@pytest.mark.parametrize("by", [(), ("--report-by", "n")], ids=str)
def test_the_page_of_a_run_is_that_of_its_log(run, by):
    log = cut(run, "--report", "run.html", *by)
    run("report", log, "-o", "log.html", *by).ok("report   log.html")
    page = Path("run.html").read_text(encoding="utf-8")
    assert page == Path("log.html").read_text(encoding="utf-8")
    assert f"<mark>{NOTICE}</mark>, which is old." in page
    assert "<script" not in page
    assert '<th scope="col">n</th>' in page if by else "<bdi>in.jsonl</bdi>" in page
    assert "of all tokens stood earlier" in page
    assert json.loads(Path("out.summary.json").read_bytes())["files"]["report"] == "run.html"


def test_texts_and_names_are_escaped(run):
    evil = "<img src=x onerror=alert(1)> one two three four five \u202e six"
    write_lines("in.jsonl", [{"id": "<b>", "text": evil}, {"id": "<i>", "text": f"<u>x</u> {evil}"}])
    cut(run, "--report", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert "<u>" not in page
    assert "⟨U+202E⟩" in page


def test_dry_runs_and_resumed_runs_write_the_page(run):
    before = files()
    run("passages", "in.jsonl", "--dry-run", "--report", "dry.html", *SIZE).ok()
    assert files() == sorted([*before, "dry.html"])
    cut(run, "--resume")
    run("passages", "in.jsonl", "-o", "out.jsonl", *SIZE, "--resume", "--report", "late.html").ok()
    assert NOTICE in Path("late.html").read_text(encoding="utf-8")


def test_reports_that_cannot_be_are_refused(run):
    run("passages", "in.jsonl", "-o", "out.jsonl", "--report", "page.txt").refused("a report is a page")
    run("passages", "in.jsonl", "-o", "out.jsonl", "--report-by", "n").refused("--report-by n says how a report counts")
    run("passages", "in.jsonl", "-o", "out.jsonl", "--list", "--report", "a.html").refused("there is no report")
    run("passages", "in.jsonl", "-o", "out.jsonl", "--report", "a.html", "--report-by", "none").refused("none")
    log = cut(run)
    run("report", log, "-o", "in.jsonl").refused("a report is a page")
    run("report", log, "-o", "a.html", "--report-by", "none").refused("none")
    assert "a.html" not in files()


def test_a_run_without_cuts_has_a_page(run):
    write_lines("in.jsonl", [{"id": 1, "text": "a"}])
    cut(run, "--report", "page.html")
    assert "Nothing was cut." in Path("page.html").read_text(encoding="utf-8")


def test_the_page_fits_a_window_and_loads_nothing(browser, run):
    cut(run, "--report", "page.html")
    said = []
    for width in (1200, 380):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(Path("page.html").resolve().as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("article.pair").count() == len(read_lines("out.passages.jsonl"))
        page.close()
    assert [each for each in said if not each.startswith("data:")] == []


def test_python_explains_and_reports_the_same(run):
    from neardup.judging.cut_explanation import explain_cuts

    log = cut(run)
    [found] = explain_cuts(log, "bread")
    assert (found.row, found.is_removed, found.cuts[0].passage.passage) == (1, False, NOTICE)
    with pytest.raises(nd.InputError, match="There is no document"):
        explain_cuts(log, "nobody")


@pytest.mark.parametrize("more", [(), ("--against", "ref.jsonl"), ("--keep", "max:n", "--within", "id")], ids=str)
def test_a_dry_run_estimates_first_what_all_takes(run, more):
    write_lines("ref.jsonl", [{"id": 9, "text": BREAD}])
    for number in range(3):
        write_lines(f"in/{number}.jsonl", [dict(row, id=f"{number}-{row['id']}") for row in ROWS])
    done = run("passages", "in", "--dry-run", *SIZE, *more)
    done.ok("estimate: 18 documents in ", " of temporary files (allowed: ", "interrupt it if the estimate is enough")
    assert "by method" not in done.err
    done = run("passages", "in", "--dry-run", "--json", "--quiet", *SIZE, *more).ok()
    summary = json.loads(done.out)
    found = summary["estimate"]
    assert found["documents"] == summary["documents"] == 18
    assert found["sampled_documents"] == 18 + (more[:1] == ("--against",))
    assert set(found["seconds"]) == {"read", "windows", "earliest", "cuts", "cut", "write", "total"}
    assert found["temporary_bytes"] == summary["peak_temporary_bytes"]
    run("passages", "in", "-o", "out.jsonl", "--json", *SIZE, *more).ok()
    assert "estimate" not in json.loads(Path("out.summary.json").read_bytes())


def test_an_estimate_from_a_part_is_near_to_what_the_whole_takes(run, monkeypatch):
    words = [f"w{i}" for i in range(500)]
    rows = [{"text": " ".join(words[(7 * i + j * (i % 11)) % 500] for j in range(120))} for i in range(11_000)]
    write_lines("in.jsonl", rows)
    monkeypatch.setattr("neardup.io.corpora.sample.SAMPLED_BYTES", 1)
    found = json.loads(run("passages", "in.jsonl", "--dry-run", "--json", "--quiet", "--min-tokens", "20").ok().out)
    guess = found["estimate"]
    assert guess["sampled_documents"] < found["documents"]
    assert found["documents"] / 3 < guess["documents"] < 3 * found["documents"]
    assert found["peak_temporary_bytes"] / 3 < guess["temporary_bytes"] < 3 * found["peak_temporary_bytes"]
