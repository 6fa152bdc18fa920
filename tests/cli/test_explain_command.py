"""`neardup explain`: why a document was removed, or what it was near and why it was not."""

import json
import os
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CHAIN, CLOCK, FERRY, FERRY_EDITED, ROWS, lines, read_lines, write_lines

import naive
import neardup

SHORT = [
    {"id": "see", "text": "See page 2."},
    {"id": "too", "text": "see  page 2."},
    {"id": "other", "text": "See page 3."},
]


@pytest.fixture
def audit(run):
    """The audit of a few rows."""

    def make(rows, *flags):
        write_lines("in.jsonl", rows)
        assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--quiet", *flags).code == 0
        return "out.duplicates.jsonl"

    return make


def test_a_removed_document_is_explained_by_its_survivor(run, audit):
    done = run("explain", audit(ROWS), "edited")
    distance = (naive.fingerprint(FERRY) ^ naive.fingerprint(FERRY_EDITED)).bit_count()
    assert (done.code, done.err) == (0, "")
    assert done.out.decode() == (
        '"edited" (row 1) was removed.\n'
        f'  survivor  "ferry" (row 0): similarity 0.9048, distance {distance}\n'
        "  cluster   0\n"
    )


def test_repeated_ids_are_told_of(run, audit):
    shown = run("explain", audit([*ROWS, {"id": "edited", "text": BREAD + " Again."}]), "edited").out.decode()
    assert shown.endswith(
        "note: the inputs repeat some ids; documents of this id that were kept, if any, are not shown.\n"
    )
    Path("out.summary.json").unlink()
    assert "note: " not in run("explain", "out.duplicates.jsonl", "edited").out.decode()


def test_an_equal_text_is_said_to_be_equal(run, audit):
    assert (
        '  survivor  "ferry" (row 0): an exact duplicate, distance 0'
        in run("explain", audit(ROWS), "shouted").out.decode()
    )


def test_a_removal_by_distance_alone_says_so(run, audit):
    name = audit([{"id": 1, "text": FERRY}, {"id": 2, "text": FERRY_EDITED}], "--min-similarity", "0")
    assert "  survivor  1 (row 0): similarity not computed, distance " in run("explain", name, "2").out.decode()


def test_a_removal_from_a_component_names_the_link(run, audit):
    rows = [{"id": i, "text": text} for i, text in enumerate(CHAIN)]
    name = audit(rows, "--cluster", "components", "--max-distance", "128", "--min-similarity", "0.7")
    line = read_lines(name)[-1]
    shown = run("explain", name, line["id"]).out.decode()
    assert f"  survivor  0 (row 0): similarity {line['similarity']:.4f}, " in shown
    assert f"  link      {line['matched_id']}: similarity {line['matched_similarity']:.4f}\n" in shown


def test_a_kept_document_is_shown_with_what_is_near_and_why_it_did_not_match(run, audit):
    shown = run("explain", audit([*ROWS, *SHORT], "--max-distance", "20"), "ferry").out.decode()
    first, second, third, *_ = shown.splitlines()[1:]
    assert shown.startswith('"ferry" (row 0) was kept. Nearest fingerprints:\n')
    assert first == '  "shouted" (row 3): distance 0, similarity 1.0000: a match; removed as a duplicate of this one'
    assert second.startswith(
        '  "edited" (row 1): distance 9, similarity 0.9048: a match; removed as a duplicate of this one'
    )
    assert third.endswith("is above 20; similarity 0.0000 is below 0.8")
    assert len(shown.splitlines()) == 6


def test_the_reason_may_be_the_similarity_alone(run, audit):
    rows = [{"id": "a", "text": FERRY}, {"id": "b", "text": FERRY_EDITED}]
    shown = run("explain", audit(rows, "--min-similarity", "0.95"), "a").out.decode()
    assert shown.endswith('  "b" (row 1): distance 9, similarity 0.9048: similarity 0.9048 is below 0.95\n')


def test_a_similarity_just_below_the_limit_is_not_rounded_up_to_it(run, audit):
    least = naive.similarity(FERRY, FERRY_EDITED) + 1e-9
    shown = run("explain", audit(ROWS[:2], "--min-similarity", least), "ferry").out.decode()
    assert shown.endswith(f"similarity 0.90476: similarity 0.90476 is below {least}\n")


def test_a_kept_short_document_matches_only_equal_ones(run, audit):
    shown = run("explain", audit(SHORT, "--method", "simhash"), "see").out.decode()
    assert '"too" (row 1): distance 0, similarity 1.0000: a match; removed as a duplicate of this one' in shown
    assert '"other" (row 2): ' in shown
    assert ": one of the two has fewer than 8 tokens, so only equal texts match; " in shown


def test_a_match_that_went_to_another_survivor_is_said_to(run, audit):
    rows = [{"id": i, "text": text} for i, text in enumerate(CHAIN)]
    name = audit(rows, "--max-distance", "128", "--min-similarity", "0.7")
    removed = {line["id"]: line["survivor_id"] for line in read_lines(name)}
    kept = [row["id"] for row in rows if row["id"] not in removed]
    shown = "".join(run("explain", name, each).out.decode() for each in kept)
    assert any(
        f"a match; removed as a duplicate of {survivor} (row {survivor})" in shown for survivor in removed.values()
    )


def test_ids_that_are_integers_are_found_by_their_digits(run, audit):
    name = audit([{"id": 7, "text": FERRY}, {"id": 8, "text": FERRY}, {"text": BREAD}])
    assert run("explain", name, "8").out.startswith(b"8 (row 1) was removed.")
    assert run("explain", name, "7").out.startswith(b"7 (row 0) was kept.")
    assert run("explain", name, "in.jsonl:2").out.startswith(b'"in.jsonl:2" (row 2) was kept.')


def test_all_removed_documents_of_one_id_are_explained(run, audit):
    name = audit([{"id": "a", "text": FERRY}, {"id": "b", "text": FERRY}, {"id": "b", "text": FERRY_EDITED}])
    shown = run("explain", name, "b").out.decode()
    assert shown.count("was removed") == 2
    assert [line["row"] for line in neardup.explain(name, "b").removed] == [1, 2]


def test_compressed_audits_parquet_inputs_and_nested_texts_are_read(run):
    pq.write_table(
        pa.table({"key": ["x", "y", "z"], "meta": [{"body": text} for text in (FERRY, FERRY, BREAD)]}), "in.parquet"
    )
    flags = ["--text", "meta.body", "--id", "key"]
    for ending in ("", ".gz", ".zst"):
        name = f"audit.jsonl{ending}"
        run("dedup", "in.parquet", "-o", "out.parquet", "--overwrite", "--audit", name, *flags)
        assert run("explain", name, "y").out.startswith(b'"y" (row 1) was removed.')
        assert run("explain", name, "z").out.startswith(b'"z" (row 2) was kept.')


def test_rows_that_were_set_aside_are_in_nobodys_way(run, audit):
    rows = [{"id": "bad", "text": None}, {"id": "a", "text": FERRY}, {"id": "b", "text": FERRY}]
    name = audit(rows, "--on-error", "skip")
    assert run("explain", name, "a").out.startswith(b'"a" (row 1) was kept.')
    run("explain", name, "bad").refused("Neither the audit nor the inputs have a document with the id 'bad'.")


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        (
            "missing.jsonl",
            2,
            "There is no audit 'missing.jsonl'. Give the .duplicates.jsonl file that `neardup dedup` wrote, or a folder",
        ),
        (
            "empty",
            2,
            "There is no audit in the folder 'empty'. Give the .duplicates.jsonl file that `neardup dedup` wrote",
        ),
        (
            "out.jsonl",
            1,
            "line 1: this is no line of an audit: it lacks 'row'. Give the one beside it: out.duplicates.jsonl",
        ),
        (
            "out.summary.json",
            1,
            "line 1: this is no line of an audit: it is no JSON. Give the one beside it: out.duplicates.jsonl",
        ),
        (
            "in.jsonl",
            1,
            "line 1: this is no line of an audit: it lacks 'row'. Give the .duplicates.jsonl file that `neardup dedup` wrote",
        ),
        ("out.summary.json", 1, "out.summary.json, line 1: this is no line of an audit: it is no JSON."),
    ],
)
def test_what_is_no_audit_is_told(run, audit, name, code, message):
    audit(ROWS)
    Path("empty").mkdir()
    done = run("explain", name, "ferry")
    assert (done.code, done.out) == (code, b"")
    assert message in done.err


def test_an_output_folder_in_place_of_its_audit_is_told(run):
    write_lines("in/a.jsonl", ROWS)
    run("dedup", "in", "-o", "out/")
    run("explain", "out/", "edited").refused(
        "There is no audit in the folder 'out'. Give the one beside it: out.duplicates.jsonl"
    )


def test_an_id_in_place_of_the_audit_is_told(run, audit):
    run("explain", "ferry", audit(ROWS)).refused(
        "There is no audit 'ferry', but there is a 'out.duplicates.jsonl': the audit comes first, then the id."
    )


@pytest.mark.parametrize(("id", "shown"), [("edited", "edited"), ("-1", "-1"), ("a b", "'a b'"), (7, "7")])
def test_without_an_id_one_is_named_that_the_audit_has(run, id, shown):  # noqa: A002
    write_lines("in.jsonl", [{"id": "ferry", "text": FERRY}, {"id": id, "text": FERRY}])
    assert run("dedup", "in.jsonl", "-o", "out.jsonl").code == 0
    done = run("explain", "out.duplicates.jsonl")
    found = re.search(r"of a document after the audit\. Of the first that was removed: `neardup (.*)`\.", done.err)
    assert (done.code, found is not None and found[1].endswith(f" {shown}")) == (2, True), done.err
    assert b"was removed." in run(*shlex.split(found[1])).out


def test_without_an_id_an_audit_of_nothing_is_said_to_have_none(run):
    write_lines("in.jsonl", [{"id": "ferry", "text": FERRY}])
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    run("explain", "out.duplicates.jsonl").refused("out.duplicates.jsonl has none: nothing was removed.")


def test_an_unknown_id_is_told(run, audit):
    done = run("explain", audit(ROWS), "nobody")
    assert (done.code, done.err) == (
        2,
        "neardup: error: Neither the audit nor the inputs have a document with the id 'nobody'.\n",
    )


def test_an_unknown_id_comes_with_those_that_are_like_it(run, audit):
    name = audit([*ROWS, {"id": 1234, "text": BREAD + " Twice."}])
    for wanted, meant in (("Bread", "'bread'"), ("brigde", "'bridge'"), ("edit", "'edited'"), ("123", "1234")):
        assert run("explain", name, wanted).err.endswith(f"the id {wanted!r}. Did you mean {meant}?\n")


def test_a_row_by_its_file_comes_with_the_id_that_it_has(run, audit):
    name = audit(ROWS)
    assert run("explain", name, "in.jsonl:2").err.endswith("Row 2 of in.jsonl has the id 'bread'.\n")
    assert run("explain", name, "in.jsonl:9").err.endswith("in.jsonl has 5 rows, counted from 0.\n")
    assert run("explain", name, "other.jsonl:2").err.endswith("with the id 'other.jsonl:2'.\n")


def test_documents_without_ids_are_named_by_file_and_row(run, audit):
    name = audit([{"text": row["text"]} for row in ROWS])
    assert run("explain", name, "in.jsonl:2").out.startswith(b'"in.jsonl:2" (row 2) was kept.')
    assert run("explain", name, "in.json:2").err.endswith("Did you mean 'in.jsonl:2', 'in.jsonl:0' or 'in.jsonl:1'?\n")


def test_a_removed_document_is_explained_without_inputs_and_summary(run, audit):
    name = audit(ROWS)
    os.remove("in.jsonl")
    os.remove("out.summary.json")
    assert run("explain", name, "edited").code == 0


def test_a_kept_document_needs_the_summary(run, audit):
    name = audit(ROWS)
    os.rename("out.summary.json", "elsewhere.json")
    run("explain", name, "ferry").refused(
        "The audit does not list 'ferry' as removed, and out.summary.json, which tells where its text is, is missing."
    )


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"recipe": {"bits": 1}}', '{"recipe": {"width": 64}, "max_distance": 3}']
)
def test_a_summary_that_is_none_is_told(run, audit, content):
    name = audit(ROWS)
    Path("out.summary.json").write_text(content)
    run("explain", name, "ferry").refused("out.summary.json is not the summary of a run.", code=1)


def test_a_kept_document_needs_the_inputs(run, audit):
    name = audit(ROWS)
    os.remove("in.jsonl")
    run("explain", name, "ferry").refused(
        "To say why it was kept, its text is needed, but: in.jsonl: there is no such file or folder.",
        f"Run this in {Path.cwd()}, with the inputs in their places.",
    )


def test_standard_input_cannot_be_read_again(run):
    run("dedup", "-", "-o", "out.jsonl", stdin=lines(ROWS))
    assert run("explain", "out.duplicates.jsonl", "edited").code == 0
    run("explain", "out.duplicates.jsonl", "ferry").refused("but standard input cannot be read again.")


def test_inputs_that_have_changed_explain_nothing(run, audit):
    name = audit(ROWS)
    for rows in (ROWS[:3], [*ROWS[:1], *ROWS[2:], ROWS[1]]):
        write_lines("in.jsonl", rows)
        run("explain", name, "ferry").refused(
            "The inputs are not what they were when the audit was written (in.jsonl). Put those back, or run again."
        )


def test_the_audit_of_another_version_of_the_recipe_is_not_explained_by_this_one(run, audit):
    name = audit(ROWS)
    summary = json.loads(Path("out.summary.json").read_text())
    summary["recipe"]["version"] = 0
    Path("out.summary.json").write_text(json.dumps(summary))
    run("explain", name, "ferry").refused(
        "A recipe of version 0 is recorded here, and this neardup has versions 1 and 2. Use the neardup that made it"
    )


def test_a_survivor_in_the_reference_is_named_with_its_file_and_row(run):
    write_lines("old/a.jsonl", [{"id": "clock", "text": CLOCK}])
    write_lines("old/b.jsonl", [{"id": "bridge", "text": BRIDGE}, {"id": "known", "text": FERRY}])
    write_lines("in.jsonl", [{"id": "new", "text": FERRY_EDITED}, {"id": "bread", "text": BREAD}])
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "old").code == 0
    shown = run("explain", "out.duplicates.jsonl", "new").out.decode()
    assert '  survivor  "known" (row 1 of old/b.jsonl, in the reference): similarity 0.9048, distance 9\n' in shown
    shown = run("explain", "out.duplicates.jsonl", "bread").out.decode()
    assert ": a match; removed" not in shown


def test_a_match_that_the_reference_had_already_is_said_to_be_of_it(run):
    base = " ".join(f"word{i}" for i in range(100))
    near, far = base + " one two three", base.replace("word9 ", "other ") + " four five six"
    write_lines("old.jsonl", [{"id": "old", "text": base + " one two three four"}])
    write_lines("in.jsonl", [{"id": "near", "text": near}, {"id": "far", "text": far}])
    least = (neardup.similarity(near, far) + neardup.similarity(base + " one two three four", far)) / 2
    assert neardup.similarity(near, far) > least > neardup.similarity(base + " one two three four", far)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "old.jsonl", "--min-similarity", least)
    shown = run("explain", "out.duplicates.jsonl", "far").out.decode()
    assert 'a match; removed as a duplicate of "old" (of the reference)' in shown


def test_after_an_exact_run_the_most_similar_are_shown_whatever_their_fingerprints(run, audit):
    rows = [{"id": "a", "text": FERRY}, {"id": "b", "text": FERRY_EDITED}, {"id": "c", "text": BREAD}]
    far = [{"id": f"x{i}", "text": f"{CLOCK} {i}"} for i in range(8)]
    name = audit([*far, *rows], "--method", "exact", "--min-similarity", "0.95")
    found = neardup.explain(name, "a")
    assert found.nearest_by == "similarity"
    assert found.neighbors[0].id == "b"
    alike = [each.similarity for each in found.neighbors]
    assert alike == sorted(alike, reverse=True)
    assert run("explain", name, "a").out.startswith(b'"a" (row 8) was kept. Most similar:\n')
    by_distance = neardup.explain(
        audit([*far, *rows], "--method", "simhash", "--min-similarity", "0.95", "--overwrite"), "a"
    )
    assert by_distance.nearest_by == "distance"
    distances = [each.distance for each in by_distance.neighbors]
    assert distances == sorted(distances)


@pytest.mark.parametrize("kind", ["weighted", "containment", "cosine", "edit"])
def test_the_similarity_of_the_run_is_the_one_that_is_shown(run, audit, kind):
    name = audit(ROWS, "--method", "exact", "--similarity", kind, "--min-similarity", "0.99")
    near = neardup.explain(name, "ferry").neighbors[1]
    assert (near.id, near.similarity) == ("edited", neardup.similarity(FERRY, FERRY_EDITED, kind=kind))


def test_texts_without_tokens_are_alike_only_if_equal(run, audit):
    rows = [{"id": "dash", "text": "--"}, {"id": "same", "text": "--"}, {"id": "dots", "text": ".."}, *ROWS]
    found = neardup.explain(audit(rows, "--method", "exact"), "dash")
    assert [(each.id, each.similarity) for each in found.neighbors[:1]] == [("same", 1.0)]
    assert {each.similarity for each in found.neighbors[1:]} == {0.0}


def test_documents_apart_by_a_column_are_said_to_be(run, audit):
    rows = [
        {"id": "a", "text": FERRY, "lang": "en"},
        {"id": "b", "text": FERRY, "lang": "de"},
        {"id": "c", "text": FERRY},
    ]
    shown = run("explain", audit(rows, "--within", "lang"), "a").out.decode()
    assert (
        '  "b" (row 1): distance 0, similarity 1.0000: \'lang\' is "de", here "en": only documents with equal' in shown
    )
    assert "'lang' is no value, here \"en\": only" in shown


def test_documents_apart_by_a_function_are_said_to_be_perhaps(run):
    write_lines("in.jsonl", [{"id": "a", "text": FERRY}, {"id": "b", "text": FERRY_EDITED}])
    neardup.deduplicate_files("in.jsonl", "out.jsonl", within=str.lower)
    [near] = neardup.explain("out.duplicates.jsonl", "a").neighbors
    assert near.verdict == "a match, unless within=str.lower() gave it another value"


def test_text_files_of_stages_are_explained_by_the_names_that_led_to_them(run):
    for name, text in (("a/one", FERRY), ("a/two", BREAD), ("b/one", FERRY_EDITED)):
        Path(f"in/{name}.txt").parent.mkdir(parents=True, exist_ok=True)
        Path(f"in/{name}.txt").write_text(text)
    assert run("fingerprint", "in/**/*.txt", "-o", "prints.parquet").code == 0
    assert run("pairs", "in/**/*.txt", "-o", "pairs.parquet").code == 0
    assert run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet").code == 0
    run("apply", "clusters.parquet", "in/**/*.txt", "-o", "out/", "--audit", "removed.duplicates.jsonl").ok()
    [line] = read_lines("removed.duplicates.jsonl")
    assert (line["id"], line["survivor_id"]) == ("b/one.txt", "a/one.txt")
    done = run("explain", "removed.duplicates.jsonl", "a/two.txt").ok()
    assert "a/one.txt" in done.out.decode()
    assert "shows no texts" not in run("report", "removed.duplicates.jsonl", "-o", "out.html").err
