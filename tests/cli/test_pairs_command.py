"""`neardup pairs`, of texts and of fingerprint files."""

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import zstandard
from cli_corpora import BREAD, BRIDGE, CHAIN, FERRY, FERRY_EDITED, FERRY_SHOUTED, ROWS, files, read_lines, write_lines

import naive
import neardup

TEXTS = [FERRY, FERRY_EDITED, "See page 2.", BREAD, FERRY_SHOUTED, *CHAIN, "see page 2.", "", BRIDGE, "", "See page 3."]
DOCUMENTS = [{"id": f"t{row}", "text": text} for row, text in enumerate(TEXTS)]

COLUMNS = ["left_id", "right_id", "distance", "similarity", "left_file", "left_row", "right_file", "right_row"]


def is_short(text):
    return len(naive.tokens(text)) < 8


def distance(a, b, bits=128):
    return (naive.fingerprint(a, bits=bits) ^ naive.fingerprint(b, bits=bits)).bit_count()


def naive_pairs(texts, max_distance, least=None, bits=128):
    """Every pair of the definition: (left id, right id, distance, similarity); by fingerprints alone if `least` is None."""
    found = set()
    for (left, a), (right, b) in itertools.combinations(enumerate(texts), 2):
        if is_short(a) or is_short(b):
            if least is not None and naive.normalize(a) == naive.normalize(b):
                found.add((f"t{left}", f"t{right}", 0, 1.0))
            continue
        apart, alike = distance(a, b, bits), naive.similarity(a, b)
        if apart <= max_distance and alike >= (least or 0):
            found.add((f"t{left}", f"t{right}", apart, alike if least else None))
    return found


def values(rows):
    return {tuple(row.values())[:4] for row in rows}


@pytest.mark.parametrize(("least", "max_distance"), [(0.8, 16), (0.5, 60), (0, 20), (0, 128), (1, 128)])
def test_pairs_of_texts_are_those_of_the_definition(run, least, max_distance):
    write_lines("in.jsonl", DOCUMENTS)
    done = run("pairs", "in.jsonl", "-o", "pairs.jsonl", "--min-similarity", least, "--max-distance", max_distance)
    rows = read_lines("pairs.jsonl")
    assert (done.code, done.out) == (0, b"")
    assert f"{len(rows)} pair{'' if len(rows) == 1 else 's'}\noutput   pairs.jsonl" in done.err
    assert all(list(row) == COLUMNS for row in rows)
    assert values(rows) == naive_pairs(TEXTS, max_distance, least)
    assert len(rows) == len(values(rows))


def test_pairs_of_texts_agree_with_the_library(run):
    write_lines("in.jsonl", DOCUMENTS)
    run("pairs", "in.jsonl", "-o", "pairs.jsonl", "--min-similarity", "0.6", "--max-distance", "50")
    found = neardup.match(TEXTS, min_similarity=0.6, max_distance=50)
    fields = (found.left.tolist(), found.right.tolist(), found.distance.tolist(), found.similarity.tolist())
    expected = {(f"t{left}", f"t{right}", apart, alike) for left, right, apart, alike in zip(*fields, strict=True)}
    assert values(read_lines("pairs.jsonl")) == expected


@pytest.mark.parametrize(("recipe", "bits"), [("default", 128), ("default-64", 64)])
@pytest.mark.parametrize("max_distance", [0, 12, 128])
def test_pairs_of_fingerprint_files_are_those_within_the_distance_without_short_texts(run, recipe, bits, max_distance):
    write_lines("a.jsonl", DOCUMENTS[:5])
    write_lines("b.jsonl", DOCUMENTS[5:])
    assert run("fingerprint", "a.jsonl", "b.jsonl", "-o", "prints/", "--recipe", recipe).code == 0
    far = min(max_distance, bits)
    run("pairs", "prints", "-o", "pairs.jsonl", "--max-distance", far).ok(
        "5 short texts have no pairs by fingerprints alone"
    )
    assert values(read_lines("pairs.jsonl")) == naive_pairs(TEXTS, far, bits=bits)
    run("pairs", "prints", "-o", "same.jsonl", "--max-distance", far, "--min-similarity", "0", "--recipe", recipe).ok()
    assert Path("same.jsonl").read_bytes() == Path("pairs.jsonl").read_bytes()


def test_fingerprint_files_bring_the_distance_of_their_recipe(run):
    write_lines("in.jsonl", DOCUMENTS)
    run("fingerprint", "in.jsonl", "-o", "prints.parquet")
    run("pairs", "prints.parquet", "-o", "pairs.jsonl")
    assert values(read_lines("pairs.jsonl")) == naive_pairs(TEXTS, 18)


@pytest.mark.parametrize(
    ("ending", "unpacked"),
    [
        ("", bytes),
        (".gz", gzip.decompress),
        (".zst", lambda content: zstandard.ZstdDecompressor().decompressobj().decompress(content)),
    ],
)
def test_pairs_are_json_lines_plain_or_compressed(run, ending, unpacked):
    write_lines("in.jsonl", [{"id": 1, "text": FERRY}, {"id": "x", "text": FERRY_SHOUTED}])
    run("pairs", "in.jsonl", "-o", f"pairs.jsonl{ending}")
    content = unpacked(Path(f"pairs.jsonl{ending}").read_bytes())
    assert content == (
        b'{"left_id": 1, "right_id": "x", "distance": 0, "similarity": 1.0, '
        b'"left_file": "in.jsonl", "left_row": 0, "right_file": "in.jsonl", "right_row": 1}\n'
    )


def test_pairs_can_be_parquet(run):
    write_lines("in.jsonl", [{"id": 1, "text": FERRY}, {"id": "x", "text": FERRY_SHOUTED}])
    run("pairs", "in.jsonl", "-o", "pairs.parquet", "--min-similarity", "0")
    table = pq.read_table("pairs.parquet")
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("left_id", "large_string"),
        ("right_id", "large_string"),
        ("distance", "int32"),
        ("similarity", "double"),
        ("left_file", "dictionary<values=string, indices=int32, ordered=0>"),
        ("left_row", "int64"),
        ("right_file", "dictionary<values=string, indices=int32, ordered=0>"),
        ("right_row", "int64"),
    ]
    assert [tuple(row.values()) for row in table.to_pylist()] == [("1", "x", 0, None, "in.jsonl", 0, "in.jsonl", 1)]


@pytest.mark.parametrize("out", ["pairs.jsonl", "pairs.parquet"])
def test_no_pairs_are_an_empty_file(run, out):
    write_lines("in.jsonl", [])
    assert run("pairs", "in.jsonl", "-o", out).code == 0
    assert (Path(out).read_bytes() == b"") if out.endswith("jsonl") else (pq.read_table(out).num_rows == 0)
    run("fingerprint", "in.jsonl", "-o", "prints.parquet")
    assert run("pairs", "prints.parquet", "-o", out, "--overwrite").code == 0


def test_threads_change_no_byte(run):
    rows = [{"id": row, "text": f"{FERRY} {row % 7} {row % 5}"} for row in range(120)]
    for shard in range(6):
        write_lines(f"in/{shard}.jsonl", rows[shard::6])
    for threads in (1, 2, 3):
        run("pairs", "in", "-o", f"{threads}.jsonl", "--threads", threads, "--max-distance", "40")
    assert len(read_lines("1.jsonl")) > 100
    assert len({Path(f"{threads}.jsonl").read_bytes() for threads in (1, 2, 3)}) == 1


def test_fingerprints_of_two_recipes_are_not_mixed(run):
    write_lines("in.jsonl", ROWS)
    run("fingerprint", "in.jsonl", "-o", "a.parquet")
    Path("mine.toml").write_text('weights = "tf"')
    run("fingerprint", "in.jsonl", "-o", "b.parquet", "--recipe", "mine.toml")
    for given in (
        ["a.parquet", "b.parquet"],
        ["b.parquet", "--recipe", "default"],
        ["a.parquet", "--recipe", "textbook"],
    ):
        run("pairs", *given, "-o", "pairs.jsonl").refused("was made by the recipe", "Make both with the same recipe.")
        assert not Path("pairs.jsonl").exists()


def test_a_recipe_file_without_a_distance_leaves_it_to_the_call(run):
    write_lines("in.jsonl", ROWS)
    Path("mine.toml").write_text("bits = 200")
    run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--recipe", "mine.toml")
    run("pairs", "prints.parquet", "-o", "pairs.jsonl").refused(
        "This recipe of 200 bits has no distance of its own. Give --max-distance.\n"
    )
    assert run("pairs", "prints.parquet", "-o", "pairs.jsonl", "--max-distance", "200").code == 0
    assert len(read_lines("pairs.jsonl")) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["in.jsonl", "prints.parquet"],
            "in.jsonl holds texts, prints.parquet fingerprints. Give only texts, or only fingerprint files.",
        ),
        (
            ["prints.parquet", "--min-similarity", "0.8"],
            "--min-similarity 0.8: fingerprint files hold no texts, so no similarity is known.",
        ),
        (["prints.parquet", "--text", "body"], "text: these are fingerprint files, not texts. Leave it out."),
        (
            ["prints.parquet", "--method", "exact"],
            "--method exact needs texts, and these are fingerprint files. Leave it out, or give the texts.",
        ),
        (
            ["prints.parquet", "--max-distance", "129"],
            "--max-distance 129: the recipe has 128 bits; give an integer from 0 to 128.",
        ),
        (
            ["in.jsonl", "--max-distance", "129"],
            "--max-distance 129: the recipe has 128 bits; give an integer from 0 to 128.",
        ),
        (
            ["in.jsonl", "-o", "pairs.csv"],
            "pairs.csv: pairs are written to a file that ends in .jsonl (also compressed) or .parquet.",
        ),
        (
            ["in.jsonl", "-o", "-"],
            "-: pairs are written to a file that ends in .jsonl (also compressed) or .parquet.",
        ),
        (
            ["in.jsonl", "-o", "old.jsonl"],
            "old.jsonl exists already. Name another output, or pass --overwrite to replace it.",
        ),
        (
            ["in.jsonl", "-o", "in.jsonl", "--overwrite"],
            "in.jsonl is an input, and no run replaces what it reads. Name another file.",
        ),
        (["in.jsonl", "-o", "nowhere/pairs.jsonl"], "nowhere does not exist. Make it, or name another output."),
        (["in.jsonl", "--against", "-"], "--against -: these are read from files."),
        (["in.jsonl", "--against", "./in.jsonl"], "in.jsonl is given twice"),
        (["in.jsonl", "--against", "prints.parquet"], "in.jsonl holds texts, prints.parquet fingerprints."),
        (
            ["prints.parquet", "--against", "more.parquet"],
            "prints.parquet and more.parquet both have the fingerprints of in.jsonl.",
        ),
        (["in.jsonl", "-o", ""], "is a folder; a file is to be written there."),
        (["in.jsonl", "--text", "body"], 'in.jsonl has no column "body" in its first rows.'),
        (["in.jsonl", "--keep", "last"], "No such option '--keep'."),
    ],
)
def test_what_cannot_be_is_refused(run, arguments, message):
    write_lines("in.jsonl", ROWS)
    write_lines("old.jsonl", ROWS)
    run("fingerprint", "in.jsonl", "-o", "prints.parquet")
    run("fingerprint", "in.jsonl", "-o", "more.parquet")
    before = {name: Path(name).read_bytes() for name in files()}
    done = run("pairs", *arguments, *([] if "-o" in arguments else ["-o", "pairs.jsonl"]))
    assert (done.code, done.out) == (2, b"")
    assert message in done.err
    assert {name: Path(name).read_bytes() for name in files()} == before


def test_bad_rows_stop_the_listing(run):
    write_lines("in.jsonl", [{"text": BREAD}, {"text": None}])
    run("pairs", "in.jsonl", "-o", "pairs.jsonl").refused("in.jsonl, row 1", code=1)
    assert files() == ["in.jsonl"]


def test_a_damaged_fingerprint_file_is_told(run):
    write_lines("in.jsonl", ROWS)
    run("fingerprint", "in.jsonl", "-o", "prints.parquet")
    content = Path("prints.parquet").read_bytes()
    Path("cut.parquet").write_bytes(content[:-9])
    run("pairs", "cut.parquet", "-o", "pairs.jsonl").refused("cut.parquet is damaged, or is not Parquet data", code=1)
    metadata = pq.read_metadata("prints.parquet").metadata
    table = pq.read_table("prints.parquet").replace_schema_metadata(metadata)
    pq.write_table(table.rename_columns({"fingerprint": "print"}).replace_schema_metadata(metadata), "renamed.parquet")
    unsealed = {name: text for name, text in metadata.items() if name != b"neardup.seal"}
    pq.write_table(table.replace_schema_metadata(unsealed), "earlier.parquet")
    pq.write_table(table.slice(1), "cut off.parquet")
    for name, message in (
        (
            "renamed",
            "renamed.parquet cannot be read as a fingerprint file: its metadata is not what was written. Make it anew",
        ),
        ("earlier", "earlier.parquet cannot be read as a fingerprint file: it has no seal, which every such file has."),
        (
            "cut off",
            "cut off.parquet cannot be read as a fingerprint file: it has another number of rows than was written.",
        ),
    ):
        run("pairs", f"{name}.parquet", "-o", "pairs.jsonl").refused(message, code=1)


def test_integer_ids_stay_integers(run):
    write_lines("in.jsonl", [{"id": 2**60, "text": FERRY}, {"id": 3, "text": FERRY}])
    run("pairs", "in.jsonl", "-o", "pairs.jsonl")
    assert values(read_lines("pairs.jsonl")) == {(2**60, 3, 0, 1.0)}


@pytest.mark.parametrize("by_fingerprints", [False, True])
def test_pairs_against_others_are_those_across(run, by_fingerprints):
    write_lines("a.jsonl", DOCUMENTS[:7])
    write_lines("b.jsonl", DOCUMENTS[7:])
    write_lines("all.jsonl", DOCUMENTS)
    run("pairs", "all.jsonl", "-o", "all-pairs.jsonl", "--min-similarity", "0", "--max-distance", "60")
    sides, near = ["a.jsonl", "b.jsonl"], ["--min-similarity", "0", "--max-distance", "60"]
    if by_fingerprints:
        run("fingerprint", "a.jsonl", "b.jsonl", "-o", "prints/")
        sides, near = ["prints/a.parquet", "prints/b.parquet"], ["--max-distance", "60"]
    assert run("pairs", sides[0], "--against", sides[1], "-o", "across.jsonl", *near).code == 0
    first = {row["id"] for row in DOCUMENTS[:7]}
    expected = {pair for pair in values(read_lines("all-pairs.jsonl")) if (pair[0] in first) != (pair[1] in first)}
    short = {f"t{row}" for row, text in enumerate(TEXTS) if is_short(text)}
    found = read_lines("across.jsonl")
    assert values(found) == {pair for pair in expected if not by_fingerprints or pair[0] not in short}
    assert len(found) > 3
    assert {(row["left_file"], row["right_file"]) for row in found} == {("a.jsonl", "b.jsonl")}
    summary = json.loads(Path("across.jsonl.summary.json").read_bytes())
    assert [shard["name"] for shard in (*summary["left"], *summary["right"])] == ["a.jsonl", "b.jsonl"]
    assert (summary["pairs"], summary["method"], summary["max_distance"]) == (len(found), "simhash", 60)


def test_of_equal_texts_distinct_lists_only_the_first(run):
    rows = [{"id": f"c{row}", "text": FERRY if row % 2 else FERRY_EDITED} for row in range(40)]
    write_lines("a.jsonl", rows)
    write_lines("b.jsonl", [{"id": "other", "text": FERRY_SHOUTED}] * 5)
    run("pairs", "a.jsonl", "--against", "b.jsonl", "-o", "across.jsonl", "--distinct", "--method", "exact")
    assert [(row["left_row"], row["right_row"]) for row in read_lines("across.jsonl")] == [(0, 0), (1, 0)]
    run("pairs", "a.jsonl", "-o", "within.jsonl", "--distinct", "--method", "exact")
    assert [(row["left_row"], row["right_row"]) for row in read_lines("within.jsonl")] == [(0, 1)]


def test_quiet_says_nothing(run):
    write_lines("in.jsonl", DOCUMENTS)
    assert run("pairs", "in.jsonl", "-o", "pairs.jsonl", "--quiet").err == ""
    assert json.loads(Path("pairs.jsonl").read_text().splitlines()[0])["distance"] <= 18
    assert np.isfinite(read_lines("pairs.jsonl")[0]["similarity"])
