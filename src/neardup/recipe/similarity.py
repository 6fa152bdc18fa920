"""Similarity: which measure compares texts, and by which shingles of which tokens; its digest goes with every result."""

import dataclasses
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from neardup.display import as_code
from neardup.errors import OptionError
from neardup.recipe.files.kept_files import kept_files
from neardup.recipe.files.toml_file import toml_values
from neardup.recipe.files.word_lists import StopListName, WordList
from neardup.recipe.presets import from_file
from neardup.recipe.problems import unknown
from neardup.recipe.recipe import ImpossibleRecipe, Recipe
from neardup.recipe.serialization import stored_recipe
from neardup.recipe.stored_parts import StoredPart
from neardup.recipe.tables.parts import FILES, FOLDING, VERSION, NormalizerName, digest_of, folds_last
from neardup.recipe.tables.segmenters import PACKAGES, Segmenter, SegmenterMode, SegmenterName
from neardup.recipe.tables.similarities import SIMILARITIES, SimilarityName
from neardup.recipe.tables.spellings import one_of

CUTTING = ("segmenter", "mode", "hmm", "dictionary", "stop_words")
"""The fields that cut texts into tokens, which a `Recipe` has, too."""


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """How alike two texts are: a measure, and the shingles that it compares. A name, such as `jaccard`, has all the defaults.

    The fields have the names and the meaning of those of `Recipe`, but they decide what is compared, not a fingerprint.

    Attributes:
        measure: one of `neardup.recipe.tables.similarities.SIMILARITIES`. `cosine` compares the features of the recipe and takes
            no other field. `edit` compares single tokens in their order and takes no sizes of shingles.
        word_shingle: tokens in a shingle that starts at a word; 3 by default, 1 for `edit`.
        cjk_shingle: tokens in a shingle that starts at a Han or Kana character, for the segmenter `words` only; 5 by default, 1 for
            `edit`.
        segmenter, mode, hmm, dictionary, stop_words: what cuts texts into tokens, as in `Recipe`.
        normalize: the normalizers. By default (None), those of the recipe, then NFKC case folding. If given, texts are compared
            after exactly these; they must then begin with the recipe's, or the recipe must have none, so that texts which the
            recipe makes equal are equal for the similarity, too.
        version: what tokens are, as in `Recipe`. A similarity has the tokens of the recipe's version; one of version 2 refuses
            a recipe of version 1.

    Raises:
        OptionError: fields are not allowed; the message has all problems.

    >>> Similarity(word_shingle=3) == Similarity()
    True
    """

    measure: SimilarityName = "jaccard"
    word_shingle: int | None = None
    cjk_shingle: int | None = None
    segmenter: SegmenterName | Segmenter | StoredPart = "words"
    mode: SegmenterMode | None = None
    hmm: bool = True
    dictionary: str | Path | WordList | StoredPart | None = None
    stop_words: Sequence[StopListName | str | Path | WordList | StoredPart] = ()
    normalize: Sequence[NormalizerName | StoredPart] | None = None
    version: int = VERSION

    def __post_init__(self) -> None:
        problems = unknown("measure", self.measure, SIMILARITIES) or self._contradictions()
        try:
            checked = self.features(FOLDING if self.normalize is None else self.normalize)
        except ImpossibleRecipe as impossible:
            problems += impossible.problems
        if problems:
            raise ImpossibleRecipe(problems, "This similarity is not possible.")
        read = {name: getattr(checked, name) for name in CUTTING}
        if SIMILARITIES[self.measure].shingles is not None:
            read["word_shingle"] = checked.word_shingle
            read["cjk_shingle"] = checked.cjk_shingle if self.segmenter == "words" else None
        if self.normalize is not None:
            read["normalize"] = tuple(checked.normalize)
        for name, value in read.items():
            object.__setattr__(self, name, value)

    def _contradictions(self) -> list[str]:
        """The problems of fields that the measure, or the segmenter, has no use for."""
        plain = {field.name: field.default for field in dataclasses.fields(self)}
        given = [name for name in plain if name != "measure" and getattr(self, name) not in (plain[name], [])]
        shingles = SIMILARITIES[self.measure].shingles
        if shingles is None:
            why = f"with `measure={self.measure!r}`, which compares the features of the recipe: give it to the `Recipe`"
            return [f"{as_code(given, ' and ')} {why}"] if given else []
        if shingles == (1, 1):
            sizes = [name for name in ("word_shingle", "cjk_shingle") if getattr(self, name) not in (None, 1)]
            why = f"with `measure={self.measure!r}`, which compares single tokens: leave it out"
            return [f"`{name}={getattr(self, name)!r}` {why}" for name in sizes]
        if self.segmenter != "words" and self.cjk_shingle is not None:
            why = "is for `segmenter='words'`; shingles of other tokens are of `word_shingle`"
            return [f"`cjk_shingle={self.cjk_shingle!r}` {why}"]
        return []

    def features(self, normalize: Sequence[Any], version: int | None = None) -> Recipe:
        """The recipe whose windows of tokens are the shingles, for texts to which these normalizers are applied.

        `version`: that of the recipe; if not given, its own.
        """
        by_default = SIMILARITIES[self.measure].shingles if self.measure in tuple(SIMILARITIES) else None
        word, cjk = by_default or (Recipe.word_shingle, Recipe.cjk_shingle)
        if self.segmenter != "words":
            cjk = Recipe.cjk_shingle
        elif self.cjk_shingle is not None:
            cjk = self.cjk_shingle
        return Recipe(
            word_shingle=word if self.word_shingle is None else self.word_shingle,
            cjk_shingle=cjk,
            normalize=normalize,
            version=self.version if version is None else VERSION if self.segmenter in PACKAGES else version,
            **{name: getattr(self, name) for name in CUTTING},
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether tokens are those of the segmenter `words` in folded texts, which kernels find without the names of features."""
        cut_plainly = self.segmenter == "words" and not self.stop_words
        return cut_plainly and (self.normalize is None or folds_last(self.normalize))

    def check_recipe(self, recipe: Recipe) -> None:
        """Refuse a recipe of an older version, and one that makes texts equal which this similarity may tell apart: equal texts are
        one class in every run.

        Raises:
            OptionError: the recipe's version is older, or the normalizers of this similarity do not begin with those of the recipe.
        """
        if self.version > recipe.version:
            raise OptionError(
                f"`similarity` of version {self.version} and `recipe` of version {recipe.version}: they cut texts into different "
                f"tokens. Give a recipe with `version={self.version}`, such as `recipe='all-scripts'`, or leave `version` out of "
                "the similarity, which then has that of the recipe."
            )
        mine, others = self.normalize, tuple(recipe.normalize)
        if mine is None or tuple(mine[: len(others)]) == others:
            return
        steps, own = (", ".join(map(repr, each)) for each in (others, mine))
        possible = " or ".join(f"`normalize=[{each}]`" for each in dict.fromkeys((own, "")))
        raise OptionError(
            f"`similarity` with `normalize=[{own}]` and `recipe` with `normalize=[{steps}]`: texts that the recipe makes equal are "
            f"one, and this similarity may tell them apart. Give a recipe with {possible}, or leave "
            "`normalize` out of the similarity, which then has that of the recipe."
        )

    def check_available(self) -> None:
        """Refuse a stored similarity of which a part is not available here.

        Raises:
            OptionError: only the identity of a part is stored.
        """
        for name in (*CUTTING, "normalize"):
            value = getattr(self, name)
            parts = value if isinstance(value, tuple) else (value,)
            if missing := next((part for part in parts if isinstance(part, StoredPart)), None):
                if missing.file is not None:
                    raise OptionError(
                        f"`similarity`: its `{name}` came from {missing.file.path}, which is not there any more or has changed. "
                        "Put that file back, or run again."
                    )
                if missing.why:
                    raise OptionError(f"`similarity`: its `{name}` is not here: {missing.why}.")
                raise OptionError(
                    f"`similarity`: of its `{name}`, only the identity, {missing.content}, is recorded, and it is not here in "
                    "the same version. Give the similarity itself, with the same function, files and versions of packages, or run "
                    "again."
                )

    def as_dict(self) -> dict[str, Any]:
        """Everything that decides the similarity, as plain values."""
        values = self.features(FOLDING if self.normalize is None else self.normalize).as_dict()
        names = ["unicode", "version", *(name for name in CUTTING if name in values)]
        names += [name for name in ("word_shingle", "cjk_shingle") if getattr(self, name) is not None]
        found = {"measure": self.measure} | {name: values[name] for name in sorted(names)}
        return found if self.normalize is None else found | {"normalize": values.get("normalize", list(FOLDING))}

    def stored(self) -> dict[str, Any]:
        """The values of `as_dict`, with the files of words that the similarity needs, as `Recipe.stored` keeps them."""
        files = [each.as_dict() for each in kept_files(self.features(FOLDING))]
        return self.as_dict() | ({FILES: files} if files else {})

    def digest(self) -> str:
        """The digest of the similarity: 16 hexadecimal digits that differ between any two similarities.

        >>> Similarity(word_shingle=1).digest() == Similarity(word_shingle=2).digest()
        False
        """
        return digest_of(self.as_dict())

    def __str__(self) -> str:
        plain = Similarity(measure=self.measure)
        names = [field.name for field in dataclasses.fields(self) if field.name != "measure"]
        differing = [name for name in names if getattr(self, name) not in (None, getattr(plain, name))]
        if self.segmenter != plain.segmenter and self.word_shingle is not None and "word_shingle" not in differing:
            differing.insert(0, "word_shingle")  # of other tokens than one would think
        given = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in differing)
        return f"{self.measure}({given})" if given else str(self.measure)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return getattr(value, "name", None) or (value.content if isinstance(value, StoredPart) else str(value))


WRITTEN = re.compile(r"(?P<measure>\w+)\((?P<fields>[^()]*)\)")
"""A similarity in words, as its string has it: `containment(word_shingle=3, segmenter=characters)`."""
_IN_WORDS: dict[str, Callable[[str], Any]] = {
    "word_shingle": int,
    "cjk_shingle": int,
    "segmenter": str,
    "mode": str,
    "hmm": {"True": True, "False": False}.__getitem__,
    "version": int,
}


def _from_words(given: str, measure: str, fields: str) -> Similarity:
    """The similarity that is written in words.

    Raises:
        OptionError: a field has no value, or one that is not allowed, or names files, which are given in a .toml file.
    """
    values: dict[str, Any] = {"measure": measure}
    for part in filter(str.strip, fields.split(",")):
        name, _, value = (each.strip() for each in part.partition("="))
        if name in values:
            raise OptionError(f"`similarity={given!r}`: {name} is given twice. Give it once.")
        try:
            values[name] = _IN_WORDS[name](value)
        except (KeyError, ValueError):
            raise OptionError(
                f"`similarity={given!r}`: {part.strip()!r} is not possible here. Give measure(field=value, …) with "
                f"{as_code(_IN_WORDS)}; other fields go into a .toml file."
            ) from None
    return from_file(Similarity, "a similarity", f"`similarity={given!r}`", values)


SimilarityLike = Similarity | SimilarityName | os.PathLike[str]
"""The allowed values of `similarity`: a `Similarity`, a name in SIMILARITIES, or the path of a .toml file with its fields.

The path may be a string, too; but type checkers shall report misspelled names, so they want a `Path`.
"""


def similarity_of(given: SimilarityLike) -> Similarity | SimilarityName:
    """Resolve the argument `similarity`. A similarity with the defaults of its measure becomes the name of the measure.

    Besides a name and a file, a string may be what `str` makes of a similarity: `containment(word_shingle=1)`.

    Raises:
        OptionError: there is no such similarity.
        InputError: the file is missing or cannot be read.

    >>> similarity_of(Similarity()), similarity_of("edit")
    ('jaccard', 'edit')
    """
    if isinstance(given, str) and given in SIMILARITIES:
        return given
    if isinstance(given, str | os.PathLike) and os.fspath(given).endswith(".toml"):
        instead = f"Give one of {', '.join(SIMILARITIES)}, or an existing file."
        values = toml_values(os.fspath(given), "similarity file", instead)
        given = from_file(Similarity, "a similarity", os.fspath(given), values)
    elif isinstance(given, str) and (written := WRITTEN.fullmatch(given)):
        given = _from_words(given, written["measure"], written["fields"])
    if not isinstance(given, Similarity):
        names = one_of("similarity", given, SIMILARITIES)
        own = "" if isinstance(given, str) else ", a `Similarity`"  # no class for those who give words
        raise OptionError(
            f"{names}{own}, or a file that ends in .toml; with fields, such as 'jaccard(word_shingle=1)'."
        )
    return given.measure if given == Similarity(measure=given.measure) else given


def is_in_words(similarity: Similarity) -> bool:
    """Whether the string of a similarity says all of it, so that it may be given instead."""
    try:
        return similarity_of(str(similarity)) == similarity  # type: ignore[arg-type]
    except OptionError:
        return False


def recorded_in_words(recorded: Any) -> str:
    """What a run or a store recorded of its similarity, for people: a name, in words if these say all of it, or JSON."""
    if isinstance(recorded, str):
        return recorded
    found = stored_similarity(recorded)
    return (
        str(found)
        if not isinstance(found, Similarity) or is_in_words(found)
        else json.dumps(recorded, ensure_ascii=False)
    )


def measure_of(similarity: Similarity | SimilarityName) -> SimilarityName:
    """The measure of a similarity or of its name."""
    return similarity.measure if isinstance(similarity, Similarity) else similarity


def version_of(similarity: Similarity | SimilarityName) -> int:
    """The version of a similarity or of its name: that of the recipe which goes with it, if no recipe is given."""
    return similarity.version if isinstance(similarity, Similarity) else VERSION


def follows(one: Similarity | SimilarityName, other: Similarity | SimilarityName, version: int) -> bool:
    """Whether two similarities are the same with a recipe of this version, which decides theirs if they say none."""
    if max(version_of(one), version_of(other)) > version:
        return one == other
    both = [
        dataclasses.replace(each, version=VERSION) if isinstance(each, Similarity) else each for each in (one, other)
    ]
    return similarity_of(both[0]) == similarity_of(both[1])


def similarity_to_store(similarity: SimilarityLike) -> Any:
    """What a run records of its similarity: a name, or the result of `Similarity.stored`."""
    found = similarity_of(similarity)
    return found.stored() if isinstance(found, Similarity) else found


def stored_similarity(recorded: Any) -> Similarity | SimilarityName:
    """Restore a similarity from what a run recorded: a name, or the result of `Similarity.stored` or `Similarity.as_dict`.

    A part that is not available is a `StoredPart`, which `Similarity.check_available` refuses.

    Raises:
        ValueError: it is no similarity.
    """
    if isinstance(recorded, str) and recorded in SIMILARITIES:
        return recorded  # type: ignore[return-value]
    if not isinstance(recorded, Mapping) or recorded.get("measure") not in SIMILARITIES:
        raise ValueError(f"{recorded!r} is no similarity")
    found = stored_recipe(recorded)
    fields = {name: getattr(found, name) for name in CUTTING}
    fields |= {name: recorded[name] for name in ("word_shingle", "cjk_shingle") if name in recorded}
    if "normalize" in recorded:
        fields["normalize"] = found.normalize
    return Similarity(measure=recorded["measure"], version=found.version, **fields)
