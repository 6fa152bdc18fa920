"""The SCHEMA of stores in PostgreSQL, its version, and what a role needs.

`stores` has a row for each store: its facts, and how far its log has come. `changes` is the log: a row for each call that changed
something, numbered without gaps, with what it forgot and saw. `documents` and `removed` have a row for each number that was given,
as in the record of a store in a folder, and never another content: a document that is forgotten leaves a row without content.
`notes`, `judgements` and `orphans` have those of stores by their ids, `skipped` and `skipped_contents` what goes with rows.
"""

from collections.abc import Callable
from typing import Any

from neardup.errors import InputError
from neardup.store.formats.versions import OtherVersionError
from neardup.store.postgresql.places import DatabasePlace

VERSION = 3
"""Of the tables."""
JUDGEMENTS = """
CREATE TABLE {schema}.judgements (
    store text NOT NULL,
    number bigint NOT NULL,
    "left" bytea NOT NULL,
    "right" bytea NOT NULL,
    kind text NOT NULL,
    left_id text,
    right_id text NOT NULL,
    same boolean NOT NULL,
    similarity double precision,
    distance bigint NOT NULL,
    judged double precision NOT NULL,
    left_text bytea,
    right_text bytea,
    checksum bigint NOT NULL,
    PRIMARY KEY (store, number),
    UNIQUE (store, "left", "right")
);
CREATE INDEX judgements_right ON {schema}.judgements (store, "right");
"""
SKIPPED = """
CREATE TABLE {schema}.skipped (
    rows bigint NOT NULL,
    id text NOT NULL,
    survivor bigint NOT NULL,
    digest bytea,
    checksum bigint NOT NULL,
    PRIMARY KEY (rows, id)
);
CREATE INDEX skipped_of ON {schema}.skipped (rows, survivor);
CREATE TABLE {schema}.skipped_contents (
    rows bigint NOT NULL,
    survivor bigint NOT NULL,
    digest bytea NOT NULL,
    content bytea NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (rows, survivor, digest)
);
ALTER TABLE {schema}.skipped_contents ALTER content SET STORAGE EXTERNAL;
CREATE TABLE {schema}.orphans (
    store text NOT NULL,
    number bigint NOT NULL,
    id text NOT NULL,
    compared boolean NOT NULL,
    orphaned double precision NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (store, number),
    UNIQUE (store, id)
);
"""
STEPS: dict[int, str] = {
    1: f"""
ALTER TABLE {{schema}}.documents ADD text bytea;
ALTER TABLE {{schema}}.documents ALTER text SET STORAGE EXTERNAL;
ALTER TABLE {{schema}}.removed ADD id text, ADD text bytea;
ALTER TABLE {{schema}}.removed ALTER text SET STORAGE EXTERNAL;
{JUDGEMENTS}""",
    2: f"""
ALTER TABLE {{schema}}.stores ADD skipped_since double precision, ADD orphans bigint NOT NULL DEFAULT 0;
UPDATE {{schema}}.stores SET skipped_since = extract(epoch FROM now());
{SKIPPED}""",
}
"""What makes of the tables of a version those of the next one: statements with `{schema}`."""
TABLES = """
CREATE TABLE {schema}.version (version integer NOT NULL);
CREATE SEQUENCE {schema}.row_keys;
CREATE TABLE {schema}.stores (
    name text PRIMARY KEY,
    id text NOT NULL UNIQUE,
    rows bigint NOT NULL UNIQUE,
    facts text NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    request text NOT NULL DEFAULT '',
    documents bigint NOT NULL DEFAULT 0,
    removed bigint NOT NULL DEFAULT 0,
    base bigint NOT NULL DEFAULT 0,
    state text,
    skipped_since double precision,
    orphans bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE {schema}.changes (
    rows bigint NOT NULL,
    position bigint NOT NULL,
    request text NOT NULL,
    at double precision NOT NULL,
    seen bigint[],
    forgot bigint[],
    PRIMARY KEY (rows, position)
);
CREATE TABLE {schema}.documents (
    rows bigint NOT NULL,
    number bigint NOT NULL,
    id text,
    first_seen double precision NOT NULL,
    last_seen double precision NOT NULL,
    expires double precision,
    metadata text,
    rank double precision,
    content bytea,
    checksum bigint NOT NULL,
    text bytea,
    PRIMARY KEY (rows, number)
) WITH (toast_tuple_target = 8160);
ALTER TABLE {schema}.documents ALTER content SET STORAGE EXTERNAL;
ALTER TABLE {schema}.documents ALTER text SET STORAGE EXTERNAL;
CREATE TABLE {schema}.removed (
    rows bigint NOT NULL,
    number bigint NOT NULL,
    digest bytea,
    survivor bigint NOT NULL,
    similarity double precision,
    distance integer NOT NULL,
    last_seen double precision NOT NULL,
    checksum bigint NOT NULL,
    id text,
    text bytea,
    PRIMARY KEY (rows, number)
);
ALTER TABLE {schema}.removed ALTER text SET STORAGE EXTERNAL;
CREATE INDEX removed_of ON {schema}.removed (rows, survivor);
CREATE TABLE {schema}.notes (
    store text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    until double precision NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (store, key)
);
CREATE INDEX notes_until ON {schema}.notes (store, until);
{judgements}
{skipped}
INSERT INTO {schema}.version VALUES ({version});
"""
_THERE = """SELECT 1 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = %s AND relname = 'version'"""
"""Not `to_regclass`: a session remembers what was not there, even after it has waited for a lock."""
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def version_of(connection: Any, place: DatabasePlace) -> int | None:
    """The version of the tables; None if there are none."""
    found = connection.execute(_THERE, (place.schema,)).fetchone()
    if found is None:
        return None
    row = connection.execute(f'SELECT max(version) FROM "{place.schema}".version').fetchone()
    version: int | None = row[0]
    return version


def demand_version(place: DatabasePlace, version: int) -> None:
    """Refuse (OtherVersionError) tables of another version."""
    if version == VERSION:
        return
    remedy = (
        "Install a version of neardup that reads it."
        if version > VERSION
        else "Stop the services, and upgrade the tables as their owner: `neardup store upgrade`."
    )
    raise OtherVersionError(
        f"{place.shown} has version {version} of the tables in the schema {place.schema}; this version of neardup has {VERSION}. "
        f"{remedy}"
    )


def make_tables(connection: Any, place: DatabasePlace) -> None:
    """Make the schema and its tables, unless they are there; an OtherVersionError if they are of another version."""
    _in_turn(connection, place, lambda: _make(connection, place))


def _make(connection: Any, place: DatabasePlace) -> None:
    version = version_of(connection, place)
    if version is not None:
        demand_version(place, version)
        return
    there = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (place.schema,)).fetchone()
    if there is None:
        connection.execute(f'CREATE SCHEMA "{place.schema}"')
    schema = f'"{place.schema}"'
    parts = {"judgements": JUDGEMENTS.format(schema=schema), "skipped": SKIPPED.format(schema=schema)}
    connection.execute(TABLES.format(schema=schema, version=VERSION, **parts))


def upgrade(connection: Any, place: DatabasePlace) -> tuple[int, int]:
    """Make of the tables of an older version those of this one, all or nothing. Returns both versions.

    Services of the older version are refused afterwards; stop them before, as a change of theirs may come in between.

    Raises:
        InputError: there are no tables.
        OtherVersionError: they are newer, or of a version from which no step leads here.
    """
    versions: list[int] = []

    def steps() -> None:
        version = version_of(connection, place)
        if version is None:
            raise InputError(f"{place.shown} has no stores in the schema {place.schema}. Nothing is to be upgraded.")
        versions.append(version)
        while version < VERSION and version in STEPS:
            connection.execute(STEPS[version].format(schema=f'"{place.schema}"'))
            version += 1
        demand_version(place, version)
        connection.execute(f'UPDATE "{place.schema}".version SET version = %s', (version,))
        versions.append(version)

    _in_turn(connection, place, steps)
    return versions[0], versions[1]


def _in_turn(connection: Any, place: DatabasePlace, work: Callable[[], None]) -> None:
    """Change tables in one transaction, one process after another."""
    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    connection.execute(_LOCK, (f"neardup schema {place.schema}",))
    work()
    connection.execute("COMMIT")
