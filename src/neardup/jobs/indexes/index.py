"""Build indexes on disk from files, add documents to them, and remove documents."""

from collections.abc import Iterable
from pathlib import Path
from typing import Unpack

import pyarrow as pa

from neardup.errors import InputError, OptionError
from neardup.hamming.index.files.folder import demand_free, home_of, is_index
from neardup.hamming.index.files.labels import labels_of
from neardup.hamming.index.files.stored_recipe import missing_parts
from neardup.hamming.index.index import Index
from neardup.hamming.index.methods.table import IndexMethod
from neardup.io.corpora.reading import ReadingDict, reading_of
from neardup.io.corpora.shards import Inputs
from neardup.io.formats.json.json_values import quote
from neardup.jobs.indexes.index_inputs import opened, recipe_of_index
from neardup.options import IndexOptions, OnError
from neardup.progress import Watcher, progress_of
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.presets import RecipeLike, any_recipe_of, usual_distance
from neardup.recipe.programs import ProgramRecipe
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.resources import Resources


def build_index(
    path: str | Path,
    inputs: Inputs,
    *,
    max_distance: int | None = None,
    recipe: RecipeLike | VectorRecipe | ProgramRecipe | None = None,
    method: IndexMethod = "auto",
    method_options: IndexOptions | None = None,
    integer_ids: bool = False,
    overwrite: bool = False,
    on_error: OnError = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> int:
    """Build an index of texts, or of fingerprint files, in a folder. The folder has the whole index or none.

    Texts shorter than the recipe's `min_tokens` are stored by their digests, so searches find only equal texts.

    Args:
        path: a folder that does not exist or is empty.
        inputs: texts as in `deduplicate_files`, or fingerprint files, all of one recipe.
        max_distance: the largest distance of later searches; the recipe's by default.
        recipe: the recipe of the fingerprints; the default is `Recipe()` for texts, and the files' own for fingerprint files.
        method, method_options: as in `Index`.
        integer_ids: all ids are integers. Otherwise ids are stored as strings, 17 as well as "17".
        overwrite: replace an existing index once the new one is complete.
        on_error, threads, temp_dir, temp_limit, progress: as in `fingerprint_files`; rows that are skipped are counted.
        **reading: the fields of `neardup.io.corpora.reading.Reading` (text, id …), for texts.

    Returns:
        The number of documents.

    Raises:
        RecipeMismatch: fingerprint files were made by different recipes.
        InputError: an input is missing, or `path` is in use.
        OptionError, DataError: as in `fingerprint_files`.
    """
    home, progress, how = home_of(path), progress_of(progress), reading_of(reading, build_index)
    recipe = None if recipe is None else any_recipe_of(recipe)
    if is_index(home):
        if not overwrite:
            raise InputError(f"{home} has an index. Add to it with `neardup index add`, or pass `overwrite=True`.")
    else:
        demand_free(home)
    with opened(
        inputs, how, on_error, Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit), progress
    ) as source:
        made_by = source.demand_recipe(recipe)
        distance = usual_distance(recipe) if max_distance is None and recipe is not None else max_distance
        distance = source.usual_distance() if distance is None else distance
        index = new_index(made_by, distance, method, method_options)
        index.has_strings, index.short_rule = not integer_ids, source.demand_short_rule(made_by)
        total = source.add_to(index, made_by)
        for part in missing_parts(made_by):
            if part.why:
                progress.say(f"{home} keeps no copy of a file that its recipe needs for texts: {part.why}")
        with progress.stage("save"):
            index.save(home, overwrite=overwrite)
    return total


def new_index(
    recipe: FingerprintRecipe, max_distance: int | None, method: IndexMethod, options: IndexOptions | None = None
) -> Index:
    """Create an empty index for fingerprints of a recipe.

    Raises:
        OptionError: neither the call nor the recipe has a distance.
    """
    distance = usual_distance(recipe) if max_distance is None else max_distance
    if distance is None:
        raise OptionError(
            "This recipe has no distance of its own. Give `max_distance`, the largest that will be asked for."
        )
    return Index(max_distance=distance, bits=64 * recipe.words, method=method, recipe=recipe, **options or {})


def add_to_index(
    path: str | Path,
    inputs: Inputs,
    *,
    recipe: RecipeLike | VectorRecipe | None = None,
    on_error: OnError = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> int:
    """Add texts, or fingerprint files of the same recipe, to an index: all of them, or none after a failure.

    Args:
        path: the folder of the index.
        recipe: needed only if the index's recipe has a function of yours, or a file that the folder does not keep (because it is
            larger than 16 MiB, or was gone when the index was built) and that is not where it was. It must be the index's recipe.
            Then the folder keeps the file, if it is not too large.
        inputs, on_error, threads, temp_dir, temp_limit, progress, **reading: as in `build_index`.

    Returns:
        The number of documents that were added.

    Raises:
        RecipeMismatch: fingerprint files were made by another recipe, or `recipe` is another.
        InputError, OptionError, DataError: as in `build_index`.
    """
    progress, how = progress_of(progress), reading_of(reading, add_to_index)
    index = Index.open(path)
    with (
        index.reserved(),
        opened(inputs, how, on_error, Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit), progress) as source,
    ):
        made_by = recipe_of_index(index, path, recipe)
        if recipe is not None:
            index.take_files(made_by)
        made_by = source.demand_recipe_of(path, made_by)
        source.demand_short_rule(made_by, index.short_rule, path)
        total = source.add_to(index, made_by)
        with progress.stage("save"):
            index.save()
    return total


def remove_from_index(path: str | Path, ids: Iterable[str]) -> int:
    """Remove documents from an index by their ids, given as text. Returns the number of removed documents.

    Raises:
        InputError: there is no index, or its ids are integers and one of the given ids is not.
        DataError: the index is damaged.
    """
    index = Index.open(path)
    if index.has_strings is None:
        return 0
    ids = list(ids)
    for each in ids:
        try:
            each.encode()
        except UnicodeEncodeError:
            raise InputError(f"The id {each!r} is not UTF-8, as all ids of an index are. Give it in UTF-8.") from None
    tokens = [quote(each) if index.has_strings else each for each in ids]
    for token in tokens:
        is_integer = token.removeprefix("-").isdecimal() and token.isascii()
        if not index.has_strings and not is_integer:
            raise InputError(f"The ids of {path} are integers; {token!r} is none.")
    removed = index.remove(labels_of(pa.array(tokens, pa.large_string()), strings=index.has_strings))
    if removed:
        index.save()
    return removed
