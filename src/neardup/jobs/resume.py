"""A run that can be resumed: what it is known by, and the folder of its finished work."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.io.corpus import FileCorpus
from neardup.io.outputs import STANDARD_OUTPUT, stem
from neardup.io.reading import Reading
from neardup.io.saved_work import SavedWork
from neardup.io.shards import Shard
from neardup.io.storage.places import real_name
from neardup.io.storage.remote import RemotePath
from neardup.jobs.output_paths import OutputPaths
from neardup.jobs.reference import FingerprintReference
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.resources.limits import memory_bytes
from neardup.survivors.summary import versions


def run_description(
    output: str | None,
    corpus: FileCorpus,
    reference: FileCorpus | FingerprintReference | None,
    recipe: Recipe,
    options: DedupOptions,
    reading: Reading,
) -> dict[str, Any]:
    """All that decides what a run gives, for telling it from others."""
    deciding = options.as_dict() | {"memory": memory_bytes(options.memory)}  # it decides how elements are counted
    del deciding["threads"], deciding["temp_dir"]
    files = [
        [[shard.name, shard.size, shard.modified] for shard in each.shards] if each is not None else []
        for each in (corpus, reference)
    ]
    return {
        "inputs": files[0],
        "reference": files[1],
        "output": output,
        "recipe": recipe.as_dict() | {"digest": recipe.digest()},
        "options": deciding,
        "reading": dataclasses.asdict(reading),
        "versions": versions(),
    }


def open_saved(
    output: str | None, dry_run: bool, paths: OutputPaths, shards: Sequence[Shard], run: dict[str, Any]
) -> SavedWork:
    """The folder beside the output, for a run that is known by `run`.

    Raises:
        InputError: there is no output to keep it beside, or inputs cannot be read again.
        RecipeMismatch: the folder is of another run.
    """
    if dry_run or not output or paths.outputs[:1] == (STANDARD_OUTPUT,):
        raise InputError("--resume keeps its work beside the output. Name a file or a folder with -o.")
    if any(shard.name == "stdin" for shard in shards):
        raise InputError("--resume: standard input cannot be read again. Name files.")
    if any(isinstance(path, RemotePath) for path in [*paths.outputs, *paths.records]):
        raise InputError(
            "--resume keeps its work beside the output, in a folder of this machine. Name a local output, and copy it when the "
            "run is done; inputs may be remote."
        )
    inputs = {real_name(shard.path) for shard in shards}
    if any(real_name(path) in inputs for path in paths.outputs):
        raise InputError(
            "--resume: an output would replace an input, which could then not be read again. Name another output."
        )
    return SavedWork(Path(stem(output) + ".resume"), run)


def tell_skipped(saved: SavedWork | None, progress: Progress) -> None:
    """Say how much of a run had been done before."""
    if saved is not None and saved.skipped:
        progress.say(
            f"{saved.folder}: {saved.skipped:,} times a shard was not read again, for that had been done before"
        )
