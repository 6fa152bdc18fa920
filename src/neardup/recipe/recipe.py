"""A recipe is all that decides a fingerprint's bits; its digest travels with every fingerprint that is stored."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neardup.errors import OptionError
from neardup.recipe.document_frequencies import DocumentFrequencies
from neardup.recipe.fields import RecipeFields
from neardup.recipe.parts import (
    COUNTED,
    FIRST_FIELDS,
    NORMALIZER_PACKAGES,
    NOT_OF_TOKENS,
    UNICODE,
    VERSION,
    WEIGHT_PACKAGES,
)
from neardup.recipe.problems import field_problems, is_integer
from neardup.recipe.referenced_files import read_dictionary, read_frequencies, read_stop_words
from neardup.recipe.segmenters import PACKAGES
from neardup.recipe.stored_parts import plain, with_versions


@dataclass(frozen=True, kw_only=True)
class Recipe(RecipeFields):
    """How a text becomes a fingerprint (Charikar 2002; features and weights by measurement, docs/decisions/0004).

    A text is normalized and cut into tokens. A feature is a window of tokens: `word_shingle` of them if it starts at a word,
    `cjk_shingle` if at a Han or Kana character that is a token by itself.

    Attributes:
        word_shingle: tokens in a window that starts at a word.
        cjk_shingle: tokens in a window that starts at a Han or Kana character; for the segmenter `words` only.
        weights: what a feature weighs, one of WEIGHTS.
        hash: the hash of features, one of HASHES, or a `neardup.fingerprints.hashes.HashFunction`.
        bits: the fingerprint's width, 1 to 512; 64 and 128 are fastest.
        min_tokens: a text with fewer tokens is `short`: it has exact duplicates only.
        max_distance: the distance to use when none is given; a recipe that decides the same bits as a named one has that
            one's. Not part of the digest.
        normalize: what is done to texts first, of NORMALIZERS, in this order.
        segmenter: what cuts texts into tokens, one of SEGMENTERS.
        keywords: only so many features of each text vote, the heaviest; BY_LENGTH: as many as its length says; None: all.
        mode: of the segmenter: "search" for jieba; "A", "B" or "C" (the default) for sudachi, shortest to longest words.
        hmm: whether jieba guesses words that its dictionary lacks, by a hidden Markov model.
        dictionary: the path of a user dictionary, UTF-8; its content is read now, and decides the digest.
        stop_words: tokens that are left out before windows are formed: names of `neardup.recipe.word_lists.STOP_LISTS`, or paths of
            UTF-8 files, one word a line, which are read now; the words are normalized as texts are.
        document_frequencies: for weights="tfidf": the path of a file by `neardup fit`, or "jieba" for the inverse document
            frequencies that come with that package. What it says of itself is read now; its content decides the digest.
        profile: another tool whose bits are made, one of `neardup.recipe.profiles.PROFILES`; it decides all but its width.
        profile_window: how many words, characters or bytes its windows have, 1 to 64, if another number than the tool's usual one.

    Raises:
        OptionError: with all that is wrong.
        RecipeMismatch: the document frequencies are of other features than this recipe's.
    """

    def __post_init__(self) -> None:
        if self.segmenter == "sudachi" and self.mode == "C":
            object.__setattr__(self, "mode", None)  # the default by its name: the same bits, the same digest
        for name in ("normalize", "stop_words"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        problems = field_problems(self)
        dictionary, of_dictionary = read_dictionary(self.dictionary, self.segmenter)
        stop_words, of_lists = read_stop_words(self.stop_words)
        problems += of_dictionary + of_lists
        frequencies, of_frequencies = read_frequencies(self.document_frequencies, problems)
        problems += of_frequencies
        if problems:
            raise ImpossibleRecipe(problems)
        read = {"dictionary": dictionary, "stop_words": stop_words, "document_frequencies": frequencies}
        numbers = {name: int(value) for name, value in vars(self).items() if is_integer(value)}  # numpy's are no JSON
        for name, value in {**read, **numbers}.items():
            object.__setattr__(self, name, value)
        if isinstance(frequencies, DocumentFrequencies):
            frequencies.check(self.tokenization())

    @property
    def words(self) -> int:
        """64-bit words of a fingerprint."""
        return (self.bits + 63) // 64

    @property
    def is_of_other_tool(self) -> bool:
        """Whether it is for the bits of another tool, not for finding most."""
        return self.profile is not None or self.weights == "cppjieba"

    @property
    def needs_names(self) -> bool:
        """Whether features must be known by name; those of other recipes are only hashed, in one pass over the text."""
        default = Recipe()
        deciding = ("hash", "normalize", "segmenter", "keywords", "stop_words")
        return (
            self.profile is not None
            or self.weights not in COUNTED
            or any(getattr(self, name) != getattr(default, name) for name in deciding)
        )

    def as_dict(self) -> dict[str, Any]:
        """What decides the bits, as plain values; the version counts changes of the code that changed bits."""
        values = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in FIRST_FIELDS or (field.name != "max_distance" and value != field.default):
                values[field.name] = plain(value)
        if isinstance(self.segmenter, str) and self.segmenter in PACKAGES:
            values["segmenter"] = with_versions(self.segmenter, PACKAGES[self.segmenter])
        values["weights"] = (
            with_versions(self.weights, WEIGHT_PACKAGES.get(self.weights, ()))
            if isinstance(self.weights, str)
            else values["weights"]
        )
        if "normalize" in values:
            values["normalize"] = [
                with_versions(each, NORMALIZER_PACKAGES.get(each, ())) if isinstance(each, str) else each
                for each in values["normalize"]
            ]
        if "stop_words" in values:
            values["stop_words"].sort(key=str)  # lists in another order leave out the same words
        return values | {"unicode": UNICODE, "version": VERSION}

    def tokenization(self) -> str:
        """What decides which features a text has, as JSON; their weights and hashes are no part of it."""
        values = {name: value for name, value in self.as_dict().items() if name not in NOT_OF_TOKENS}
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def digest(self) -> str:
        """16 hexadecimal digits that differ between any two recipes.

        >>> Recipe().digest() == Recipe(bits=64, max_distance=10).digest()
        False
        """
        return digest_of(self.as_dict())


def digest_of(values: Mapping[str, Any]) -> str:
    """The digest of the recipe whose `as_dict` gave these values: 16 hexadecimal digits."""
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


class ImpossibleRecipe(OptionError):  # noqa: N818
    """Fields that are not possible.

    Attributes:
        problems: what is wrong, all of it.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("This recipe is not possible. " + "; ".join(problems) + ".")
        self.problems = problems
