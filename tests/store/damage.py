"""Damage, as a disk or another program may do it."""

import contextlib
import sqlite3


def flip(path, place):
    """Change a bit of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def changed(folder, statement, *values):
    """Change rows of the record."""
    with contextlib.closing(sqlite3.connect(folder / "record.sqlite")) as base, base:
        base.execute(statement, values)
