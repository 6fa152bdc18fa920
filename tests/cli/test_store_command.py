"""`neardup store`: make a store, add documents, ask about texts, remove documents, and see what is there."""

import gzip
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, CLOCK, FERRY, FERRY_EDITED, ROWS, files, lines, read_lines, write_lines

import neardup as nd
from neardup.jobs.stores.store_add import add_to_store
from neardup.jobs.streams import store_rows

EMPTY = {"duplicate_of": None, "similarity": None, "distance": None, "exact": False}


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(store_rows, "DOCUMENTS_AT_ONCE", 2)


def told(done):
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_documents_are_added_with_the_answers_of_dedup(run):
    write_lines("in.jsonl", ROWS)
    assert "by jaccard similarity of at least 0.8" in run("store", "create", "seen").err
    done = run("store", "add", "seen", "in.jsonl", "-o", "answers.jsonl")
    assert (done.code, done.out) == (0, b"")
    assert "removed  2 duplicates (40.0 %): 1 exact, 1 near\n" in done.err
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--method", "exact")
    expected = [{"id": row["id"], "is_new": True, **EMPTY, "status": "new", "replaces": []} for row in ROWS]
    for line in read_lines("out.duplicates.jsonl"):
        found = {name: line[name] for name in ("similarity", "distance", "exact")}
        expected[line["row"]] |= {"is_new": False, "duplicate_of": line["survivor_id"], **found, "status": "duplicate"}
    assert read_lines("answers.jsonl") == expected
    again = told(run("store", "add", "seen", "in.jsonl", "-o", "-"))
    assert [line["duplicate_of"] for line in again] == ["ferry", "ferry", "bread", "ferry", "bridge"]
    assert run("store", "add", "seen", "in.jsonl", "--quiet").err == ""


def test_all_formats_columns_and_standard_input(run):
    table = pa.table({"name": [1, 2], "body": [FERRY, BREAD]})
    pq.write_table(table, "a.parquet")
    Path("b.csv").write_text(f'name,body\n3,"{CLOCK}"\n4,"{FERRY_EDITED}"\n')
    Path("c.jsonl.gz").write_bytes(gzip.compress(lines([{"name": 5, "body": BREAD.upper()}])))
    run("store", "create", "seen")
    how = ["--text", "body", "--id", "name", "-o", "-"]
    found = told(run("store", "add", "seen", "a.parquet", "b.csv", "c.jsonl.gz", *how))
    assert [(line["id"], line["duplicate_of"]) for line in found] == [
        (1, None),
        (2, None),
        ("3", None),
        ("4", 1),
        (5, 2),
    ]
    assert (
        told(run("store", "add", "seen", "-", *how, stdin=lines([{"name": 6, "body": CLOCK}])))[0]["duplicate_of"]
        == "3"
    )


def test_rows_without_ids_are_numbered_over_all_runs_and_files_have_their_names(run):
    run("store", "create", "seen")
    for texts, names in ((("one text here", "another of them"), [0, 1]), (("and a third one",), [2])):
        write_lines("in.jsonl", [{"text": text} for text in texts])
        found = told(run("store", "add", "seen", "in.jsonl", "-o", "-"))
        assert [(line["id"], line["is_new"]) for line in found] == [(f"row:{number}", True) for number in names]
    Path("page.txt").write_text("a file with one document")
    assert told(run("store", "add", "seen", "page.txt", "-o", "-"))[0]["id"] == "page.txt"


@pytest.mark.parametrize("command", [("store", "add", "seen"), ("filter", "--store", "seen")])
def test_names_of_rows_without_ids_stay_apart_from_given_ids(run, command):
    texts = [FERRY, BREAD, CLOCK, "one text here", "another of them"]
    run("store", "create", "seen")
    with nd.Store("seen") as store:
        store.check_and_add("row:1", texts[0])  # a name that the store would give next but one
    rows = [{"text": texts[1]}, {"text": texts[2]}, {"id": "row:3", "text": texts[3]}, {"text": texts[4]}]
    write_lines("a.jsonl", rows)
    run(*command, "a.jsonl").ok()
    with nd.Store("seen") as store:
        kept = {name: store.get(name) is not None for name in [f"row:{number}" for number in range(6)]}
        assert kept == {"row:0": True, "row:1": True, "row:2": True, "row:3": True, "row:4": True, "row:5": False}
        assert store.check(texts[0]).duplicate_of == "row:1"
        assert store.check(texts[3]).duplicate_of == "row:3"
        for taken in ("row:0", "row:4"):
            said = f'A document has the id "{taken}", which the store gave to a document without an id. Give it another id.'
            with pytest.raises(nd.OptionError, match=re.escape(said)):
                store.check_and_add_many(["x", taken], ["a text that is new", "another one that is new"])
        assert store.get("x") is None
        assert store.check_and_add("row:05", "this is another id, and not a name").is_new
        assert store.check_and_add("row:17", "a name that was not given yet is free").is_new
    write_lines("b.jsonl", [{"id": "row:4", "text": "an update by chance"}])
    run(*command, "b.jsonl").refused("To replace that document, remove it")


def test_programs_and_commands_keep_their_values_side_by_side(run):
    write_lines("a.jsonl", [{"text": FERRY}])
    write_lines("b.jsonl", [{"text": BREAD}])
    run("store", "create", "seen")
    run("store", "add", "seen", "a.jsonl")
    with nd.Store("seen") as store:
        store.check_and_add("own", CLOCK)
        store.check_and_add_many([], [], state={"at": 3})
        assert store.state == {"at": 3, "rows_without_id": 1}
        store.check_and_add_many([], [], state={"at": 4, "rows_without_id": 0})
    assert told(run("store", "add", "seen", "b.jsonl", "-o", "-"))[0]["id"] == "row:1"
    with nd.Store("seen") as store:
        assert len(store) == 3
        assert store.state == {"at": 4, "rows_without_id": 2}
        with pytest.raises(nd.OptionError, match="`state=5`: commands such as .* rows_without_id. Give a dict"):
            store.check_and_add_many([], [], state=5)
        with pytest.raises(nd.OptionError, match="`state`: 'filter' is a key of commands"):
            store.check_and_add_many([], [], state={"filter": 5})


def test_commands_refuse_a_state_that_has_no_place_for_theirs(run):
    write_lines("a.jsonl", [{"text": FERRY}])
    with nd.Store("seen") as store:
        store.check_and_add_many([], [], state=5)
    for command in (("store", "add", "seen", "a.jsonl"), ("filter", "--create", "--store", "seen", "a.jsonl")):
        assert "The state of the store is 5, which a program has kept there" in run(*command).err
    with nd.Store("seen", mode="r") as store:
        assert (len(store), store.state) == (0, 5)


def test_a_known_id_with_another_text_replaces_the_document(run):
    write_lines("a.jsonl", [{"id": "a", "text": FERRY}])
    write_lines("b.jsonl", [{"id": "a", "text": BREAD}, {"id": "b", "text": FERRY}])
    run("store", "create", "seen")
    run("store", "add", "seen", "a.jsonl")
    assert [line["is_new"] for line in told(run("store", "add", "seen", "b.jsonl", "-o", "-"))] == [True, True]


def test_checks_list_all_matches_best_first_and_add_nothing(run):
    words = [f"w{i}" for i in range(40)]
    near = [" ".join(words[:-1]), " ".join([*words[:-3], "x", "y", "z"]), " ".join(words[:32])]
    run("store", "create", "seen", "--min-similarity", "0.6")
    with nd.Store("seen") as store:
        kept = [name for name, text in zip("abc", near, strict=True) if store.check_and_add(name, text).is_new]
    assert kept[0] == "a"
    found = told(run("store", "check", "seen", "--literal", " ".join(words), "--literal", "new"))
    assert [(line["id"], line["is_new"]) for line in found] == [(0, False), (1, True)]
    assert found[0]["duplicate_of"] == found[0]["matches"][0]["id"] == "a"
    assert found[0]["matches"] == sorted(found[0]["matches"], key=lambda each: -each["similarity"])
    assert found[1] == {"id": 1, "is_new": True, **EMPTY, "status": "new", "matches": []}
    write_lines("in.jsonl", ROWS)
    done = run("store", "check", "seen", "in.jsonl", "-o", "answers.jsonl.gz")
    assert done.err.splitlines()[-4:] == [
        "read     5 documents",
        "new      5 documents (100.0 %)",
        "known    0 documents (0.0 %)",
        "output   answers.jsonl.gz",
    ]
    answers = gzip.decompress(Path("answers.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line)["is_new"] for line in answers] == [True] * 5
    assert told(run("store", "info", "seen", "--json"))[0]["documents"] == len(kept)
    write_lines(
        "again.jsonl", [{"id": 1, "text": near[0]}, {"id": 2, "text": " ".join(words)}, {"id": 3, "text": CLOCK}]
    )
    done = run("store", "check", "seen", "again.jsonl", "-o", "again.answers.jsonl")
    assert "new      1 document (33.3 %)\nknown    2 documents (66.7 %): 1 exact, 1 near\n" in done.err


def test_some_of_the_ids_that_are_not_there_are_named(run):
    run("store", "create", "seen")
    run("store", "remove", "seen", *"1234567").said(
        "note     7 ids not there ('1', '2', '3', '4', '5' …)\nstore    seen"
    )


def test_an_output_in_a_folder_that_is_missing_is_refused_before_anything_is_added(run):
    write_lines("in.jsonl", ROWS)
    run("store", "create", "seen")
    run("store", "add", "seen", "in.jsonl", "-o", "gone/answers.jsonl").refused(
        "gone does not exist. Make it, or name another output"
    )
    assert "documents       0" in run("store", "info", "seen").out.decode()


def test_documents_are_removed_with_what_they_removed(run):
    write_lines("in.jsonl", [*ROWS, {"id": 7, "text": CLOCK}, {"id": "7", "text": "seven"}])
    run("store", "create", "seen")
    run("store", "add", "seen", "in.jsonl")
    assert "removed  2 documents\nstore    seen" in run("store", "remove", "seen", "7").err
    Path("ids.txt").write_bytes(b"\xef\xbb\xbfferry\r\n\r\nnobody\r\n")
    run("store", "remove", "seen", "--ids", "ids.txt").said(
        "removed  1 document\norphans  2 skipped documents that no kept document matches any more (1 of them not compared: the store keeps no "
        "texts); list them with `neardup store orphans`\nnote     1 id not there ('nobody')\nstore    seen"
    )
    found = told(run("store", "add", "seen", "in.jsonl", "-o", "-"))
    assert [line["is_new"] for line in found] == [True, False, False, False, False, True, True]


def test_what_is_known_is_shown(run):
    write_lines("in.jsonl", ROWS)
    run("store", "create", "seen", "--method", "minhash", "--similarity", "jaccard", "--recipe", "default-64")
    run("store", "add", "seen", "in.jsonl")
    document = told(run("store", "get", "seen", "ferry"))[0]
    assert (document["id"], document["tokens"]) == ("ferry", 22)
    expected = nd.fingerprint([FERRY], recipe="default-64")[0]
    assert int(document["fingerprint"], 16) == expected
    assert document["first_seen"] <= document["last_seen"]
    done = run("store", "get", "seen", "bread", "edited", "nobody")
    assert json.loads(done.out)["id"] == "bread"
    assert (done.code, "seen keeps no documents of 'edited', 'nobody'." in done.err) == (2, True)
    info = told(run("store", "info", "seen", "--json"))[0]
    assert (info["documents"], info["removed"], info["method"]) == (3, 1, "minhash")
    assert info["bytes"]["record"] > 0
    shown = run("store", "info", "seen").out.decode()
    total = sum(info["bytes"].values())
    assert re.search(rf"^bytes +{total:,}  in all, ", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.startswith("documents       3\nremoved         1\ngone            0\n")
    assert "  record\n" in shown


def test_options_come_from_a_file_too(run):
    Path("options.toml").write_text('[store.create]\nmethod = "minhash"\nmin-similarity = 0.6\n')
    assert run("store", "create", "seen", "--config", "options.toml").code == 0
    assert told(run("store", "info", "seen", "--json"))[0]["min_similarity"] == 0.6


def test_rows_that_cannot_be_read_stop_it_or_are_skipped(run):
    Path("in.jsonl").write_bytes(lines(ROWS[:1]) + b"nonsense\n" + lines(ROWS[2:]))
    run("store", "create", "seen")
    done = run("store", "add", "seen", "in.jsonl", "-o", "answers.jsonl")
    assert (done.code, "row 1" in done.err, Path("answers.jsonl").exists()) == (1, True, False)
    done = run("store", "add", "seen", "in.jsonl", "--on-error", "skip")
    assert "skipped  1 row could not be read\n         1: malformed JSON\n" in done.err
    assert done.code == 0
    done = run("store", "check", "seen", "in.jsonl", "-o", "answers.jsonl", "--on-error", "skip")
    assert "skipped  1 row could not be read\n         1: malformed JSON\n" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "seen"], "seen is a store already"),
        (["create", "full"], "is there, and is no store"),
        (["create", "new", "--max-distance", "3"], "asks for no distance"),
        (["create", "new", "--min-similarity", "2"], "--min-similarity 2.0: give a number"),
        (["create", "new", "--method", "minhash", "--similarity", "edit"], "promises nothing for it"),
        (["add", "full", "in.jsonl"], "full is no store"),
        (["add", "new", "in.jsonl"], "make it with `neardup store create`"),
        (["add", "seen", "gone.jsonl"], "there is no such file"),
        (["add", "seen", "in.jsonl", "--text", "body"], "body"),
        (["add", "seen", "in.csv", "--id", "name"], "name"),
        (["add", "seen", "in.jsonl", "-o", "answers.csv"], "the answers are JSON lines"),
        (["add", "seen", "in.jsonl", "-o", "in.jsonl"], "is an input"),
        (["add", "seen", "in.jsonl", "-o", "there.jsonl"], "there.jsonl exists already"),
        (["add", "seen", "in.jsonl", "--elements", "tags"], "No such option"),
        (["check", "seen"], "Give either INPUT, or --literal"),
        (["check", "seen", "in.jsonl", "--literal", "x"], "Give either INPUT, or --literal"),
        (["check", "new", "--literal", "x"], "new is no store"),
        (["remove", "seen"], "Give either ID..., or --ids FILE"),
        (["remove", "seen", "a", "--ids", "there.jsonl"], "Give either ID..., or --ids FILE"),
        (["remove", "seen", "--ids", "latin.txt"], "latin.txt is not UTF-8"),
        (["remove", "new", "a"], "new is no store"),
        (["get", "seen", "a"], "seen keeps no document of 'a'."),
        (["get", "new", "a"], "new is no store"),
        (["info", "new"], "new is no store"),
        (["info", "s3://bucket/seen"], "a store"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_refused_with_what_to_do(run, arguments, message):
    write_lines("in.jsonl", ROWS)
    write_lines("there.jsonl", ROWS)
    write_lines("full/file.jsonl", ROWS)
    Path("in.csv").write_text("id,text\n1,x\n")
    Path("latin.txt").write_bytes(b"caf\xe9\n")
    run("store", "create", "seen")
    done = run("store", *arguments)
    assert (done.code in (1, 2), message in done.err) == (True, True), done.err
    assert not Path("new").exists()


def test_a_second_writer_is_refused(run):
    write_lines("in.jsonl", ROWS)
    with nd.Store("seen"):
        done = run("store", "add", "seen", "in.jsonl")
    assert (done.code, "Another process writes to the store at seen" in done.err) == (2, True)


@pytest.mark.parametrize(
    "command",
    [
        "info {}", "add {} a.jsonl", "check {} a.jsonl", "get {} 1", "remove {} 1", "expire {} --newest 1", "compact {}",
        "neighbors {} --id 1", "pairs {} -o pairs.jsonl", "clusters {} -o clusters.jsonl", "orphans {}", "judgements {} -o judged.jsonl",
        "verify {}", "verify {} --repair", "export {} out", "backup {} out",
    ],
)  # fmt: skip
def test_commands_on_a_store_that_does_not_exist_name_the_one_beside_it_and_make_none(run, command):
    write_lines("a.jsonl", [{"id": 1, "text": FERRY}])
    run("store", "create", "seen.store")
    before = files()
    done = run("store", *command.format("seen.stroe").split())
    done.refused("seen.stroe is no store (did you mean seen.store?)")
    assert files() == before
    for other in (
        ("serve", "--store", "seen.stroe"),
        ("filter", "--store", "seen.stroe", "a.jsonl", "-o", "out.jsonl"),
    ):
        run(*other).refused("seen.stroe is no store (did you mean seen.store?)")
    assert files() == before


def test_every_command_of_stores_is_in_that_table():
    from neardup.cli.commands.store.store import command

    table = test_commands_on_a_store_that_does_not_exist_name_the_one_beside_it_and_make_none.pytestmark[0].args[1]
    makes = {"create", "build", "import", "upgrade"}  # the last one is of databases
    assert {each.split()[0] for each in table} == set(command.commands) - makes


def test_documents_that_the_store_has_unchanged_are_counted_apart_from_duplicates(run):
    write_lines("in.jsonl", [{"id": 1, "text": "one two three four"}, {"id": 2, "text": "one two three four"}])
    run("store", "create", "s").ok()
    told = run("store", "add", "s", "in.jsonl").ok().err
    assert "same" not in told
    assert "removed  1 duplicate (50.0 %): 1 exact, 0 near" in told
    told = run("store", "add", "s", "in.jsonl").ok().err
    assert "same     1 document unchanged (50.0 %)" in told
    assert "removed  1 duplicate (50.0 %): 1 exact, 0 near" in told
    found = add_to_store("s", "in.jsonl")
    assert (found.documents, found.new, found.unchanged, found.duplicates, found.exact) == (2, 0, 1, 2, 2)
