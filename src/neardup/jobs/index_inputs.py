"""Read texts or fingerprint files for an index in parts, and check their recipe."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from neardup.display import as_code, counted
from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import Documents, read_part
from neardup.fingerprints.fingerprint_file import fingerprint_file_parts, fingerprint_file_recipe, hold_fingerprints
from neardup.hamming.index.index import Index
from neardup.hamming.index.labels import labels_of
from neardup.io.corpus import FileCorpus
from neardup.io.reading import READING, Reading
from neardup.io.shard import Shard
from neardup.io.shards import Inputs, find_shards
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder


def recipe_of_index(index: Index, path: str | Path) -> Recipe | VectorRecipe:
    recipe = index.recipe
    if recipe is None:
        raise InputError(
            f"{path} does not know the recipe of its fingerprints, so no files go with it. Use it from Python, "
            "or build it with a recipe."
        )
    return recipe


def recipe_of_texts(recipe: Recipe | VectorRecipe) -> Recipe:
    if isinstance(recipe, VectorRecipe):
        raise InputError("This index holds fingerprints of vectors, so no texts go with it. Give fingerprint files.")
    return recipe


class IndexInputs:
    """Texts or fingerprint files, read in parts."""

    def __init__(
        self, shards: Sequence[Shard], reading: Reading, on_error: str, resources: Resources, progress: Progress
    ) -> None:
        self.shards, self._progress = shards, progress
        self._hold_fingerprints = hold_fingerprints(shards)
        if self._hold_fingerprints and reading != Reading():
            given = [name for name in READING if getattr(reading, name) != getattr(Reading(), name)]
            raise OptionError(f"{as_code(given)}: these are fingerprint files, not texts. Leave it out.")
        self._corpus = FileCorpus(shards, reading.columns(), on_error=on_error, progress=progress, resources=resources)
        if not self._hold_fingerprints:
            self._corpus.check()

    def demand_recipe(self, wanted: Recipe | VectorRecipe | None) -> Recipe | VectorRecipe:
        """Return the recipe of all fingerprints.

        Raises:
            RecipeMismatch: a fingerprint file was made by another recipe.
            InputError: the inputs are texts, and the recipe is for vectors.
        """
        if not self._hold_fingerprints:
            return recipe_of_texts(wanted or Recipe())
        recipe = wanted or fingerprint_file_recipe(self.shards[0].path)
        than = "which is asked for" if wanted else f"that of {self.shards[0].name}"
        for shard in self.shards:
            check_same(recipe, fingerprint_file_recipe(shard.path), shard.name, than)
        return recipe

    def parts(self, recipe: Recipe | VectorRecipe) -> Iterator[Documents]:
        """The rows of all inputs, in parts."""
        if self._hold_fingerprints:
            for shard in self.shards:
                yield from fingerprint_file_parts(shard.path)
            return
        work = partial(read_part, recipe=recipe_of_texts(recipe), functions={})
        for _, part in self._corpus.map(work):
            prints = part.found
            yield Documents(prints.values, prints.digests, prints.tokens, part.lengths, part.ids)
        if self._corpus.rejected:
            self._progress.say(f"{counted(len(self._corpus.rejected), 'row')} could not be read, and were left out")

    def add_to(self, index: Index, recipe: Recipe | VectorRecipe) -> int:
        """Add all documents to an index; returns the number of documents."""
        total = 0
        with self._progress.stage("add"):
            for part in self.parts(recipe):
                add_documents(index, part, recipe)
                total += int(part.valid.sum())
                self._progress.advance(len(part))
        return total


def add_documents(index: Index, part: Documents, recipe: Recipe | VectorRecipe) -> None:
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
    with temporary_folder(resources.temp_dir) as spool:
        shards = find_shards(inputs, temporary=spool, reading=reading, progress=progress)
        yield IndexInputs(shards, reading, on_error, resources, progress)
