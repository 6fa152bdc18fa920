"""Read texts or fingerprint files for an index in parts, and check their recipe."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import pyarrow as pa

from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import Documents, read_part
from neardup.fingerprints.files.fingerprint_file import (
    common_distance,
    fingerprint_file_parts,
    fingerprint_file_recipe,
    fingerprint_file_short_rule,
    hold_fingerprints,
)
from neardup.fingerprints.silent_texts import may_be_silent
from neardup.hamming.index.files.labels import labels_of
from neardup.hamming.index.index import Index
from neardup.io.checks.number_files import refuse_numbers
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading, recipe_for, refuse_reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import Inputs, find_shards
from neardup.progress import Progress
from neardup.recipe.kinds import ElementRecipe, FingerprintRecipe
from neardup.recipe.presets import RecipeLike, any_recipe_of
from neardup.recipe.programs import ProgramRecipe
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.recipe.short_rule import SHORT_RULE
from neardup.recipe.tables.parts import TEXTS
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder


def recipe_of_index(
    index: Index, path: str | Path, given: RecipeLike | VectorRecipe | ProgramRecipe | None = None
) -> FingerprintRecipe:
    """The recipe of an index; `given`: the same recipe, with the functions and files that the index does not have.

    Raises:
        InputError: neither the index nor the caller knows the recipe.
        RecipeMismatch: the two differ.
        OptionError: the given recipe is of another width than an index that does not know its recipe.
    """
    found, same = index.recipe, None if given is None else any_recipe_of(given)
    if found is None and same is None:
        raise InputError(
            f"{path} does not know the recipe of its fingerprints, so no files go with it. Give `recipe`, use it from Python, "
            "or build it with a recipe."
        )
    if same is None:
        return cast(FingerprintRecipe, found)
    if found is not None:
        check_same(same, found, str(path))
    elif 64 * same.words != index.bits:
        raise OptionError(
            f"`recipe`: it makes fingerprints of {same.bits} bits, and those of {path} have {index.bits}. Give the recipe that "
            "made them."
        )
    return same


def recipe_of_texts(recipe: FingerprintRecipe) -> Recipe:
    if isinstance(recipe, VectorRecipe):
        raise InputError("This index holds fingerprints of vectors, so no texts go with it. Give fingerprint files.")
    if isinstance(recipe, ProgramRecipe):
        raise InputError(
            f"This index holds fingerprints of another program ({recipe.program}), and how that program makes them of texts is not "
            "known here. Give fingerprint files, or `fingerprints`. If a recipe of neardup makes the same bits, bring the "
            "fingerprints in with it: `neardup fingerprint INPUT --fingerprint COLUMN --recipe NAME -o prints.parquet`."
        )
    return recipe


def refuse_lists(recipe: Recipe, path: str | Path) -> Recipe:
    """The recipe of an index at `path`, if it is not of given lists.

    Raises:
        InputError: it is.
    """
    if isinstance(recipe, ElementRecipe):
        raise InputError(
            f"{path} is of given lists, so no texts go with it. Give files with a column of lists, `elements`."
        )
    return recipe


class IndexInputs:
    """Texts or fingerprint files, read in parts."""

    def __init__(
        self, shards: Sequence[Shard], reading: Reading, on_error: str, resources: Resources, progress: Progress
    ) -> None:
        self.shards, self._progress, self._reading = shards, progress, reading
        self._hold_fingerprints = hold_fingerprints(shards)
        if self._hold_fingerprints:
            refuse_reading(reading)
        self._corpus = FileCorpus(
            shards, reading.columns(), on_error=on_error, progress=progress, resources=resources, refine=refuse_numbers
        )
        if not self._hold_fingerprints:
            self._corpus.check()

    def demand_recipe(self, wanted: FingerprintRecipe | None) -> FingerprintRecipe:
        """Return the recipe of all fingerprints.

        Raises:
            RecipeMismatch: a fingerprint file was made by another recipe.
            InputError: the inputs are texts, and the recipe is for vectors.
        """
        if not self._hold_fingerprints:
            return recipe_for(self._reading, recipe_of_texts(wanted or Recipe()))
        found = [fingerprint_file_recipe(shard.path) for shard in self.shards]
        recipe = wanted or found[0]
        than = "which is asked for" if wanted else f"that of {self.shards[0].name}"
        for shard, made_by in zip(self.shards, found, strict=True):
            check_same(recipe, made_by, shard.name, than)
        return recipe

    def demand_recipe_of(self, path: str | Path, recipe: FingerprintRecipe) -> FingerprintRecipe:
        """Return the recipe of an index at `path`, with which the inputs are fingerprinted.

        Raises:
            InputError: elements are given, and the index is of texts.
            RecipeMismatch, InputError: as in `demand_recipe`.
        """
        found = self.demand_recipe(recipe)
        is_of_elements = self._reading.elements is not None
        if isinstance(recipe, ElementRecipe) and not is_of_elements and not self._hold_fingerprints:
            raise InputError(
                f"{path} is of given lists, and these are texts. Name the column of the lists with `elements`."
            )
        is_of_texts = isinstance(recipe, Recipe) and recipe.documents == TEXTS
        if found.digest() != recipe.digest() or (is_of_elements and is_of_texts):
            raise InputError(
                f"{path} is of texts, and `elements={self._reading.elements!r}` gives lists. Leave it out, or build an index of "
                "lists."
            )
        return found

    def usual_distance(self) -> int | None:
        """The default distance that fingerprint files have.

        Raises:
            OptionError: two files have different ones.
        """
        if not self._hold_fingerprints:
            return None
        return common_distance((shard.name, fingerprint_file_recipe(shard.path).max_distance) for shard in self.shards)

    def demand_short_rule(self, recipe: FingerprintRecipe, wanted: int | None = None, path: str | Path = "") -> int:
        """Return the version of the rule of short texts by which the rows are given: that of files, or the present one.

        Args:
            recipe: of the fingerprints.
            wanted, path: that of an index, and its place.

        Raises:
            InputError: fingerprint files were made by another one, so that texts in which no feature votes would not be found.
        """
        if not self._hold_fingerprints or not may_be_silent(recipe):
            return SHORT_RULE if wanted is None else wanted
        found = [fingerprint_file_short_rule(shard.path) for shard in self.shards]
        rule, than = (found[0], self.shards[0].name) if wanted is None else (wanted, str(path))
        for shard, made_by in zip(self.shards, found, strict=True):
            if made_by != rule:
                raise InputError(
                    f"{shard.name} was made by version {made_by} of the rule of short texts, and {than} by version {rule}: texts "
                    "in which no feature votes would not be found. Make both anew (`neardup fingerprint`, `neardup index build`), "
                    "or give the texts."
                )
        return rule

    def parts(self, recipe: FingerprintRecipe, short_rule: int) -> Iterator[Documents]:
        """The rows of all inputs, in parts. `short_rule`: the version of the rule of short texts."""
        if self._hold_fingerprints:
            for shard in self.shards:
                yield from fingerprint_file_parts(shard.path)
            return
        work = partial(read_part, recipe=recipe_of_texts(recipe), functions={}, short_rule=short_rule)
        for _, part in self._corpus.map(work):
            prints = part.found
            yield Documents(prints.values, prints.digests, prints.tokens, part.lengths, part.ids)
        self._corpus.tell_rejected()

    def add_to(self, index: Index, recipe: FingerprintRecipe) -> int:
        """Add all documents to an index; returns the number of documents."""
        total = 0
        with self._progress.stage("add"):
            for part in self.parts(recipe, index.short_rule):
                add_documents(index, part, recipe)
                total += int(part.valid.sum())
                self._progress.advance(len(part))
        return total


def add_documents(index: Index, part: Documents, recipe: FingerprintRecipe) -> None:
    """Add documents by fingerprint, and documents that are too short for one by digest."""
    valid, short = part.valid, part.tokens < recipe.min_tokens
    for chosen, add, values in (
        (valid & ~short, index.add, part.fingerprints),
        (valid & short, index.add_short, part.digests),
    ):
        if chosen.any():
            add(labels_of(part.ids.filter(pa.array(chosen)), strings=index.has_strings is not False), values[chosen])


@contextlib.contextmanager
def opened(
    inputs: Inputs, reading: Reading, on_error: str, resources: Resources, progress: Progress
) -> Iterator[IndexInputs]:
    """Open the inputs of an index: texts, or fingerprint files."""
    with temporary_folder(resources.files) as spool:
        shards = find_shards(inputs, temporary=spool, reading=reading, progress=progress)
        yield IndexInputs(shards, reading, on_error, resources, progress)
