"""`neardup reproduce`: the run that a summary records, again, byte for byte; or what is not as it was."""

import json
from pathlib import Path

import pytest
from cli_corpora import FERRY, write_lines
from test_estimate_command import OPTIONS, VALUES

import neardup as nd

WRITE_NOTHING = {"dry_run": ["--dry-run"]}


def given():
    write_lines("in.jsonl", VALUES)
    write_lines("known/a.jsonl", [{"id": "known", "text": FERRY}])


def summary_in_work():
    [found] = Path().glob("*.summary.json")
    return str(found)


@pytest.mark.parametrize("option", [each for each in OPTIONS if each not in ("as_json", "dry_run")])
def test_a_run_with_any_option_of_dedup_is_reproduced(run, option):
    given()
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", *OPTIONS[option])
    assert done.code == 0, done.err
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    again = run("reproduce", summary_in_work())
    assert again.code == 0, again.out.decode() + again.err
    assert again.out.startswith(b"same     ")
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def of(run, *words, code=0):
    done = run("reproduce", *words, "--json")
    assert done.code == code, done.err
    return json.loads(done.out)


def states(found):
    return {each["path"]: each["state"] for each in found["files"]}


OTHER_RUNS = {
    "passages": (["passages", "in.jsonl", "-o", "out.jsonl", "--min-tokens", "5", "--min-left", "3"], "out.jsonl"),
    "passages listed": (["passages", "in.jsonl", "-o", "out.jsonl", "--min-tokens", "5", "--list"], "out.summary.json"),
    "passages annotated": (["passages", "in.jsonl", "-o", "out.jsonl", "--min-tokens", "5", "--annotate"], "out.jsonl"),
    "passages against": (
        [
            "passages",
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--min-tokens",
            "5",
            "--against",
            "known/a.jsonl",
            "--align",
            "line",
        ],
        "out.summary.json",
    ),
    "decontaminate": (
        [
            "decontaminate",
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--against",
            "known/a.jsonl",
            "--against-id",
            "id",
            "--min-share",
            "0.7",
        ],
        "out.summary.json",
    ),
    "decontaminate all scripts": (
        [
            "decontaminate",
            "in.jsonl",
            "-o",
            "out/",
            "--against",
            "known/a.jsonl",
            "--recipe",
            "all-scripts",
            "--annotate",
        ],
        "out.summary.json",
    ),
    "split": (["split", "in.jsonl", "--shares", "train=0.5,test=0.5", "--seed", "7", "-o", "s/"], "s/"),
    "split by columns": (
        [
            "split",
            "in.jsonl",
            "--shares",
            "a=0.5,b=0.5",
            "-o",
            "s/",
            "--stratify",
            "language",
            "--group",
            "score",
        ],
        "s/split.summary.json",
    ),
    "gzip": (["dedup", "in.jsonl", "-o", "out.jsonl.gz"], "out.jsonl.gz"),
    "folder": (["dedup", "in.jsonl", "known/", "-o", "out/", "--audit", "audits/"], "audits.summary.json"),
    "components": (
        ["dedup", "in.jsonl", "-o", "out.jsonl", "--cluster", "components", "--min-similarity", "0.1"],
        "out.jsonl",
    ),
    "own similarity": (
        ["dedup", "in.jsonl", "-o", "out.jsonl", "--similarity", "jaccard(word_shingle=1)"],
        "out.jsonl",
    ),
    "elements by measure": (
        [
            "dedup",
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--elements",
            "words",
            "--similarity",
            "containment",
            "--method",
            "exact",
        ],
        "out.jsonl",
    ),
    "paragraphs": (
        ["dedup", "in.jsonl", "-o", "out.jsonl", "--unit", "paragraph", "--audit", "u.parquet"],
        "u.summary.json",
    ),
    "rejects": (["dedup", "bad.jsonl", "-o", "out.jsonl", "--on-error", "skip"], "out.summary.json"),
}


@pytest.mark.parametrize("name", OTHER_RUNS)
def test_runs_of_other_commands_and_formats_are_reproduced(run, name):
    given()
    Path("bad.jsonl").write_bytes(Path("in.jsonl").read_bytes() + b'{"id": 1}\n')
    words, summary = OTHER_RUNS[name]
    run(*words).ok()
    found = of(run, summary, "--threads", "1")
    assert (found["same"], set(states(found).values()), found["changed"]) == (True, {"same"}, [])
    assert all(Path(path).is_file() for path in states(found))
    kinds = {each["kind"] for each in found["files"]}
    assert kinds == {"output", *(["audit"] if name[:5] != "split" and "listed" not in name else [])} | (
        {"items"} if "decontaminate" in name else {"rejects"} if name == "rejects" else set()
    )


def test_tables_and_text_files_are_reproduced(run):
    given()
    frame = pytest.importorskip("pandas").read_json("in.jsonl", lines=True)
    frame.to_parquet("in.parquet")
    frame[["id", "text"]].to_csv("in.csv", index=False)
    Path("texts").mkdir()
    for at, row in enumerate(VALUES):
        Path(f"texts/{at}.txt").write_text(row["text"])
    for source, output in (("in.parquet", "p.parquet"), ("in.csv", "c.csv"), ("texts", "t/")):
        run("dedup", source, "-o", output).ok()
        found = of(run, f"{output[0]}.summary.json")
        assert (found["same"], set(states(found).values())) == (True, {"same"})


def test_stages_are_reproduced_from_their_cluster_file(run):
    given()
    run("fingerprint", "in.jsonl", "-o", "prints/").ok()
    run("pairs", "prints/", "-o", "pairs.parquet").ok()
    run("clusters", "pairs.parquet", "--documents", "prints/", "-o", "clusters.parquet").ok()
    run("apply", "clusters.parquet", "in.jsonl", "-o", "out.jsonl", "--annotate").ok()
    assert states(of(run, "out.jsonl")) == {"out.jsonl": "same", "out.duplicates.jsonl": "same"}
    run(
        "clusters",
        "pairs.parquet",
        "--documents",
        "prints/",
        "-o",
        "clusters.parquet",
        "--overwrite",
        "--cluster",
        "components",
    ).ok()
    found = of(run, "out.jsonl", code=1)
    assert [each["name"] for each in found["changed"]] == ["clusters"]


def test_references_and_stores_are_compared_with_what_they_were(run):
    given()
    run("store", "create", "store").ok()
    run("store", "add", "store", "known/a.jsonl").ok()
    run("dedup", "in.jsonl", "-o", "s.jsonl", "--against", "store").ok()
    run("dedup", "in.jsonl", "-o", "r.jsonl", "--against", "known/a.jsonl").ok()
    assert of(run, "s.jsonl")["same"]
    assert of(run, "r.jsonl")["same"]
    write_lines("more.jsonl", [{"id": "more", "text": VALUES[2]["text"]}])
    run("store", "add", "store", "more.jsonl").ok()
    write_lines("known/a.jsonl", [{"id": "other", "text": VALUES[2]["text"]}])
    for summary, name in (("s.jsonl", "store"), ("r.jsonl", "reference")):
        found = of(run, summary, code=1)
        assert [each["name"] for each in found["changed"]] == [name]
        assert set(states(found).values()) == {"differs"}


@pytest.mark.parametrize("out", ["known/new.jsonl", "known/"])
def test_an_output_in_a_folder_of_the_reference_is_no_part_of_it(run, out):
    given()
    known = Path("known/a.jsonl").read_bytes()
    best = ["--prefer", "best", "--keep", "longest"] if out == "known/new.jsonl" else []
    run("dedup", "in.jsonl", "-o", out, "--against", "known", "--audit", "audit.jsonl", *best).ok()
    assert of(run, "audit.jsonl")["same"]
    assert Path("known/a.jsonl").read_bytes() == known
    write_lines("known/more.jsonl", [{"id": "more", "text": VALUES[2]["text"]}])
    assert [each["name"] for each in of(run, "audit.jsonl", code=1)["changed"]] == ["reference"]


def test_a_split_with_an_earlier_one_is_reproduced(run):
    given()
    run("split", "known/a.jsonl", "in.jsonl", "--shares", "a=0.5,b=0.5", "-o", "before/").ok()
    run("split", "in.jsonl", "--shares", "a=0.5,b=0.5", "-o", "after/", "--previous", "before/").ok()
    found = of(run, "after/")
    assert found["same"]
    assert "after/conflicts.jsonl" in states(found)


def test_edited_and_missing_files_are_told_from_runs_that_differ(run):
    given()
    run("dedup", "in.jsonl", "-o", "out.jsonl").ok()
    Path("out.jsonl").write_bytes(Path("out.jsonl").read_bytes().replace(b"ferry", b"fairy", 1))
    found = of(run, "out.summary.json", code=1)
    assert states(found) == {"out.jsonl": "edited", "out.duplicates.jsonl": "same"}
    assert found["files"][0]["at"] == 9
    done = run("reproduce", "out.summary.json")
    assert done.code == 1
    assert b"edited   out.jsonl (output): changed since it was written" in done.out
    Path("out.jsonl").unlink()
    found = of(run, "out.summary.json")
    assert states(found) == {"out.jsonl": "missing", "out.duplicates.jsonl": "same"}
    written = json.loads(Path("out.summary.json").read_text())
    written["options"]["min_similarity"] = 1.0
    Path("out.summary.json").write_text(json.dumps(written))
    found = of(run, "out.summary.json", code=1)
    assert states(found)["out.duplicates.jsonl"] == "differs"


def test_other_inputs_recipes_and_versions_are_named(run, monkeypatch):
    given()
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--recipe", "textbook").ok()
    monkeypatch.setattr("neardup.survivors.records.counting.__version__", "9.9")
    found = of(run, "out.jsonl")
    assert (found["same"], found["changed"]) == (
        True,
        [{"name": "version of neardup", "what": f"{nd.__version__} then, 9.9 now"}],
    )
    written = json.loads(Path("out.summary.json").read_text())
    other = written | {"recipe": written["recipe"] | {"version": 99}}
    Path("other.summary.json").write_text(json.dumps(other))
    found = of(run, "other.summary.json", code=1)
    assert (found["command"], found["files"], found["changed"][0]["name"]) == (None, [], "recipe")
    write_lines("in.jsonl", VALUES[1:])
    found = of(run, "out.jsonl", code=1)
    assert (found["command"], found["files"], found["changed"][0]["name"]) == (None, [], "inputs")
    assert b"not same the run was not done again" in run("reproduce", "out.jsonl").out


def test_files_that_moved_with_their_summary_are_compared(run):
    given()
    run("dedup", "in.jsonl", "-o", "out.jsonl").ok()
    Path("moved").mkdir()
    for name in ("out.jsonl", "out.duplicates.jsonl", "out.summary.json"):
        Path(name).rename(f"moved/{name}")
    assert set(states(of(run, "moved/out.summary.json")).values()) == {"same"}


def test_new_files_are_kept_in_a_folder_that_is_new_or_empty(run, place):
    given()
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--audit", "audit.jsonl").ok()
    run("reproduce", "audit.summary.json", "-o", "again/").ok()
    assert Path("again/out.jsonl").read_bytes() == Path("out.jsonl").read_bytes()
    assert Path("again/records/audit.jsonl").read_bytes() == Path("audit.jsonl").read_bytes()
    run("reproduce", "audit.summary.json", "-o", "again").refused("again exists and is not an empty folder")
    run("reproduce", "audit.summary.json", "-o", "in.jsonl").refused("in.jsonl exists and is not an empty folder")
    run("reproduce", "audit.summary.json", "-o", "s3://bucket/again").refused("give a folder of this machine")
    assert place.leftovers() == []


def test_standard_output_is_not_compared_but_the_audit_is(run):
    given()
    run("dedup", "in.jsonl", "-o", "-", "--audit", "audit.jsonl").ok()
    found = of(run, "audit.summary.json")
    assert (found["same"], states(found)) == (True, {"audit.jsonl": "same"})


def test_what_cannot_be_done_again_is_refused_with_the_reason(run, monkeypatch):
    given()
    nd.deduplicate_files("in.jsonl", "f.jsonl", keep=len)
    run("reproduce", "f.summary.json").refused(
        "f.summary.json: keep was a function, len(), of which only the name is recorded"
    )
    run("dedup", "-", "-o", "i.jsonl", stdin=Path("in.jsonl").read_bytes()).ok()
    run("reproduce", "i.summary.json").refused("the run read standard input, which cannot be read again")
    Path("dry.json").write_bytes(run("dedup", "in.jsonl", "--dry-run", "--json").out)
    run("reproduce", "dry.json").refused("is of a dry run")
    run("leaks", "in.jsonl", "--against", "known/a.jsonl", "-o", "l.jsonl").ok()
    run("reproduce", "l.summary.json").refused("was written by `neardup leaks`. Done again are runs of `dedup`")
    run("dedup", "in.jsonl", "-o", "out.jsonl").ok()
    written = json.loads(Path("out.summary.json").read_text())
    for name in ("asked", "written"):
        older = written | {"files": {key: value for key, value in written["files"].items() if key != name}}
        Path("old.json").write_text(json.dumps(older))
        run("reproduce", "old.json").refused("old.json is of an older version of neardup")
    for broken in (
        {"options": 3},
        {"options": {}},
        {"recipe": {}},
        {"files": written["files"] | {"asked": {"command": "dedup"}}},
    ):
        Path("broken.json").write_text(json.dumps(written | broken))
        assert run("reproduce", "broken.json").code in (1, 2)
        assert "Traceback" not in run("reproduce", "broken.json").err
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    run("reproduce", "../out.summary.json").refused("Run this in ", "with the inputs in their places")


def test_the_library_reproduces_a_run(run):
    given()
    nd.deduplicate_files("in.jsonl", "out.jsonl")
    done = nd.reproduce("out.summary.json", threads=1)
    assert done.same
    assert [each.state for each in done.files] == ["same", "same"]
    assert repr(done).startswith("Reproduction(2 files, ")
