"""A store in PostgreSQL for the benchmark of the service: a server of Debian's packages, as the tests start it, but with syncs."""

import contextlib
import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neardup

TESTS = Path(__file__).parents[1] / "tests"


@contextlib.contextmanager
def shared_store(texts: Iterator[str], folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The place of a store of these texts, whose replicas lie in a folder, and some of the texts.

    Raises:
        RuntimeError: there is no PostgreSQL.
    """
    sys.path.append(str(TESTS))
    postgres_server: Any = importlib.import_module("postgres_server")
    why = postgres_server.why_not()
    if why:
        raise RuntimeError(why)
    server = postgres_server.Server("fsync=on", "shared_buffers=256MB", "max_wal_size=4GB")
    try:
        server.start()
        place, kept = str(server.place("benchmark")), list[str]()
        with neardup.Store(f"{place}&replica={folder / 'filled'}") as store:
            for first in itertools.count(0, 2048):
                some = list(itertools.islice(texts, 2048))
                if not some:
                    break
                store.check_and_add_many([f"kept-{first + i}" for i in range(len(some))], some)
                kept += some[:8]
        yield place, kept[:2000]
    finally:
        server.remove()
