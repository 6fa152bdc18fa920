"""A reference whose documents are ordered together with the inputs: the answer of one run over both, and a list of what goes."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.io.storage.places import place_of
from neardup.survivors.records.audit_files import read_superseded
from places import ROOT

START = "the annual general meeting of the society will be held in the town hall at noon".split()
WORDS = st.sampled_from(["monday", "friday", "may 7", "june 8", "x"])
OTHER = "a text that nobody has seen before in this place, which is like none of the others"


@st.composite
def rows(draw, first=0):
    """Edited copies, some of them equal, and others; ids may be repeated, within and across sides."""
    found = []
    for _ in range(draw(st.integers(0, 6))):
        words = START[: draw(st.sampled_from([9, 12, 16]))] + draw(st.lists(WORDS, max_size=3))
        text = draw(st.sampled_from([" ".join(words), OTHER]))
        row = {"id": first + draw(st.integers(0, 9)), "text": text, "score": draw(st.sampled_from([None, 1, 2, 3]))}
        found.append(row | {"lang": draw(st.sampled_from(["en", "ja"]))})
    return found


OPTIONS = st.fixed_dictionaries(
    {
        "keep": st.sampled_from(["last", "longest", "shortest", "max:score", "min:score"]),
        "cluster": st.sampled_from(["star", "components"]),
        "min_similarity": st.just(0.5),
    },
    optional={
        "within": st.just("lang"),
        "guard": st.just("same-numbers"),
        "keep_most": st.integers(1, 3),
        "max_cluster": st.just(1.0),
        "method": st.sampled_from(["exact", "minhash"]),
    },
)
DROPPED = {"drop_matched": True, "cluster": "components", "keep": "first", "min_similarity": 0.5}


def moved(row, old, new):
    """A row of a run over both, as a row of the data, or of the reference after it."""
    return row + new if row < old else row - old


def both_ways(old, new, **options):
    """The decisions of one run over both, and of a run against a reference, by row of the data and then of the reference."""
    one = nd.deduplicate(old + new, **options)
    two = nd.deduplicate(new, against=old, prefer="best", **options)
    a, b = len(old), len(new)
    expected = {}
    for line in one.duplicates.to_pylist():
        survivor = None if line["survivor_row"] is None else moved(line["survivor_row"], a, b)
        expected[moved(line["row"], a, b)] = (survivor, line["similarity"], line["distance"], line["exact"])
    found = {}
    for first, table in ((0, two.duplicates), (b, two.superseded)):
        for line in table.to_pylist():
            survivor = line["survivor_row"] if line["reference_row"] is None else b + line["reference_row"]
            found[first + line["row"]] = (survivor, line["similarity"], line["distance"], line["exact"])
    return one, two, expected, found


@given(old=rows(), new=rows(5), options=OPTIONS | st.just(DROPPED))
def test_the_answer_is_that_of_one_run(old, new, options):
    one, two, expected, found = both_ways(old, new, **options)
    assert found == expected
    assert two.survivors == [row for place, row in enumerate(new) if place not in expected]
    assert two.summary.superseded == len(two.superseded) == sum(row >= len(new) for row in expected)
    assert two.summary.duplicates + len(two.superseded) == one.summary.duplicates
    assert two.summary.documents == len(new)
    stays = [row for place, row in enumerate(old) if place + len(new) not in expected]
    if "keep_most" not in options:
        again = nd.deduplicate(stays + two.survivors, **options | {"method": options.get("method", "exact")})
        assert len(again.survivors) == len(stays) + len(two.survivors)


def write(name, found):
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")


@given(old=rows(), new=rows(5), options=OPTIONS | st.just(DROPPED), parts=st.integers(1, 2))
def test_files_have_the_same_answer_which_is_proven(old, new, options, parts):
    if not old or not new:
        return
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write("old/a.jsonl", old[::parts])
        write("old/b.jsonl", old[1::2] if parts == 2 else [{"id": "b", "text": "z " * 20, "score": 1, "lang": "en"}])
        write("new.jsonl", new)
        every = [
            json.loads(line) for name in ("a", "b") for line in Path("old", f"{name}.jsonl").read_text().splitlines()
        ]
        expected = nd.deduplicate(every + new, **options).kept[len(every) :]
        done = nd.deduplicate_files("new.jsonl", "out.jsonl", against="old", prefer="best", **options)
        kept = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
        assert kept == [row for row, stays in zip(new, expected, strict=True) if stays]
        listed = list(read_superseded(place_of("out.superseded.jsonl")))
        assert len(listed) == done.summary.superseded
        for line in listed:
            of_file = [json.loads(text) for text in Path(line["file"]).read_text().splitlines()]
            assert of_file[line["row"]]["id"] == line["id"]
        assert nd.verify_files("out.jsonl").failures == 0
        again = nd.deduplicate_files("new.jsonl", "again.jsonl", against="old", prefer="best", resume=True, **options)
        assert Path("again.superseded.jsonl").read_bytes() == Path("out.superseded.jsonl").read_bytes()
        assert again.summary.superseded == done.summary.superseded


MEETING = " ".join(START)
OLD = [
    {"id": 1, "text": MEETING, "score": 1},
    {"id": 2, "text": f"{MEETING} x", "score": 5},
    {"id": 3, "text": OTHER, "score": 2},
    {"id": 4, "text": "a document that was written again from its first word to its last", "score": 2},
]
NEW = [
    {"id": 5, "text": f"{MEETING} y", "score": 3},
    {"id": 3, "text": f"{OTHER}!", "score": 2.5},
    {"id": 4, "text": "nothing of what stood here yesterday is left in this paragraph of today", "score": 2},
]
BEST = {"against": "old.jsonl", "prefer": "best", "keep": "max:score", "min_similarity": 0.5}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("old.jsonl", OLD)
    write("new.jsonl", NEW)


def listed(name="out.superseded.jsonl"):
    return [
        (line["id"], line["row"], line["survivor_id"], line["survivor_row"]) for line in read_superseded(place_of(name))
    ]


LISTED = [(1, 0, 2, None), (3, 2, 3, 1)]


def test_what_is_written_and_said(place):
    done = nd.deduplicate_files("new.jsonl", "out.jsonl", **BEST)
    assert [json.loads(line)["id"] for line in Path("out.jsonl").read_text().splitlines()] == [3, 4]
    assert Path("old.jsonl").read_text() == "".join(json.dumps(row) + "\n" for row in OLD)
    assert listed() == LISTED
    assert (done.summary.superseded, done.summary.against_reference, done.summary.matching_reference) == (2, 1, 0)
    assert done.summary.shared_ids == 1
    summary = json.loads(Path("out.summary.json").read_text())
    assert (summary["superseded"], summary["files"]["prefer"]) == (2, "best")
    assert summary["files"]["superseded"] == "out.superseded.jsonl"
    told = str(done)
    assert "replaced 2 of 4 documents of the reference (50.0 %)" in told
    assert "delete them there: out.superseded.jsonl" in told
    assert "1 kept document with the id of a document of the reference that stays, too" in told
    assert "superseded" not in json.loads(nd.deduplicate_files("new.jsonl", dry_run=True).to_json())
    told = str(nd.deduplicate_files("new.jsonl", "most.jsonl", keep_most=9, **BEST))
    assert "with the id of a document of the reference that stays, too" in told
    assert "texts do not match" not in told  # they may: both stay


def test_records_lie_beside_the_audit_in_every_form(place):
    for audit, listing in (
        ("logs/removed.jsonl.gz", "logs/removed.superseded.jsonl"),
        ("removed.duplicates.parquet", "removed.superseded.jsonl"),
        ("audits/", "audits.superseded.jsonl"),
    ):
        Path("logs").mkdir(exist_ok=True)
        nd.deduplicate_files("new.jsonl", "out/", audit=audit, overwrite=True, **BEST)
        assert listed(listing) == LISTED
        assert nd.verify_files("out/", audit=audit).proven
        assert nd.explain(audit, "1").removed[0]["file"] == "old.jsonl"
    dry = nd.deduplicate_files("new.jsonl", dry_run=True, **BEST)
    assert (dry.summary.superseded, dry.files["superseded"]) == (2, None)


def test_the_audit_in_parquet_has_the_values_of_both_sides(place):
    import pyarrow.parquet as pq

    nd.deduplicate_files("new.jsonl", "out.jsonl", audit="out.duplicates.parquet", **BEST)
    [row] = pq.read_table("out.duplicates.parquet").to_pylist()
    assert (row["id"], row["survivor_id"], row["value"], row["survivor_value"]) == ("5", "2", "3", "5")
    nd.deduplicate_files("new.jsonl", "old_wins.jsonl", audit="w.duplicates.parquet", **BEST | {"prefer": "against"})
    assert {row["survivor_value"] for row in pq.read_table("w.duplicates.parquet").to_pylist()} == {None}


def test_a_folder_of_outputs_is_read_without_the_list(place):
    Path("day").mkdir()
    nd.deduplicate_files("new.jsonl", "day/out.jsonl", **BEST)
    assert nd.deduplicate_files("day", dry_run=True).summary.rows == 2


def test_annotations_reports_and_frames(place):
    nd.deduplicate_files("new.jsonl", "all.jsonl", annotate=True, report="page.html", **BEST)
    found = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert [(row["is_duplicate"], row["duplicate_of"]) for row in found] == [(True, 2), (False, None), (False, None)]
    assert "--prefer best" in Path("page.html").read_text()
    options = {name: value for name, value in BEST.items() if name != "against"}
    frame = nd.deduplicate(pl.DataFrame(NEW), against=pl.DataFrame(OLD), **options)
    assert frame.survivors["id"].to_list() == [3, 4]
    assert frame.superseded.column_names == frame.duplicates.column_names
    assert [(row["id"], row["row"], row["survivor_row"]) for row in frame.superseded.to_pylist()] == [
        (1, 0, None),
        (3, 2, 1),
    ]
    assert nd.deduplicate(NEW, against=OLD).superseded is None


def test_fingerprints_are_a_reference_as_well(place):
    nd.fingerprint_files("old.jsonl", "old.parquet", value=["score"])
    options = BEST | {"min_similarity": 0, "max_distance": 12}
    nd.deduplicate_files("new.jsonl", "texts.jsonl", **options)
    nd.deduplicate_files("new.jsonl", "prints.jsonl", **options | {"against": "old.parquet"})
    assert Path("prints.jsonl").read_bytes() == Path("texts.jsonl").read_bytes()
    assert listed("prints.superseded.jsonl") == listed("texts.superseded.jsonl") == LISTED
    assert nd.verify_files("prints.jsonl").proven
    nd.fingerprint_files("old.jsonl", "bare.parquet")
    with pytest.raises(
        nd.InputError, match="bare.parquet has no column 'score'. Make it anew with `neardup fingerprint --value"
    ):
        nd.deduplicate_files("new.jsonl", "no.jsonl", **options | {"against": "bare.parquet"})
    with pytest.raises(nd.OptionError, match="bare.parquet holds fingerprints, and `keep` needs the texts"):
        nd.deduplicate_files("new.jsonl", "no.jsonl", **options | {"against": "bare.parquet", "keep": len})


def test_sources_may_be_of_either_side(place):
    nd.deduplicate_files(
        "new.jsonl", "out.jsonl", **BEST | {"keep": "first", "prefer_source": ["new.jsonl", "old.jsonl"]}
    )
    assert [line[0] for line in listed()] == [1, 2, 3]
    with pytest.raises(nd.InputError, match="`prefer_source='third.jsonl'`: no input is of this source"):
        nd.deduplicate_files("new.jsonl", "no.jsonl", **BEST | {"prefer_source": "third.jsonl"})
    options = {"prefer": "best", "keep": "first", "min_similarity": 0.5, "source": "site", "prefer_source": "b"}
    sides = [[row | {"site": site} for row in found] for site, found in (("a", OLD), ("b", NEW))]
    assert [row["id"] for row in nd.deduplicate(sides[1], against=sides[0], **options).superseded.to_pylist()] == [
        1,
        2,
        3,
    ]
    dry = nd.deduplicate_files("new.jsonl", dry_run=True, **BEST | {"prefer_source": "old.jsonl"})
    assert dry.summary.superseded == 1


@pytest.mark.parametrize("change", ["less", "more", "stated", "survivor", "gone", "broken"])
def test_verification_finds_a_list_that_is_wrong(place, change):
    nd.deduplicate_files("new.jsonl", "out.jsonl", **BEST)
    path = Path("out.superseded.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    first = json.loads(lines[0])
    changed = {
        "less": lines[1:],
        "more": [*lines, json.dumps(first | {"id": 4, "row": 3}) + "\n"],
        "stated": [json.dumps(first | {"similarity": 0.6}) + "\n", *lines[1:]],
        "survivor": [json.dumps(first | {"survivor_id": 1, "reference_row": 0}) + "\n", *lines[1:]],
        "broken": ["{}\n"],
    }
    if change == "gone":
        path.unlink()
        with pytest.raises(
            nd.InputError, match="out.superseded.jsonl, which lists what does not stay of the reference, is missing"
        ):
            nd.verify_files("out.jsonl")
        return
    path.write_text("".join(changed[change]))
    if change == "broken":
        with pytest.raises(nd.DataError, match="line 1: this is no line of a list of superseded documents: it lacks"):
            nd.verify_files("out.jsonl")
        return
    assert not nd.verify_files("out.jsonl").proven


@pytest.mark.parametrize("prefer", ["best", "against"])
def test_an_output_in_the_folder_of_the_reference_is_none_of_it(place, prefer):
    Path("pages").mkdir()
    Path("old.jsonl").rename("pages/old.jsonl")
    nd.deduplicate_files("new.jsonl", "pages/new.jsonl", **BEST | {"against": "pages", "prefer": prefer})
    assert nd.verify_files("pages/new.jsonl").proven
    assert (
        nd.deduplicate_files("new.jsonl", dry_run=True, **BEST | {"against": "pages"}).summary.reference_documents > 4
    )


def test_the_list_is_no_audit_but_is_explained(place):
    nd.deduplicate_files("new.jsonl", "out.jsonl", **BEST)
    for call in (
        lambda: nd.verify_files("out.jsonl", audit="out.superseded.jsonl"),
        lambda: nd.report("out.superseded.jsonl", "page.html"),
    ):
        with pytest.raises(
            nd.InputError, match="lists the documents of a reference that do not stay. Give the audit of the run"
        ):
            call()
    for name in ("out.superseded.jsonl", "out.duplicates.jsonl"):
        [line] = nd.explain(name, "1", diff=True).removed
        assert (line["file"], line["row"], line["reference_row"]) == ("old.jsonl", 0, 1)
    assert nd.explain("out.duplicates.jsonl", "5").removed[0]["survivor_id"] == 2


def test_a_run_is_done_again(place):
    nd.deduplicate_files("new.jsonl", "out.jsonl", **BEST)
    found = nd.reproduce("out.summary.json")
    assert found.same
    assert {file.kind for file in found.files} == {"output", "audit", "superseded"}


def test_work_of_the_other_order_is_not_continued(place):
    nd.deduplicate_files("new.jsonl", "out.jsonl", resume=True, **BEST)
    with pytest.raises(nd.RecipeMismatch, match="prefer was 'best'"):
        nd.deduplicate_files("new.jsonl", "out.jsonl", resume=True, overwrite=True, **BEST | {"prefer": "against"})


def test_a_script_deletes_what_is_listed_once(place):
    nd.deduplicate_files("new.jsonl", "out.jsonl", **BEST)
    script = [sys.executable, ROOT / "examples/delete_superseded.py", "out.superseded.jsonl"]
    done = [subprocess.run(script, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert done == ["old.jsonl: 2 deleted\n", "old.jsonl: left as it is, its rows are others\n"]
    rest = [json.loads(line) for name in ("old", "out") for line in Path(f"{name}.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rest] == [2, 4, 3, 4]
    assert nd.deduplicate(rest, min_similarity=0.5).survivors == rest


def test_the_script_deletes_nothing_if_a_file_cannot_be_edited_and_no_rows_without_ids(place):
    script = [sys.executable, ROOT / "examples/delete_superseded.py", "listed.jsonl"]
    Path("old.csv.gz").write_bytes(b"")
    lines = [json.dumps({"id": name, "file": file, "row": 0}) for name, file in ((1, "old.jsonl"), (5, "old.csv.gz"))]
    before = Path("old.jsonl").read_bytes()
    Path("listed.jsonl").write_text("\n".join(lines))
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.returncode, Path("old.jsonl").read_bytes()) == (1, before)
    assert done.stderr == "Only JSON lines and Parquet can be edited here, not old.csv.gz: nothing was deleted.\n"
    write("unnamed.jsonl", [{"text": "a"}])
    Path("listed.jsonl").write_text(json.dumps({"id": "unnamed.jsonl:0", "file": "unnamed.jsonl", "row": 0}))
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert done.stdout == "unnamed.jsonl: left as it is, its rows are others\n"


REFUSED = [
    ({"prefer": "new"}, nd.OptionError, "`prefer='new'`"),
    ({"against": ()}, nd.OptionError, "no `against` is given. Name the reference, or leave it out"),
    (
        {"keep": "first"},
        nd.OptionError,
        "by `keep='first'`, every document of the reference is preferred to every input",
    ),
    (
        {"output": "-"},
        nd.InputError,
        "has no place for the list of documents to delete from the reference. Give `audit` a file",
    ),
]


@pytest.mark.parametrize(("given", "kind", "said"), REFUSED)
def test_what_is_refused(place, given, kind, said):
    call = {"output": "out.jsonl"} | BEST | given
    with pytest.raises(kind, match=said):
        nd.deduplicate_files("new.jsonl", **call)
    assert not list(Path().glob("out*"))


def test_what_has_no_such_order_says_what_to_do(place):
    nd.Store("s").close()
    with pytest.raises(
        nd.OptionError, match="s is a store, which decides which of its documents stay. Make it with the `keep`"
    ):
        nd.deduplicate_files("new.jsonl", "out.jsonl", **BEST | {"against": "s"})
    with pytest.raises(nd.OptionError, match="`unit='line'` with `prefer='best'`: it is for a reference"):
        nd.deduplicate_units("new.jsonl", "out.jsonl", unit="line", prefer="best")
    with pytest.raises(
        nd.OptionError, match="`prefer`: Store.. has no such option; it orders the documents of a reference and"
    ):
        nd.Store("t", prefer="best")
    with pytest.raises(nd.OptionError, match="a store does so by its own `keep`"):
        nd.filter_files("new.jsonl", "out.jsonl", store="s", prefer="best")
