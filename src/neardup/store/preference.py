"""PREFER: which of two matching documents is better, by the `keep` of a store."""

from collections.abc import Mapping
from typing import Any

from neardup.errors import OptionError
from neardup.text.single_values import rank_value

STORE_KEEPS = {
    "first": "the document that came first: the decisions of `dedup`",
    "always": "every document is kept, and its matches are told",
    "last": "the document that came last: it replaces all that it matches",
    "longest": "the document with the most characters, then the first",
    "shortest": "the document with the fewest characters, then the first",
    "max:KEY": "the document with the largest number or the latest date under KEY in its metadata, then the first; documents "
    "without one come last",
    "min:KEY": "the document with the smallest number or the earliest date",
}
"""Which documents are kept, of those that match."""


def demand_keep(keep: Any) -> None:
    """Refuse what is no rule.

    Raises:
        OptionError: it is none of STORE_KEEPS.
    """
    if keep in ("max:KEY", "min:KEY") or not (
        isinstance(keep, str) and (keep in STORE_KEEPS or key_of(keep) is not None)
    ):
        raise OptionError(f"`keep={keep!r}`: give one of {', '.join(STORE_KEEPS)}, with a name for KEY.")


def replaces(keep: str) -> bool:
    """Whether a better document takes the place of those that it matches."""
    return keep not in ("first", "always")


def key_of(keep: str) -> str | None:
    """The key of the metadata that a rule compares; None if it compares none."""
    kind, _, key = keep.partition(":")
    return key if kind in ("max", "min") and key else None


def rank_of(keep: str, text: str, metadata: Any) -> float | None:
    """How good a document is, the larger the better; None if nothing tells, which is the worst.

    Raises:
        OptionError: the metadata has something else than a number or a date.
    """
    if keep == "last":
        return 0.0  # later ones replace equally good ones
    if keep in ("longest", "shortest"):
        return float(len(text) if keep == "longest" else -len(text))
    key = key_of(keep)
    value = metadata.get(key) if isinstance(metadata, Mapping) else None
    if value is None:
        return None
    rank = rank_value(value)
    if rank is None:
        raise OptionError(f"`metadata`: {key} is {value!r}. `keep={keep!r}` needs numbers, or dates in ISO 8601.")
    return rank if keep.startswith("max:") else -rank


def is_better(keep: str, rank: float | None, other: float | None) -> bool:
    """Whether a document with a rank is better than one that came before it."""
    mine, theirs = (-float("inf") if each is None else each for each in (rank, other))
    return mine >= theirs if keep == "last" else mine > theirs
