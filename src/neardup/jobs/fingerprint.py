"""Fingerprint files: one fingerprint file, or one for each input."""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from neardup.display import counted
from neardup.errors import InputError
from neardup.fingerprints.documents import Documents, read_part
from neardup.fingerprints.fingerprint_file import FingerprintWriter
from neardup.io.batch import Batch
from neardup.io.corpus import FileCorpus, open_corpus
from neardup.io.outputs import Outputs, output_folder, stem
from neardup.io.reading import Reading
from neardup.io.records import write_lines
from neardup.io.shards import Shard
from neardup.io.storage.places import Place, place_of
from neardup.io.stored_shards import stored_shards
from neardup.jobs.output_paths import REJECTS_ENDING, refuse_inputs
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.resources import Resources
from neardup.survivors.audit import reject_lines


def fingerprint_targets(output: str, shards: Sequence[Shard]) -> list[Place]:
    """Where the fingerprints of each shard go; refused if that is no place for them."""
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
    output: str,
    *,
    recipe: Recipe | None = None,
    value: Sequence[str] = (),
    on_error: str = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    overwrite: bool = False,
    progress: Watcher = None,
    **reading: Any,
) -> int:
    """Write the fingerprint of every document; see `neardup.fingerprints.fingerprint_file` for the format.

    Args:
        inputs: files, folders, globs, or `-` for JSON lines on standard input.
        output: a file that ends in .parquet, or a folder (ends in /; one file for each input).
        value: further columns whose values are stored, for `cluster_files` to choose survivors by.
        on_error: what to do with rows that cannot be read: `stop`, or `skip` them into a file of rejects, which is the output
            without its ending + `.rejects.jsonl`.
        recipe, threads, temp_dir, overwrite, progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.reading.Reading` (text, id …).

    Returns:
        The number of documents; rows that were rejected are none.

    Raises:
        InputError: an input is missing, or an output exists.
        DataError: a row cannot be read, or a file is damaged.
    """
    recipe, progress = recipe or Recipe(), progress_of(progress)
    how, resources = Reading(**reading), Resources(threads, temp_dir=temp_dir)
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=temp_dir) as spool:
        corpus = open_corpus(
            inputs,
            how,
            temporary=Path(spool),
            values=value,
            on_error=on_error,
            progress=progress,
            resources=resources,
        )
        shards = corpus.shards
        targets, rejects = fingerprint_places(output, shards, on_error)
        corpus.check()
        return write_fingerprint_files(
            corpus,
            partial(_documents, recipe=recipe, value=value),
            recipe,
            targets,
            rejects,
            value=value,
            folder=output_folder(output),
            temp_dir=temp_dir,
            overwrite=overwrite,
            progress=progress,
        )


def _documents(batch: Batch, recipe: Recipe, value: Sequence[str]) -> Documents:
    found = read_part(batch, recipe, {})
    values = dict(zip(value, found.values, strict=True))
    prints = found.found
    return Documents(prints.values, prints.digests, prints.tokens, found.lengths, found.ids, values)


def fingerprint_places(output: str, shards: Sequence[Shard], on_error: str) -> tuple[list[Place], list[Place]]:
    """Of each shard its file of fingerprints, and the file of rejects, if there is to be one."""
    targets = fingerprint_targets(output, shards)
    rejects = [place_of(stem(output) + REJECTS_ENDING)] if on_error == "skip" else []
    refuse_inputs([*targets, *rejects], shards)
    return targets, rejects


def write_fingerprint_files(
    corpus: FileCorpus,
    read: Callable[[Batch], Documents],
    recipe: Recipe | VectorRecipe,
    targets: Sequence[Place],
    rejects: Sequence[Place],
    *,
    value: Sequence[str] = (),
    folder: Place | None,
    temp_dir: str | None,
    overwrite: bool,
    progress: Progress,
) -> int:
    """Write what `read` makes of each batch to the file of its shard (`targets`), and the rows set aside to `rejects`.

    Returns:
        The number of documents.
    """
    shards, total, rejected = corpus.shards, 0, []
    with (
        Outputs([*targets, *rejects], inputs=shards, overwrite=overwrite, folder=folder, temp_dir=temp_dir) as outputs,
        progress.stage("fingerprint"),
    ):
        progress.expect(sum(shard.size for shard in shards))
        for path in dict.fromkeys(targets):
            part = corpus.part([shard for shard, target in zip(shards, targets, strict=True) if target == path])
            writer = FingerprintWriter(outputs.claim(path), recipe, value)
            for _, rows in part.map(read):
                writer.write(rows)
                total += int(rows.valid.sum())
                progress.advance(len(rows))
            writer.close(stored_shards(part.shards, part.starts or [0]))
            rejected += part.rejected
        for path in rejects:
            write_lines(path, outputs.claim(path), reject_lines(rejected))
        outputs.commit()
    if rejected:
        progress.say(f"{counted(len(rejected), 'row')} could not be read: {rejects[0]}")
    return total
