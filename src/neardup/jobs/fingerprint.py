"""Fingerprint files: one fingerprint file, or one for each input."""

import contextlib
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks
from neardup.io.batch import Batch
from neardup.io.corpus import open_corpus
from neardup.io.fingerprint_file import FingerprintWriter
from neardup.io.outputs import Outputs, output_folder, stem
from neardup.io.reading import Reading
from neardup.io.shards import Shard
from neardup.jobs.targets import refuse_inputs
from neardup.progress import Progress
from neardup.recipe import Recipe
from neardup.text.columns import in_chunks
from neardup.threads import thread_count


def _targets(output: str, shards: Sequence[Shard]) -> list[Path]:
    if not output:
        raise InputError("Name an output: a file that ends in .parquet, or a folder that ends in /.")
    folder = output_folder(output)
    if folder is None:
        if not output.endswith(".parquet"):
            raise InputError(
                f"{output}: fingerprints are Parquet. Give a name that ends in .parquet, or a folder that ends in /."
            )
        return [Path(output)] * len(shards)
    names = [folder / (stem(shard.relative) + ".parquet") for shard in shards]
    owner: dict[Path, Shard] = {}
    for name, shard in zip(names, shards, strict=True):
        first = owner.setdefault(name, shard)
        if first is not shard:
            raise InputError(
                f"{first.name} and {shard.name} would both be written to {name}. Give the folder above them as input, "
                "or name one .parquet file for all."
            )
    return names


def _fingerprint(batch: Batch, recipe: Recipe) -> tuple[Any, Fingerprints]:
    return batch.ids, fingerprint_chunks(in_chunks(batch.texts), recipe)


def fingerprint_files(
    inputs: str | Path | Sequence[str | Path],
    output: str,
    *,
    recipe: Recipe | None = None,
    threads: int | None = None,
    temp_dir: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **reading: Any,
) -> int:
    """Write the fingerprint of every document; see `neardup.io.fingerprint_file` for the format.

    Args:
        inputs: files, folders, globs, or `-` for JSON lines on standard input.
        output: a file that ends in .parquet, or a folder (ends in /; one file for each input).
        recipe, threads, temp_dir, overwrite, progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.reading.Reading` (text, id …).

    Returns:
        The number of documents.

    Raises:
        InputError: an input is missing, or an output exists.
        DataError: a row cannot be read, or a file is damaged.
    """
    recipe, progress = recipe or Recipe(), progress or Progress()
    how, workers = Reading(**reading), thread_count(threads)
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=temp_dir) as spool:
        corpus = open_corpus(inputs, how, temporary=Path(spool), progress=progress)
        shards = corpus.shards
        targets = _targets(output, shards)
        refuse_inputs(targets, shards)
        corpus.check()
        total = 0
        with (
            Outputs(targets, inputs=shards, overwrite=overwrite, folder=output_folder(output)) as outputs,
            progress.stage("fingerprint"),
        ):
            progress.expect(sum(shard.size for shard in shards))
            for path in dict.fromkeys(targets):
                part = corpus.part([shard for shard, target in zip(shards, targets, strict=True) if target == path])
                with contextlib.closing(FingerprintWriter(outputs.claim(path), recipe)) as writer:
                    for _, (ids, found) in part.map(partial(_fingerprint, recipe=recipe), threads=workers):
                        writer.write(ids, found.values, found.tokens < recipe.min_tokens)
                        total += len(ids)
                        progress.advance(len(ids))
            outputs.commit()
    return total
