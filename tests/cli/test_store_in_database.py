"""The commands `neardup store …` and `filter --store` on a store in PostgreSQL."""

import json
from pathlib import Path

import pytest

import postgres_server
from near_copies import near_copies
from neardup.cli.main import main
from neardup.store.store import Store


@pytest.fixture
def place(tmp_path, monkeypatch):
    why = postgres_server.why_not()
    if why:
        pytest.skip(why)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return postgres_server.running().place(postgres_server.new_schema())


def run(*arguments):
    try:
        return main(list(map(str, arguments))) or 0
    except SystemExit as end:
        return end.code


def write(name, texts, first=0, ids=True):
    rows = [({"id": f"d{number}"} if ids else {}) | {"text": text} for number, text in enumerate(texts, first)]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def lines(name):
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def test_the_commands_answer_as_on_a_folder(place, capsys):
    texts = near_copies(60)
    write("a.jsonl", texts[:40])
    write("b.jsonl", texts[30:], first=30)
    told = {}
    for store in ("folder", place):
        name = "folder" if store == "folder" else "database"
        assert run("store", "create", store, "--min-similarity", "0.7") == 0
        assert run("store", "create", store) == 2
        assert run("store", "add", store, "a.jsonl", "-o", f"{name}.jsonl", "--quiet") == 0
        assert run("store", "check", store, "b.jsonl", "-o", f"{name}.checks.jsonl", "--quiet") == 0
        capsys.readouterr()
        assert run("store", "remove", store, "d0", "nobody") == 0
        assert run("filter", "--create", "b.jsonl", "-o", f"{name}.new.jsonl", "--store", store, "--quiet") == 0
        assert run("store", "neighbors", store, "--id", "d2", "--quiet") == 0
        assert run("store", "pairs", store, "--quiet") == 0
        assert run("store", "expire", store, "--newest", "20", "--by", "first-seen") == 0
        assert run("store", "verify", store) == 0
        assert run("store", "export", store, f"{name}.export") == 0
        assert run("store", "compact", store, "--quiet") == 0
        out, err = capsys.readouterr()
        told[name] = (out, err.replace(f"{name}.export", "EXPORT").replace(store, "STORE"))
    assert told["database"] == told["folder"]
    for ending in (".jsonl", ".checks.jsonl", ".new.jsonl", ".new.duplicates.jsonl"):
        assert lines(f"database{ending}") == lines(f"folder{ending}")
    assert run("store", "get", place, lines("database.new.jsonl")[-1]["id"]) == 0
    assert run("store", "info", place, "--json") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found[0]["id"] == lines("database.new.jsonl")[-1]["id"]
    assert (found[1]["documents"], found[1]["min_similarity"]) == (20, 0.7)
    assert run("store", "import", f"{place}_2", "folder.export", "--quiet") == 0
    with Store(place, mode="r") as store, Store(f"{place}_2", mode="r") as imported:
        assert imported.check_many(texts) == store.check_many(texts)


def test_what_a_command_cannot_do_there_is_refused(place, capsys):
    write("a.jsonl", near_copies(10))
    for arguments in (("add", place, "a.jsonl"), ("check", place, "a.jsonl"), ("info", place), ("export", place, "x")):
        assert run("store", *arguments) == 2
        assert "is no store" in capsys.readouterr().err
    assert run("store", "upgrade", place) == 2
    assert "has no stores in the schema" in capsys.readouterr().err
    assert run("store", "create", place, "--quiet") == 0
    refused = {
        ("backup", place, "b"): "pg_dump",
        ("build", place, "run.jsonl"): "is a store already",
        ("build", f"{place}_2", "run.jsonl"): "a run makes a store in a folder",
        ("upgrade", "folder"): "only tables in a database are upgraded",
        ("create", place.replace("neardup@", "neardup:secret@")): "is a store already",
    }
    for arguments, message in refused.items():
        assert run("store", *arguments) == 2
        said = capsys.readouterr().err
        assert message in said
        assert "secret" not in said
    assert run("store", "upgrade", place) == 0
    assert "of version 3 already" in capsys.readouterr().err
    assert run("dedup", "a.jsonl", "-o", "out.jsonl", "--against", place) == 2


def test_runs_that_keep_how_far_they_came_take_turns(place, capsys):
    write("a.jsonl", near_copies(30), ids=False)
    assert run("store", "create", place, "--quiet") == 0
    with Store(place) as service:
        from neardup.jobs.store_places import opened_store

        with opened_store(place, is_run=True):
            for arguments in (
                ("store", "add", place, "a.jsonl"),
                ("filter", "--create", "a.jsonl", "-o", "out.jsonl", "--store", place),
            ):
                assert run(*arguments) == 2
                assert "Another command that keeps how far it came" in capsys.readouterr().err
            service.check_and_add("x", "A service goes on meanwhile, with some words of its own.")
        assert run("store", "add", place, "a.jsonl", "--quiet") == 0
        assert service.get("row:0") is not None
        kept = len(service)
        assert run("store", "add", place, "a.jsonl", "--quiet") == 0
        assert len(service) == kept
