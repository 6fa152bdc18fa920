"""Open the reference of `--against`: files of texts, fingerprint files, or a store."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neardup.arrays import Array
from neardup.dedup import reference_columns
from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import Documents, join_documents
from neardup.fingerprints.files.fingerprint_file import (
    fingerprint_file_recipe,
    hold_fingerprints,
    read_fingerprint_files,
)
from neardup.io.corpora.file_corpus import FileCorpus, open_corpus
from neardup.io.corpora.reading import Reading, recipe_for
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards, repeated_files
from neardup.io.corpora.stored_shards import StoredShard, starts_of
from neardup.io.storage.places import Place, real_name
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.kinds import ElementRecipe
from neardup.recipe.presets import usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.recipe.tables.keeps import By
from neardup.resources.unfinished import TemporaryFolder
from neardup.store.reference import StoreReference, demand_comparable, options_of_store, reference_of_run
from neardup.store.session.folder import is_store
from neardup.store.store import Store


def reference_without(
    against: Sequence[str | Path], written: Iterable[Place], reading: Reading
) -> tuple[str | Path, ...]:
    """The reference without the outputs of the run, which may have been written into one of its folders since."""
    if not against or any(map(is_store, against)):
        return tuple(against)
    shards, own = find_shards(against, reading=reading), set(map(real_name, written))
    others = [shard.name for shard in shards if real_name(shard.path) not in own]
    return tuple(against) if len(others) == len(shards) else tuple(others)


@dataclass(frozen=True, slots=True)
class FingerprintReference:
    """A reference of fingerprint files.

    Attributes:
        shards: the files.
        documents: their rows, one file after another.
        origins: the shards of texts from which the fingerprints were made, in the order of the rows.
    """

    shards: list[Shard]
    documents: Documents
    origins: tuple[StoredShard, ...]

    def locate(self, rows: Array) -> tuple[list[str], Array]:
        """For some rows (int64[n]), the names of their files of texts, and the numbers of the rows in these files (int64[n])."""
        starts = starts_of(self.origins)
        numbers = np.searchsorted(starts, rows, "right") - 1
        return [self.origins[number].name for number in numbers.tolist()], rows - starts[numbers]


def usual_recipe(
    against: Sequence[str | Path], reading: Reading, temporary: TemporaryFolder, progress: Progress
) -> Recipe:
    """The recipe of a run for which none is asked: that of the reference if it holds fingerprints, or the default one.

    Raises:
        InputError: no documents as the inputs are go with these fingerprints.
        DataError: a fingerprint file cannot be read.
    """
    usual = recipe_for(reading, Recipe())
    shards = [] if "-" in map(str, against) else find_shards(against, temporary=temporary, reading=reading)
    if not shards or not hold_fingerprints(shards):
        return usual
    name, found = shards[0].name, fingerprint_file_recipe(shards[0].path)
    if not isinstance(found, Recipe):
        raise InputError(
            f"{name} holds fingerprints of {found.as_dict()['kind']}, and how to make them of these inputs is not known here. "
            "Compare fingerprint files with `neardup pairs`; or give `recipe`, if a recipe makes the same bits."
        )
    if isinstance(found, ElementRecipe) and reading.elements is None:
        raise InputError(
            f"{name} is of given lists, and the inputs are texts. Name the column of the lists with `elements`."
        )
    if found.digest() == usual.digest() and found.max_distance in (None, usual_distance(usual)):
        return usual
    if reading.elements is not None and not found.could_be_of_elements:
        return usual  # what differs is told where both are compared
    progress.say(f"no `recipe` is given, so it is that of {name}")
    return recipe_for(reading, found)


def shards_of_reference(
    against: Sequence[str | Path],
    inputs: Sequence[Shard],
    reading: Reading,
    temporary: TemporaryFolder,
    *,
    takes: str,
) -> list[Shard]:
    """The files of a reference; `takes`: what it may consist of, for messages.

    Raises:
        InputError: the reference is a store or standard input, or repeats an input.
    """
    if stores := [given for given in against if is_store(given)]:
        raise InputError(f"`against`: {stores[0]} is a store. This takes {takes} as a reference.")
    if "-" in map(str, against):
        raise InputError("`against='-'`: a reference is read from files. Name files, folders or globs.")
    shards = find_shards(against, temporary=temporary, reading=reading)
    problems = repeated_files([*inputs, *shards])
    if problems:
        raise InputError("\n".join(problems))
    return shards


def open_reference(
    against: Sequence[str | Path],
    corpus: FileCorpus,
    recipe: Recipe,
    reading: Reading,
    options: DedupOptions,
    *,
    temporary: TemporaryFolder,
    on_error: str,
    progress: Progress,
    together: bool = False,
) -> FileCorpus | FingerprintReference:
    """Open the files of the reference, at least one. `together`: its documents are ordered together with those of the inputs.

    Raises:
        InputError: the reference is a store or standard input, repeats an input, mixes texts and fingerprints, or lacks a stored
            column.
        OptionError: the reference holds fingerprints, and min_similarity is above 0, or what the options need is not in these.
        RecipeMismatch: the fingerprints were made by another recipe.
    """
    shards = shards_of_reference(
        against, corpus.shards, reading, temporary, takes="files of texts, or fingerprint files,"
    )
    columns = reference_columns(options, together=together)
    if not hold_fingerprints(shards):
        found = open_corpus(
            against,
            reading,
            temporary=temporary,
            values=columns,
            asked_by=options.columns_asked_by,
            on_error=on_error,
            progress=progress,
            resources=options.resources,
        )
        found.check()
        return found
    if options.min_similarity > 0:
        raise OptionError(
            f"`against`: {shards[0].name} holds fingerprints, not texts, so no similarity to them is known. Add "
            "`min_similarity=0`, which removes by distance alone, or name the texts."
        )
    if options.guard is not None:
        raise OptionError(
            f"`guard={options.guard!r}`: {shards[0].name} holds fingerprints, and the digits of its texts are not known. Leave the "
            "guard out, or name the texts."
        )
    if together and (options.prefer_source or callable(options.keep)):
        name = "prefer_source" if options.prefer_source else "keep"
        raise OptionError(
            f"`prefer='best'`: {shards[0].name} holds fingerprints, and `{name}` needs the texts. Name these, or keep by a column "
            "that is stored with the fingerprints: 'max:COLUMN'."
        )
    files = read_fingerprint_files(shards, progress.say)
    check_same(recipe, files[0].recipe, shards[0].name)
    if together and options.preference.by is By.LENGTH and any((file.documents.lengths < 0).any() for file in files):
        raise OptionError(
            f"`keep={options.keep!r}`: {shards[0].name} does not know the lengths of its texts. Name the texts, or keep by a "
            "column that is stored with the fingerprints: 'max:COLUMN'."
        )
    for shard, file in zip(shards, files, strict=True):
        missing = [name for name in columns if name not in file.documents.values]
        if missing:
            raise InputError(
                f"{shard.name} has no column {missing[0]!r}. Make it anew with `neardup fingerprint --value {missing[0]}`."
            )
    return FingerprintReference(
        shards,
        join_documents(*(file.documents for file in files), resources=options.resources),
        tuple(each for file in files for each in file.shards),
    )


@contextlib.contextmanager
def open_verified_store(
    against: Sequence[str | Path],
    recipe: Recipe,
    reading: Reading,
    options: DedupOptions,
    *,
    recorded: str | None,
    has_summary: bool,
) -> Iterator[StoreReference]:
    """Open the store that was the reference of a run, as it was then; of a run without a summary, as it is now.

    Args:
        against, recipe, reading, options: of the run.
        recorded: what its summary says of the store; see `StoreReference.content`.
        has_summary: whether there is a summary.

    Raises:
        InputError: there is another reference, the store is not what it was, or the inputs are given elements.
        RecipeMismatch, OptionError: the store decides otherwise; see `demand_comparable`.
    """
    _demand_one_store(against, reading)
    if has_summary and recorded is None:
        raise InputError(
            f"The summary does not say what {against[0]} held: it is of an older version of neardup. Run again."
        )
    with Store(against[0], mode="r") as store, store._files.in_use():  # one state of it, for all of the run
        demand_comparable(store, recipe, options)
        yield StoreReference(store) if recorded is None else reference_of_run(store, recorded)


def _demand_one_store(against: Sequence[str | Path], reading: Reading) -> None:
    if len(against) > 1:
        raise InputError(f"`against`: {against[0]} and others: a store is a reference only by itself. Name one store.")
    if reading.elements is not None:
        raise InputError(f"`elements={reading.elements!r}`: {against[0]} is a store, and has texts. Leave it out.")


@contextlib.contextmanager
def open_store_reference(
    against: Sequence[str | Path], recipe: Recipe | None, reading: Reading, options: DedupOptions, *, resume: bool
) -> Iterator[tuple[StoreReference, Recipe, DedupOptions]]:
    """Open a store as the reference, to be read only, with the recipe and the options of the run; by default, those of the store.

    Raises:
        InputError: there is another reference, the run is to be resumed, or the inputs are given elements.
        RecipeMismatch, OptionError: the store decides otherwise; see `options_of_store`.
    """
    _demand_one_store(against, reading)
    if resume:
        raise InputError("`resume=True`: a store may change before the run is resumed. Leave it out.")
    with Store(against[0], mode="r") as store, store._files.in_use():  # one state of it, for all of the run
        recipe = store.recipe if recipe is None else recipe
        yield StoreReference(store), recipe, options_of_store(store, recipe, options)
