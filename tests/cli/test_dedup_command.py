"""What `neardup dedup` finds, keeps and says."""

import dataclasses
import json
import os
import tempfile
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
    ROWS,
    files,
    read_lines,
    survivors,
    write_lines,
)

import naive
from neardup.io.corpora.reading import Reading

AUDIT_COLUMNS = [
    "id",
    "row",
    "survivor_id",
    "survivor_row",
    "cluster_id",
    "similarity",
    "distance",
    "exact",
    "only_digits",
]


@pytest.fixture
def dedup(run):
    """De-duplicate a few rows, quietly, and give the survivors and the audit."""

    def call(rows, *flags):
        write_lines("in.jsonl", rows)
        done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--quiet", *flags)
        assert (done.code, done.out, done.err) == (0, b"", "")
        return survivors("out.jsonl"), read_lines("out.duplicates.jsonl")

    return call


def texts(*given):
    return [{"id": f"t{number}", "text": text} for number, text in enumerate(given)]


def test_every_removal_names_its_survivor_and_how_similar_the_two_are(dedup):
    kept, audit = dedup(ROWS)
    assert kept == ["ferry", "bread", "bridge"]
    assert [list(line) for line in audit] == [AUDIT_COLUMNS] * 2
    distance = (naive.fingerprint(FERRY) ^ naive.fingerprint(FERRY_EDITED)).bit_count()
    assert list(audit[0].values()) == [
        "edited",
        1,
        "ferry",
        0,
        0,
        naive.similarity(FERRY, FERRY_EDITED),
        distance,
        False,
        False,
    ]
    assert list(audit[1].values()) == ["shouted", 3, "ferry", 0, 0, 1.0, 0, True, False]


def test_a_cluster_is_named_by_its_smallest_row_whichever_row_survives(dedup):
    kept, audit = dedup(texts(BREAD, FERRY, FERRY_EDITED, FERRY_SHOUTED), "--keep", "last")
    assert kept == ["t0", "t3"]
    assert {(line["survivor_row"], line["cluster_id"]) for line in audit} == {(3, 1)}


@pytest.mark.parametrize(
    ("keep", "expected"),
    [("first", ["t0", "t4"]), ("longest", ["t1", "t4"]), ("shortest", ["t2", "t4"]), ("last", ["t3", "t4"])],
)
def test_keep_chooses_the_survivor_of_a_cluster(dedup, keep, expected):
    alike = [FERRY.replace("winter", season) for season in ("winters", "wintertime", "winter", "summers")]
    assert dedup(texts(*alike, BREAD), "--keep", keep)[0] == expected


def test_ids_of_either_kind_stay_what_they_are(dedup):
    rows = [
        {"id": 7, "text": FERRY},
        {"id": "7", "text": FERRY},
        {"id": 2**63, "text": FERRY},
        {"id": 'a"\\\n猫', "text": FERRY},
    ]
    _, audit = dedup(rows)
    assert [line["id"] for line in audit] == ["7", 2**63, 'a"\\\n猫']
    assert {line["survivor_id"] for line in audit} == {7}


def test_documents_without_an_id_are_called_by_file_and_row(dedup):
    _, audit = dedup([{"text": BREAD, "id": "b"}, {"text": FERRY, "id": None}, {"text": FERRY, "id": 1.5}])
    assert [(line["id"], line["survivor_id"]) for line in audit] == [("in.jsonl:2", "in.jsonl:1")]


def test_the_id_column_can_be_named(dedup):
    _, audit = dedup(
        [{"id": 1, "meta": {"key": "x"}, "text": FERRY}, {"id": 2, "meta": {"key": "y"}, "text": FERRY}],
        "--id",
        "meta.key",
    )
    assert (audit[0]["id"], audit[0]["survivor_id"]) == ("y", "x")


def test_repeated_ids_are_counted_and_warned_of(run):
    write_lines("in.jsonl", [{"id": "same", "text": text} for text in (FERRY, BREAD, FERRY_SHOUTED)])
    run("dedup", "in.jsonl", "-o", "out.jsonl").ok(
        "warning  2 repeated ids; the audit tells such documents apart by row"
    )
    assert [line["row"] for line in read_lines("out.duplicates.jsonl")] == [2]
    assert json.loads(Path("out.summary.json").read_bytes())["repeated_ids"] == 2


def test_the_text_can_be_another_column_a_nested_one_or_several(dedup):
    rows = [
        {"id": 1, "text": BREAD, "meta": {"body": FERRY}, "title": "a"},
        {"id": 2, "text": CLOCK, "meta": {"body": FERRY}, "title": "b"},
        {"id": 3, "text": BRIDGE, "meta": {"body": FERRY}, "title": "a"},
    ]
    assert dedup(rows, "--text", "meta.body")[0] == [1]
    assert dedup(rows)[0] == [1, 2, 3]
    _, audit = dedup(rows, "--text", "title", "--text", "meta.body", "--min-similarity", "1")
    assert [(line["id"], line["survivor_id"], line["exact"]) for line in audit] == [(3, 1, True)]


def test_min_similarity_decides_what_matches(dedup):
    alike = naive.similarity(FERRY, FERRY_EDITED)
    assert dedup(texts(FERRY, FERRY_EDITED), "--min-similarity", str(alike))[0] == ["t0"]
    assert dedup(texts(FERRY, FERRY_EDITED), "--min-similarity", str(alike + 0.001))[0] == ["t0", "t1"]


def test_min_similarity_0_matches_by_distance_alone(dedup):
    distance = (naive.fingerprint(FERRY) ^ naive.fingerprint(BREAD)).bit_count()
    kept, audit = dedup(texts(FERRY, BREAD), "--min-similarity", "0", "--max-distance", distance)
    assert kept == ["t0"]
    assert (audit[0]["similarity"], audit[0]["distance"], audit[0]["exact"]) == (None, distance, False)
    assert dedup(texts(FERRY, BREAD), "--min-similarity", "0", "--max-distance", distance - 1)[0] == ["t0", "t1"]


def test_max_distance_limits_what_is_compared(dedup):
    distance = (naive.fingerprint(FERRY) ^ naive.fingerprint(FERRY_EDITED)).bit_count()
    assert dedup(texts(FERRY, FERRY_EDITED), "--max-distance", distance)[0] == ["t0"]
    assert dedup(texts(FERRY, FERRY_EDITED), "--max-distance", distance - 1)[0] == ["t0", "t1"]


def test_a_star_does_not_chain_and_components_say_which_link_brought_each_in(dedup):
    flags = ["--max-distance", "128", "--min-similarity", "0.7"]
    kept, audit = dedup(texts(*CHAIN), "--cluster", "star", *flags)
    assert len(kept) > 1
    assert all(line["similarity"] >= 0.7 and list(line) == AUDIT_COLUMNS for line in audit)
    kept, audit = dedup(texts(*CHAIN), "--cluster", "components", *flags)
    assert kept == ["t0"]
    assert min(line["similarity"] for line in audit) < 0.7
    assert [list(line) for line in audit] == [[*AUDIT_COLUMNS, "matched_id", "matched_similarity"]] * 4
    for line in audit:
        linked = int(line["matched_id"].removeprefix("t"))
        assert line["matched_similarity"] == naive.similarity(CHAIN[line["row"]], CHAIN[linked]) >= 0.7


@pytest.mark.parametrize("least", ["0", "0.8"])
def test_short_and_empty_texts_are_duplicates_only_of_equal_ones(run, least):
    given = ["See page 2.", "see  page 2!", "SEE page 2.", "See page 3.", "", "  ", "!!!", "???"]
    write_lines("in.jsonl", texts(*given))
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", least, "--max-distance", "128")
    assert survivors("out.jsonl") == ["t0", "t1", "t3", "t4", "t6", "t7"]
    assert [(line["id"], line["exact"]) for line in read_lines("out.duplicates.jsonl")] == [("t2", True), ("t5", True)]
    assert "note     8 documents of fewer than 8 tokens: only equal ones were removed" in done.err


@pytest.mark.parametrize("recipe", ["default-64", "textbook"])
def test_a_recipe_can_be_named(run, recipe):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "--dry-run", "--json", "--recipe", recipe)
    assert json.loads(done.out)["recipe"]["bits"] == 64


def test_a_recipe_can_be_a_file(dedup):
    Path("mine.toml").write_text('bits = 64\nweights = "tf"\nmin_tokens = 3\nmax_distance = 0\n')
    assert dedup([{"id": 1, "text": "one two three"}, {"id": 2, "text": "three one two"}], "--recipe", "mine.toml")[
        0
    ] == [1, 2]
    flags = ["--recipe", "mine.toml", "--min-similarity", "0"]
    assert dedup([{"id": 1, "text": "one two three"}, {"id": 2, "text": "three one two"}], *flags)[0] == [1]
    summary = json.loads(Path("out.summary.json").read_bytes())
    assert (summary["recipe"]["bits"], summary["recipe"]["min_tokens"], summary["max_distance"]) == (64, 3, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("bits = ", "The recipe file 'mine.toml' is not valid TOML: Invalid value"),
        (
            "bit = 64",
            "mine.toml: a recipe has no `bit` (did you mean `bits`?). It has `word_shingle`, `cjk_shingle`, `weights`",
        ),
        ("bits = 1000", "`bits=1000`: give an integer from 1 to 512"),
        ('bits = "64"', "`bits='64'`: give an integer from 1 to 512"),
        (
            'weights = "heavy"\nmin_tokens = true',
            "`min_tokens=True`: give an integer from 1 to 1000000; `weights='heavy'`: give one of uniform",
        ),
        ("bits = 64\nmax_distance = 65", "`max_distance=65`: give an integer from 0 to the number of bits"),
    ],
)
def test_an_impossible_recipe_file_is_refused(run, content, message):
    write_lines("in.jsonl", ROWS)
    Path("mine.toml").write_text(content)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", "mine.toml").refused(message)
    assert files() == ["in.jsonl", "mine.toml"]


def test_a_recipe_without_a_distance_needs_one_for_simhash_only(run):
    write_lines("in.jsonl", ROWS)
    Path("mine.toml").write_text("bits = 96")
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", "mine.toml", "--method", "simhash").refused(
        "This recipe of 96 bits has no distance of its own. Give --max-distance, or another --method."
    )
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", "mine.toml").code == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--min-similarity", "80"], "--min-similarity 80.0: give a number from 0 (by distance alone) to 1"),
        (["--min-similarity", "-0.1"], "--min-similarity -0.1: give"),
        (["--min-similarity", "nan"], "--min-similarity nan: give"),
        (["--min-similarity", "high"], "Invalid value for '--min-similarity': 'high' is not a valid number; give one"),
        (["--min-similarity", "0,8"], "'0,8' is not a valid number (did you mean 0.8?)."),
        (["--min-similarity", "80%"], "'80%' is not a valid number (did you mean 0.8?)."),
        (["--min-similarity", "80"], "give a number from 0 (by distance alone) to 1 (did you mean 0.8?)."),
        (["--min-similarity", "2"], "give a number from 0 (by distance alone) to 1."),
        (["--min-similarity", "101"], "give a number from 0 (by distance alone) to 1."),
        (["--max-distance", "-1"], "--max-distance -1: give an integer from 0"),
        (["--max-distance", "129"], "--max-distance 129: the recipe has 128 bits"),
        (["--max-distance", "2.5"], "Invalid value for '--max-distance': '2.5' is not a valid integer"),
        (["--method", "exact", "--min-similarity", "0"], "--method exact finds pairs by their similarity"),
        (["--method", "exact", "--max-distance", "3"], "--max-distance 3: --method exact asks for no distance"),
        (["--memory", "much"], "--memory much: give bytes, at least 16M"),
        (["--memory", "9" * 30], f"--memory {'9' * 30}: give bytes, below 8,388,608T, as a number"),
        (["--memory", "9" * 400 + "G"], "give bytes, below 8,388,608T, as a number or as 512M or 4G."),
        (["--recipe", "mine"], "There is no recipe 'mine'. Give one of default, default-64, all-scripts, "),
        (["--recipe", "mine.toml"], "There is no recipe file 'mine.toml'"),
        (["--keep", "best"], "--keep best: give one of first, last, longest, shortest, max:COLUMN, min:COLUMN."),
        (["--cluster", "cliques"], "--cluster cliques: give one of star, components."),
        (["--method", "magic"], "--method magic: give one of auto, exact, minhash, simhash."),
        (["--method", "exat"], "--method exat: give one of auto, exact, minhash, simhash. Did you mean exact?"),
        (
            ["--similarity", "jacard"],
            "--similarity jacard: give one of jaccard, weighted, containment, cosine, edit (did you mean jaccard?), or a file that "
            "ends in .toml; with fields, such as 'jaccard(word_shingle=1)'.",
        ),
        (["--on-error", "ignore"], "--on-error ignore: give one of stop, skip."),
        (["--report"], "--report: give FILE.html after it."),
        (["--report", "--quiet"], "--report --quiet: give FILE.html after --report; --quiet is another flag."),
        (["--audit", "-o"], "--audit -o: give FILE|DIR/ after --audit; -o is another flag."),
        (["--keep", "--json"], "--keep --json: give RULE after --keep; --json is another flag."),
        (["--threads"], "--threads: give an integer after it."),
        (["--min-similarity"], "--min-similarity: give a number after it."),
        (["--cluster"], "--cluster: give one of star, components after it."),
        (["--threads", "0"], "--threads 0: give an integer from 1 to 1024"),
        (["--temp-dir", "nowhere"], "Invalid value for '--temp-dir': Directory 'nowhere' does not exist"),
        (["--text", "body"], 'in.jsonl has no column "body" in its first rows. It has: id, text.'),
        (["--id", "key"], 'in.jsonl has no column "key" in its first rows. It has: id, text.'),
        (["--text", ""], "give names of columns"),
        (["-o", "-", "--json"], "--json and -o - would both write to standard output. Give -o a file."),
        (
            ["-o", "-", "--on-error", "skip"],
            "--on-error skip with -o - has no place for the rejects. Give --audit a file",
        ),
        (["-o", ""], "Give -o a file, a folder"),
        (
            ["--audit", "audit.csv"],
            "--audit audit.csv: the audit is JSON lines or Parquet. Give a name that ends in .jsonl",
        ),
        (["--audit", "out.jsonl"], "out.jsonl is the name of the output, and of a record of what was removed"),
        (
            ["--audit", "in.jsonl", "--overwrite"],
            "in.jsonl is an input, and no run replaces what it reads. Name another file.",
        ),
        (["--colour"], "No such option '--colour'"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(run, flags, message):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", *(flags if "-o" in flags else ["-o", "out.jsonl", *flags]))
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("neardup: error: ")
    assert message in done.err
    assert files() == ["in.jsonl"]


def test_without_an_output_or_a_dry_run_nothing_is_done(run):
    write_lines("in.jsonl", ROWS)
    for inputs in (["in.jsonl"], ["in.jsonl", "out.jsonl"], ["in.jsonl", "out.jsonl", "--unit", "line"]):
        run("dedup", *inputs).refused(
            "Give -o a file, a folder that ends in /, or - (standard output); or pass --dry-run."
        )


def test_a_dry_run_does_everything_and_writes_nothing(run):
    write_lines("in.jsonl", ROWS)
    Path("out.jsonl").write_text("old")
    done = run(
        "dedup", "in.jsonl", "-o", "out.jsonl", "--audit", "audit.jsonl", "--on-error", "skip", "--dry-run", "--json"
    )
    summary = json.loads(done.out)
    assert (summary["documents"], summary["survivors"], summary["duplicates"]) == (5, 3, 2)
    assert {summary["files"][name] for name in ("output", "audit", "summary", "rejects")} == {None}
    assert files() == ["in.jsonl", "out.jsonl"]
    assert Path("out.jsonl").read_text() == "old"
    assert run("dedup", "in.jsonl", "-o", "-", "--dry-run").out == b""


def test_the_summary_counts_everything_once(run):
    rows = [
        *ROWS,
        {"id": "short", "text": "See page 2."},
        {"id": "same", "text": "see page 2."},
        {"id": "bad", "text": None},
    ]
    write_lines("in.jsonl", rows)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--json", "--on-error", "skip")
    found = json.loads(done.out)
    assert done.out.endswith(b"}\n")
    assert (found["rows"], found["documents"], found["rejected"]) == (8, 7, 1)
    assert (found["survivors"], found["duplicates"], found["exact_duplicates"]) == (4, 3, 2)
    assert (found["clusters"], found["short"], found["candidates"], found["matches"]) == (2, 0, 1, 1)
    assert (found["method"], found["min_similarity"], found["max_distance"]) == ("exact", 0.8, None)
    assert found["reason"] == "exact takes no more than 5 s on the reference machine"
    assert set(found["join"]) == {"postings", "passes", "visits", "looked_at", "pairs"}
    assert set(found["seconds"]) >= {"fingerprint", "join", "verify", "write", "total"}
    assert found["peak_memory_bytes"] > 2**20
    assert set(found["versions"]) == {"kernels", "neardup", "numpy", "pyarrow", "python"}
    assert found["recipe"]["digest"]
    assert found == json.loads(Path("out.summary.json").read_bytes())
    assert found["files"] == {
        "inputs": ["in.jsonl"],
        "content": found["files"]["content"],
        "asked": {"command": "dedup", "annotate": False, "list": False, "on_error": "skip"},
        "written": found["files"]["written"],
        "folder": str(Path.cwd()),
        **json.loads(json.dumps(dataclasses.asdict(Reading()))),
        "against": [],
        "output": "out.jsonl",
        "audit": "out.duplicates.jsonl",
        "summary": "out.summary.json",
        "rejects": "out.rejects.jsonl",
        "report": None,
    }


def test_what_is_told_goes_to_standard_error_and_quiet_tells_nothing(run):
    write_lines("in.jsonl", ROWS)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl")
    assert done.out == b""
    assert done.err.splitlines() == [
        "read     5 documents",
        "kept     3 documents (60.0 %)",
        "removed  2 documents (40.0 %): 1 exact, 1 near (jaccard >= 0.8)",
        "output   out.jsonl",
        "audit    out.duplicates.jsonl",
        "next     neardup explain --diff out.duplicates.jsonl edited",
    ]
    again = ("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite")
    assert run(*again, "--quiet").err == ""
    verbose = run(*again, "--verbose").err
    assert "neardup: fingerprint: " in verbose
    for told in (
        "method   exact: ",
        "compared 1 pair, of which 1 match, in 1 cluster",
        "took ",
        "summary  out.summary.json",
    ):
        assert f"\n{told}" in verbose
    run(*again, "--verbose", "--quiet").refused("--quiet and --verbose: give one of them.")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_no_byte(run, threads):
    rows = [
        {"id": i, "text": f"{[FERRY, BREAD, CLOCK, BRIDGE][i % 4]} Number {i // 8} of the many."} for i in range(200)
    ]
    for shard in range(10):
        write_lines(f"in/{shard}.jsonl", rows[shard::10])
    run("dedup", "in", "-o", "one.jsonl", "--threads", "1", "--cluster", "components")
    run("dedup", "in", "-o", "more.jsonl", "--threads", threads, "--cluster", "components")
    assert len(read_lines("one.duplicates.jsonl")) >= 100
    for ending in (".jsonl", ".duplicates.jsonl"):
        assert Path("one" + ending).read_bytes() == Path("more" + ending).read_bytes()


def test_temporary_files_go_where_they_are_told(run, monkeypatch):
    folders = []

    def watched(original):
        def call(*given, **named):
            folders.append(named.get("dir") or given[2])
            return original(*given, **named)

        return call

    for name in ("mkdtemp", "mkstemp", "TemporaryFile"):
        monkeypatch.setattr(tempfile, name, watched(getattr(tempfile, name)))
    Path("scratch").mkdir()
    write_lines("in.jsonl", ROWS)
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--temp-dir", "scratch").code == 0
    assert {str(folder) for folder in folders} == {"scratch", str(Path.cwd())}
    assert list(Path("scratch").iterdir()) == []


def test_a_file_name_that_is_no_unicode_works_and_is_kept_in_the_summary(run):
    name = os.fsdecode(b"in\xff.jsonl")
    try:
        write_lines(name, [{"text": FERRY}, {"text": FERRY_SHOUTED}])
    except OSError:
        pytest.skip("this file system takes only names in Unicode")
    done = run("dedup", name, "-o", "out.jsonl", "--json").ok()
    assert json.loads(done.out)["files"]["inputs"] == [name]
    assert read_lines("out.duplicates.jsonl")[0]["id"] == r"in\xff.jsonl:1"
    assert run("explain", "out.duplicates.jsonl", r"in\xff.jsonl:0").code == 0


def test_parquet_files_and_stages_take_file_names_that_are_no_unicode(run):
    name = os.fsdecode(b"in\xff.parquet")
    try:
        with open(name, "wb") as file:
            pq.write_table(pa.table({"text": [FERRY, FERRY_SHOUTED]}), file)
    except OSError:
        pytest.skip("this file system takes only names in Unicode")
    assert run("dedup", name, "-o", "out/").code == 0
    assert run("verify", "out").code == 0
    prints, pairs, clusters = (os.fsdecode(each + b"\xfe.parquet") for each in (b"prints", b"pairs", b"clusters"))
    assert run("fingerprint", name, "-o", prints, "--quiet").code == 0
    assert run("pairs", prints, "-o", pairs, "--quiet").code == 0
    assert run("clusters", pairs, "--documents", prints, "-o", clusters, "--quiet").code == 0
    assert run("apply", clusters, name, "-o", "applied/", "--quiet").code == 0
    assert Path("applied", name).exists()


def test_what_the_reference_removed_and_what_other_inputs_removed_are_told_apart(run):
    write_lines("old.jsonl", [{"id": "old", "text": FERRY}])
    longer = f"{FERRY} It also carries carts and a few sheep, and in summer some walkers."
    rows = [
        {"id": 1, "text": longer + " Or two."},
        {"id": 2, "text": longer},
        {"id": 3, "text": FERRY},
        {"id": 4, "text": BREAD},
    ]
    write_lines("in.jsonl", [*rows, {"id": 5, "text": BREAD}])
    least = naive.similarity(longer, FERRY)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "old.jsonl", "--min-similarity", str(least))
    assert "         1 by the reference of 1 document, 2 by other inputs\n" in done.err
    assert "         2 documents in all match the reference, whatever else they match\n" in done.err
    summary = json.loads(Path("out.summary.json").read_bytes())
    assert (summary["duplicates"], summary["against_reference"], summary["matching_reference"]) == (3, 1, 2)


def test_containment_warns_where_a_document_is_much_longer_than_its_survivor(run):
    rows = [{"id": 1, "text": FERRY}, {"id": 2, "text": " ".join([FERRY, BREAD, CLOCK])}]
    write_lines("in.jsonl", rows)
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--similarity", "containment")
    assert "warning  1 duplicate with more than twice as many tokens as the survivor" in done.err
    assert json.loads(Path("out.summary.json").read_bytes())["much_longer"] == 1
    done = run("dedup", "in.jsonl", "-o", "kept.jsonl", "--similarity", "containment", "--keep", "longest")
    assert "warning" not in done.err
