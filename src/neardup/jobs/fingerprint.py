"""Write fingerprint files: one for all inputs, or one for each input."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Unpack

from neardup.display import counted
from neardup.errors import InputError
from neardup.fingerprints.documents import Documents, read_part
from neardup.fingerprints.fingerprint_file import FingerprintWriter
from neardup.io.batch import Batch
from neardup.io.corpus import FileCorpus, open_corpus
from neardup.io.endings import REJECTS_ENDING
from neardup.io.outputs import Outputs, output_folder, stem
from neardup.io.reading import ReadingDict, reading_of
from neardup.io.records import write_lines
from neardup.io.shard import Shard
from neardup.io.storage.places import Place, path_text, place_of
from neardup.io.stored_shards import stored_shards
from neardup.jobs.output_paths import refuse_inputs
from neardup.options import OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.audit import reject_lines


def fingerprint_targets(output: str, shards: Sequence[Shard]) -> list[Place]:
    """The path of the fingerprint file of each shard.

    Raises:
        InputError: the output is missing, is not Parquet, or would be written by two shards.
    """
    if not output:
        raise InputError("Name an output: a file that ends in .parquet, or a folder that ends in /.")
    folder = output_folder(output)
    if folder is None:
        if not output.endswith(".parquet"):
            raise InputError(
                f"{output}: fingerprints are Parquet. Give a name that ends in .parquet, or a folder that ends in /."
            )
        return [place_of(output)] * len(shards)
    names = [folder / (stem(shard.relative) + ".parquet") for shard in shards]
    owner: dict[Place, Shard] = {}
    for name, shard in zip(names, shards, strict=True):
        first = owner.setdefault(name, shard)
        if first is not shard:
            raise InputError(
                f"{first.name} and {shard.name} would both be written to {name}. Give the folder above them as input, "
                "or name one .parquet file for all."
            )
    return names


def fingerprint_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    recipe: RecipeLike | None = None,
    value: Sequence[str] = (),
    on_error: OnError = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    overwrite: bool = False,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> int:
    """Write the fingerprint of every document; see `neardup.fingerprints.fingerprint_file` for the format.

    Args:
        inputs: files, folders, globs, or `-` for JSON lines on standard input.
        output: a file that ends in .parquet, or a folder (ends in /; one file for each input).
        value: further columns to store, by which `cluster_files` can choose survivors.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file of rejects, which is the output
            without its ending + `.rejects.jsonl`.
        recipe, threads, temp_dir, overwrite, progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.reading.Reading` (text, id …).

    Returns:
        The number of documents, without rejected rows.

    Raises:
        InputError: an input is missing, or an output exists.
        DataError: a row cannot be read, or a file is damaged.
    """
    output = path_text(output)
    recipe, progress = recipe_of(recipe), progress_of(progress)
    how, resources = reading_of(reading, fingerprint_files), Resources(threads, temp_dir=temp_dir)
    with temporary_folder(temp_dir) as spool:
        corpus = open_corpus(
            inputs,
            how,
            temporary=spool,
            values=value,
            on_error=on_error,
            progress=progress,
            resources=resources,
        )
        paths = fingerprint_paths(output, corpus.shards, on_error)
        corpus.check()
        with paths.opened(corpus.shards, overwrite=overwrite, temp_dir=temp_dir) as outputs:
            read = partial(_documents, recipe=recipe, value=value)
            return write_fingerprint_files(corpus, read, FileRecipe(recipe, tuple(value)), paths, outputs, progress)


def _documents(batch: Batch, recipe: Recipe, value: Sequence[str]) -> Documents:
    found = read_part(batch, recipe, {})
    values = dict(zip(value, found.values, strict=True))
    prints = found.found
    return Documents(prints.values, prints.digests, prints.tokens, found.lengths, found.ids, values)


@dataclass(frozen=True, slots=True)
class FingerprintPaths:
    """The fingerprint file of each shard, and the file of rejects, if one is written."""

    files: tuple[Place, ...]
    rejects: tuple[Place, ...]
    folder: Place | None

    def opened(self, shards: Sequence[Shard], *, overwrite: bool, temp_dir: str | None) -> Outputs:
        """Open these paths as outputs."""
        paths = [*self.files, *self.rejects]
        return Outputs(paths, inputs=shards, overwrite=overwrite, folder=self.folder, temp_dir=temp_dir)


def fingerprint_paths(output: str, shards: Sequence[Shard], on_error: str) -> FingerprintPaths:
    """The paths of fingerprints and rejects for some shards.

    Raises:
        InputError: two shards would share a file, or a file would replace an input.
    """
    files = fingerprint_targets(output, shards)
    rejects = [place_of(stem(output) + REJECTS_ENDING)] if on_error == "skip" else []
    refuse_inputs([*files, *rejects], shards)
    return FingerprintPaths(tuple(files), tuple(rejects), output_folder(output))


class FileRecipe(NamedTuple):
    """The metadata of every fingerprint file: the recipe, and the columns whose values are stored."""

    recipe: Recipe | VectorRecipe
    value: tuple[str, ...] = ()


def write_fingerprint_files(
    corpus: FileCorpus,
    read: Callable[[Batch], Documents],
    made_by: FileRecipe,
    paths: FingerprintPaths,
    outputs: Outputs,
    progress: Progress,
) -> int:
    """Write the documents that `read` makes of each batch to the file of its shard, write the rejects, and commit.

    Returns:
        The number of documents.
    """
    shards, total, rejected = corpus.shards, 0, []
    with progress.stage("fingerprint"):
        progress.expect(sum(shard.size for shard in shards))
        for path in dict.fromkeys(paths.files):
            part = corpus.part([shard for shard, file in zip(shards, paths.files, strict=True) if file == path])
            writer = FingerprintWriter(outputs.claim(path), made_by.recipe, made_by.value)
            for _, rows in part.map(read):
                writer.write(rows)
                total += int(rows.valid.sum())
                progress.advance(len(rows))
            writer.close(stored_shards(part.shards, part.starts or [0]))
            rejected += part.rejected
        for path in paths.rejects:
            write_lines(path, outputs.claim(path), reject_lines(rejected))
        outputs.commit()
    if rejected:
        progress.say(f"{counted(len(rejected), 'row')} could not be read: {paths.rejects[0]}")
    return total
