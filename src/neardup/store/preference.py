"""PREFER: which of two matching documents is better, by the policy of a store."""

from collections.abc import Mapping
from typing import Any

from neardup.errors import OptionError
from neardup.text.single_values import rank_value

POLICIES = {
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


def demand_policy(policy: Any) -> None:
    """Refuse what is no policy.

    Raises:
        OptionError: it is none of POLICIES.
    """
    if policy in ("max:KEY", "min:KEY") or not (
        isinstance(policy, str) and (policy in POLICIES or key_of(policy) is not None)
    ):
        raise OptionError(f"`policy={policy!r}`: give one of {', '.join(POLICIES)}.")


def replaces(policy: str) -> bool:
    """Whether a better document takes the place of those that it matches."""
    return policy not in ("first", "always")


def key_of(policy: str) -> str | None:
    """The key of the metadata that a policy compares; None if it compares none."""
    kind, _, key = policy.partition(":")
    return key if kind in ("max", "min") and key else None


def rank_of(policy: str, text: str, metadata: Any) -> float | None:
    """How good a document is, the larger the better; None if nothing tells, which is the worst.

    Raises:
        OptionError: the metadata has something else than a number or a date.
    """
    if policy == "last":
        return 0.0  # later ones replace equally good ones
    if policy in ("longest", "shortest"):
        return float(len(text) if policy == "longest" else -len(text))
    key = key_of(policy)
    value = metadata.get(key) if isinstance(metadata, Mapping) else None
    if value is None:
        return None
    rank = rank_value(value)
    if rank is None:
        raise OptionError(f"`metadata`: {key} is {value!r}. The policy {policy!r} needs numbers, or dates in ISO 8601.")
    return rank if policy.startswith("max:") else -rank


def is_better(policy: str, rank: float | None, other: float | None) -> bool:
    """Whether a document with a rank is better than one that came before it."""
    mine, theirs = (-float("inf") if each is None else each for each in (rank, other))
    return mine >= theirs if policy == "last" else mine > theirs
