"""RULES of a store: how documents match, and by its `keep`, which of two matching documents is better."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import OptionError
from neardup.options import DedupOptions
from neardup.recipe.similarity import similarity_of, similarity_to_store, stored_similarity
from neardup.recipe.tables.keeps import By, preference_of
from neardup.recipe.tables.methods import METHODS, Promise
from neardup.text.single_values import rank_value

DECIDING = ("method", "min_similarity", "similarity", "max_distance")
"""The options of a store."""
STORE_METHODS = {name: row for name, row in METHODS.items() if row.promise is not Promise.CHOSEN}
"""The methods of a store, which has no corpus to choose by."""
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
    """Refuse (OptionError) what is none of STORE_KEEPS."""
    if keep in ("max:KEY", "min:KEY") or not (
        isinstance(keep, str) and (keep in STORE_KEEPS or key_of(keep) is not None)
    ):
        raise OptionError(f"`keep={keep!r}`: give one of {', '.join(STORE_KEEPS)}, with a name for KEY.")


def replaces(keep: str) -> bool:
    """Whether a better document takes the place of those that it matches."""
    return keep not in ("first", "always")


def key_of(keep: str) -> str | None:
    """The key of the metadata that a rule compares; None if it compares none."""
    preference = preference_of(keep)
    return None if preference is None else preference.column


def rank_of(keep: str, text: str, metadata: Any) -> float | None:
    """How good a document is, the larger the better, None for the worst; an OptionError if the metadata has no number or date."""
    preference = preference_of(keep)
    assert preference is not None  # `always` prefers none
    sign = 1 if preference.greatest_first else -1
    if preference.by is By.ORDER:
        return 0.0  # later ones replace equally good ones
    if preference.by is By.LENGTH:
        return float(sign * len(text))
    key = preference.column
    value = metadata.get(key) if isinstance(metadata, Mapping) else None
    if value is None:
        return None
    rank = rank_value(value)
    if rank is None:
        raise OptionError(f"`metadata`: {key} is {value!r}. `keep={keep!r}` needs numbers, or dates in ISO 8601.")
    return sign * rank


def is_better(keep: str, rank: float | None, other: float | None) -> bool:
    """Whether a document with a rank is better than one that came before it."""
    mine, theirs = (-float("inf") if each is None else each for each in (rank, other))
    return mine >= theirs if keep == "last" else mine > theirs


@dataclass(frozen=True)
class Rules:
    """How documents match, and which are kept; a store's for ever.

    Attributes:
        options: method, similarity, least similarity and distance of matches.
        floor: the least similarity that `neighbors` and `pairs` can be asked for; None for that of matches.
        keep: one of `STORE_KEEPS`.
        texts: whether texts are kept as they were given.
    """

    options: DedupOptions
    floor: float | None = None
    keep: str = "first"
    texts: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """All of them by name, as a new store takes them."""
        options = {name: getattr(self.options, name) for name in DECIDING}
        return {**options, "floor": self.floor, "keep": self.keep, "texts": self.texts}

    @property
    def least(self) -> float:
        """The least similarity for which candidates are found."""
        return self.options.min_similarity if self.floor is None else self.floor


def rules_of(given: Mapping[str, Any]) -> Rules:
    """The rules of a new store, by what was given (exact unless there is a method); an OptionError if a value is not allowed."""
    values = {name: value for name, value in given.items() if value is not None}
    floor, keep, texts = values.pop("floor", None), values.pop("keep", "first"), values.pop("texts", False)
    options = DedupOptions(**({"method": "exact"} | values))
    if options.method not in STORE_METHODS:
        raise OptionError(f"`method={options.method!r}`: a store has one of {', '.join(STORE_METHODS)}.")
    demand_keep(keep)
    if not isinstance(texts, bool):
        raise OptionError(f"`texts={texts!r}`: give True to keep the texts of documents, or False.")
    if floor is not None:
        if not isinstance(floor, int | float) or not 0 < floor <= options.min_similarity:
            raise OptionError(f"`floor={floor!r}`: give a number above 0, and up to `min_similarity`.")
        if options.method != "exact":
            raise OptionError(f"`floor={floor!r}`: only `method='exact'` finds everything below `min_similarity`.")
    return Rules(options, floor, keep, texts)


def to_store(rules: Rules) -> dict[str, Any]:
    """Rules as the record has them."""
    found = rules.given | {"similarity": similarity_to_store(rules.options.compared_by)}
    return found if rules.texts else {name: value for name, value in found.items() if name != "texts"}


def stored_rules(stored: Mapping[str, Any]) -> Rules:
    """What `to_store` was given."""
    return rules_of({**stored, "similarity": stored_similarity(stored["similarity"])})


def demand_same(path: str | Path, rules: Rules, given: Mapping[str, Any]) -> None:
    """Refuse what is given, if it is not what the store has."""
    values = {name: value for name, value in given.items() if value is not None}
    if "similarity" in values:
        values["similarity"] = similarity_of(values["similarity"])
    has = rules.given
    if differing := [name for name, value in values.items() if has[name] != value]:
        shown = ", ".join(f"`{name}={has[name]!r}`" for name in differing)
        without_texts = "texts" in values and not has["texts"]  # a flag
        how = "was made otherwise:" if without_texts else "was made with"
        raise OptionError(f"{path} {how} {shown}. Leave it out, or make another store.")
