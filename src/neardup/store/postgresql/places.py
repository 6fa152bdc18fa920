"""PLACES of stores in PostgreSQL: a URL of a database, with the name of the store and what else is ours among its parameters."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from neardup.errors import OptionError
from neardup.store.arguments import seconds_of

SCHEMES = ("postgresql://", "postgres://")
SCHEMA, STORE, REPLICA, STALENESS = "schema", "store", "replica", "staleness"
OURS = (SCHEMA, STORE, REPLICA, STALENESS)
"""Parameters that libpq does not know."""
_SECRETS = ("password", "sslpassword")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_USER = re.compile(r"^([a-z]+://[^/?#@:]*):[^/?#]*@")
_ENDS = re.compile(r"[/?#]")
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:\d*)?")
MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True)
class DatabasePlace:
    """Where a store is.

    Attributes:
        database: the URL that libpq gets, with what it needs to enter.
        shown: the place in messages: without passwords.
        schema: that has the tables.
        store: the name of the store in it.
        replica: the folder of the replica; None for one in the cache of the user.
        staleness: for so many seconds, questions are answered by what the replica knew.
    """

    database: str
    shown: str
    schema: str = "neardup"
    store: str = "default"
    replica: Path | None = None
    staleness: float = 0.0


def is_database(path: Any) -> bool:
    """Whether a place of a store is in PostgreSQL, and not a folder."""
    return isinstance(path, str) and path.startswith(SCHEMES)


def database_place(given: str) -> DatabasePlace:
    """Take a place apart.

    Raises:
        OptionError: one of our parameters has a value that is not allowed, or comes twice; or the user or the password has
            characters that are to be encoded.

    >>> place = database_place("postgresql://crawler:secret@db/pages?store=news&connect_timeout=3")
    >>> place.database, place.store
    ('postgresql://crawler:secret@db/pages?connect_timeout=3', 'news')
    >>> place.shown
    'postgresql://crawler@db/pages?store=news&connect_timeout=3'
    """
    _demand_encoded(given)
    base, _, query = given.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    values: dict[str, str] = {}
    for name, value in pairs:
        if name in OURS:
            if name in values:
                raise OptionError(f"{_shown(base, pairs)}: the parameter {name!r} is given twice.")
            values[name] = value
    rest = [pair for pair in pairs if pair[0] not in OURS]
    found = DatabasePlace(_joined(base, rest), _shown(base, pairs))
    schema, store = values.get(SCHEMA, found.schema), values.get(STORE, found.store)
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise OptionError(
            f"{found.shown}: `schema={schema!r}`: give up to 63 small letters, digits and underscores, no digit first, and not "
            "pg_ at the beginning."
        )
    if not 0 < len(store) <= MAX_NAME_CHARACTERS or not store.isprintable():
        raise OptionError(f"{found.shown}: `store={store!r}`: give 1 to {MAX_NAME_CHARACTERS} printable characters.")
    replica = values.get(REPLICA)
    if replica == "":
        raise OptionError(f"{found.shown}: `replica=''`: name a folder, or leave it out.")
    staleness = seconds_of(STALENESS, values.get(STALENESS, "0"))
    return DatabasePlace(found.database, found.shown, schema, store, Path(replica) if replica else None, staleness)


def _demand_encoded(given: str) -> None:
    """Refuse a user or a password with characters that end it: what comes after would be taken for a host, and be shown."""
    scheme, _, rest = given.partition("://")
    authority = _ENDS.split(rest, maxsplit=1)[0]
    path = rest[len(authority) :].partition("?")[0]
    hosts = authority.rpartition("@")[2].split(",")
    is_cut = "@" in path or ("@" in rest[len(authority) :] and not all(map(_HOST.fullmatch, hosts)))
    if authority.count("@") > 1 or ("@" not in authority and is_cut):
        raise OptionError(
            f"{scheme}://…: one of @ / ? # stands in the user or the password. Give it as %40, %2F, %3F or %23, or the password in "
            "PGPASSWORD or ~/.pgpass."
        )


def _joined(base: str, pairs: list[tuple[str, str]]) -> str:
    return f"{base}?{urlencode(pairs, quote_via=quote)}" if pairs else base


def _shown(base: str, pairs: list[tuple[str, str]]) -> str:
    """A place without passwords, as a user would write it."""
    told = "&".join(f"{name}={unquote(value)}" for name, value in pairs if name not in _SECRETS)
    base = _USER.sub(r"\1@", base)
    return f"{base}?{told}" if told else base
