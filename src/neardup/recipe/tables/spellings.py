"""Which allowed name is meant by another spelling: in other case, with other hyphens, of another program, or misspelled."""

import difflib
import re
from collections.abc import Collection

ELSEWHERE = {
    "fnv32a": "fnv1a_32",
    "fnv64": "fnv1_64",
    "fnv64a": "fnv1a_64",
    "jenkins": "lookup3",
    "hashlittle2": "lookup3",
    "latest": "last",
    "newest": "last",
    "oldest": "first",
    "phash": "phash2",
    "sha": "sha1",
    "tfidfvectorizer": "tfidf",
}
"""What other programs call a function that is here, without case and hyphens: Go's `fnv.New64a`, the header Jenkins.hpp."""
OF_HASHES = "md5"
"""It is in all tables of hashes. There, `crc32` is another function than `crc32c`, and not a misspelling of it."""


def meant_name(given: object, allowed: Collection[str]) -> str | None:
    """The allowed name that is meant, or None. Of hashes, the characters must be the same, in whatever order and repeated or not.

    >>> meant_name("FNV-1a_64", ["fnv1_64", "fnv1a_64"]), meant_name("fnv64a", ["md5", "fnv1_64", "fnv1a_64"])
    ('fnv1a_64', 'fnv1a_64')
    >>> meant_name("Max:score", ["first", "max:COLUMN"])
    'max:score'
    """
    kind, _, rest = str(given).partition(":")
    if rest and (kinds := [name.partition(":")[0] for name in allowed if ":" in name]):  # as of `max:COLUMN`
        near = meant_name(kind, kinds)
        return f"{near}:{rest}" if near else None
    by_plain = {_plain(name): name for name in allowed}
    plain = _plain(str(given))
    elsewhere = ELSEWHERE.get(plain)
    if plain in by_plain or elsewhere in allowed:
        return by_plain.get(plain, elsewhere)
    if OF_HASHES in allowed:
        return next((name for same, name in by_plain.items() if _characters(same) == _characters(plain)), None)
    return next(iter(difflib.get_close_matches(str(given), list(allowed), 1)), None)


def meant(given: object, allowed: Collection[str]) -> str:
    """A question with the allowed name that is meant, or an empty string."""
    near = meant_name(given, allowed)
    return f" (did you mean {near}?)" if near and near != given else ""


def one_of(option: str, given: object, allowed: Collection[str]) -> str:
    """What is wrong with the value of an option that has none of its names."""
    return f"`{option}={given!r}`: give one of {', '.join(allowed)}{meant(given, allowed)}"


def _characters(plain: str) -> list[str]:
    return sorted(re.sub(r"(.)\1+", r"\1", plain))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
