"""Stores in PostgreSQL are compacted, verified, exported and imported; replicas are made anew; versions and privileges are told."""

import itertools
import re

import pytest
from sizes import set_sizes
from streams import near_copies

import neardup as nd
from neardup.store.formats.versions import OtherVersionError
from neardup.store.postgresql import log, schema
from neardup.store.postgresql.connection import Database
from neardup.store.postgresql.places import database_place
from neardup.store.session.folder import BusyError
from neardup.store.store import Store
from places import ROOT

TEXTS = list(near_copies(80, 3))


def sized(server, name):
    return server.execute(f"SELECT count(*), count(content) FROM {name}.documents")[0]


def test_a_replica_that_slept_through_a_compaction_is_made_anew(server, schema, place, tmp_path, caplog, monkeypatch):
    behind, lost = f"{place}&replica={tmp_path / 'behind'}", f"{place}&replica={tmp_path / 'lost'}"
    set_sizes(monkeypatch, kept_changes=3)
    caplog.set_level("INFO", "neardup.store")
    with Store(place) as store:
        store.check_and_add_many(range(20), TEXTS[:20])
        Store(behind).close()
        kept = [row for row in range(20) if store.get(row)]
        store.remove(kept[:3])
        Store(lost).close()
        store.remove(kept[3:4])
        assert store.compact()
        expected = store.check_many(TEXTS)
        for each in (behind, lost):
            with Store(each) as late:
                assert late.check_many(TEXTS) == expected
        assert caplog.text.count("is made anew: the store was compacted") == 3
        store.check_and_add_many(range(20, 80), TEXTS[20:])
        Store(lost).close()
        rows = server.execute(f"SELECT rows FROM {schema}.stores")[0][0]
        kept_changes = server.execute(f"SELECT position FROM {schema}.changes WHERE rows = %s ORDER BY 1", (rows,))
        assert kept_changes == [(2,), (3,), (4,), (5,)]
        server.execute(f"UPDATE {schema}.changes SET request = 'another' WHERE position = 5")
        store.remove(kept[4:5])
        store.compact()
    with pytest.raises(nd.InputError, match="has gone back"):
        Store(lost)


def test_an_import_that_fails_leaves_no_store(server, schema, tmp_path, monkeypatch):
    with Store(tmp_path / "s") as store:
        store.check_and_add_many(range(40), TEXTS[:40])
        store.export(tmp_path / "export")
    place = server.place(schema)

    def fail(*_):
        raise RuntimeError("a test")

    with monkeypatch.context() as patch:
        patch.setattr(log.Log, "rename", fail)
        with pytest.raises(RuntimeError, match="a test"):
            Store.from_export(place, tmp_path / "export")
    assert server.execute(f"SELECT name FROM {schema}.stores") == []
    assert sized(server, schema) == (0, 0)
    with Store.from_export(place, tmp_path / "export") as store:
        assert len(store) > 0


@pytest.mark.parametrize("what", ["record.sqlite", "rows-0", "compared-0", "record.sqlite removed", "documents added"])
def test_a_damaged_replica_is_made_anew(place, what, caplog):
    with Store(place) as store:
        store.check_and_add_many(range(60), TEXTS[:60])
        expected, folder = store.check_many(TEXTS), store.path
    file = folder / what.partition(" ")[0]
    if what.endswith("removed"):
        for path in folder.glob("record.sqlite*"):
            if not path.name.endswith("replica"):
                path.unlink()
    elif what == "documents added":
        (folder / "record.sqlite.replica").rename(folder.parent / "mark")
        from neardup.store.session import folder as opening

        with pytest.raises(nd.InputError, match="is a replica: it follows the store at"):
            Store(folder)
        original, opening.REPLICA = opening.REPLICA, "nothing"
        try:
            with Store(folder) as alone:
                alone.check_and_add("y", "A text that was never in the database, of some words.")
        finally:
            opening.REPLICA = original
        (folder.parent / "mark").rename(folder / "record.sqlite.replica")
    else:
        content = file.read_bytes()
        middle = 0 if what == "record.sqlite" else len(content) // 2
        file.write_bytes(content[:middle] + b"\xff" * 64 + content[middle + 64 :])
    with Store(place) as store:
        assert store.path == folder
        assert store.check_many(TEXTS) == expected
        assert store.verify().is_sound
        store.check_and_add("x", TEXTS[70])
    if what != "record.sqlite removed":
        assert "is made anew" in caplog.text


def test_a_replica_belongs_to_one_store_and_one_process(server, schema, place, tmp_path):
    folder = tmp_path / "replica"
    mine, other = f"{place}&replica={folder}", f"{server.place(schema, 'other')}&replica={folder}"
    with Store(mine) as store:
        assert store.path == folder
        with pytest.raises(BusyError, match="Another process writes"):
            Store(mine)
    with pytest.raises(nd.InputError, match="is a replica of another store"):
        Store(other)
    with pytest.raises(nd.InputError, match="is a replica: it follows the store at"):
        Store(folder)
    with Store(folder, mode="r") as reader:
        assert len(reader) == 0
    Store(tmp_path / "plain").close()
    with pytest.raises(nd.InputError, match="is there, and is no replica"):
        Store(f"{place}&replica={tmp_path / 'plain'}")
    (tmp_path / "file").write_text("x")
    with pytest.raises(nd.InputError, match="is there, and is no replica"):
        Store(f"{place}&replica={tmp_path / 'file'}")


def test_damage_of_the_database_is_told(server, schema, place, tmp_path):
    with Store(place) as store:
        store.check_and_add_many(range(60), TEXTS[:60])
        number = server.execute(f"SELECT max(number) - 1 FROM {schema}.documents")[0][0]
        server.execute(
            f"UPDATE {schema}.documents SET content = overlay(content PLACING 'x' FROM 9) WHERE number = %s", (number,)
        )
        found = store.verify()
        assert len(found.problems) == 1
        assert "is not what was written" in found.problems[0]
    with pytest.raises(nd.DataError, match=r"is damaged: document .* is not what was written. Restore the database"):
        Store(f"{place}&replica={tmp_path / 'fresh'}")
    server.execute(f"DELETE FROM {schema}.documents WHERE number = %s", (number,))
    with pytest.raises(nd.DataError, match=r"rows of `documents` .* are missing"):
        Store(f"{place}&replica={tmp_path / 'other'}")


def test_what_a_database_cannot_do_is_refused_by_name(place, tmp_path):
    with Store(place) as store:
        with pytest.raises(nd.InputError, match="is backed up with its database: `pg_dump --schema="):
            store.backup(tmp_path / "b")
        with pytest.raises(nd.OptionError, match="was made with `keep='first'`"):
            Store(place, keep="last")
        with pytest.raises(nd.RecipeMismatch):
            Store(place, recipe="default-64")
    with pytest.raises(nd.InputError, match="A replica that is damaged is made anew when it is opened"):
        Store.repair(place)
    with pytest.raises(nd.InputError, match="a run makes a store in a folder"):
        Store.build(place, tmp_path / "run")
    with pytest.raises(nd.OptionError, match="a stream is for one process"):
        nd.Stream(place)
    with pytest.raises(nd.OptionError, match="`mode='x'`"):
        Store(place, mode="x")
    with Store(place, mode="r") as store, pytest.raises(nd.OptionError, match='was opened with `mode="r"`'):
        store.check_and_add("a", TEXTS[0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("postgresql://db/pages?schema=Public", "`schema='Public'`"),
        ("postgresql://db/pages?schema=pg_own", "`schema='pg_own'`"),
        ("postgresql://db/pages?store=", "`store=''`"),
        ("postgresql://db/pages?store=a&store=b", "is given twice"),
        ("postgresql://db/pages?replica=", "`replica=''`"),
        ("postgresql://db/pages?staleness=soon", "`staleness='soon'`"),
        ("postgresql://db/pages?no_such_option=1", "is no place of a database"),
    ],
)
def test_places_that_are_none_are_refused(given, message):
    pytest.importorskip("psycopg")
    with pytest.raises(nd.NeardupError, match=message) as caught:
        Store(given)
    assert isinstance(caught.value, nd.OptionError | nd.InputError)


def test_no_message_has_a_password(server, schema, monkeypatch):
    set_sizes(monkeypatch, patience=0.0)
    for given in (
        "postgresql://me:secret@127.0.0.1:1/pages?sslpassword=secret",
        "postgresql://me@127.0.0.1:1/p?password=secret",
    ):
        with pytest.raises(nd.TransferError) as caught:
            Store(given)
        assert "secret" not in str(caught.value)
    with Store(server.place(schema).replace("neardup@", "neardup:secret@")) as store:
        store.check_and_add("a", TEXTS[0])
        assert repr(store) == f"Store({server.place(schema)!r}, 1 documents, exact, jaccard)"
        assert "secret" not in repr(store) + "".join(path.read_text(errors="ignore") for path in store.path.iterdir())


def test_schemas_of_other_versions_are_refused_and_upgraded(server, place, monkeypatch):
    name = database_place(place).schema
    with Store(place) as store:
        store.check_and_add("a", TEXTS[0])
    now = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", now + 2)
    with pytest.raises(OtherVersionError, match="Stop the services, and upgrade the tables"):
        Store(place)
    database = Database(database_place(place), 0)
    with pytest.raises(OtherVersionError, match=f"has version {now} of the tables"):
        database.run(lambda connection: schema.upgrade(connection, database.place))
    steps = {
        now: "ALTER TABLE {schema}.stores ADD note text",
        now + 1: "ALTER TABLE {schema}.no_such_table ADD note text",
    }
    monkeypatch.setattr(schema, "STEPS", steps)
    with pytest.raises(nd.DataError, match="no_such_table"):  # all or nothing
        database.run(lambda connection: schema.upgrade(connection, database.place))
    assert server.execute(f"SELECT version FROM {name}.version") == [(now,)]
    steps[now + 1] = "UPDATE {schema}.stores SET note = 'moved'"
    assert database.run(lambda connection: schema.upgrade(connection, database.place)) == (now, now + 2)
    database.drop()
    with Store(place) as store:
        assert store.check(TEXTS[0]).exact
    assert server.execute(f"SELECT note FROM {name}.stores") == [("moved",)]
    monkeypatch.setattr(schema, "VERSION", now + 1)
    with pytest.raises(OtherVersionError, match="Install a version of neardup that reads it"):
        Store(place)
    other = Database(database_place(server.place("no_such_schema")), 0)
    with pytest.raises(nd.InputError, match="has no stores in the schema"):
        other.run(lambda connection: schema.upgrade(connection, other.place))
    other.drop()


def grants(name, role):
    """What the page says that a service needs, for asking and for deciding."""
    (block,) = re.findall(
        r"^```sql\n(.*?)^```$", (ROOT / "docs" / "postgresql.md").read_text(), re.MULTILINE | re.DOTALL
    )
    said = re.sub(r"\bneardup\b", name, block).replace("service", role).split(";\n")
    return said[:2], [each for each in said[2:] if each]


def test_roles_need_no_more_than_the_page_says(server, place):
    name = database_place(place).schema
    reader, decider = f"reads_{name}", f"decides_{name}"
    for role in (reader, decider):
        server.execute(f"CREATE ROLE {role} LOGIN")
    as_role = {role: place.replace("neardup@", f"{role}@") for role in (reader, decider)}
    with pytest.raises(nd.InputError, match=r"permission denied .* Grant the role what"):
        Store(as_role[decider])
    with Store(place) as owned:
        owned.check_and_add_many(range(10), TEXTS[:10])
        for each in (*grants(name, reader)[0], *itertools.chain(*grants(name, decider))):
            server.execute(each)
        with Store(as_role[reader], mode="r") as store:
            assert store.check_many(TEXTS) == owned.check_many(TEXTS)
        with Store(as_role[reader]) as store, pytest.raises(nd.InputError, match="permission denied"):
            store.check_and_add("x", TEXTS[20])
        with Store(as_role[decider]) as store:
            store.check_and_add_many(range(10, 40), TEXTS[10:40], notes=lambda _: {"a": (1, 1.0), "b": (2, 2e11)})
            store.check_and_add_many([], [], notes=lambda _: {"a": (3, 2e11)})  # forgets the one that has expired
            assert store.notes(["a", "b"]) == {"a": 3, "b": 2}
            kept = [row for row in range(40) if store.get(row)]
            assert store.remove(kept[:2]) == 2
            assert owned.check_many(TEXTS) == store.check_many(TEXTS)
            with pytest.raises(nd.InputError, match="permission denied"):
                store.compact()
            assert store.check_many(TEXTS) == owned.check_many(TEXTS)
        with pytest.raises(nd.InputError, match="permission denied"):
            Store(as_role[decider].replace("store=default", "store=mine"))
        assert owned.compact()
    for role in (reader, decider):
        server.execute(f"DROP OWNED BY {role}")
        server.execute(f"DROP ROLE {role}")


def test_a_database_of_another_encoding_is_refused(server, schema, monkeypatch):
    server.execute(f"CREATE DATABASE d{schema} ENCODING 'SQL_ASCII' TEMPLATE template0")
    with pytest.raises(nd.InputError, match="has the encoding SQL_ASCII"):
        Store(server.place(schema).replace("/postgres?", f"/d{schema}?"))
    set_sizes(monkeypatch, patience=0.0)
    with pytest.raises(nd.InputError, match="does not exist"):
        Store(server.place(schema).replace("/postgres?", "/nosuch?"))


def test_a_reader_makes_no_store(server, place, schema):
    with pytest.raises(nd.InputError, match="there is none of the name default"):
        Store(place, mode="r")
    with pytest.raises(nd.OptionError, match="max_distance"):
        Store(place, max_distance=4000)
    assert server.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)) == []


def test_a_copy_of_a_replica_goes_on_from_where_it_is(place, tmp_path, monkeypatch):
    """It was made while a service ran, and is taken to another machine: only what came since is read."""
    read, really = [], log.Log.documents

    def documents(self, connection, rows, first, upto):
        read.append((first, upto))
        return really(self, connection, rows, first, upto)

    one, copy = tmp_path / "one", tmp_path / "copy"
    with Store(f"{place}&replica={one}") as store:
        store.check_and_add_many(range(60), TEXTS[:60])
        store.remove([0, 1])
    with Store(f"{place}&replica={one}") as store, Store(one, mode="r") as beside:
        kept = len(beside)
        beside.backup(copy)
        with pytest.raises(nd.InputError, match="is a replica: it follows the store at"):
            Store(copy)
        store.remove([2, 3])
        store.check_and_add_many(range(60, 80), TEXTS[60:])
        monkeypatch.setattr(log.Log, "documents", documents)
        with Store(f"{place}&replica={copy}") as other:
            assert [first for first, _ in read] == [kept + 2]  # the removed ones have their numbers yet
            assert other.check_many(TEXTS) == store.check_many(TEXTS)
            assert other.verify().is_sound
            other.check_and_add("new", "a text of some words that nobody else has got today")
            assert store.get("new") is not None


def test_a_copy_of_a_replica_from_before_a_compaction_is_made_anew(place, tmp_path):
    one, copy = tmp_path / "one", tmp_path / "copy"
    with Store(f"{place}&replica={one}") as store:
        store.check_and_add_many(range(60), TEXTS[:60])
    with Store(one, mode="r") as beside:
        beside.backup(copy)
    with Store(f"{place}&replica={one}") as store:
        store.remove(range(20))
        assert store.compact()
        with Store(f"{place}&replica={copy}") as other:
            assert other.check_many(TEXTS) == store.check_many(TEXTS)
            assert other.verify().is_sound
    with (
        pytest.raises(nd.InputError, match="is a replica of another store"),
        Store(f"{place.replace('store=default', 'store=other')}&replica={copy}"),
    ):
        pass
