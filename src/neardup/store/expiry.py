"""EXPIRE: which documents are to be removed because they are old."""

from typing import Literal

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError, is_integer
from neardup.store.files import Files

SeenBy = Literal["first_seen", "last_seen"]


def expired(files: Files, older_than: float | None, newest: int | None, by: SeenBy, now: float) -> Array:
    """int64[n], ascending: the documents to remove; see `Store.expire`.

    Raises:
        OptionError: a value is not allowed.
    """
    if by not in ("first_seen", "last_seen"):
        raise OptionError(f"`by={by!r}`: give one of first_seen, last_seen.")
    if older_than is not None and not (isinstance(older_than, int | float) and older_than >= 0):
        raise OptionError(f"`older_than={older_than!r}`: give seconds, 0 or more.")
    if newest is not None and not (is_integer(newest) and newest >= 0):
        raise OptionError(f"`newest={newest!r}`: give a number of documents, 0 or more.")
    parts = [files.record.expired(now)]
    if older_than is not None:
        parts.append(files.record.seen_before(by, now - older_than))
    if newest is not None:
        parts.append(files.record.all_but_newest(newest))
    return np.unique(np.concatenate(parts))
