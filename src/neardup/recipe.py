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

from neardup.document_frequencies import BACKGROUND, DocumentFrequencies, document_frequencies
from neardup.errors import InputError, OptionError, RecipeMismatch
from neardup.hashes.names import HASHES as FEATURE_HASHES
from neardup.hashes.names import HashFunction
from neardup.profiles.names import DISTANCES, GO_FNV1A, NOT_DECIDED, PROFILES, WINDOWED
from neardup.segmenters.names import PACKAGES, SEGMENTERS, Segmenter, dictionary_problems, option_problems
from neardup.stored_parts import StoredPart, plain, stored, with_versions
from neardup.vectors.recipe import KIND, VectorRecipe, stored_vector_recipe
from neardup.word_lists import STOP_LISTS, WordList, read_word_list, stop_list

NORMALIZERS = {
    "nfkc_casefold": "NFKC case folding, white space made one, what is invisible dropped",
    "nfkc": "NFKC: full-width letters, ligatures and the like become plain ones",
    "casefold": "full case folding: ß becomes ss",
    "lower": "lower case: ß stays",
    "digits": "each decimal digit becomes 0",
    "punctuation": "punctuation is removed: what stood on both sides of it stands together",
    "simplified": "traditional Chinese becomes simplified, by OpenCC: the extra [zh]",
}
"""What may be done to a text, in the order given, before it is cut into tokens."""
NORMALIZER_PACKAGES = {"simplified": ("opencc",)}
"""The distributions that decide what a normalizer gives: their versions are part of a recipe's digest."""
WEIGHTS = {
    "uniform": "1",
    "tf": "how often it occurs, c",
    "log": "1 + floor(log2 c)",
    "sqrt": "the square root of c",
    "tfidf": "c times how rare it is among the documents of document_frequencies",
    "textrank": "how central it is in the graph of features that stand near one another",
    "cppjieba": "c times the idf of a word of two characters or more, as cppjieba finds keywords: the extra [zh]",
    "jieba_tfidf": "as extract_tags of the package jieba, which cuts the texts, too: the extra [zh]",
    "jieba_textrank": "as textrank of the package jieba, which cuts the texts, too: the extra [zh]",
}
"""What a feature weighs by its count c in the text, and by more."""
COUNTED = ("uniform", "tf", "log", "sqrt")
"""Weights that are a matter of the count alone."""
WEIGHT_PACKAGES = dict.fromkeys(("cppjieba", "jieba_tfidf", "jieba_textrank"), ("jieba",))
"""The distributions that decide what weights are: their versions are part of a recipe's digest."""
BY_LENGTH = "by_length"
"""`keywords` as many as cppjieba takes of a text: one for 120 bytes, at least 5, at most 200."""
NOT_OF_TOKENS = ("weights", "hash", "bits", "min_tokens", "keywords", "document_frequencies")
"""What decides bits, but not which features a text has."""
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
        keywords: only so many features of each text vote, the heaviest; BY_LENGTH: as many as its length says; None: all.
        mode: of the segmenter: "search" for jieba; "A", "B" or "C" (the default) for sudachi, shortest to longest words.
        hmm: whether jieba guesses words that its dictionary lacks, by a hidden Markov model.
        dictionary: the path of a user dictionary, UTF-8; its content is read now, and decides the digest.
        stop_words: tokens that are left out before windows are formed: names of `neardup.word_lists.STOP_LISTS`, or paths of
            UTF-8 files, one word a line, which are read now; the words are normalized as texts are.
        document_frequencies: for weights="tfidf": the path of a file by `neardup fit`, or "jieba" for the inverse document
            frequencies that come with that package. What it says of itself is read now; its content decides the digest.
        profile: another tool whose bits are made, one of `neardup.profiles.names.PROFILES`; it decides all but its width.
        profile_window: how many words, characters or bytes its windows have, 1 to 64, if another number than the tool's usual one.

    Raises:
        OptionError: with all that is wrong.
        RecipeMismatch: the document frequencies are of other features than this recipe's.
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
    keywords: int | str | None = None
    mode: str | None = None
    hmm: bool = True
    dictionary: Any = None
    stop_words: Sequence[Any] = ()
    document_frequencies: Any = None
    profile: str | None = None
    profile_window: int | None = None

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
            problems += _unknown(name, getattr(self, name), allowed)
        problems += self._normalizer_problems()
        if self.segmenter == "sudachi" and self.mode == "C":
            object.__setattr__(self, "mode", None)  # the default by its name: the same bits, the same digest
        problems += option_problems(self.segmenter, self.mode, self.hmm, self.dictionary)
        problems += (
            self._of_profile()
            + self._contradictions()
            + self._of_words()
            + self._read_lists()
            + self._read_frequencies()
        )
        far = self.max_distance
        if far is not None and not (_is_integer(far) and not problems and 0 <= far <= self.bits):
            problems.append(f"max_distance={far!r}: give an integer from 0 to the number of bits")
        if problems:
            raise ImpossibleRecipe(problems)
        if isinstance(self.document_frequencies, DocumentFrequencies):
            self.document_frequencies.check(self.tokenization())

    def _normalizer_problems(self) -> list[str]:
        if not isinstance(self.normalize, (list, tuple)):
            return [f"normalize={self.normalize!r}: give a list of names, of {', '.join(NORMALIZERS)}"]
        object.__setattr__(self, "normalize", tuple(self.normalize))
        return [problem for each in self.normalize for problem in _unknown("normalize", each, NORMALIZERS)]

    def _read_lists(self) -> list[str]:
        """Replace paths and names by what they hold; what is wrong with them."""
        problems = []
        if isinstance(self.dictionary, (str, Path)):
            try:
                found = read_word_list(self.dictionary, "dictionary")
            except InputError as problem:
                problems.append(str(problem))
            else:
                object.__setattr__(self, "dictionary", found)
                problems += dictionary_problems(self.segmenter, found)
        elif not isinstance(self.dictionary, (WordList, StoredPart, type(None))):
            problems.append(f"dictionary={self.dictionary!r}: give the path of a file")
        if not isinstance(self.stop_words, (list, tuple)):
            names = ", ".join(STOP_LISTS)
            return [*problems, f"stop_words={self.stop_words!r}: give a list of names, of {names}, or paths"]
        lists: list[Any] = []
        for each in self.stop_words:
            if isinstance(each, (WordList, StoredPart)):
                lists.append(each)
            elif isinstance(each, (str, Path)):
                try:
                    lists.append(stop_list(each))
                except InputError as problem:
                    problems.append(str(problem))
            else:
                problems.append(f"stop_words: {each!r} is neither a name nor a path")
        object.__setattr__(self, "stop_words", tuple(lists))
        return problems

    def _of_profile(self) -> list[str]:
        """What a profile does not have, or decides itself."""
        size = self.profile_window
        if self.profile is None:
            return [] if size is None else [f"profile_window={size!r} without a profile: leave it out"]
        if self.profile not in PROFILES:
            return _unknown("profile", self.profile, PROFILES)
        found, widths = [], PROFILES[self.profile][0]
        if self.bits not in widths:
            found.append(f"bits={self.bits!r} with profile={self.profile!r}: give one of {', '.join(map(str, widths))}")
        if size is not None and not self.profile.startswith(WINDOWED):
            found.append(f"profile_window={size!r} with profile={self.profile!r}, which has no windows of other sizes")
        elif size is not None and not (_is_integer(size) and 1 <= size <= 64):
            found.append(f"profile_window={size!r}: give an integer from 1 to 64")
        given = [
            field.name
            for field in dataclasses.fields(self)
            if field.name not in NOT_DECIDED and getattr(self, field.name) != field.default
        ]
        if given:
            found.append(f"{', '.join(given)} with profile={self.profile!r}, which decides that: leave it out")
        return found

    def _contradictions(self) -> list[str]:
        found = []
        if self.keywords is not None:
            if self.keywords != BY_LENGTH and not (_is_integer(self.keywords) and int(self.keywords) > 0):
                found.append(f"keywords={self.keywords!r}: give an integer of at least 1, or {BY_LENGTH!r}")
            if self.weights == "uniform":
                found.append("keywords with weights='uniform': none is heavier than another. Give other weights")
        by_words = self.segmenter == "words" or isinstance(self.segmenter, StoredPart)
        if not by_words and self.cjk_shingle != type(self).cjk_shingle:
            given = f"cjk_shingle={self.cjk_shingle!r}"
            found.append(f"{given} is for segmenter='words'; windows of other tokens are of word_shingle")
        if self.weights == "tfidf" and self.document_frequencies is None:
            found.append("weights='tfidf' needs document_frequencies: give a file by neardup fit, or 'jieba'")
        if self.document_frequencies is not None and self.weights != "tfidf":
            found.append(
                f"document_frequencies with weights={self.weights!r}: only tfidf has a use for them. Leave them out"
            )
        return found

    def _of_words(self) -> list[str]:
        """What contradicts weights of whole words, by what the package jieba knows of them."""
        if not isinstance(self.weights, str):
            return []  # they have been refused, or are of a stored recipe
        found = []
        if self.weights in WEIGHT_PACKAGES and self.segmenter != "jieba":
            found.append(f"weights={self.weights!r} with segmenter={self.segmenter!r}: give segmenter='jieba'")
        if self.document_frequencies == BACKGROUND and self.segmenter in ("words", "characters", "whitespace"):
            found.append(
                f"document_frequencies={BACKGROUND!r} with segmenter={self.segmenter!r}: they are of Chinese words. "
                "Give segmenter='jieba'"
            )
        if self.word_shingle != 1 and (self.weights in WEIGHT_PACKAGES or self.document_frequencies == BACKGROUND):
            what = (
                f"weights={self.weights!r}"
                if self.weights in WEIGHT_PACKAGES
                else f"document_frequencies={BACKGROUND!r}"
            )
            found.append(
                f"{what} with word_shingle={self.word_shingle!r}: they are of single words. Give word_shingle=1"
            )
        if self.weights in ("jieba_tfidf", "jieba_textrank"):
            plain = {each.name: each.default for each in dataclasses.fields(self)}
            given = [each for each in ("mode", "hmm", "dictionary", "stop_words") if getattr(self, each) != plain[each]]
            if given:
                found.append(
                    f"{' and '.join(given)} with weights={self.weights!r}: the package jieba cuts texts and drops stop "
                    "words in its own way. Leave it out, or give weights='tfidf' with document_frequencies='jieba'"
                )
        return found

    def _read_frequencies(self) -> list[str]:
        """Replace a path by what the file says of itself; what is wrong with it."""
        if self.document_frequencies is None or isinstance(self.document_frequencies, StoredPart):
            return []
        try:
            object.__setattr__(self, "document_frequencies", document_frequencies(self.document_frequencies))
        except InputError as problem:
            return [str(problem)]
        return []

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
        return self.weights not in COUNTED or any(getattr(self, name) != getattr(default, name) for name in deciding)

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


class ImpossibleRecipe(OptionError):  # noqa: N818
    """Fields that are not possible.

    Attributes:
        problems: what is wrong, all of it.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("This recipe is not possible. " + "; ".join(problems) + ".")
        self.problems = problems


def _unknown(name: str, value: Any, allowed: Any) -> list[str]:
    """What is wrong with the name of one of several things, if anything is; what is no name has been checked where it was made."""
    if isinstance(value, StoredPart | {"segmenter": Segmenter, "hash": HashFunction}.get(name, StoredPart)):
        return []
    if isinstance(value, str) and value in allowed:
        return []
    if name == "segmenter" and callable(value):
        return [f"segmenter={value!r}: wrap a function of your own: Segmenter(function, name=…, version=…)"]
    near = difflib.get_close_matches(str(value), list(allowed), 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return [f"{name}={value!r}: give one of {', '.join(allowed)}{meant}"]


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class NamedRecipe:
    """A recipe and what it is for."""

    recipe: Recipe
    purpose: str


def _of_keywords(hash_of_features: Any, purpose: str) -> NamedRecipe:
    recipe = Recipe(
        normalize=(),
        segmenter="jieba",
        weights="cppjieba",
        keywords=BY_LENGTH,
        hash=hash_of_features,
        bits=64,
        min_tokens=1,
        max_distance=3,
    )
    return NamedRecipe(recipe, purpose)


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
    "cppjieba": _of_keywords(
        "lookup3", "yanyiwu/simhash and gosimhash: keywords of Chinese texts by cppjieba, Jenkins' hash"
    ),
    "fnv1a": _of_keywords("fnv1a_64", "the same with FNV-1a, as the Go program was meant"),
    "go-fnv1a": _of_keywords(
        GO_FNV1A, "that program as it was written: half of the hashes are those of another number"
    ),
    **{
        name: NamedRecipe(
            Recipe(profile=name, bits=widths[0], min_tokens=1, max_distance=DISTANCES.get(name, 3)), purpose
        )
        for name, (widths, purpose) in PROFILES.items()
    },
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
    return _recipe_of_file(name, values)


def _recipe_of_file(name: str, values: dict[str, Any]) -> Recipe:
    """The recipe with these fields; paths among them are relative to the file of that name."""
    folder = Path(name).parent
    known = [field.name for field in dataclasses.fields(Recipe)]
    problems = []
    for each in sorted(set(values) - set(known)):
        near = difflib.get_close_matches(each, known, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        problems.append(f"a recipe has no {each}{meant}. It has {', '.join(known)}")
    fields = {each: value for each, value in values.items() if each in known}
    if isinstance(fields.get("document_frequencies"), str) and fields["document_frequencies"] != BACKGROUND:
        fields["document_frequencies"] = folder / fields["document_frequencies"]
    if isinstance(fields.get("dictionary"), str):
        fields["dictionary"] = folder / fields["dictionary"]
    if isinstance(fields.get("stop_words"), list):
        lists = fields["stop_words"]
        fields["stop_words"] = [_in_folder(each, folder) for each in lists]
    try:
        recipe = Recipe(**fields)
    except ImpossibleRecipe as impossible:
        problems += impossible.problems
    if problems:
        raise OptionError(f"{name}: " + "; ".join(problems) + ".")
    return recipe


def _in_folder(stop_words: Any, folder: Path) -> Any:
    """A path relative to the folder; what is no path, or no file there, as it is."""
    is_path = isinstance(stop_words, str) and stop_words not in STOP_LISTS and (folder / stop_words).exists()
    return folder / stop_words if is_path else stop_words


def stored_recipe(values: Mapping[str, Any]) -> Recipe:
    """The recipe of which `Recipe.as_dict` gave these values.

    What is not at hand, a caller's function, the words of a file or another version of a package, is a `StoredPart`: the recipe
    has the same digest, and says what is missing when it is to make fingerprints.
    """
    known = {field.name for field in dataclasses.fields(Recipe)}
    return Recipe(**{name: _stored_value(name, value) for name, value in values.items() if name in known})


def any_stored_recipe(values: Mapping[str, Any]) -> Recipe | VectorRecipe:
    """The recipe, of texts or of vectors, of which `as_dict` gave these values; see `stored_recipe`."""
    return stored_vector_recipe(values) if values.get("kind") == KIND else stored_recipe(values)


def _stored_value(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_stored_value(name, each) for each in value]
    if not isinstance(value, dict):
        return value
    by_field: dict[str, Mapping[str, tuple[str, ...]]] = {
        "segmenter": PACKAGES,
        "normalize": NORMALIZER_PACKAGES,
        "weights": WEIGHT_PACKAGES,
    }
    packages = by_field.get(name, {})
    if with_versions(value.get("name", ""), packages.get(value.get("name", ""), ())) == value:
        return value["name"]
    if name == "stop_words":
        return next((each for each in map(stop_list, STOP_LISTS) if each.as_dict() == value), stored(value))
    return stored(value)


def usual_distance(recipe: Recipe | VectorRecipe) -> int | None:
    """The recipe's own distance, else that of the named recipe with the same bits, else None."""
    if recipe.max_distance is not None:
        return recipe.max_distance
    digest = recipe.digest()
    return next((named.recipe.max_distance for named in RECIPES.values() if named.recipe.digest() == digest), None)


def digest_of(values: Mapping[str, Any]) -> str:
    """The digest of the recipe, of texts or of vectors, of which `as_dict` gave these values."""
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def check_same(
    digest: str,
    other: str,
    what: str,
    *,
    than: str = "",
    recipe: Mapping[str, Any] | None = None,
    other_recipe: Mapping[str, Any] | None = None,
) -> None:
    """Refuse to mix fingerprints of two recipes.

    `than`: what the first made; `recipe`, `other_recipe`: what `as_dict` gave, for saying how they differ.
    """
    if digest != other:
        made = f", which made {than}" if than else ""
        how = "" if recipe is None or other_recipe is None else _difference(recipe, other_recipe)
        raise RecipeMismatch(
            f"{what} was made by the recipe {other}, not by {digest}{made}{how}: distances between them mean nothing. "
            "Make both with the same recipe."
        )


def _difference(recipe: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """` (there bits is 64, here 128; …)`; a field that is not stored has its default."""
    defaults = {field.name: plain(field.default) for field in dataclasses.fields(Recipe)}
    parts = []
    for name in sorted({*recipe, *other}):
        there, here = (
            json.dumps(values.get(name, defaults.get(name)), ensure_ascii=False) for values in (other, recipe)
        )
        if there != here:
            parts.append(f"{name} is {there} there, {here} here")
    return f" ({'; '.join(parts) or 'but the recipes are equal: a digest was changed'})"
