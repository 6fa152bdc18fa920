"""`neardup verify`: a run that is right is proven, and every kind of damage is found and named."""

import gzip
import itertools
import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, BRIDGE, CHAIN, CLOCK, FERRY, ROWS, lines, read_lines, write_lines

import neardup
from places import ROOT

WORDS = [f"word{i}" for i in range(80)]
SIMILARITIES = ("jaccard", "weighted", "containment", "cosine", "edit")
CHECKS = ["rows", "survivors", "stated", "threshold", "apart", "counts"]
WITHOUT_AUDIT = ["rows", "removals", "apart"]


def documents(seed, n=60):
    """Edited, equal, shouted, short, empty and single texts; some ids are repeated, and some rows have none."""
    rng = random.Random(seed)
    bases = [" ".join(rng.choices(WORDS, k=rng.randint(8, 40))) for _ in range(6)] + [BRIDGE, *CHAIN]
    found = []
    for i in range(n):
        words = rng.choice(bases).split(" ")
        kind = rng.random()
        if kind < 0.15:
            words = rng.choice([["See", "page", "2."], ["see", "PAGE", "2."], ["!"], [""], ["石"]])
        elif kind < 0.45:
            words[rng.randrange(len(words))] = rng.choice(["changed", "石", "twice twice"])
        elif kind < 0.6:
            words = [word.upper() for word in words]
        elif kind < 0.7:
            words = rng.choices(WORDS, k=rng.randint(5, 30))
        row = {"id": f"d{i % (n - 4)}", "text": " ".join(words), "language": rng.choice(["en", "de", None])}
        if i % 20 == 7:
            del row["id"]
        found.append(row)
    return found


def verified(run, *arguments):
    """The exit code, and the result as JSON."""
    done = run("verify", *arguments, "--json", "--quiet")
    return done.code, json.loads(done.out)


def failing(run, *arguments):
    """The names of the checks that fail, each with its first failures in one string."""
    code, result = verified(run, *arguments)
    found = {check["name"]: "; ".join(check["first"]) for check in result["checks"] if check["failures"]}
    assert code == (1 if found else 0)
    assert result["failures"] == sum(check["failures"] for check in result["checks"])
    return found


def proven(run, *arguments):
    """The result as JSON, of a run that is proven."""
    code, result = verified(run, *arguments)
    assert (code, result["proven"]) == (0, True), "; ".join(f"{c['name']}: {c['first']}" for c in result["checks"])
    return result


@pytest.fixture
def dedup(run):
    """De-duplicate some rows to `out.jsonl`."""

    def make(rows, *flags, output="out.jsonl"):
        write_lines("in.jsonl", rows)
        run("dedup", "in.jsonl", "-o", output, "--quiet", *flags).ok()
        return output

    return make


METHODS = [
    *(("exact", similarity, "0.6", ()) for similarity in SIMILARITIES),
    ("minhash", "jaccard", "0.6", ()),
    *(("simhash", similarity, "0.6", ("--max-distance", "40")) for similarity in SIMILARITIES[1:]),
    ("simhash", "jaccard", "0.6", ("--max-distance", "40")),
    ("simhash", "jaccard", "0", ("--max-distance", "30")),
    ("auto", "jaccard", "0.8", ()),
]


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize(("method", "similarity", "threshold", "more"), METHODS)
def test_a_right_run_is_proven(method, similarity, threshold, more, cluster, run, dedup):
    flags = ("--method", method, "--similarity", similarity, "--min-similarity", threshold, "--cluster", cluster, *more)
    for seed, others in enumerate(((), ("--within", "language"), ("--keep", "longest"))):
        result = proven(run, dedup(documents(seed), *flags, *others, "--overwrite"))
        assert [check["name"] for check in result["checks"]] == CHECKS
        assert all(check["checked"] for check in result["checks"])
        assert result["removed"] == len(read_lines("out.duplicates.jsonl")) > 10
        assert result["documents"] == 60 == result["survivors"] + result["removed"]


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_run_is_proven_by_its_inputs_and_its_output_alone(similarity, cluster, run, dedup):
    flags = ("--similarity", similarity, "--min-similarity", "0.6", "--cluster", cluster, "--within", "language")
    dedup(documents(1), *flags, "--method", "exact")
    shutil.move("out.jsonl", "moved.jsonl")
    result = proven(run, "moved.jsonl", "in.jsonl", *flags)
    assert [check["name"] for check in result["checks"]] == WITHOUT_AUDIT
    assert (result["audit"], result["method"]) == (None, None)
    shown = failing(run, "moved.jsonl", "in.jsonl", *flags[:2], "--min-similarity", "1", *flags[4:])
    assert list(shown) == ["removals"]
    shown = failing(run, "moved.jsonl", "in.jsonl", *flags[:2], "--min-similarity", "0.1", *flags[4:6])
    assert list(shown) == ["apart"]


def test_what_is_printed(run, dedup):
    dedup(ROWS)
    done = run("verify", "out.jsonl", "--quiet")
    assert (done.code, done.out, done.err) == (0, b"", "")
    done = run("verify", "out.jsonl", "in.jsonl").ok()
    assert done.out.decode().splitlines() == [
        "ok      rows        5  every document is in the output or in the audit, once, unchanged and in order",
        "ok      survivors   2  every removal has one survivor, which is in the output",
        "ok      stated      2  ids, clusters, similarities, distances, exact and only_digits are as stated",
        "ok      threshold   2  every removal matches its survivor: jaccard similarity of at least 0.8",
        "ok      apart       3  no survivor matches another survivor",
        "ok      counts     13  the summary has the counts of these inputs and this audit",
        "proven: 5 documents, 3 survivors, 2 removed; survivors do not match at jaccard 0.8, by theorem",
    ]
    write_lines("out.jsonl", [ROWS[0]])
    done = run("verify", "out.jsonl", "--quiet").refused(code=1)
    assert done.out.decode().splitlines()[:3] == [
        "FAILED  rows        5  every document is in the output or in the audit, once, unchanged and in order",
        '        "bread" (row 2: in.jsonl, row 2) is neither in the output nor in the audit',
        '        "bridge" (row 4: in.jsonl, row 4) is neither in the output nor in the audit',
    ]
    assert done.out.decode().splitlines()[-1] == "not proven: 3 failures (5 documents, 1 survivor, 2 removed)"


def test_failures_beyond_the_first_are_counted(run, dedup):
    dedup([{"id": i, "text": f"{i} {BREAD}"[: 20 + i]} for i in range(20)], "--min-similarity", "1")
    kept = read_lines("out.jsonl")
    write_lines("out.jsonl", kept[:3])
    shown = run("verify", "out.jsonl", "--quiet").out.decode()
    assert f"        … and {len(kept) - 3 - 5} more failures\n" in shown


def edited(name, place, **changes):
    """Change a line of a file of JSON lines."""
    rows = read_lines(name)
    rows[place] = rows[place] | changes
    write_lines(name, rows)


DAMAGES = {
    "a survivor is gone": (
        lambda: write_lines("out.jsonl", read_lines("out.jsonl")[1:]),
        {"rows": '"ferry" (row 0: in.jsonl, row 0) is neither', "survivors": 'its survivor "ferry" is not in the', "counts": "survivors is 2"},
    ),
    "the output is cut": (
        lambda: Path("out.jsonl").write_bytes(Path("out.jsonl").read_bytes()[:-20]),
        {"rows": '"bridge" (row 4: in.jsonl, row 4) is neither in the output nor in the audit; out.jsonl, row 2 cannot be read', "counts": "survivors is 2"},
    ),
    "a survivor is there twice": (
        lambda: write_lines("out.jsonl", [*read_lines("out.jsonl"), ROWS[0]]),
        {"rows": "out.jsonl, row 3, is there twice"},
    ),
    "a removed document is there": (
        lambda: write_lines("out.jsonl", [*read_lines("out.jsonl"), ROWS[1]]),
        {"rows": "out.jsonl, row 3, is in the output, but the audit removes it"},
    ),
    "a document of no input is there": (
        lambda: write_lines("out.jsonl", [*read_lines("out.jsonl"), {"id": "new", "text": FERRY}]),
        {"rows": "out.jsonl, row 3, is in no input"},
    ),
    "a text is changed": (
        lambda: edited("out.jsonl", 1, text=BREAD + "."),
        {"rows": '"bread" (row 2: in.jsonl, row 2) is neither in the output nor in the audit; out.jsonl, row 1, is in no input', "counts": "survivors is 2"},
    ),
    "an id is changed": (lambda: edited("out.jsonl", 1, id="loaf"), {"rows": "out.jsonl, row 1, is in no input", "counts": ""}),
    "the order is another": (
        lambda: write_lines("out.jsonl", read_lines("out.jsonl")[::-1]),
        {"rows": "out.jsonl, row 0, is not in its place: the output has another order"},
    ),
    "a similarity is changed": (
        lambda: edited("out.duplicates.jsonl", 0, similarity=0.95),
        {"stated": '"edited" (row 1): its similarity is 0.9047619047619048, but 0.95 is stated'},
    ),
    "a similarity is gone": (
        lambda: edited("out.duplicates.jsonl", 0, similarity=None),
        {"stated": "but null is stated"},
    ),
    "a distance is changed": (lambda: edited("out.duplicates.jsonl", 0, distance=3), {"stated": "but 3 is stated"}),
    "a cluster is changed": (
        lambda: edited("out.duplicates.jsonl", 0, cluster_id=2),
        {"stated": "its cluster is 0, but 2 is stated", "counts": "clusters is 2, but the summary has 1"},
    ),
    "texts are said to be equal": (
        lambda: edited("out.duplicates.jsonl", 0, exact=True),
        {"stated": "its exact is false, but true is stated", "counts": "exact_duplicates is 2"},
    ),
    "texts are said to differ in digits only": (
        lambda: edited("out.duplicates.jsonl", 0, only_digits=True),
        {"stated": "its only_digits is false, but true is stated", "counts": "only_digits is 1, but the summary has 0"},
    ),
    "how texts differ is said to be unknown": (
        lambda: edited("out.duplicates.jsonl", 0, only_digits=None),
        {"stated": "its only_digits is false, but null is stated", "counts": "digits_unknown is 1, but the summary has 0"},
    ),
    "a survivor does not exist": (
        lambda: edited("out.duplicates.jsonl", 0, survivor_row=99, survivor_id="nobody"),
        {"survivors": '"edited" (row 1): its survivor "nobody" does not exist'},
    ),
    "a survivor has another id": (
        lambda: edited("out.duplicates.jsonl", 0, survivor_id="fairy"),
        {"stated": "its id or its survivor's is not that of the row"},
    ),
    "a survivor is one that was removed": (
        lambda: edited("out.duplicates.jsonl", 0, survivor_row=3, survivor_id="shouted"),
        {"survivors": '"edited" (row 1): its survivor "shouted" is not in the output', "stated": "its cluster is 1"},
    ),
    "a survivor is another document": (
        lambda: edited("out.duplicates.jsonl", 0, survivor_row=2, survivor_id="bread"),
        {"stated": "its cluster is 1, but 0 is stated; its similarity is", "threshold": '"edited" (row 1) does not match its survivor "bread"'},
    ),
    "a line of the audit is gone": (
        lambda: write_lines("out.duplicates.jsonl", read_lines("out.duplicates.jsonl")[1:]),
        {"rows": '"edited" (row 1: in.jsonl, row 1) is neither', "counts": "duplicates is 1"},
    ),
    "a line of the audit is there twice": (
        lambda: write_lines("out.duplicates.jsonl", read_lines("out.duplicates.jsonl") + read_lines("out.duplicates.jsonl")[:1]),
        {"survivors": '"edited" (row 1) is in the audit twice', "counts": "duplicates is 3"},
    ),
    "a removed row does not exist": (
        lambda: edited("out.duplicates.jsonl", 0, row=40),
        {"rows": '"edited" (row 1: in.jsonl, row 1) is neither', "survivors": '"edited" (row 40) is no document of the inputs'},
    ),
    "a count is another": (
        lambda: Path("out.summary.json").write_text(Path("out.summary.json").read_text().replace('"survivors": 3', '"survivors": 4')),
        {"counts": "survivors is 3, but the summary has 4"},
    ),
    "an input has another row": (
        lambda: write_lines("in.jsonl", [*ROWS, {"id": "clock", "text": CLOCK}]),
        {"rows": '"clock" (row 5: in.jsonl, row 5) is neither', "counts": "rows is 6, but the summary has 5"},
    ),
    "a removed text is another now": (
        lambda: edited("in.jsonl", 1, text=BREAD.replace("salt", "rye")),
        {"stated": "its similarity is 0.0, but 0.9047619047619048 is stated", "threshold": '"edited" (row 1) does not match its survivor "ferry"'},
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_is_found_and_named(damage, run, dedup):
    dedup(ROWS)
    spoil, expected = DAMAGES[damage]
    spoil()
    found = failing(run, "out.jsonl")
    assert set(found) == set(expected), found
    for name, words in expected.items():
        assert words in found[name]


def test_an_audit_of_another_run_is_found(run, dedup):
    dedup(documents(1))
    dedup(ROWS, output="other.jsonl")
    assert {"rows", "counts"} < set(failing(run, "other.jsonl", "--audit", "out.duplicates.jsonl", "in.jsonl"))


def test_a_survivor_that_was_left_beside_another_is_found(run, dedup):
    """Everything is consistent but that a document, which should have been removed, was not."""
    dedup(ROWS)
    for name in ("out.jsonl", "out.duplicates.jsonl"):
        Path(name).unlink()
    write_lines("out.jsonl", [ROWS[0], ROWS[1], ROWS[2], ROWS[4]])
    audit = dedup(ROWS, output="again.jsonl").replace(".jsonl", ".duplicates.jsonl")
    write_lines("out.duplicates.jsonl", read_lines(audit)[1:])
    found = failing(run, "out.jsonl")
    assert set(found) == {"apart", "counts"}
    assert found["apart"].startswith(
        '"ferry" (row 0: in.jsonl, row 0) and "edited" (row 1: in.jsonl, row 1): similarity 0.9048, distance '
    )


@pytest.mark.parametrize("method", ["minhash", "simhash"])
def test_a_pair_that_the_method_finds_is_a_failure_though_it_may_miss_others(method, run, dedup):
    test_a_survivor_that_was_left_beside_another_is_found(
        run, lambda rows, **more: dedup(rows, "--method", method, **more)
    )


def test_pairs_that_a_method_misses_are_told_and_fail_if_strict(run, dedup):
    dedup([*ROWS, {"id": "clock", "text": CLOCK}], "--method", "simhash", "--max-distance", "2")
    result = proven(run, "out.jsonl")
    assert result["missed"]["pairs"] == 1
    assert result["missed"]["why"] == "simhash promises pairs within distance 2 only"
    shown = run("verify", "out.jsonl").out.decode()
    assert "note: 1 pair of survivors reach 0.8, beside " in shown
    assert '"ferry" (row 0: in.jsonl, row 0) and "edited" (row 1: in.jsonl, row 1): similarity 0.9048' in shown
    assert list(failing(run, "out.jsonl", "--strict")) == ["apart"]


def test_pairs_that_the_sieve_of_minhash_drops_are_told(run, dedup):
    dedup(ROWS, "--method", "minhash", "--max-distance", "2")
    missed = proven(run, "out.jsonl")["missed"]
    assert (missed["pairs"], missed["miss_probability"]) == (1, 0.001)
    assert missed["why"].endswith("0.001; 1 of them were dropped by its sieve, at distances above 2")
    assert list(failing(run, "out.jsonl", "--strict")) == ["apart"]


def test_a_chain_is_proven_for_components_and_not_for_star(run, dedup):
    rows = [{"id": "same", "text": text} for text in CHAIN]
    dedup(rows, "--cluster", "components", "--min-similarity", "0.7")
    proven(run, "out.jsonl")
    shutil.copy("out.jsonl", "alone.jsonl")
    flags = ("in.jsonl", "--min-similarity", "0.7")
    proven(run, "alone.jsonl", *flags, "--cluster", "components")
    assert list(failing(run, "alone.jsonl", *flags)) == ["removals"]


def test_links_of_components_are_computed_again(run, dedup):
    rows = [{"id": i, "text": text} for i, text in enumerate(CHAIN)]
    dedup(rows, "--cluster", "components", "--min-similarity", "0.7")
    before = Path("out.duplicates.jsonl").read_bytes()
    edited("out.duplicates.jsonl", 2, matched_similarity=0.9)
    assert failing(run, "out.jsonl") == {
        "threshold": "3 (row 3): its link to 2 is no match, or not as similar as stated; "
        "4 (row 4): no chain of links leads to its survivor 0"
    }
    Path("out.duplicates.jsonl").write_bytes(before)
    edited("out.duplicates.jsonl", 2, matched_id=0)
    assert list(failing(run, "out.jsonl")) == ["threshold"]


def test_a_removal_of_another_group_is_found(run, dedup):
    rows = [row | {"language": "en"} for row in ROWS]
    dedup(rows, "--within", "language")
    proven(run, "out.jsonl")
    edited("in.jsonl", 1, language="de")
    assert (
        "does not match its survivor \"ferry\": similarity 0.9048, and another value of 'language'"
        in failing(run, "out.jsonl")["threshold"]
    )


REFERENCE = [{"id": "old", "text": FERRY + " Again."}, {"id": "clock", "text": CLOCK}]


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_a_run_against_a_reference_is_proven(cluster, run, dedup):
    write_lines("one/ref.jsonl", REFERENCE[:1])
    write_lines("two/ref.jsonl", [REFERENCE[1], *documents(5, 20)])
    flags = ("--against", "one", "--against", "two", "--cluster", cluster, "--min-similarity", "0.7")
    dedup([*ROWS, *documents(4)], *flags)
    result = proven(run, "out.jsonl")
    assert json.loads(Path("out.summary.json").read_text())["against_reference"] > 3
    assert "or a document of the reference" in result["checks"][4]["claim"]
    shutil.copy("out.jsonl", "alone.jsonl")
    proven(run, "alone.jsonl", "in.jsonl", *flags)
    shown = failing(run, "alone.jsonl", "in.jsonl", *flags[2:])
    assert list(shown) == ["removals"]
    place = next(i for i, line in enumerate(read_lines("out.duplicates.jsonl")) if line["reference"])
    edited("out.duplicates.jsonl", place, reference_row=1000)
    assert "does not exist" in failing(run, "out.jsonl")["survivors"]


def test_a_document_near_the_reference_that_was_left_is_found(run, dedup):
    write_lines("ref.jsonl", REFERENCE)
    dedup(ROWS)
    shutil.copy("out.jsonl", "alone.jsonl")
    found = failing(run, "alone.jsonl", "in.jsonl", "--against", "ref.jsonl")
    assert '"ferry" (row 0: in.jsonl, row 0) and "old" (row 0 of the reference): similarity 0.9' in found["apart"]


def test_a_reference_of_fingerprints_is_proven_by_distance(run, dedup):
    write_lines("ref.jsonl", [*REFERENCE, *documents(5, 20)])
    assert run("fingerprint", "ref.jsonl", "-o", "ref.parquet", "--quiet").code == 0
    dedup([*ROWS, *documents(4)], "--against", "ref.parquet", "--min-similarity", "0", "--max-distance", "20")
    result = proven(run, "out.jsonl")
    assert result["promise"] == "within distance 20, by theorem"
    assert "distance of at most 20" in result["checks"][3]["claim"]


def write(kind, rows, name):
    """Write rows in a format."""
    Path(name).parent.mkdir(exist_ok=True, parents=True)
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), name, row_group_size=7)
    elif kind == "lines":
        Path(name).write_text("".join(row["text"] + "\n" for row in rows), encoding="utf-8")
    elif kind == "txt":
        for i, row in enumerate(rows):
            Path(name).mkdir(exist_ok=True)
            Path(name, f"{i:03}.txt").write_text(row["text"], encoding="utf-8")
    elif kind == "jsonl.gz":
        Path(name).write_bytes(gzip.compress(lines(rows)))
    elif kind == "jsonl":
        write_lines(name, rows)
    else:
        quoted = [[json.dumps(row["id"]), '"' + row["text"].replace('"', '""') + '"'] for row in rows]
        separator = {"csv": ",", "tsv": "\t"}[kind]
        Path(name).write_text(
            "".join(separator.join(row) + "\n" for row in [["id", "text"], *quoted]), encoding="utf-8"
        )


KINDS = ("jsonl", "jsonl.gz", "csv", "tsv", "parquet", "txt", "lines")


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_is_proven_from_files_and_from_folders(kind, run):
    shards = [[{"id": f"{number}{i}"} | row for i, row in enumerate(documents(number, 25))] for number in range(3)]
    shards = [
        [{"id": f"{n}{i}", "text": row["text"] or "?"} for i, row in enumerate(rows)] for n, rows in enumerate(shards)
    ]
    names = [f"in/{number}.{kind}" if kind != "txt" else f"in/{number}" for number in (1, 0, 2)]
    for name, rows in zip(names, shards, strict=True):
        write(kind, rows, name)
    flags = ["--lines"] if kind == "lines" else []
    inputs = ["in"] if kind in ("txt", "jsonl") else names
    inputs = ["in/*"] if kind == "lines" else inputs
    assert run("dedup", *inputs, "-o", "kept/", "--audit", "audits/", "--quiet", *flags).code == 0
    result = proven(run, "kept", "--audit", "audits")
    assert result["removed"] > 20
    shutil.move("audits", "elsewhere")
    proven(run, "kept/", *inputs, *flags)
    output = sorted(path for path in Path("kept").rglob("*") if path.is_file())
    output[-1].unlink()
    assert list(failing(run, "kept/", *inputs, *flags)) == ["removals"]
    if kind != "txt":
        out = f"one.{kind}" if kind != "lines" else "one.log"
        assert run("dedup", *inputs, "-o", out, "--quiet", *flags).code == 0
        proven(run, out)


def test_a_shard_that_is_gone_or_of_no_input_is_found(run):
    for number in range(3):
        write_lines(f"in/{number}.jsonl", documents(number, 25))
    assert run("dedup", "in", "-o", "kept/", "--quiet").code == 0
    proven(run, "kept/")
    write_lines("kept/9.jsonl", [{"id": "new", "text": CLOCK}])
    assert failing(run, "kept")["rows"] == "kept/9.jsonl, row 0, is in no input: its text or its id is another"
    Path("kept/9.jsonl").unlink()
    Path("kept/1.jsonl").unlink()
    assert "is neither in the output nor in the audit" in failing(run, "kept")["rows"]


def test_rows_that_could_not_be_read_are_no_documents(run):
    Path("in.jsonl").write_bytes(b"no JSON\n" + lines(ROWS) + b'{"id": "null", "text": null}\n')
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--on-error", "skip", "--quiet").code == 0
    proven(run, "out.jsonl")
    shutil.copy("out.jsonl", "alone.jsonl")
    proven(run, "alone.jsonl", "in.jsonl", "--on-error", "skip")
    run("verify", "alone.jsonl", "in.jsonl", "--quiet").refused("in.jsonl, row 0", code=1)


def test_pages_columns_and_ids_are_read_as_in_the_run(run):
    rows = [{"key": row["id"], "meta": {"body": f"<p>{row['text']}</p>"}, "title": "T"} for row in ROWS]
    write_lines("in.jsonl", rows)
    flags = ("--text", "title", "--text", "meta.body", "--id", "key", "--html", "whole")
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--quiet", *flags).code == 0
    assert proven(run, "out.jsonl")["removed"] == 2
    shutil.copy("out.jsonl", "alone.jsonl")
    proven(run, "alone.jsonl", "in.jsonl", *flags)


def test_runs_with_recipes_are_proven(run, dedup):
    Path("r.toml").write_text('bits = 64\nmax_distance = 3\nnormalize = ["nfkc_casefold", "digits"]\n')
    rows = [*ROWS, {"id": "1", "text": BREAD + " 1."}, {"id": "2", "text": BREAD + " 2."}, *documents(3)]
    for more in (("--method", "exact"), ("--method", "simhash"), (), ("--method", "exact", "--similarity", "cosine")):
        dedup(rows, "--recipe", "r.toml", "--overwrite", *more)
        proven(run, "out.jsonl")
    shutil.copy("out.jsonl", "alone.jsonl")
    proven(run, "alone.jsonl", "in.jsonl", "--recipe", "r.toml", "--similarity", "cosine")


def test_ids_are_left_out_if_one_side_has_none(run, dedup):
    dedup(ROWS)
    write_lines("alone.jsonl", [{"text": row["text"], "score": 1} for row in read_lines("out.jsonl")[::-1]])
    run("verify", "alone.jsonl", "in.jsonl").ok(
        "rows are compared by their texts: the inputs or the output have no ids"
    )


def test_another_tools_output_may_be_of_another_format(run, dedup):
    dedup(ROWS)
    pq.write_table(pa.Table.from_pylist(read_lines("out.jsonl")), "alone.parquet")
    proven(run, "alone.parquet", "in.jsonl")


def test_an_output_without_any_row_is_judged(run):
    write_lines("in.jsonl", ROWS[:2])
    write_lines("ref.jsonl", ROWS[:1])
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--against", "ref.jsonl", "--quiet").code == 0
    assert proven(run, "out.jsonl")["survivors"] == 0
    write_lines("empty.jsonl", [])
    assert list(failing(run, "empty.jsonl", "in.jsonl")) == ["removals"]
    Path("kept").mkdir()
    assert list(failing(run, "kept/", "in.jsonl")) == ["removals"]


def in_stages(run, rows, *flags, keep=()):
    """Three shards in stages: `kept/` and `audits/`."""
    for number, part in enumerate([rows[:20], rows[20:45], rows[45:]]):
        write_lines(f"in/{number}.jsonl", part)
        assert run("fingerprint", f"in/{number}.jsonl", "-o", f"prints/{number}.parquet", "--quiet").code == 0
    assert run("pairs", "in", "-o", "pairs.jsonl", "--quiet", *flags).code == 0
    assert run("clusters", "pairs.jsonl", "--documents", "prints", "-o", "c.parquet", "--quiet", *keep).code == 0


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_a_run_in_stages_is_proven(cluster, run):
    Path("prints").mkdir()
    in_stages(run, documents(2), "--min-similarity", "0.6", keep=("--cluster", cluster))
    assert run("apply", "c.parquet", "in", "-o", "kept/", "--audit", "audits/", "--quiet").code == 0
    proven(run, "kept/", "--audit", "audits")
    Path("parts").mkdir()
    for last, number in enumerate((2, 0, 1)):
        run(
            "apply",
            "c.parquet",
            f"in/{number}.jsonl",
            "-o",
            "again/",
            "--audit",
            f"parts/{number}.duplicates.jsonl",
            "--quiet",
        ).ok()
        if last < 2:
            run("verify", "again/", "--audit", "parts", "--quiet").refused(
                "rows of c.parquet: survivors may be in the other shards"
            )
    proven(run, "again/", "--audit", "parts")
    Path("c.parquet").unlink()
    run("verify", "again/", "--audit", "parts", "--quiet").refused(
        "c.parquet: there is no such file. The run was made in stages"
    )


def test_text_files_in_stages_have_the_ids_and_the_places_of_what_led_to_them(run):
    for number in range(2):
        write("txt", documents(number, 20), f"in/{number}")
    for stage in (
        ("fingerprint", "in/*/*", "-o", "f.parquet"),
        ("pairs", "in/*/*", "-o", "p.parquet"),
        ("clusters", "p.parquet", "--documents", "f.parquet", "-o", "c.parquet"),
        ("apply", "c.parquet", "in/*/*", "-o", "kept/", "--audit", "audits/"),
    ):
        assert run(*stage, "--quiet").code == 0
    proven(run, "kept/", "--audit", "audits")


def test_a_run_that_removes_no_text_file_has_no_audits_and_is_proven(run):
    write("txt", [ROWS[0], ROWS[2]], "in")
    assert run("dedup", "in", "-o", "kept/", "--audit", "audits/", "--quiet").code == 0
    assert proven(run, "kept/", "--audit", "audits")["removed"] == 0


def test_stages_that_remove_no_text_file_have_no_audits_and_are_proven(run):
    write("txt", [ROWS[0], ROWS[2]], "in")
    assert run("fingerprint", "in", "-o", "prints.parquet", "--quiet").code == 0
    assert run("pairs", "in", "-o", "pairs.parquet", "--quiet").code == 0
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet", "--quiet").ok()
    assert run("apply", "clusters.parquet", "in", "-o", "kept/", "--audit", "audits/0/", "--quiet").code == 0
    assert proven(run, "kept/", "--audit", "audits")["removed"] == 0


def test_threads_and_memory_change_nothing(run, dedup):
    dedup(documents(6, 200), "--method", "minhash", "--min-similarity", "0.6")
    expected = proven(run, "out.jsonl")
    for flags in (("--threads", 1), ("--threads", 3, "--memory", "16M")):
        found = proven(run, "out.jsonl", *flags)
        assert {name: found[name] for name in found if name != "seconds"} == {
            name: expected[name] for name in expected if name != "seconds"
        }


def test_a_summary_that_is_missing_is_replaced_by_options(run, dedup):
    dedup(documents(2), "--min-similarity", "0.6")
    Path("out.summary.json").unlink()
    run("verify", "out.jsonl", "--quiet").refused(
        "Give INPUT, the inputs of the run that wrote out.jsonl: out.summary.json, which would name them, is"
    )
    result = proven(run, "out.jsonl", "in.jsonl", "--min-similarity", "0.6")
    assert [check["name"] for check in result["checks"]] == CHECKS[:-1]


REFUSALS = [
    (("gone.jsonl",), "gone.jsonl: there is no such file or folder"),
    (("alone.jsonl",), "Give INPUT, the inputs of the run that wrote alone.jsonl: no audit is known"),
    (("out.jsonl", "--audit", "gone.jsonl"), "There is no audit 'gone.jsonl'"),
    (("out.jsonl", "--min-similarity", "0.8"), "--min-similarity: the summary of the run, out.summary.json, has it"),
    (("out.jsonl", "--recipe", "textbook"), "made by the recipe 149758eb4496a2d6, not by 33c7a4508fd1c732, which was given"),
    (("out.jsonl", "--id", "id", "--text", "body"), "--text, --id: the summary of the run"),
    (("out.jsonl", "--against", "in.jsonl"), "--against: the summary of the run, out.summary.json, has it"),
    (("alone.jsonl", "in.jsonl", "--min-similarity", "0"), "--min-similarity 0: without a summary, no distance is known"),
    (("alone.jsonl", "in.jsonl", "--min-similarity", "3"), "--min-similarity 3.0: give a number from 0"),
    (("in.jsonl", "in.jsonl"), "in.jsonl is given twice"),
    (("alone.jsonl", "in.jsonl", "--text", "body"), "body"),
    (("units.jsonl",), "is of a run that removed lines. Only runs on whole documents can be verified"),
    (("all.jsonl",), "all.jsonl has the columns of `neardup dedup --annotate`, so it has all rows"),
    (("piped.jsonl",), "The inputs came on standard input, which cannot be read again. Give INPUT, as files"),
    (("moved.jsonl",), "there is no such file or folder. Run this in"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), REFUSALS)
def test_refusals(arguments, message, run, dedup):
    dedup(ROWS)
    shutil.copy("out.jsonl", "alone.jsonl")
    assert run("dedup", "in.jsonl", "-o", "units.jsonl", "--unit", "line", "--quiet").code == 0
    assert run("dedup", "in.jsonl", "-o", "all.jsonl", "--annotate", "--quiet").code == 0
    assert run("dedup", "-", "-o", "piped.jsonl", "--quiet", stdin=lines(ROWS)).code == 0
    write_lines("for_a_while.jsonl", ROWS)
    assert run("dedup", "for_a_while.jsonl", "-o", "moved.jsonl", "--quiet").code == 0
    Path("for_a_while.jsonl").unlink()
    done = run("verify", *arguments, "--quiet")
    assert (done.code, done.out) == (2, b"")
    assert message in done.err


def test_a_run_with_a_function_a_vector_run_and_damaged_summaries_are_refused(run, dedup):
    write_lines("in.jsonl", ROWS)
    neardup.deduplicate_files("in.jsonl", "out.jsonl", within=lambda text: text[:1])
    with pytest.raises(neardup.OptionError, match="only its name is known here, not the function"):
        neardup.verify_files("out.jsonl")
    with pytest.raises(neardup.OptionError, match="`within`: give the name of a column, not a function"):
        neardup.verify_files("in.jsonl", "out.jsonl", within=len)
    whole = json.loads(Path("out.summary.json").read_text())
    for change, error, message in (
        ({"recipe": whole["recipe"] | {"kind": "vectors"}}, neardup.OptionError, "is of a run on vectors"),
        ({"method": "none"}, neardup.DataError, "is not the summary of a run"),
        ({"files": {}}, neardup.DataError, "is not the summary of a run"),
        ({"recipe": whole["recipe"] | {"version": 99}}, neardup.NeardupError, "."),
    ):
        summary = whole | {"options": whole["options"] | {"within": None}} | change
        Path("out.summary.json").write_text(json.dumps(summary))
        with pytest.raises(error, match=message):
            neardup.verify_files("out.jsonl")


def test_the_library_gives_the_same(run, dedup):
    dedup(ROWS)
    found = neardup.verify_files(Path("out.jsonl"))
    assert (found.proven, found.failures, repr(found)[:26]) == (True, 0, "Verification(proven: 5 doc")
    _, told = verified(run, "out.jsonl")
    assert json.loads(found.to_json()) | {"seconds": 0} == told | {"seconds": 0}


DATA = ROOT.parent / "shared" / "data"


@pytest.mark.parametrize(
    ("name", "method"),
    [*itertools.product(("en_pep_revisions_even", "zh_laws_national"), ("exact", "minhash", "simhash"))],
)
def test_runs_on_real_corpora_are_proven(name, method, run):
    inputs = DATA / name / "docs.jsonl.gz"
    if not inputs.is_file():
        pytest.skip(f"needs {inputs}")
    assert run("dedup", inputs, "-o", "out.jsonl.gz", "--method", method, "--quiet").code == 0
    assert proven(run, "out.jsonl.gz")["removed"] > 20


def test_an_audit_in_the_place_of_the_output_is_refused_with_the_command(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "kept.jsonl")
    run("dedup", "in.jsonl", "-o", "other name.jsonl", "--audit", "gone.duplicates.jsonl.gz")
    run("dedup", "in.jsonl", "-o", "folder/", "--audit", "audits/")
    for audit, output, command in (
        ("kept.duplicates.jsonl", "kept.jsonl", "neardup verify kept.jsonl"),
        (
            "gone.duplicates.jsonl.gz",
            "other name.jsonl",
            "neardup verify 'other name.jsonl' --audit gone.duplicates.jsonl.gz",
        ),
        ("audits", "folder/", "neardup verify folder/ --audit audits"),
    ):
        for more in ((), ("in.jsonl",)):
            done = run("verify", audit, *more)
            assert (done.code, done.err) == (
                2,
                f"neardup: error: {audit} is an audit, and verified is the output of its run, {output}: `{command}`.\n",
            )
    assert run("verify", "other name.jsonl", "--audit", "gone.duplicates.jsonl.gz").code == 0
    assert run("verify", "folder/", "--audit", "audits").code == 0


def test_an_audit_whose_output_is_not_known_is_refused_as_the_output(run):
    write_lines("in.jsonl", ROWS)
    run("dedup", "in.jsonl", "-o", "-", "--audit", "gone.duplicates.jsonl")
    told = "gone.duplicates.jsonl is an audit. Give the output of its run, and name the audit with --audit"
    assert told in run("verify", "gone.duplicates.jsonl").err
    Path("gone.summary.json").unlink()
    assert told in run("verify", "gone.duplicates.jsonl").err


@pytest.mark.parametrize("output", ["ob.txt", "ob.txt.gz", "ob/"])
@pytest.mark.parametrize("given", ["b.txt", "in"])
def test_a_run_of_one_text_file_is_proven_whatever_the_output_is_called(run, given, output):
    Path("in").mkdir()
    for name in ("b.txt", "in/c.txt"):
        Path(name).write_text(FERRY)
    assert run("dedup", given, "-o", output).code == 0
    done = run("verify", output)
    assert (done.code, b"FAILED" in done.out) == (0, False), done.out
    assert run("verify", output, given).code == 0


def test_the_text_of_one_file_is_still_compared(run):
    Path("b.txt").write_text(FERRY)
    run("dedup", "b.txt", "-o", "ob.txt")
    Path("ob.txt").write_text(BREAD)
    done = run("verify", "ob.txt")
    assert (done.code, b"ob.txt, row 0, is in no input" in done.out) == (1, True)


def test_one_page_is_proven_as_one_text_file_is(run):
    pytest.importorskip("trafilatura")
    Path("b.html").write_text(f"<html><body><p>{FERRY}</p></body></html>")
    assert run("dedup", "b.html", "--html", "whole", "-o", "ob.html").code == 0
    assert run("verify", "ob.html").code == 0
