"""EXPIRE: which documents are to be removed because they are old."""

from typing import Literal

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.store.duration import Duration, seconds_of
from neardup.store.plain_values import whole_number
from neardup.store.session.writer import Files

SeenBy = Literal["first_seen", "last_seen"]


def expired(files: Files, older_than: Duration | None, newest: int | None, by: SeenBy, now: float) -> Array:
    """int64[n], ascending: the documents to remove; see `Store.expire`.

    Raises:
        OptionError: a value is not allowed.
    """
    if by not in ("first_seen", "last_seen"):
        raise OptionError(f"`by={by!r}`: give one of first_seen, last_seen.")
    age = None if older_than is None else seconds_of("older_than", older_than)
    if newest is not None:
        newest = whole_number("newest", newest, "a number of documents, 0 or more")
    parts = [files.record.expired(now)]
    if age is not None:
        parts.append(files.record.seen_before(by, now - age))
    if newest is not None:
        parts.append(files.record.all_but_newest(newest))
    return np.unique(np.concatenate(parts))
