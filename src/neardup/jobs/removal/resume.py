"""Resumable runs: the description that identifies a run, and the folder of its finished work."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InputError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.outputs.output_names import STANDARD_OUTPUT, stem
from neardup.io.resume.run_folder import RunFolder
from neardup.io.storage.remote import RemotePath
from neardup.jobs.removal.output_paths import OutputPaths
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.short_rule import NAME, SHORT_RULE, told_of_short_rule
from neardup.recipe.tables.similarities import similarity_mark
from neardup.resources.limits import memory_bytes
from neardup.resources.scratch import Scratch
from neardup.survivors.records.counting import versions
from neardup.survivors.repeats.options import PassageOptions

if TYPE_CHECKING:
    from neardup.jobs.removal.reference import FingerprintReference


def run_description(
    output: str | None,
    corpus: FileCorpus,
    reference: "FileCorpus | FingerprintReference | None",
    recipe: Recipe,
    options: DedupOptions | PassageOptions,
    reading: Reading,
) -> dict[str, Any]:
    """Everything that determines the result of a run; it identifies the run."""
    deciding = options.as_dict() | {"memory": memory_bytes(options.memory)}  # it affects counting
    del deciding["threads"], deciding["temp_dir"], deciding["temp_limit"]
    files = [
        [[shard.name, *shard.state()] for shard in each.shards] if each is not None else []
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
        "similarity_of": similarity_mark(recipe.as_dict()),
        NAME: SHORT_RULE,
    }


def open_saved(
    output: str | None,
    dry_run: bool,
    paths: OutputPaths,
    shards: Sequence[Shard],
    run: dict[str, Any],
    scratch: Scratch,
) -> RunFolder:
    """Open the folder beside the output for the run that `run` describes.

    Raises:
        InputError: there is no local output, or inputs could not be read again.
        RecipeMismatch: the folder belongs to another run.
    """
    if dry_run or not output or paths.outputs[:1] == (STANDARD_OUTPUT,):
        raise InputError("`resume=True` keeps its work beside the output. Give `output` a file or a folder.")
    if any(shard.name == "stdin" for shard in shards):
        raise InputError("`resume=True`: standard input cannot be read again. Name files.")
    if any(isinstance(path, RemotePath) for path in [*paths.outputs, *paths.records]):
        raise InputError(
            "`resume=True` keeps its work beside the output, in a folder of this machine. Name a local output, and copy it when "
            "the run is done; inputs may be remote."
        )
    return RunFolder(Path(stem(output) + ".resume"), run, scratch)


def tell_skipped(saved: RunFolder | None, progress: Progress) -> None:
    """Report how much of the run was done by an earlier attempt."""
    if saved is not None and (older := told_of_short_rule(saved.checkpoints.short_rule)):
        progress.say(f"{saved.folder}: {older}")
    if saved is not None and (skipped := saved.checkpoints.skipped):
        progress.say(f"{saved.folder}: {skipped:,} times a shard was not read again, for that had been done before")
