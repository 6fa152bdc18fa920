"""REFUSALS of a server that lets nobody in: by their SQLSTATE, which libpq does not tell, whatever the language of the server."""

import contextlib
import os
import re
import select
import time
from collections.abc import Iterator
from typing import Any

ASKED_SECONDS = 10.0
"""How long a server is asked for its SQLSTATE."""
_CODE = re.compile(rb'\tErrorResponse\t.*? C "([0-9A-Z]{5})"')
"""In what libpq writes down of all messages, if it is asked to; before libpq 18, not of those before a user has entered."""
_WORDS = tuple(
    (re.compile(words), state)
    for words, state in {
        r'database ".*" does not exist': "3D000",
        r"permission denied for database|database \".*\" is not currently accepting connections": "42501",
        r'role ".*" (?:does not exist|is not permitted)|authentication failed|no password supplied|pg_hba\.conf': "28000",
    }.items()
)
"""In what servers say in English, where libpq writes down nothing."""
_ACCEPTS_NONE, _NOT_GRANTED, _NO_PASSWORD = "55000", "42501", "28P01"


def state_of_refusal(psycopg: Any, problem: Any, database: str) -> str:
    """The SQLSTATE of a server that lets nobody in; "" where trying again may help, or is not known.

    Of several hosts, all must refuse: another one may come back.

    Args:
        psycopg: the package.
        problem: its error, of a connection that could not be made.
        database: what psycopg was asked to connect to.
    """
    _, *hosts = str(problem).split("\n- host: ")
    said = hosts or [str(problem)]
    told = [] if isinstance(problem, psycopg.errors.ConnectionTimeout) else [*_states(psycopg, database)]
    if len(told) != len(said):  # libpq resolves names to several hosts, too
        told = [""] * len(said)
    states = {each or _in_words(words) for each, words in zip(told, said, strict=True)}
    return _NOT_GRANTED if states == {_ACCEPTS_NONE} else min(states)


def _in_words(said: str) -> str:
    return next((state for words, state in _WORDS if words.search(said)), "")


def _states(psycopg: Any, database: str) -> Iterator[str]:
    """The SQLSTATE with which each host ends a connection; "" of one that tells none."""
    given = psycopg.conninfo.conninfo_to_dict(database)
    several = {name: str(given[name]).split(",") for name in ("host", "hostaddr", "port") if name in given}
    for number in range(max([1, *map(len, several.values())])):
        one = {name: values[number if len(values) > 1 else 0] for name, values in several.items()}
        with contextlib.suppress(psycopg.Error, OSError, AttributeError, IndexError):  # elsewhere than on Linux
            yield _state_of(psycopg.pq, psycopg.conninfo.make_conninfo(**{**given, **one}))
            continue
        yield ""


def _state_of(pq: Any, database: str) -> str:
    ends = time.monotonic() + ASKED_SECONDS
    connection = pq.PGconn.connect_start(database.encode())
    with os.fdopen(os.memfd_create("neardup"), "rb") as written:  # in memory, as it may have a password
        connection.trace(written.fileno())
        while (status := connection.connect_poll()) in (pq.PollingStatus.READING, pq.PollingStatus.WRITING):
            reads = [connection.socket] if status == pq.PollingStatus.READING else []
            writes = [] if reads else [connection.socket]
            if not any(select.select(reads, writes, [], max(0.0, ends - time.monotonic()))):
                break
        lacks_password = connection.needs_password
        connection.untrace()
        connection.finish()
        written.seek(0)
        found = _CODE.findall(written.read())
    return found[-1].decode() if found else _NO_PASSWORD if lacks_password else ""
