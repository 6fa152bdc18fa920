"""RULES of a store: how documents match, and by its `keep`, which of two matching documents is better."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import OptionError
from neardup.options import DedupOptions, problem_of_keep_as
from neardup.recipe.similarity import follows, similarity_of, similarity_to_store, stored_similarity
from neardup.recipe.tables.keeps import By, KeepAs, preference_of
from neardup.recipe.tables.methods import METHODS, Promise
from neardup.recipe.tables.parts import VERSION
from neardup.recipe.tables.spellings import one_of
from neardup.text.single_values import COMPARED_AS, fits, kind_alone, value_key

KEEP_AS = "keep_as"
"""The fact that says how `keep` compares values, once there is one. Older versions do not write it."""
DECIDING = ("method", "min_similarity", "similarity", "max_distance", "guard")
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
        raise OptionError(f"{one_of('keep', keep, STORE_KEEPS)}, with a name for KEY.")


def demand_keep_as(keep_as: Any, keep: str) -> None:
    """Refuse (OptionError) a way to compare values that does not exist, or for a rule that compares none."""
    if problem := problem_of_keep_as(keep_as, keep):
        raise OptionError(f"{problem}.")


def replaces(keep: str) -> bool:
    """Whether a better document takes the place of those that it matches."""
    return keep not in ("first", "always")


def key_of(keep: str) -> str | None:
    """The key of the metadata that a rule compares; None if it compares none."""
    preference = preference_of(keep)
    return None if preference is None else preference.column


def first_kind(keep: str, values: Iterable[Any]) -> KeepAs | None:
    """How the first of some values is compared, as JSON gave them; None if there is none.

    Raises:
        OptionError: it is neither a number nor a date, which are what a store compares if nothing else is said.
    """
    found, value = next(((kind, value) for value in values if (kind := kind_alone(value))), (None, None))
    if found == "text":
        raise OptionError(
            f"`metadata`: {key_of(keep)} is {value!r}. `keep={keep!r}` needs numbers, or dates in ISO 8601. To compare text, make "
            "the store with `keep_as='text'`."
        )
    return found


def rank_of(keep: str, text: str, value: Any, keep_as: KeepAs | None) -> float | None:
    """How good a document is, the larger the better, None for the worst: what the record has of it.

    `value`: what its metadata has under the key of `keep`, as JSON gave it.

    Raises:
        OptionError: the value does not fit `keep_as`.
    """
    preference = preference_of(keep)
    assert preference is not None  # `always` prefers none
    sign = 1 if preference.greatest_first else -1
    if preference.by is By.ORDER:
        return 0.0  # later ones replace equally good ones
    if preference.by is By.LENGTH:
        return float(sign * len(text))
    if value is None or keep_as is None:
        return None
    if not fits(value, keep_as):
        raise OptionError(
            f"`metadata`: {preference.column} is {value!r}, and the store compares {COMPARED_AS[keep_as]} by `keep={keep!r}`."
        )
    key = value_key(value, keep_as)
    try:
        return (
            None if key is None or keep_as == "text" else sign * float(key if keep_as == "number" else key.timestamp())
        )
    except OverflowError:
        return sign * (math.inf if key > 0 else -math.inf)


def goodness(keep: str, keep_as: KeepAs | None, rank: float | None, metadata: str | None) -> Any:
    """What tells whether a document is better than another: its value, or its rank; None for the worst.

    `metadata`: as JSON.
    """
    key = key_of(keep)
    if key is None or keep_as is None or metadata is None:
        return rank
    return value_key(value_in(json.loads(metadata), key), keep_as)


def value_in(metadata: Any, key: str) -> Any:
    """The value that metadata has under a key; None without one."""
    return metadata.get(key) if isinstance(metadata, Mapping) else None


def is_better(keep: str, mine: Any, other: Any) -> bool:
    """Whether a document is better than one that came before it, by their `goodness`."""
    if mine is None or other is None:
        return mine is not None
    if keep == "last":
        return bool(mine >= other)
    preference = preference_of(keep)
    is_least = preference is not None and preference.column is not None and not preference.greatest_first
    return bool(mine < other if is_least else mine > other)


@dataclass(frozen=True)
class Rules:
    """How documents match, and which are kept; a store's for ever.

    Attributes:
        options: method, similarity, least similarity and distance of matches.
        floor: the least similarity that `neighbors` and `pairs` can be asked for; None for that of matches.
        keep: one of `STORE_KEEPS`.
        keep_as: how it compares values, if that was said when the store was made; or else, the first value decides.
        texts: whether texts are kept as they were given.
    """

    options: DedupOptions
    floor: float | None = None
    keep: str = "first"
    texts: bool = False
    keep_as: KeepAs | None = None

    @property
    def given(self) -> dict[str, Any]:
        """All of them by name, as a new store takes them."""
        options = {name: getattr(self.options, name) for name in DECIDING}
        return {**options, "floor": self.floor, "keep": self.keep, "keep_as": self.keep_as, "texts": self.texts}

    @property
    def least(self) -> float:
        """The least similarity for which candidates are found."""
        return self.options.min_similarity if self.floor is None else self.floor


def rules_of(given: Mapping[str, Any]) -> Rules:
    """The rules of a new store, by what was given (exact unless there is a method); an OptionError if a value is not allowed."""
    values = {name: value for name, value in given.items() if value is not None}
    floor, keep, texts = values.pop("floor", None), values.pop("keep", "first"), values.pop("texts", False)
    keep_as = values.pop("keep_as", None)
    options = DedupOptions(**({"method": "exact"} | values))
    if options.method not in STORE_METHODS:
        raise OptionError(f"`method={options.method!r}`: a store has one of {', '.join(STORE_METHODS)}.")
    demand_keep(keep)
    if given.get("keep") is not None:  # or else, the store may be there, and have it
        demand_keep_as(keep_as, keep)
    if not isinstance(texts, bool):
        raise OptionError(f"`texts={texts!r}`: give True to keep the texts of documents, or False.")
    if floor is not None:
        if not isinstance(floor, int | float) or not 0 < floor <= options.min_similarity:
            raise OptionError(f"`floor={floor!r}`: give a number above 0, and up to `min_similarity`.")
        if options.method != "exact":
            raise OptionError(f"`floor={floor!r}`: only `method='exact'` finds everything below `min_similarity`.")
    return Rules(options, floor, keep, texts, keep_as)


def to_store(rules: Rules) -> dict[str, Any]:
    """Rules as the record has them."""
    found = rules.given | {"similarity": similarity_to_store(rules.options.compared_by)}
    later = {"texts": False, "keep_as": None, "guard": None}  # rules that older versions do not know are left out
    return {name: value for name, value in found.items() if name not in later or value != later[name]}


def stored_rules(stored: Mapping[str, Any]) -> Rules:
    """What `to_store` was given."""
    return rules_of({**stored, "similarity": stored_similarity(stored["similarity"])})


def demand_same(path: str | Path, rules: Rules, given: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Refuse what is given, if it is not what the store has, by its rules and its `facts`."""
    values = {name: value for name, value in given.items() if value is not None}
    if "similarity" in values:
        values["similarity"] = similarity_of(values["similarity"])
        if follows(values["similarity"], rules.options.compared_by, facts["recipe"].get("version", VERSION)):
            del values["similarity"]
    has = rules.given | {"keep_as": rules.keep_as or facts.get(KEEP_AS)}
    if differing := [name for name, value in values.items() if has[name] != value]:
        shown = ", ".join(f"`{name}={has[name]!r}`" for name in differing)
        without_texts = "texts" in values and not has["texts"]  # a flag
        how = "was made otherwise:" if without_texts else "was made with"
        raise OptionError(f"{path} {how} {shown}. Leave it out, or make another store.")
