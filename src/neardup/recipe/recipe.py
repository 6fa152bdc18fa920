"""A recipe has everything that decides a fingerprint's bits; its digest is stored with every fingerprint."""

import dataclasses
import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from neardup.errors import OptionError, is_integer
from neardup.recipe.fields import RecipeFields
from neardup.recipe.files.document_frequencies import DocumentFrequencies
from neardup.recipe.files.identities import segmenter_identity, weights_identity
from neardup.recipe.files.kept_files import kept_files
from neardup.recipe.files.referenced_files import read_dictionary, read_frequencies, read_stop_words
from neardup.recipe.problems import field_problems
from neardup.recipe.stored_parts import StoredPart, plain, with_versions
from neardup.recipe.tables.parts import (
    COUNTED,
    FILES,
    FIRST_FIELDS,
    NORMALIZER_PACKAGES,
    NOT_OF_TOKENS,
    OF,
    OF_TEXTS,
    TEXTS,
    UNICODE,
    digest_of,
    folds_last,
)
from neardup.recipe.tables.segmenters import PACKAGES


@dataclass(frozen=True, kw_only=True)
class Recipe(RecipeFields):
    """How a text becomes a fingerprint (Charikar 2002; features and weights by measurement, docs/decisions/0004).

    A text is normalized and cut into tokens. A feature is a window of tokens. A window has `word_shingle` tokens if it starts at a
    word, and `cjk_shingle` tokens if it starts at a Han or Kana character that is a token by itself.

    Attributes:
        word_shingle: tokens in a window that starts at a word.
        cjk_shingle: tokens in a window that starts at a Han or Kana character; for the segmenter `words` only.
        weights: the weights of features, one of WEIGHTS.
        hash: the hash of features, one of HASHES, or a `neardup.recipe.tables.hashes.HashFunction`.
        bits: the fingerprint's width, 1 to 512; 64 and 128 are fastest.
        min_tokens: a text with fewer tokens is `short`; only equal texts are its duplicates.
        max_distance: the default distance. A recipe without one takes that of the named recipe with the same bits, if any. It is
            not part of the digest.
        normalize: names of NORMALIZERS, applied to texts in this order, also before similarities are computed.
        segmenter: the segmenter that cuts texts into tokens, one of SEGMENTERS, or a `Segmenter`.
        keywords: the number of features of each text that vote, the heaviest first; BY_LENGTH for a number that depends on the
            text's length; None for all.
        mode: the mode of the segmenter: "search" for jieba and rjieba; "A", "B" or "C" (the default) for sudachi, from shortest to
            longest words.
        hmm: whether jieba, rjieba and cppjieba guess words that their dictionary lacks, with a hidden Markov model.
        dictionary: the path of a user dictionary in UTF-8, or a name of `neardup.recipe.files.word_lists.USER_DICTIONARIES`. It
            is read at once; its content decides the digest.
        stop_words: tokens to leave out before windows are formed: names of `neardup.recipe.files.word_lists.STOP_LISTS`, or paths
            of UTF-8 files with one word per line, which are read at once. The words are normalized as texts are.
        document_frequencies: for weights="tfidf": the path of a file that `neardup fit` wrote, or "jieba" for the inverse document
            frequencies of that package. Its metadata is read at once; its content decides the digest.
        profile: another tool whose bits are reproduced, one of `neardup.recipe.tables.profiles.PROFILES`. It decides everything
            except the fields in NOT_DECIDED.
        profile_window: the number of words, characters or bytes in the profile's windows, 1 to 64; the tool's usual number by
            default.
        version: what tokens are, one of `neardup.recipe.tables.parts.VERSIONS`. With 2, similarities have these tokens, too.

    Raises:
        OptionError: fields are not allowed; the message has all problems.
        RecipeMismatch: the document frequencies count other features than this recipe's.
    """

    document_frequencies: Literal["jieba"] | str | Path | DocumentFrequencies | StoredPart | None = None
    documents: ClassVar[str | None] = TEXTS
    """What it is of; another one is of `neardup.recipe.kinds`."""

    def __post_init__(self) -> None:
        if self.segmenter == "sudachi" and self.mode == "C":
            object.__setattr__(self, "mode", None)  # "C" is the default: the same bits, so the same digest
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
        numbers = {
            name: int(value) for name, value in vars(self).items() if is_integer(value)
        }  # JSON cannot hold numpy's
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
        """Whether the recipe reproduces another tool's bits, instead of finding as much as possible."""
        return self.profile is not None or self.weights == "cppjieba"

    @cached_property
    def needs_names(self) -> bool:
        """Whether features are needed by name; other recipes only hash them, in one pass over the folded text."""
        default = _default()
        deciding = ("hash", "segmenter", "keywords", "stop_words")
        return (
            self.profile is not None
            or self.weights not in COUNTED
            or not folds_last(self.normalize)
            or any(getattr(self, name) != getattr(default, name) for name in deciding)
        )

    @property
    def missing(self) -> tuple[StoredPart, ...]:
        """The parts of a stored recipe that are not available, without which it makes no fingerprints."""
        values = [getattr(self, field.name) for field in dataclasses.fields(self)]
        parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
        return tuple(part for part in parts if isinstance(part, StoredPart))

    def as_dict(self) -> dict[str, Any]:
        """Everything that decides the bits, as plain values."""
        values = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in FIRST_FIELDS or (field.name != "max_distance" and value != field.default):
                values[field.name] = plain(value)
        if isinstance(self.segmenter, str) and self.segmenter in PACKAGES:
            values["segmenter"] = segmenter_identity(self.segmenter)
        if isinstance(self.weights, str):
            values["weights"] = weights_identity(self.weights)
        if "normalize" in values:
            values["normalize"] = [
                with_versions(each, NORMALIZER_PACKAGES.get(each, ())) if isinstance(each, str) else each
                for each in values["normalize"]
            ]
        if "stop_words" in values:
            values["stop_words"].sort(key=str)  # the order of lists does not matter
        return values | {"unicode": UNICODE, "version": self.version}

    def stored(self) -> dict[str, Any]:
        """The values of `as_dict`, with the files that the recipe needs: small ones themselves, large ones by path and digest.

        If its features could be those of given elements as well, `of` says which they are.
        """
        files = [each.as_dict() for each in kept_files(self)]
        of = {OF: self.documents} if self.could_be_of_elements and self.documents is not None else {}
        return self.as_dict() | ({FILES: files} if files else {}) | of

    @property
    def could_be_of_elements(self) -> bool:
        """Whether its fields say how texts are cut as those of given elements do: every token between white space is a feature."""
        plain = Recipe()
        changed = {name for name in OF_TEXTS if getattr(self, name) != getattr(plain, name)}
        own = (self.normalize, self.segmenter, self.word_shingle)
        return own == ((), "whitespace", 1) and changed <= {"normalize", "segmenter", "word_shingle"}

    def tokenization(self) -> str:
        """Everything that decides the features of a text, as JSON, without their weights and hashes."""
        values = {name: value for name, value in self.as_dict().items() if name not in NOT_OF_TOKENS}
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def digest(self) -> str:
        """The digest of the recipe: 16 hexadecimal digits that differ between any two recipes.

        >>> Recipe().digest() == Recipe(bits=64, max_distance=10).digest()
        False
        """
        return digest_of(self.as_dict())


class ImpossibleRecipe(OptionError):  # noqa: N818
    """Fields of a recipe are not allowed.

    Attributes:
        problems: all problems, as phrases; `which` recipe has them begins the message.
    """

    def __init__(self, problems: list[str], which: str = "This recipe is not possible.") -> None:
        super().__init__(f"{which} {'; '.join(problems)}.")
        self.problems = problems


@cache
def _default() -> Recipe:
    return Recipe()
