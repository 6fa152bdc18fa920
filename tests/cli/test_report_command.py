"""`neardup report` and `dedup --report`: what the page says is what the summary and the audit say, and hostile texts stay texts."""

import json
import re
import shlex
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cli_corpora import BREAD, CHAIN, CLOCK, FERRY, FERRY_EDITED, ROWS, read_lines, write_lines

import neardup

VOID = {"meta", "link", "br", "line", "rect", "input"}


class Page(HTMLParser):
    """A page's elements, and the text of those that are asked for."""

    def __init__(self, path):
        super().__init__()
        self.source = Path(path).read_text(encoding="utf-8")
        self.elements, self.open, self.texts = [], [], {}
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, len(self.elements) - 1))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for _, number in self.open:
            self.texts[number] = self.texts.get(number, "") + data

    def text(self, tag, kind=None):
        """The texts of all elements of a tag and, if given, of a class."""
        found = [
            number
            for number, (name, attributes) in enumerate(self.elements)
            if name == tag and (kind is None or kind in (attributes.get("class") or "").split())
        ]
        return [self.texts.get(number, "") for number in found]

    @property
    def shown(self):
        """All that a reader sees, in one line."""
        [body] = self.text("body")
        return " ".join(body.replace(self.text("script")[0], "").split())


def number_of(page, label):
    return int(re.search(rf"{label} ([\d,]+)", page.shown)[1].replace(",", ""))


def test_the_counts_are_those_of_the_summary(run):
    write_lines("in.jsonl", ROWS)
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html").code == 0
    page, summary = Page("out.html"), json.loads(Path("out.summary.json").read_text())
    assert page.open == []
    assert page.text("h1") == ["5 documents → 3 survivors"]
    assert number_of(page, "Documents before") == summary["documents"] == 5
    assert number_of(page, "Survivors after") == summary["survivors"] == 3
    assert number_of(page, "Duplicates removed") == summary["duplicates"] == 2
    assert number_of(page, "Equal texts of these") == summary["exact_duplicates"] == 1
    assert number_of(page, "Clusters") == summary["clusters"] == 1
    assert summary["files"]["report"] == "out.html"
    assert "in.jsonl 5 2 40.0 %" in page.shown
    for name in ("fingerprint", "join", "write"):
        assert f"{name} {summary['seconds'][name]:.2f}" in page.shown
    assert summary["recipe"]["digest"] in page.shown
    assert f"numpy {summary['versions']['numpy']}" in page.shown
    assert summary["reason"] in page.shown


def test_a_report_of_the_audit_is_the_one_that_the_run_wrote(run):
    write_lines("a.jsonl", ROWS[:2])
    write_lines("b.jsonl", ROWS[2:])
    run("dedup", "a.jsonl", "b.jsonl", "-o", "out/", "--report", "first.html")
    done = run("report", "out.duplicates.jsonl", "-o", "second.html")
    assert (done.code, done.out) == (0, b"")
    assert done.err.endswith("report   second.html\n")
    first, second = (Path(name).read_text() for name in ("first.html", "second.html"))
    assert re.sub(r'"report".*', "", first) == re.sub(r'"report".*', "", second)
    assert run("report", "out.duplicates.jsonl", "-o", "third.html", "--threads", "1", "--quiet").err == ""
    assert Path("third.html").read_text() == second


def test_pairs_are_shown_with_what_they_have_in_common_borderline_ones_first(run):
    near = {"id": "near", "text": CHAIN[0]}
    less = {"id": "less", "text": CHAIN[0].replace("word3 ", "changed ")}
    write_lines("in.jsonl", [near, less, {"id": "same", "text": CHAIN[0].upper()}, *ROWS[:2]])
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html")
    page = Page("out.html")
    alike = [re.search(r"similarity ([\d.]+)|equal text", text)[0] for text in page.text("article", "pair")]
    assert alike == sorted(alike, key=lambda text: (text == "equal text", text))
    assert alike[-1] == "equal text"
    assert "changed" in " ".join(page.text("mark"))
    assert any("word10 word11" in text for text in page.text("div", "text"))
    assert "word10" not in " ".join(page.text("mark"))
    labels = [json.loads(attributes["data-ids"]) for _, attributes in page.elements if "data-ids" in attributes]
    assert sorted(labels) == [["ferry", "edited"], ["near", "less"], ["near", "same"]]


def test_the_command_in_the_page_does_it_again(run):
    write_lines("in.jsonl", [row | {"body": row["text"], "n": 1} for row in ROWS])
    flags = (
        "--text",
        "body",
        "--min-similarity",
        "0.85",
        "--keep",
        "max:n",
        "--cluster",
        "components",
        "--recipe",
        "default-64",
    )
    run("dedup", "in.jsonl", "-o", "it's.jsonl", *flags, "--report", "out.html", "--on-error", "skip")
    [command] = [text for text in Page("out.html").text("code") if text.startswith("cd ")]
    words = shlex.split(command.splitlines()[1])
    first = Path("it's.duplicates.jsonl").read_bytes()
    assert {*flags, "--report"} <= set(words)
    assert "Outputs that exist are refused: name others, or add --overwrite." in Page("out.html").shown
    assert "exist already" in run(*words[1:]).err
    Path("out.html").unlink()
    assert run(*words[1:], "--overwrite").code == 0
    assert Path("out.html").exists()
    assert Path("it's.duplicates.jsonl").read_bytes() == first


def languages(run, *options):
    """The table of a report by the column `lang`, after a run over documents in three languages."""
    rows = [
        {"id": i, "text": CHAIN[0] if i < 3 else f"{CLOCK} {'x' * i}", "lang": lang}
        for i, lang in enumerate(["en", "en", "zh", "zh", None])
    ]
    write_lines("in.jsonl", rows)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", "0.99", "--report", "out.html", *options).ok()
    return Page("out.html")


def test_a_report_counts_by_the_values_of_a_column(run):
    page = languages(run, "--report-by", "lang")
    assert "By lang lang" in page.shown
    assert "en 2 1 50.0 %" in page.shown
    assert "zh 2 1 50.0 %" in page.shown
    assert "no value 1 0 0 %" in page.shown
    assert "Of the 3 values, the least affected lost 0 % of its documents, the median one 50.0 %" in page.shown
    assert "from zh (1)" not in page.shown
    assert "en (2), zh (1)" in page.shown
    assert "--report-by lang" in page.shown
    again = run("report", "out.duplicates.jsonl", "-o", "again.html", "--report-by", "lang")
    assert (again.code, Path("again.html").read_text()) == (0, page.source)
    neardup.report("out.duplicates.jsonl", "third.html", report_by="lang")
    assert Path("third.html").read_text() == page.source
    Path("options.toml").write_text('report-by = "lang"\n')
    assert run("report", "out.duplicates.jsonl", "-o", "fourth.html", "--config", "options.toml").code == 0
    assert Path("fourth.html").read_text() == page.source


def test_values_that_are_lists_are_counted_together_and_values_beyond_a_limit_too(run, monkeypatch):
    monkeypatch.setattr("neardup.judging.reports.sources.MAX_VALUES", 2)
    rows = [{"id": i, "text": f"{CLOCK} {'x' * i}", "lang": lang} for i, lang in enumerate([["a"], "b", "c", "d", "b"])]
    write_lines("in.jsonl", rows)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html", "--report-by", "lang")
    shown = Page("out.html").shown
    assert "a list or an object 1 0" in shown
    assert "b 2 " in shown
    assert "values after the first 2 2 " in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--report", "r.html", "--report-by", "nope"),
            'in.jsonl has no column "nope" in its first rows. It has: id, text',
        ),
        (
            ("--report-by", "id"),
            "--report-by id says how a report counts documents. Give --report, too, or leave it out.",
        ),
    ],
)
def test_a_column_that_no_report_can_count_by_is_refused_before_any_work(run, arguments, message):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", *arguments)
    assert (done.code, sorted(path.name for path in Path().iterdir())) == (2, ["in.jsonl"])
    assert message in done.err.replace("\n", " ")
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    done = run("report", "out.duplicates.jsonl", "-o", "r.html", "--report-by", "nope")
    assert (done.code, Path("r.html").exists()) == (2, False)
    assert 'no column "nope"' in done.err.replace("\n", " ")


def test_removals_that_differ_only_in_figures_are_counted_and_marked(run):
    bill = (
        "The invoice of the harbor office for berth {} over {} nights in the winter season comes to {} crowns in all."
    )
    rows = [{"id": i, "text": bill.format(i, 3 * i, 100 * i + 50)} for i in range(5)]
    rows += [{"id": "other", "text": bill.format(1, 3, 150).replace("winter", "summer")}]
    write_lines("in.jsonl", rows)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", "0.2", "--report", "out.html")
    page = Page("out.html")
    assert number_of(page, "Duplicates removed") == 5
    assert number_of(page, "Only figures differ") == 4
    assert [option for option in page.text("option") if "figures" in option] == ["4 where only figures differ"]
    tagged = [attributes for tag, attributes in page.elements if tag == "article" and "data-figures" in attributes]
    assert len(tagged) == 4


def test_clusters_say_what_differs_and_copies_are_told_apart(run):
    near = [CHAIN[0], CHAIN[0].replace("word5", "changed"), CHAIN[0].replace("word5", "changed").upper()]
    rows = [{"id": f"near{i}", "text": text} for i, text in enumerate(near)]
    rows += [{"id": f"copy{i}", "text": text} for i, text in enumerate([FERRY, FERRY, FERRY.upper()])]
    write_lines("in.jsonl", rows)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html")
    page = Page("out.html")
    [cluster] = page.text("details", "cluster")
    assert "3 documents near0 survives 2 near" in " ".join(cluster.split())
    assert "near1 and 1 of the same text" in " ".join(cluster.split())
    assert (page.text("del"), page.text("ins")) == (
        ["only in the survivor", "word5"],
        ["only in the removed text", "changed"],
    )
    assert [" ".join(row.split())[:7] for row in page.text("table", "copies")[0].split("\n") if "copy" in row] == [
        "3 copy0"
    ]


def test_the_numbers_of_the_slider_hold_for_a_run_where_they_are_exact(run):
    write_lines("in.jsonl", [{"id": str(i), "text": text} for i, text in enumerate([*CHAIN, FERRY, FERRY_EDITED])])
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", "0.6", "--report", "out.html")
    [box] = [
        attributes for tag, attributes in Page("out.html").elements if "what-if" in (attributes.get("class") or "")
    ]
    ranges = json.loads(box["data-ranges"])
    exact = [(threshold, least) for threshold, least, most, is_exact in ranges if is_exact and least == most]
    assert len(exact) > 1
    for number, (threshold, least) in enumerate(exact):
        run("dedup", "in.jsonl", "-o", f"o{number}.jsonl", "--min-similarity", str(threshold))
        assert len(read_lines(f"o{number}.duplicates.jsonl")) == least


HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<!-- --> ]]> </style> </textarea> &lt;b&gt; {{ 7*7 }} {% raw %}",
    "left \u202eright\u202c \u2066in\u2069 \u200b\ufeff nul \x00 bell \x07 escape \x1b[31m \x85 \u2028 \U000e0041",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_and_ids_are_shown_and_do_nothing(run, hostile):
    rows = [{"id": f"{hostile}{i}", "text": f"{hostile} {FERRY if i else FERRY_EDITED} {hostile}"} for i in range(2)]
    write_lines("in.jsonl", rows)
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", "0.7", "--report", "out.html").code == 0
    page = Page("out.html")
    tags = [tag for tag, _ in page.elements]
    assert (tags.count("script"), tags.count("style"), tags.count("img"), tags.count("b")) == (1, 1, 0, 0)
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]", page.source
    )
    [ids] = [json.loads(attributes["data-ids"]) for _, attributes in page.elements if "data-ids" in attributes]
    assert ids == [f"{hostile}0", f"{hostile}1"]
    for character in hostile.split()[0]:
        assert character in page.shown or f"U+{ord(character):04X}" in page.shown
    if "\u202e" in hostile:
        assert "left ⟨U+202E⟩right⟨U+202C⟩" in page.shown
    if "{{" in hostile:
        assert "{{ 7*7 }}" in page.shown


def test_a_file_whose_name_is_no_unicode_is_shown(run):
    name = Path(b"in-\xff<b>.jsonl".decode("utf-8", "surrogateescape"))
    write_lines(name, ROWS)
    assert run("dedup", name, "-o", "out.jsonl", "--report", "out.html").code == 0
    assert "in-⟨U+DCFF⟩<b>.jsonl" in Page("out.html").shown


def test_only_what_is_in_the_page_is_ever_needed(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html")
    page = Page("out.html")
    addresses = [a.get("src") or a.get("href") for _, a in page.elements if a.get("src") or a.get("href")]
    assert {address.partition(":")[0] for address in addresses if not address.startswith("#")} == {"data"}
    assert "default-src 'none'" in page.source
    assert "url(" not in page.source
    assert "@import" not in page.source


@pytest.mark.parametrize("what", ["gone", "fewer", "another"])
def test_without_the_inputs_as_they_were_it_shows_no_texts_and_says_so(run, what):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    if what == "gone":
        Path("in.jsonl").unlink()
    else:
        changed = [row | {"text": f"another text altogether: {row['text'][:40]}"} for row in ROWS]
        write_lines("in.jsonl", ROWS[:4] if what == "fewer" else changed)
    done = run("report", "out.duplicates.jsonl", "-o", "out.html")
    page = Page("out.html")
    why = "there is no such file" if what == "gone" else "not what they were"
    assert done.code == 0
    assert f"it shows no texts: {page.text('p', 'notice')[0].partition('. ')[2]}" in done.err.replace("\n", " ")
    assert why in page.text("p", "notice")[0]
    assert page.text("div", "text") == []
    assert "customs pier" not in page.source
    assert number_of(page, "Duplicates removed") == 2
    assert "Survivor ferry, removed edited" in page.shown


@pytest.mark.parametrize("content", [None, {"inputs": "5"}, "of another run"])
@pytest.mark.parametrize("through", ["inputs", "against"])
def test_a_summary_from_elsewhere_embeds_no_file_of_this_machine(run, through, content):
    """All else is as if the secret file had been read: only its digest cannot be known."""
    secret = "the password of the account at the bank by the river is swordfish and nothing else at all"
    for name in ("secret.txt", "other.txt"):
        line = (
            secret
            if name == "secret.txt"
            else "what everybody knows of the river and of the bank by the river, and nothing else"
        )
        Path(name).write_text(f"{line}\n{line}\n")
        reference = ("--against", name.replace(".txt", ".ref.txt")) if through == "against" else ()
        Path(name.replace(".txt", ".ref.txt")).write_text(f"{line}\n")
        run("dedup", name, "-o", f"out-{name}", "--lines", "--audit", f"{name}.duplicates.jsonl", *reference).ok()
    summary, other = (json.loads(Path(f"{name}.txt.summary.json").read_text()) for name in ("secret", "other"))
    assert run("report", "secret.txt.duplicates.jsonl", "-o", "own.html").code == 0
    assert "swordfish" in Path("own.html").read_text()
    forged = other["files"].get("content") if content == "of another run" else content
    summary["files"]["content"] = forged
    Path("secret.txt.summary.json").write_text(json.dumps(summary))
    done = run("report", "secret.txt.duplicates.jsonl", "-o", "out.html").ok("it shows no texts: The ")
    assert "swordfish" not in done.err + Path("out.html").read_text()


@pytest.mark.parametrize(
    "files", [{"inputs": 5}, {"inputs": [["in.jsonl"]]}, {"text": 5}, {"content": 5}, {"lines": "no"}]
)
def test_a_summary_whose_files_make_no_sense_is_refused(run, files):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    summary = json.loads(Path("out.summary.json").read_text())
    Path("out.summary.json").write_text(json.dumps(summary | {"files": summary["files"] | files}))
    done = run("report", "out.duplicates.jsonl", "-o", "out.html").refused(code=1)
    assert "out.summary.json is not the summary of a run" in done.err.replace("\n", " ")


def test_shards_of_a_cluster_file_that_holds_others_now_are_not_shown(run):
    write_lines("in.jsonl", ROWS)
    run("fingerprint", "in.jsonl", "-o", "prints.parquet")
    run("pairs", "in.jsonl", "-o", "pairs.parquet")
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet")
    assert run("apply", "clusters.parquet", "in.jsonl", "-o", "out.jsonl").code == 0
    assert "shows no texts" not in run("report", "out.duplicates.jsonl", "-o", "out.html").err
    Path("in.jsonl").write_text(Path("in.jsonl").read_text().replace("winter", "wanter"))
    done = run("report", "out.duplicates.jsonl", "-o", "other.html")
    assert "it shows no texts: The inputs are not what they were" in done.err
    assert "wanter" not in Path("other.html").read_text()


def test_a_folder_of_audits_and_stages_give_the_page_of_the_whole(run):
    Path("audits").mkdir()
    write_lines("in/a.jsonl", ROWS[:2])
    write_lines("in/b.jsonl", [*ROWS[2:], {"id": "clock", "text": CLOCK}])
    run("fingerprint", "in", "-o", "prints.parquet")
    run("pairs", "in", "-o", "pairs.parquet")
    assert run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet").code == 0
    for name in "ab":
        run(
            "apply",
            "clusters.parquet",
            f"in/{name}.jsonl",
            "-o",
            f"out-{name}.jsonl",
            "--audit",
            f"audits/{name}.duplicates.jsonl",
        ).ok()
    assert run("report", "audits", "-o", "out.html").err.endswith("report   out.html\n")
    page = Page("out.html")
    assert (number_of(page, "Documents before"), number_of(page, "Duplicates removed")) == (6, 2)
    assert (number_of(page, "Clusters"), len(page.text("article", "pair"))) == (1, 2)
    assert "in/a.jsonl 2 1 50.0 %" in page.shown
    assert "in/b.jsonl 4 1 25.0 %" in page.shown
    Path("clusters.parquet").unlink()
    assert "it shows no texts: clusters.parquet" in run("report", "audits", "-o", "without.html").err
    assert number_of(Page("without.html"), "Duplicates removed") == 2


@pytest.mark.parametrize("column", ["lang", "meta.site"])
def test_stages_whose_shards_are_applied_apart_have_the_counts_by_a_column_of_the_whole(run, column):
    rows = [
        {"id": i, "text": text, "lang": lang, "meta": {"site": site}}
        for i, (text, lang, site) in enumerate(
            [
                (CHAIN[0], "en", "a"), (CHAIN[0], "zh", "b"), (CLOCK, "zh", None), (None, "zh", "a"),
                (CHAIN[0], "en", "a"), (CLOCK, None, "b"), (FERRY, "en", ["a"]), (FERRY, "fr", "a"),
            ]
        )
    ]  # fmt: skip
    write_lines("in/a.jsonl", rows[:4])
    write_lines("in/b.jsonl", rows[4:])
    skip = ("--on-error", "skip")
    run("dedup", "in", "-o", "out/", "--report", "whole.html", "--report-by", column, *skip)
    run("fingerprint", "in", "-o", "prints.parquet", *skip)
    run("pairs", "in", "-o", "pairs.parquet", *skip)
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "c.parquet")
    Path("audits").mkdir()
    for name in "ab":
        audit = f"audits/{name}.duplicates.jsonl"
        run("apply", "c.parquet", f"in/{name}.jsonl", "-o", f"{name}.jsonl", "--audit", audit).ok()
    assert run("report", "audits", "-o", "audits.html", "--report-by", column).code == 0
    assert table_of_sources("audits.html", column) == table_of_sources("whole.html", column)
    refused = run("report", "audits", "-o", "none.html", "--report-by", "langauge")
    assert (refused.code, Path("none.html").exists()) == (2, False)
    assert "--report-by" in refused.err


def table_of_sources(name, column):
    """What a page shows from the heading of the counts by a column to the next heading."""
    shown = re.search(rf"(?s)<h3>By <bdi>{re.escape(column)}</bdi>.*?<h[23]", Page(name).source)
    assert shown, name
    assert "no value" in shown[0]
    return shown[0]


def test_what_was_removed_for_a_reference_is_shown_beside_its_text(run):
    write_lines("in.jsonl", [{"id": "mine", "text": FERRY_EDITED}, {"id": "bread", "text": BREAD}])
    write_lines("known.jsonl", [{"id": "clock", "text": CLOCK}, {"id": "theirs", "text": FERRY}])
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "known.jsonl", "--report", "first.html")
    assert run("report", "out.duplicates.jsonl", "-o", "second.html").code == 0
    for name in ("first.html", "second.html"):
        page = Page(name)
        assert "row 1 of known.jsonl, in the reference" in page.shown
        assert "Removed for the reference 1 of 2 documents" in page.shown
        assert [text for text in page.text("div", "left") if "winter" in text]


def test_documents_that_match_by_distance_alone_are_sampled_by_distance(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", "0", "--max-distance", "30", "--report", "out.html")
    page = Page("out.html")
    assert "No similarity was asked for" in page.shown
    bands = [title.split() for title in page.text("details", "band")]
    assert [words[0] for words in bands] == ["Distance", "Equal"]
    assert "at most" in page.text("div", "what-if")[0]


def test_members_of_a_chain_name_the_match_that_brought_them_in(run):
    write_lines("in.jsonl", [{"id": str(i), "text": text} for i, text in enumerate(CHAIN)])
    run(
        "dedup",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--cluster",
        "components",
        "--min-similarity",
        "0.75",
        "--report",
        "out.html",
    )
    page = Page("out.html")
    assert "similarity to the survivor below 0.75: matched in a chain" in page.shown.lower()
    assert "came in by a match with" in page.shown


def test_a_dry_run_and_standard_input_have_reports_too(run):
    stdin = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    assert run("dedup", "-", "-o", "out.jsonl", "--report", "out.html", stdin=stdin).code == 0
    assert "customs pier" in Page("out.html").shown
    again = run("report", "out.duplicates.jsonl", "-o", "again.html")
    assert "standard input, which cannot be read again" in again.err
    write_lines("in.jsonl", ROWS)
    assert run("dedup", "in.jsonl", "--dry-run", "--report", "dry.html").code == 0
    assert "neardup dedup in.jsonl --dry-run" in Page("dry.html").shown
    assert sorted(path.name for path in Path().glob("*.jsonl")) == ["in.jsonl", "out.duplicates.jsonl", "out.jsonl"]


def test_a_run_that_removed_nothing_has_a_report(run):
    write_lines("in.jsonl", [{"id": 1, "text": FERRY}, {"id": 2, "text": BREAD}])
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html").code == 0
    assert "Nothing was removed." in Page("out.html").shown


def test_empty_texts_are_said_to_be(run):
    write_lines("in.jsonl", [{"id": i, "text": text} for i, text in enumerate(["", " \n", FERRY])])
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html").code == 0
    page = Page("out.html")
    assert (page.text("p", "skipped"), page.text("td", "snippet")) == (["neither has any text"], ["no text"])


def test_a_resumed_run_that_was_done_writes_the_report_that_is_missing(run):
    write_lines("in.jsonl", ROWS)
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--resume").code == 0
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--resume", "--report", "out.html", "--overwrite").ok()
    assert number_of(Page("out.html"), "Duplicates removed") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "none.jsonl", "-o", "r.html"), "There is no audit 'none.jsonl'"),
        (
            ("report", "out.duplicates.jsonl", "-o", "r.pdf"),
            "r.pdf: a report is a page. Give a name that ends in .html.",
        ),
        (("report", "out.duplicates.jsonl", "-o", "there.html"), "there.html exists already"),
        (("report", "r.html", "-o", "out.duplicates.jsonl"), "The audit comes first"),
        (
            ("report", "lone.duplicates.jsonl", "-o", "r.html"),
            "lone.summary.json, which a report is made of, is missing",
        ),
        (("dedup", "in.jsonl", "-o", "o.jsonl", "--report", "r.txt"), "a report is a page"),
        (("dedup", "in.jsonl", "-o", "o.jsonl", "--report", "there.html"), "there.html exists already"),
        (("dedup", "in.jsonl", "-o", "o.jsonl", "--unit", "line", "--report", "r.html"), "a report is of documents"),
        (("report", "units.duplicates.jsonl", "-o", "r.html"), "`unit='line'`: a report is of documents"),
        (("report", "several", "-o", "r.html"), "are of several runs"),
    ],
)
def test_what_cannot_be_reported_is_refused(run, arguments, message):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    run("dedup", "in.jsonl", "-o", "units.jsonl", "--unit", "line")
    for name in "ab":
        run("dedup", "in.jsonl", "-o", f"o-{name}.jsonl", "--audit", f"several-{name}.duplicates.jsonl")
    Path("several").mkdir()
    for path in Path().glob("several-*"):
        path.rename(Path("several") / path.name)
    Path("there.html").write_text("mine")
    Path("lone.duplicates.jsonl").write_bytes(Path("out.duplicates.jsonl").read_bytes())
    before = sorted(Path().rglob("*"))
    done = run(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert message in done.err
    assert sorted(Path().rglob("*")) == before
    assert Path("there.html").read_text() == "mine"


REFUSED = "out.summary.json is not the summary of a run|has 2 removals, but its summary counts"


def test_a_summary_that_lacks_any_key_or_has_another_value_is_refused_by_name_or_it_is_not_asked_for(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    whole = json.loads(Path("out.summary.json").read_bytes())
    for place in (whole, *(part for part in whole.values() if isinstance(part, dict))):
        for name in list(place):
            value = place.pop(name)
            Path("out.summary.json").write_text(json.dumps(whole | {"renamed": value}))
            done = run("report", "out.duplicates.jsonl", "-o", "r.html", "--overwrite")
            assert done.code == 0 or "out.summary.json is not the summary of a run" in done.err, name
            for other in ({"x": []}, [[None]], "", 0.5, None):
                place[name] = other
                Path("out.summary.json").write_text(json.dumps(whole))
                done = run("report", "out.duplicates.jsonl", "-o", "r.html", "--overwrite")
                assert done.code == 0 or re.search(REFUSED, done.err), (name, other)
            place[name] = value


@pytest.mark.parametrize("damage", ["summary", "fewer", "rows"])
def test_what_does_not_go_together_is_damaged_data(run, damage):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    audit = read_lines("out.duplicates.jsonl")
    if damage == "summary":
        Path("out.summary.json").write_text('{"rows": 5}')
    elif damage == "fewer":
        write_lines("out.duplicates.jsonl", audit[:1])
    else:
        write_lines("out.duplicates.jsonl", [audit[0] | {"row": 99}, audit[1]])
    done = run("report", "out.duplicates.jsonl", "-o", "r.html")
    messages = {
        "summary": "is not the summary of a run",
        "fewer": "has 1 removal, but its summary counts 2",
        "rows": "is not of this run",
    }
    assert done.code == 1
    assert messages[damage] in done.err


def test_without_jinja2_the_command_that_installs_it_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--report", "out.html").refused("pip install 'neardup[report]'")
    assert not Path("out.jsonl").exists()


def test_the_library_writes_the_same_page(run):
    write_lines("in.jsonl", ROWS)
    neardup.deduplicate_files("in.jsonl", "out.jsonl", report="first.html")
    done = neardup.report("out.duplicates.jsonl", "second.html")
    assert (str(done.path), done.without_texts) == ("second.html", "")
    assert Path("first.html").read_text() == Path("second.html").read_text()
