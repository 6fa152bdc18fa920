"""Similarity: which measure compares texts, and by which shingles of which tokens; its digest goes with every result."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
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
from neardup.recipe.problems import meant, unknown
from neardup.recipe.recipe import ImpossibleRecipe, Recipe
from neardup.recipe.serialization import stored_recipe
from neardup.recipe.stored_parts import StoredPart
from neardup.recipe.tables.parts import FILES, FOLDING, NormalizerName, digest_of, folds_last
from neardup.recipe.tables.segmenters import Segmenter, SegmenterMode, SegmenterName
from neardup.recipe.tables.similarities import SIMILARITIES, SimilarityName

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

    def features(self, normalize: Sequence[Any]) -> Recipe:
        """The recipe whose windows of tokens are the shingles, for texts to which these normalizers are applied."""
        by_default = SIMILARITIES[self.measure].shingles if self.measure in SIMILARITIES else None
        word, cjk = by_default or (Recipe.word_shingle, Recipe.cjk_shingle)
        if self.segmenter != "words":
            cjk = Recipe.cjk_shingle
        elif self.cjk_shingle is not None:
            cjk = self.cjk_shingle
        return Recipe(
            word_shingle=word if self.word_shingle is None else self.word_shingle,
            cjk_shingle=cjk,
            normalize=normalize,
            **{name: getattr(self, name) for name in CUTTING},
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether tokens are those of the segmenter `words` in folded texts, which kernels find without the names of features."""
        cut_plainly = self.segmenter == "words" and not self.stop_words
        return cut_plainly and (self.normalize is None or folds_last(self.normalize))

    def check_recipe(self, recipe: Recipe) -> None:
        """Refuse a recipe that makes texts equal which this similarity may tell apart: equal texts are one class in every run.

        Raises:
            OptionError: the normalizers of this similarity do not begin with those of the recipe.
        """
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
        differing = [name for name in names if getattr(self, name) != getattr(plain, name)]
        given = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in differing)
        return f"{self.measure}({given})" if given else str(self.measure)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return getattr(value, "name", None) or (value.content if isinstance(value, StoredPart) else str(value))


SimilarityLike = Similarity | SimilarityName | os.PathLike[str]
"""The allowed values of `similarity`: a `Similarity`, a name in SIMILARITIES, or the path of a .toml file with its fields.

The path may be a string, too; but type checkers shall report misspelled names, so they want a `Path`.
"""


def similarity_of(given: SimilarityLike) -> Similarity | SimilarityName:
    """Resolve the argument `similarity`. A similarity with the defaults of its measure becomes the name of the measure.

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
    if not isinstance(given, Similarity):
        names = f"`similarity={given!r}`: give one of {', '.join(SIMILARITIES)}{meant(given, SIMILARITIES)}"
        own = "" if isinstance(given, str) else ", a `Similarity`"  # no class for those who give words
        raise OptionError(f"{names}{own}, or a file that ends in .toml.")
    return given.measure if given == Similarity(measure=given.measure) else given


def measure_of(similarity: Similarity | SimilarityName) -> SimilarityName:
    """The measure of a similarity or of its name."""
    return similarity.measure if isinstance(similarity, Similarity) else similarity


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
    return Similarity(measure=recorded["measure"], **fields)
