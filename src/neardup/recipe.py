"""A recipe is all that decides a fingerprint's bits; its digest travels with every fingerprint that is stored."""

import dataclasses
import difflib
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import InputError, OptionError, RecipeMismatch
from neardup.hashes.names import HASHES as FEATURE_HASHES
from neardup.hashes.names import HashFunction

NORMALIZERS = {
    "nfkc_casefold": "NFKC case folding, white space made one, what is invisible dropped",
}
"""What may be done to a text, in the order given, before it is cut into tokens."""
SEGMENTERS = {
    "words": "runs of letters and numbers; each Han or Kana character by itself",
}
WEIGHTS = {
    "uniform": "1",
    "tf": "how often it occurs, c",
    "log": "1 + floor(log2 c)",
    "sqrt": "the square root of c",
}
"""What a feature weighs by its count c in the text."""
HASHES = ("xxh3", *FEATURE_HASHES)
UNICODE = "14.0.0"
VERSION = 1
"""Grows with any change of the kernels that changes a bit."""
FIRST_FIELDS = ("word_shingle", "cjk_shingle", "weights", "hash", "bits", "min_tokens")
"""Always in a digest; others only where they are not as by default: a new field changes no digest."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a text becomes a fingerprint (Charikar 2002; features and weights by measurement, docs/decisions/0004).

    A text is normalized and cut into tokens. A feature is a window of tokens: `word_shingle` of them if it starts at a word,
    `cjk_shingle` if at a Han or Kana character that is a token by itself.

    Attributes:
        word_shingle: tokens in a window that starts at a word.
        cjk_shingle: tokens in a window that starts at a Han or Kana character; for the segmenter `words` only.
        weights: what a feature weighs, one of WEIGHTS.
        hash: the hash of features, one of HASHES, or a `neardup.hashes.HashFunction`.
        bits: the fingerprint's width, 1 to 512; 64 and 128 are fastest.
        min_tokens: a text with fewer tokens is `short`: it has exact duplicates only.
        max_distance: the distance to use when none is given; a recipe that decides the same bits as a named one has that
            one's. Not part of the digest.
        normalize: what is done to texts first, of NORMALIZERS, in this order.
        segmenter: what cuts texts into tokens, one of SEGMENTERS.
        keywords: only so many features of each text vote, the heaviest; None: all.
    """

    word_shingle: int = 1
    cjk_shingle: int = 2
    weights: str = "log"
    hash: Any = "xxh3"
    bits: int = 128
    min_tokens: int = 8
    max_distance: int | None = None
    normalize: Sequence[str] = ("nfkc_casefold",)
    segmenter: Any = "words"
    keywords: int | None = None

    def __post_init__(self) -> None:
        problems = [
            f"{name}={getattr(self, name)!r}: give an integer from {low} to {high}"
            for name, low, high in (
                ("word_shingle", 1, 64),
                ("cjk_shingle", 1, 64),
                ("bits", 1, 512),
                ("min_tokens", 1, 1_000_000),
            )
            if not _is_integer(getattr(self, name)) or not low <= getattr(self, name) <= high
        ]
        for name, allowed in (("weights", tuple(WEIGHTS)), ("hash", HASHES), ("segmenter", tuple(SEGMENTERS))):
            if not (name == "hash" and isinstance(self.hash, HashFunction)):
                problems += _unknown(name, getattr(self, name), allowed)
        if isinstance(self.normalize, str) or not all(isinstance(each, str) for each in self.normalize):
            problems.append(f"normalize={self.normalize!r}: give a list of names, of {', '.join(NORMALIZERS)}")
        else:
            object.__setattr__(self, "normalize", tuple(self.normalize))
            problems += [problem for each in self.normalize for problem in _unknown("normalize", each, NORMALIZERS)]
        problems += self._contradictions()
        far = self.max_distance
        if far is not None and not (_is_integer(far) and not problems and 0 <= far <= self.bits):
            problems.append(f"max_distance={far!r}: give an integer from 0 to the number of bits")
        if problems:
            raise OptionError("This recipe is not possible. " + "; ".join(problems) + ".")

    def _contradictions(self) -> list[str]:
        found = []
        if self.keywords is not None:
            if not _is_integer(self.keywords) or self.keywords < 1:
                found.append(f"keywords={self.keywords!r}: give an integer of at least 1")
            if self.weights == "uniform":
                found.append("keywords with weights='uniform': none is heavier than another. Give other weights")
        return found

    @property
    def words(self) -> int:
        """64-bit words of a fingerprint."""
        return (self.bits + 63) // 64

    @property
    def needs_names(self) -> bool:
        """Whether features must be known by name; those of other recipes are only hashed, in one pass over the text."""
        plain = Recipe()
        return any(
            getattr(self, name) != getattr(plain, name) for name in ("hash", "normalize", "segmenter", "keywords")
        )

    def as_dict(self) -> dict[str, Any]:
        """What decides the bits, as plain values; the version counts changes of the code that changed bits."""
        plain, values = {field.name: field.default for field in dataclasses.fields(self)}, {}
        for name, default in plain.items():
            value = getattr(self, name)
            if name in FIRST_FIELDS or (name != "max_distance" and value != default):
                values[name] = plain_value(value)
        return values | {"unicode": UNICODE, "version": VERSION}

    def digest(self) -> str:
        """16 hexadecimal digits that differ between any two recipes.

        >>> Recipe().digest() == Recipe(bits=64, max_distance=10).digest()
        False
        """
        canonical = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _unknown(name: str, value: Any, allowed: Any) -> list[str]:
    """What is wrong with the name of one of several things, if anything is."""
    if value in allowed:
        return []
    near = difflib.get_close_matches(str(value), list(allowed), 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return [f"{name}={value!r}: give one of {', '.join(allowed)}{meant}"]


def plain_value(value: Any) -> Any:
    """What a digest knows of a field's value."""
    if isinstance(value, HashFunction):
        return value.as_dict()
    return list(value) if isinstance(value, tuple) else value


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class NamedRecipe:
    """A recipe and what it is for."""

    recipe: Recipe
    purpose: str


RECIPES = {
    "default": NamedRecipe(
        Recipe(max_distance=18),
        "words and pairs of Han or Kana characters, logarithmic weights, 128 bits: texts in any language",
    ),
    "default-64": NamedRecipe(
        Recipe(bits=64, max_distance=10),
        "the same in 64 bits, for stores and tools that take no more: more false candidates",
    ),
    "textbook": NamedRecipe(
        Recipe(word_shingle=3, cjk_shingle=3, weights="tf", bits=64, max_distance=3),
        "runs of three tokens, 64 bits, distance 3, as most descriptions have it: finds little but near-identical texts",
    ),
}


def find_recipe(name: str) -> Recipe:
    """The recipe of that name, or the one in that TOML file (the fields of `Recipe`, those not given as by default)."""
    if name in RECIPES:
        return RECIPES[name].recipe
    if not name.endswith(".toml"):
        raise OptionError(
            f"There is no recipe {name!r}. Give one of {', '.join(RECIPES)}, or a file that ends in .toml."
        )
    try:
        values = tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"There is no recipe file {name!r}. Give one of {', '.join(RECIPES)}, or an existing file."
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError(f"The recipe file {name!r} cannot be read: {problem}.") from None
    known = [field.name for field in dataclasses.fields(Recipe)]
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise OptionError(f"{name}: a recipe has no {', '.join(unknown)}. It has {', '.join(known)}.")
    return Recipe(**values)


def recipe_of_fields(fields: Mapping[str, Any]) -> Recipe:
    """The recipe of which `as_dict` gave these."""
    known = {field.name for field in dataclasses.fields(Recipe)}
    return Recipe(**{name: value for name, value in fields.items() if name in known})


def usual_distance(recipe: Recipe) -> int | None:
    """The recipe's own distance, else that of the named recipe with the same bits, else None."""
    if recipe.max_distance is not None:
        return recipe.max_distance
    digest = recipe.digest()
    return next((named.recipe.max_distance for named in RECIPES.values() if named.recipe.digest() == digest), None)


def check_same(digest: str, other: str, what: str) -> None:
    """Refuse to mix fingerprints of two recipes."""
    if digest != other:
        raise RecipeMismatch(
            f"{what} was made by the recipe {other}, not by {digest}: distances between them mean nothing. "
            "Make both with the same recipe."
        )
