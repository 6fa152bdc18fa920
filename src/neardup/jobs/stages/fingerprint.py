"""Write the fingerprints of texts: one file for all inputs, or one for each input."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import Documents, read_part
from neardup.fingerprints.files.digit_file import ENDINGS as DIGIT_ENDINGS
from neardup.fingerprints.files.fingerprint_file import (
    fingerprint_file_parts,
    fingerprint_file_recipe,
    hold_fingerprints,
)
from neardup.io.checks.number_files import refuse_numbers
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading, ReadingDict, reading_of, recipe_for
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards, listed_inputs
from neardup.io.corpora.stored_shards import recorded_reading
from neardup.io.outputs.output_names import output_for
from neardup.io.storage.places import path_text
from neardup.jobs.stages.fingerprint_outputs import (
    FingerprintPaths,
    fingerprint_paths,
    write_digits,
    write_fingerprint_files,
)
from neardup.options import OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of, usual_distance
from neardup.recipe.programs import Digits
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder
from neardup.text.scripts import ScriptCount


def fingerprint_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    recipe: RecipeLike | None = None,
    max_distance: int | None = None,
    value: Sequence[str] = (),
    digits: Digits | None = None,
    on_error: OnError = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    overwrite: bool = False,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> int:
    """Write the fingerprint of every document; see `neardup.fingerprints.files.fingerprint_file` for the format.

    An output that ends in .csv, .tsv, .jsonl or .txt (also compressed) is for other programs: it has the columns `id` and
    `fingerprint`, or, in .txt, a fingerprint a line. Rejected rows are left out.

    Args:
        inputs: files, folders, globs, or `-` for standard input; or fingerprint files of one recipe, to be written
            for other programs.
        output: a file that ends in .parquet or as above, or a folder (ends in /; one .parquet file for each input).
        max_distance: the distance that later steps take by default, kept in the file; the recipe's by default.
        value: further columns to store, by which `cluster_files` can choose survivors; in .parquet files.
        digits: how other programs read fingerprints: `hexadecimal` (the default), `decimal`, `signed` or `binary`.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file of rejects, which is the output
            without its ending + `.rejects.jsonl`.
        recipe, threads, temp_dir, temp_limit, overwrite, progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.corpora.reading.Reading` (text, id …).

    Returns:
        The number of documents, without rejected rows.

    Raises:
        InputError: an input is missing, or an output exists.
        DataError: a row cannot be read, or a file is damaged.
    """
    output = output_for(path_text(output), listed_inputs(inputs)) or ""
    given, progress = None if recipe is None else recipe_of(recipe), progress_of(progress)
    how, resources = (
        reading_of(reading, fingerprint_files),
        Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit),
    )
    with temporary_folder(resources.files) as spool:
        shards = find_shards(inputs, temporary=spool, reading=how, progress=progress)
        paths = fingerprint_paths(output, shards, on_error)
        if hold_fingerprints(shards):
            if max_distance is not None or value or how != Reading():
                raise OptionError(
                    f"{shards[0].name} holds fingerprints, not texts: options of texts do not go with it."
                )
            return _written_for_others(shards, given, digits, paths, progress, overwrite=overwrite, temp_dir=temp_dir)
        chosen = with_distance(recipe_for(how, given or Recipe()), max_distance)
        content = paths.content(chosen, value, digits, recorded_reading(how))
        corpus = FileCorpus(
            shards,
            how.columns(value, asked_by=dict.fromkeys(value, "value=")),
            on_error=on_error,
            progress=progress,
            resources=resources,
            refine=refuse_numbers,
        )
        corpus.check()
        with paths.opened(shards, overwrite=overwrite, temp_dir=temp_dir) as outputs:
            scripts = ScriptCount.wanted(chosen, "jaccard")
            read = partial(_documents, recipe=chosen, value=value, scripts=scripts)
            count = write_fingerprint_files(corpus, read, content, paths, outputs, progress)
            if scripts is not None and (advice := scripts.advice(chosen)):
                progress.say(advice)
            return count


def with_distance(recipe: Recipe, max_distance: int | None) -> Recipe:
    """The recipe with this default distance, or with its own, even if it is only that of the named recipe with the same bits."""
    distance = usual_distance(recipe) if max_distance is None else max_distance
    return recipe if distance == recipe.max_distance else dataclasses.replace(recipe, max_distance=distance)


def _written_for_others(
    shards: Sequence[Shard],
    recipe: Recipe | None,
    digits: Digits | None,
    paths: FingerprintPaths,
    progress: Progress,
    *,
    overwrite: bool,
    temp_dir: str | None,
) -> int:
    """Write the fingerprints of fingerprint files as digits."""
    if not paths.hold_digits:
        raise InputError(
            f"{shards[0].name} is a fingerprint file already. Use it as it is; or, to write its fingerprints for other programs, "
            f"give an output that ends in {DIGIT_ENDINGS}."
        )
    made_by = fingerprint_file_recipe(shards[0].path)
    for shard in shards:
        check_same(recipe or made_by, fingerprint_file_recipe(shard.path), shard.name)
    content = paths.content(made_by, (), digits)
    parts = (part for shard in shards for part in fingerprint_file_parts(shard.path))
    with paths.opened(shards, overwrite=overwrite, temp_dir=temp_dir) as outputs:
        return write_digits(parts, content, paths, outputs, progress)


def _documents(batch: Batch, recipe: Recipe, value: Sequence[str], scripts: ScriptCount | None) -> Documents:
    if scripts is not None:
        scripts.look(batch.texts)
    found = read_part(batch, recipe, {})
    values = dict(zip(value, found.values, strict=True))
    prints = found.found
    return Documents(prints.values, prints.digests, prints.tokens, found.lengths, found.ids, values)
