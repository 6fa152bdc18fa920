"""`neardup index`: what is built of files is found again, refusals say what to do, damage is named."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import write_lines

import neardup as nd
from neardup.hamming.index.files.folder import writing
from neardup.hamming.index.index import Index
from neardup.hamming.index.methods.table import METHODS

SENTENCE = "the quick brown fox jumps over the lazy dog near the river bank and sleeps until"


def document(number, variant=0):
    words = SENTENCE.split() + [f"w{number * 31 + i}" for i in range(12)] + [f"v{variant}"]
    return {"id": f"d{number}-{variant}", "text": " ".join(words)}


DOCUMENTS = [document(number, variant) for number in range(20) for variant in range(2)]
SHORT = [{"id": "s", "text": "Too short"}, {"id": 7, "text": "too  short"}]


def lines(content):
    return [json.loads(line) for line in content.splitlines()]


def expected(queries, corpus, limit):
    """What each query finds, by the definition."""
    of = [
        nd.fingerprint([row["text"] for row in rows], recipe=nd.RECIPES["default"].recipe) for rows in (queries, corpus)
    ]
    distances = np.bitwise_count(of[0][:, None] ^ of[1][None]).sum(axis=2, dtype=np.int64)
    found = []
    for i, query in enumerate(queries):
        found += [
            {"id": query["id"], "neighbor_id": corpus[j]["id"], "distance": int(distances[i, j])}
            for j in np.argsort(distances[i], kind="stable").tolist()
            if distances[i, j] <= limit
        ]
    return found


def test_an_index_of_texts_finds_what_the_definition_finds(run):
    write_lines("a.jsonl", DOCUMENTS)
    assert run("index", "build", "ix", "a.jsonl").code == 0
    done = run("index", "query", "ix", "a.jsonl")
    assert lines(done.out) == expected(DOCUMENTS, DOCUMENTS, 18)
    run("index", "query", "ix", "a.jsonl", "--max-distance", "3", "-o", "found.jsonl.gz").ok()
    assert lines(run("index", "query", "ix", "a.jsonl", "--max-distance", "0").out) == expected(DOCUMENTS, DOCUMENTS, 0)


def test_short_texts_find_equal_ones_only(run):
    write_lines("a.jsonl", DOCUMENTS + SHORT)
    run("index", "build", "ix", "a.jsonl")
    found = lines(run("index", "query", "ix", "--literal", "TOO SHORT", "--literal", "too shorter").out)
    assert found == [{"id": 0, "neighbor_id": name, "distance": 0} for name in ("s", "7")]
    assert json.loads(run("index", "info", "ix", "--json").out)["short"] == 2


def test_fingerprint_files_make_the_index_that_their_texts_make(run):
    write_lines("a.jsonl", DOCUMENTS + SHORT)
    run("fingerprint", "a.jsonl", "-o", "a.parquet")
    run("index", "build", "texts", "a.jsonl")
    run("index", "build", "prints", "a.parquet")
    answers = {
        run("index", "query", index, queries).out
        for index in ("texts", "prints")
        for queries in ("a.jsonl", "a.parquet")
    }
    assert len(answers) == 1
    assert len(answers.pop()) > 0


def test_documents_are_added_and_removed(run):
    write_lines("a.jsonl", DOCUMENTS[:20] + SHORT)
    write_lines("b.jsonl", DOCUMENTS[20:])
    run("index", "build", "ix", "a.jsonl")
    assert "added    20 documents\n" in run("index", "add", "ix", "b.jsonl").err
    assert lines(run("index", "query", "ix", "b.jsonl").out) == expected(DOCUMENTS[20:], DOCUMENTS, 18)
    assert "removed  3 documents\n" in run("index", "remove", "ix", "d0-0", "s", "7", "nothing").err
    with open("ids.txt", "w") as file:
        file.writelines(f"{row['id']}\n" for row in DOCUMENTS[1:20])
    assert "removed  19 documents\n" in run("index", "remove", "ix", "--ids", "ids.txt").err
    assert lines(run("index", "query", "ix", "a.jsonl").out) == expected(DOCUMENTS[:20], DOCUMENTS[20:], 18)


def test_a_fingerprint_itself_is_looked_for(run):
    write_lines("a.jsonl", DOCUMENTS)
    run("index", "build", "ix", "a.jsonl", "--recipe", "default-64")
    value = nd.fingerprint([DOCUMENTS[3]["text"]], recipe=nd.RECIPES["default-64"].recipe)[0]
    found = lines(run("index", "query", "ix", "--fingerprint", f"{value:016x}").out)
    assert found[0] == {"id": f"{value:016x}", "neighbor_id": "d1-1", "distance": 0}


def test_an_index_that_another_process_writes_to_is_refused_before_anything_is_read(run):
    write_lines("a.jsonl", DOCUMENTS)
    run("index", "build", "ix", "a.jsonl")
    with writing(Path("ix")):
        for command in (
            ("index", "add", "ix", "a.jsonl"),
            ("filter", "--create", "--index", "ix", "a.jsonl", "-o", "new.jsonl"),
        ):
            done = run(*command).refused("Another process writes to the index at ix. Wait")
            assert "documents/s" not in done.err
    assert not Path("new.jsonl").exists()


def test_integer_ids_stay_integers(run):
    rows = [row | {"id": i} for i, row in enumerate(DOCUMENTS)]
    write_lines("a.jsonl", rows)
    run("index", "build", "ix", "a.jsonl", "--integer-ids")
    assert lines(run("index", "query", "ix", "a.jsonl").out) == expected(rows, rows, 18)
    assert "removed  1 document\n" in run("index", "remove", "ix", "5").err
    assert "integers; 'x' is none" in run("index", "remove", "ix", "x").err
    write_lines("b.jsonl", DOCUMENTS)
    run("index", "add", "ix", "b.jsonl").refused('The id "d0-0" is not an integer')
    write_lines("c.jsonl", [{"id": 2**64, "text": SENTENCE}])
    assert "does not fit 64 bits" in run("index", "add", "ix", "c.jsonl").err


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_chosen(run, method):
    write_lines("a.jsonl", DOCUMENTS)
    arguments = ["--recipe", "default-64", "--max-distance", "2", "--method", method]
    assert run("index", "build", "ix", "a.jsonl", *arguments).code == 0
    found = {(row["id"], row["neighbor_id"]) for row in lines(run("index", "query", "ix", "a.jsonl").out)}
    assert found >= {(row["id"], row["id"]) for row in DOCUMENTS}


def test_the_methods_and_options_that_can_be_named_are_those_of_the_table(run):
    shown = " ".join(run("index", "build", "--help").out.decode().split())
    assert f"--method [auto|{'|'.join(METHODS)}]".replace(" ", "") in shown.replace(" ", "")
    for method in METHODS.values():
        assert all(f"--{option.name} N" in shown and option.meaning in shown for option in method.options)


def test_listing_the_methods_loads_nothing_heavy():
    program = (
        "from neardup.cli import main\ntry: main.main(['index', 'build', '--help'])\nexcept SystemExit: pass\n"
        "import sys\nprint(sorted({'numba', 'numpy', 'pyarrow'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "sorted-beam" in done.stdout
    assert done.stderr.strip() == "[]"


def test_an_index_is_replaced_only_if_asked_and_by_a_complete_one(run):
    write_lines("a.jsonl", DOCUMENTS)
    write_lines("b.jsonl", DOCUMENTS[:4])
    run("index", "build", "ix", "a.jsonl")
    run("index", "build", "ix", "b.jsonl").refused("pass --overwrite")
    with open("bad.jsonl", "w") as file:
        file.write("nonsense\n")
    assert run("index", "build", "ix", "b.jsonl", "bad.jsonl", "--overwrite").code == 1
    assert len(Index.open("ix")) == 40
    assert run("index", "build", "ix", "b.jsonl", "--overwrite", "--method", "scan").code == 0
    assert json.loads(run("index", "info", "ix", "--json").out)["documents"] == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("build", "full", "a.jsonl"), "is no index. Name a folder that is empty"),
        (("build", "new", "a.jsonl", "--blocks", "3", "--method", "scan"), "scan has no options"),
        (("build", "new", "a.jsonl", "a.parquet"), "a.jsonl holds texts, a.parquet fingerprints"),
        (("build", "new", "a.parquet", "--text", "body"), "these are fingerprint files"),
        (("build", "new", "a.jsonl", "--recipe", "free.toml"), "has no distance of its own"),
        (("add", "nothing", "a.jsonl"), "There is no index at nothing"),
        (("add", "ix", "other.parquet"), "was made by the recipe"),
        (("add", "bare", "a.jsonl"), "does not know the recipe"),
        (("query", "ix"), "Give one of INPUT, --literal and --fingerprint"),
        (("query", "ix", "a.jsonl", "--literal", "x"), "Give one of INPUT, --literal and --fingerprint"),
        (("query", "ix", "--fingerprint", "xyz"), "give hexadecimal digits, 32 of them"),
        (("query", "ix", "--fingerprint", "ff"), "give hexadecimal digits, 32 of them"),
        (("query", "ix", "--fingerprint", f" {1:_>31}"), "give hexadecimal digits, 32 of them"),
        (("query", "ix", "a.jsonl", "--max-distance", "19"), "the index was made for 18"),
        (("query", "ix", "a.jsonl", "-o", "found.csv"), "the answers are JSON lines"),
        (("query", "ix", "a.jsonl", "-o", "a.jsonl", "--overwrite"), "a.jsonl is an input"),
        (("remove", "ix"), "Give either ID"),
        (("remove", "ix", "--ids", "latin.txt"), "is not UTF-8"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(run, place, arguments, told):
    write_lines("a.jsonl", DOCUMENTS)
    (place.work / "full").mkdir()
    (place.work / "full/file").touch()
    (place.work / "latin.txt").write_bytes(b"\xe4\n")
    (place.work / "free.toml").write_text("bits = 100\n")
    run("fingerprint", "a.jsonl", "-o", "a.parquet")
    run("fingerprint", "a.jsonl", "-o", "other.parquet", "--recipe", "textbook")
    run("index", "build", "ix", "a.jsonl")
    Index(max_distance=3).save("bare")
    run("index", *arguments).refused(told)


def test_damage_is_named_by_file_and_page(run, place):
    write_lines("a.jsonl", DOCUMENTS)
    run("index", "build", "ix", "a.jsonl")
    assert json.loads(run("index", "info", "ix", "--json").out)["damaged"] is None  # nobody has looked
    assert run("index", "info", "ix", "--verify").code == 0
    [segment] = (place.work / "ix").glob("segment-*")
    content = bytearray(segment.read_bytes())
    content[4096 + 5] ^= 1
    segment.write_bytes(content)
    run("index", "info", "ix", "--verify").refused(f"{segment.name}: pages 0", code=1)


def test_fingerprints_of_vectors_are_indexed_but_no_texts_go_with_them(run, place):
    columns = {"id": ["a", "b"], "vector": pa.array([[1.0, 2, 3, 4], [1.0, 2, 3, 5]], pa.list_(pa.float32()))}
    pq.write_table(pa.table(columns), place.work / "vectors.parquet")
    nd.fingerprint_vector_files(["vectors.parquet"], "prints.parquet", vector="vector")
    write_lines("a.jsonl", DOCUMENTS)
    assert "has no distance of its own" in run("index", "build", "ix", "prints.parquet").err
    assert run("index", "build", "ix", "prints.parquet", "--max-distance", "20").code == 0
    found = lines(run("index", "query", "ix", "prints.parquet").out)
    assert {(row["id"], row["neighbor_id"]) for row in found} >= {("a", "a"), ("b", "b")}
    for arguments in (("index", "add", "ix", "a.jsonl"), ("index", "query", "ix", "--literal", "x")):
        run(*arguments).refused("holds fingerprints of vectors")
    run("filter", "--create", "--index", "ix", "a.jsonl").refused("holds fingerprints of vectors")


def test_texts_go_with_an_index_of_a_recipe_with_files(run):
    Path("stop.txt").write_text("the\nand\n")
    Path("mine.toml").write_text('stop_words = ["stop.txt"]\nmin_tokens = 1\nmax_distance = 3\n')
    text = "the ferry crosses the river at noon and the bell rings"
    Path("one.jsonl").write_text(json.dumps({"id": "a", "text": text}) + "\n")
    assert run("index", "build", "w.index", "one.jsonl", "--recipe", "mine.toml", "--quiet").code == 0
    Path("stop.txt").unlink()
    found = run("index", "query", "w.index", "--literal", text.replace("the ", ""))
    assert json.loads(found.out) == {"id": 0, "neighbor_id": "a", "distance": 0}
    assert run("index", "add", "w.index", "one.jsonl", "--quiet").code == 0
    run("index", "query", "w.index", "--literal", text, "--recipe", "textbook").refused(
        "w.index was made by the recipe"
    )


def test_a_file_instead_of_an_index_is_told_how_to_become_one(run):
    Path("one.jsonl").write_text(json.dumps({"id": "a", "text": "the ferry crosses the river at noon"}) + "\n")
    assert run("fingerprint", "one.jsonl", "-o", "f.parquet", "--quiet").code == 0
    run("index", "query", "f.parquet", "one.jsonl").refused(
        "f.parquet is a file, not the folder of an index.", "`neardup index build f.index f.parquet`"
    )
    assert run("index", "build", "f.index", "f.parquet", "--quiet").code == 0


LISTS = [{"id": f"l{row}", "tags": [f"t{row}", "a", "b"], "text": f"t{row} a b"} for row in range(4)]
OF_ELEMENTS = {"normalize": [], "segmenter": "whitespace", "word_shingle": 1, "max_distance": 18}
"""A recipe of texts whose fields are those of given lists."""


@pytest.fixture
def of_both(run):
    """An index and a fingerprint file of lists, and those of texts by a recipe with the same fields."""
    write_lines("lists.jsonl", LISTS)
    write_lines("texts.jsonl", LISTS)
    Path("ws.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in OF_ELEMENTS.items()))
    for arguments in (
        ("index", "build", "lists.index", "lists.jsonl", "--elements", "tags"),
        ("index", "build", "texts.index", "texts.jsonl", "--recipe", "ws.toml"),
        ("fingerprint", "lists.jsonl", "-o", "lists.parquet", "--elements", "tags"),
        ("fingerprint", "texts.jsonl", "-o", "texts.parquet", "--recipe", "ws.toml"),
    ):
        assert run(*arguments).code == 0


OTHER_KIND = "their features differ, and distances between them mean nothing"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("index", "query", "lists.index", "texts.jsonl"), "lists.index is of given lists, and these are texts. Name the"),
        (("index", "add", "lists.index", "texts.jsonl"), "lists.index is of given lists, and these are texts. Name the"),
        (("index", "query", "lists.index", "--literal", "a b"), "lists.index is of given lists, so no texts go with it."),
        (("filter", "--create", "texts.jsonl", "-o", "new.jsonl", "--index", "lists.index"), "fingerprints of given sets or lists, not of"),
        (("index", "query", "texts.index", "lists.jsonl", "--elements", "tags"), "texts.index is of texts, and --elements tags"),
        (("index", "add", "lists.index", "texts.parquet"), f"texts.parquet was made of texts, the other of given lists (--elements): {OTHER_KIND}"),
        (("index", "query", "texts.index", "lists.parquet"), OTHER_KIND),
        (("pairs", "lists.parquet", "--against", "texts.parquet", "-o", "pairs.jsonl"), OTHER_KIND),
        (("dedup", "texts.jsonl", "--recipe", "ws.toml", "--against", "lists.parquet", "--min-similarity", "0", "-o", "out.jsonl"), OTHER_KIND),
    ],
)  # fmt: skip
def test_texts_and_given_lists_are_never_compared(run, of_both, arguments, message):
    done = run(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert message in done.err


def test_an_index_of_lists_takes_lists(run, of_both):
    assert len(lines(run("index", "query", "lists.index", "lists.parquet").out)) == len(LISTS)
    assert len(lines(run("index", "query", "lists.index", "lists.jsonl", "--elements", "tags").out)) == len(LISTS)
    assert len(lines(run("index", "query", "texts.index", "texts.jsonl").out)) == len(LISTS)


def test_an_index_that_does_not_say_what_it_is_of_is_used_as_before(run, of_both, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(nd.Recipe, "could_be_of_elements", False)
        nd.build_index("old.index", "lists.jsonl", elements="tags")
        nd.fingerprint_files("lists.jsonl", "old.parquet", elements="tags")
    assert "of" not in Index.open("old.index").info().recipe_fields
    assert Index.open("lists.index").info().recipe_fields["of"] == "elements"
    for kind in ("lists", "old"):
        assert len(lines(run("index", "query", "old.index", f"{kind}.parquet").out)) == len(LISTS)
    assert len(lines(run("index", "query", "old.index", "lists.jsonl", "--elements", "tags").out)) == len(LISTS)
    assert len(lines(run("index", "query", "lists.index", "old.parquet").out)) == len(LISTS)
    assert Index.open("old.index").recipe.digest() == Index.open("lists.index").recipe.digest()


def test_an_index_shows_the_options_of_its_segments_in_words(run, tmp_path):
    index = Index(max_distance=1, method="block-tables", blocks=4)
    index.add(None, np.arange(100, dtype=np.uint64))
    index.merge()
    index.save(tmp_path / "a.index")
    assert re.search(rb"options +blocks=4\n", run("index", "info", str(tmp_path / "a.index")).out)
