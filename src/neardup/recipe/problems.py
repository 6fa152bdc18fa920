"""Check the fields of a recipe. Each function returns all problems that it finds, as phrases for one message."""

import dataclasses
from collections.abc import Collection, Iterator
from typing import Any

from neardup.display import as_code
from neardup.errors import is_integer
from neardup.recipe.fields import RecipeFields
from neardup.recipe.files.document_frequencies import BACKGROUND
from neardup.recipe.stored_parts import StoredPart
from neardup.recipe.tables.hashes import HashFunction
from neardup.recipe.tables.parts import BY_LENGTH, HASHES, NORMALIZERS, VERSION, VERSIONS, WEIGHT_PACKAGES, WEIGHTS
from neardup.recipe.tables.profiles import NOT_DECIDED, PROFILES, WINDOWED
from neardup.recipe.tables.segmenters import GUESSING, PACKAGES, SEGMENTERS, Segmenter, option_problems
from neardup.recipe.tables.spellings import meant, one_of

NUMBERS = (
    ("word_shingle", 1, 64),
    ("cjk_shingle", 1, 64),
    ("bits", 1, 512),
    ("min_tokens", 1, 1_000_000),
)
"""Fields that are integers, with their smallest and largest values."""
_BROUGHT = {"segmenter": Segmenter, "hash": HashFunction}
"""Types that a caller may pass instead of a name."""


BY_JIEBA = ("jieba", "rjieba")
"""The segmenters that go with weights of the package jieba; recipes from before there were kernels have the second."""


def unknown(name: str, value: Any, allowed: Collection[str]) -> list[str]:
    """The problems of a field with a name; objects of the caller were checked when they were made."""
    brought = _BROUGHT.get(name)
    if isinstance(value, StoredPart) or (brought is not None and isinstance(value, brought)):
        return []
    if isinstance(value, str) and value in allowed:
        return []
    if brought is not None and callable(value):
        fields = "name=…, version=…" + ", bits=…" * (brought is HashFunction)
        return [f"`{name}={value!r}`: wrap a function of your own: {brought.__name__}(function, {fields})"]
    return [one_of(name, value, allowed)]


def field_problems(recipe: RecipeFields) -> list[str]:
    """The problems of single fields and of their combinations."""
    return [
        *_of_numbers(recipe),
        *unknown("weights", recipe.weights, WEIGHTS),
        *unknown("hash", recipe.hash, HASHES),
        *unknown("segmenter", recipe.segmenter, SEGMENTERS),
        *_of_normalizers(recipe),
        *option_problems(recipe.segmenter, recipe.mode, recipe.hmm, recipe.dictionary),
        *_of_profile(recipe),
        *_of_keywords(recipe),
        *_contradictions(recipe),
        *_of_words(recipe),
    ]


def _of_numbers(recipe: RecipeFields) -> Iterator[str]:
    for name, low, high in NUMBERS:
        value = getattr(recipe, name)
        if not is_integer(value) or not low <= value <= high:
            yield f"`{name}={value!r}`: give an integer from {low} to {high}"
    if not is_integer(recipe.version) or recipe.version not in VERSIONS:
        yield f"`version={recipe.version!r}`: give one of {', '.join(map(str, VERSIONS))}"
    far, widest = recipe.max_distance, recipe.bits
    if far is None:
        return
    known = is_integer(widest) and 1 <= widest <= NUMBERS[2][2]  # a refused width says nothing about the distance
    if not is_integer(far) or far < 0 or (known and far > widest):
        yield f"`max_distance={far!r}`: give an integer from 0 to the number of bits"


def _of_normalizers(recipe: RecipeFields) -> list[str]:
    if not isinstance(recipe.normalize, (list, tuple)):
        return [f"`normalize={recipe.normalize!r}`: give a list of names, of {', '.join(NORMALIZERS)}"]
    return [problem for each in recipe.normalize for problem in unknown("normalize", each, NORMALIZERS)]


def _of_profile(recipe: RecipeFields) -> list[str]:
    """The problems of options that a profile lacks or decides itself."""
    name, size = recipe.profile, recipe.profile_window
    if name is None:
        return [] if size is None else [f"`profile_window={size!r}` without a `profile`: leave it out"]
    if not isinstance(name, str) or name not in PROFILES:
        return unknown("profile", name, PROFILES)
    found, widths = [], PROFILES[name][0]
    if recipe.bits not in widths:
        allowed = ", ".join(map(str, sorted(set(widths))))
        found.append(f"`bits={recipe.bits!r}` with `profile={name!r}`: give one of {allowed}")
    if size is not None and not name.startswith(WINDOWED):
        found.append(f"`profile_window={size!r}` with `profile={name!r}`, which has no windows of other sizes")
    elif size is not None and not (is_integer(size) and 1 <= size <= 64):
        found.append(f"`profile_window={size!r}`: give an integer from 1 to 64")
    given = [
        field.name
        for field in dataclasses.fields(recipe)
        if field.name not in NOT_DECIDED and getattr(recipe, field.name) != field.default
    ]
    if given:
        found.append(f"{as_code(given)} with `profile={name!r}`, which decides that: leave it out")
    return found


def _of_keywords(recipe: RecipeFields) -> Iterator[str]:
    most = recipe.keywords
    if most is None:
        return
    if most != BY_LENGTH and not (is_integer(most) and int(most) > 0):
        yield f"`keywords={most!r}`: give an integer of at least 1, or {BY_LENGTH!r}{meant(most, [BY_LENGTH])}"
    if recipe.weights == "uniform":
        yield "`keywords` with `weights='uniform'`: none is heavier than another. Give other weights"


def _contradictions(recipe: RecipeFields) -> Iterator[str]:
    by_words = recipe.segmenter == "words" or isinstance(recipe.segmenter, StoredPart)
    if not by_words and recipe.cjk_shingle != type(recipe).cjk_shingle:
        given = f"`cjk_shingle={recipe.cjk_shingle!r}`"
        yield f"{given} is for `segmenter='words'`; windows of other tokens are of `word_shingle`"
    if recipe.weights == "tfidf" and recipe.document_frequencies is None:
        yield "`weights='tfidf'` needs `document_frequencies`: give a file by `neardup fit`, or 'jieba'"
    if recipe.version != VERSION and recipe.segmenter in PACKAGES:
        why = "its package decides what tokens are. Leave it out"
        yield f"`version={recipe.version!r}` with `segmenter={recipe.segmenter!r}`: {why}"
    if recipe.document_frequencies is not None and recipe.weights != "tfidf":
        yield f"`document_frequencies` with `weights={recipe.weights!r}`: only tfidf has a use for them. Leave them out"


def _of_words(recipe: RecipeFields) -> list[str]:
    """The problems of fields that contradict weights of whole words from the package jieba."""
    weights, background = recipe.weights, recipe.document_frequencies == BACKGROUND
    if not isinstance(weights, str):
        return []  # refused before, or part of a stored recipe
    found = []
    known = not isinstance(recipe.segmenter, StoredPart)  # a stored recipe was checked when it was made
    if known and weights == "cppjieba" and recipe.segmenter not in GUESSING:
        these = "`segmenter='cppjieba'`, or 'jieba', which is faster and cuts a little differently"
        found.append(f"`weights={weights!r}` with `segmenter={recipe.segmenter!r}`: give {these}")
    if known and weights in ("jieba_tfidf", "jieba_textrank") and recipe.segmenter not in BY_JIEBA:
        found.append(f"`weights={weights!r}` with `segmenter={recipe.segmenter!r}`: give `segmenter='jieba'`")
    if background and recipe.segmenter in ("words", "characters", "whitespace"):
        found.append(
            f"`document_frequencies={BACKGROUND!r}` with `segmenter={recipe.segmenter!r}`: they are of Chinese words. "
            "Give `segmenter='jieba'`"
        )
    if recipe.word_shingle != 1 and (weights in WEIGHT_PACKAGES or background):
        what = f"`weights={weights!r}`" if weights in WEIGHT_PACKAGES else f"`document_frequencies={BACKGROUND!r}`"
        found.append(
            f"{what} with `word_shingle={recipe.word_shingle!r}`: they are of single words. Give `word_shingle=1`"
        )
    if weights in ("jieba_tfidf", "jieba_textrank"):
        plain = {each.name: each.default for each in dataclasses.fields(recipe)}
        given = [each for each in ("mode", "hmm", "dictionary", "stop_words") if getattr(recipe, each) != plain[each]]
        if given:
            found.append(
                f"{as_code(given, ' and ')} with `weights={weights!r}`: the package jieba cuts texts and drops stop "
                "words in its own way. Leave it out, or give `weights='tfidf'` with `document_frequencies='jieba'`"
            )
    return found
