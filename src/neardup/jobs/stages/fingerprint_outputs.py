"""The outputs of a command that fingerprints: fingerprint files or files of digits, and the rejects."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from neardup.display import counted
from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import Documents
from neardup.fingerprints.files.digit_file import ENDINGS as DIGIT_ENDINGS
from neardup.fingerprints.files.digit_file import DigitWriter, checked_digits, digit_format
from neardup.fingerprints.files.fingerprint_file import FingerprintWriter
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus, why
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import stored_shards
from neardup.io.endings import REJECTS_ENDING
from neardup.io.outputs.output_names import output_folder, stem
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import Place, place_of
from neardup.progress import Progress
from neardup.recipe.kinds import FingerprintRecipe, short_document
from neardup.recipe.programs import Digits
from neardup.survivors.records.audit import reject_lines


class FileRecipe(NamedTuple):
    """What every file is about.

    Attributes:
        recipe: the recipe of the fingerprints.
        value: the columns whose values are stored.
        digits: how fingerprints are written in files of digits; None for fingerprint files.
        reading: how the shards are read, see `neardup.io.corpora.stored_shards.recorded_reading`.
    """

    recipe: FingerprintRecipe
    value: tuple[str, ...] = ()
    digits: Digits | None = None
    reading: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FingerprintPaths:
    """The file of each shard's fingerprints, and the file of rejects, if one is written."""

    files: tuple[Place, ...]
    rejects: tuple[Place, ...]
    folder: Place | None

    def opened(self, shards: Sequence[Shard], *, overwrite: bool, temp_dir: str | None) -> Outputs:
        """Open these paths as outputs."""
        paths = [*self.files, *self.rejects]
        return Outputs(paths, reads=ReadFiles(shards), overwrite=overwrite, folder=self.folder, temp_dir=temp_dir)

    @property
    def hold_digits(self) -> bool:
        """Whether the output is for other programs, instead of a fingerprint file."""
        return self.folder is None and digit_format(self.files[0]) is not None

    def content(
        self,
        recipe: FingerprintRecipe,
        value: Sequence[str] = (),
        digits: Any = None,
        reading: Mapping[str, Any] | None = None,
    ) -> FileRecipe:
        """What the files are about.

        Raises:
            OptionError: `digits` or `value` does not go with the files.
        """
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise OptionError(f"`value={value!r}`: give a list of names of columns.")
        if not self.hold_digits:
            if digits is not None:
                raise OptionError(
                    f"`digits={digits!r}`: a fingerprint file has no digits. To write digits for other programs, give an output "
                    f"that ends in {DIGIT_ENDINGS}; to bring in fingerprints, name their column with `fingerprint`."
                )
            return FileRecipe(recipe, tuple(value), reading=reading)
        if value:
            raise OptionError(
                f"`value={tuple(value)!r}`: {self.files[0]} has the id and the fingerprint only. Leave it out, or write a .parquet "
                "file."
            )
        return FileRecipe(recipe, digits=checked_digits(digits))


def fingerprint_paths(output: str, shards: Sequence[Shard], on_error: str) -> FingerprintPaths:
    """The paths of fingerprints and rejects for some shards.

    Raises:
        InputError: two shards would share a file, or a file would replace an input.
    """
    files = _targets(output, shards)
    rejects = [place_of(stem(output) + REJECTS_ENDING)] if on_error == "skip" else []
    ReadFiles(shards).refuse([*files, *rejects])
    return FingerprintPaths(tuple(files), tuple(rejects), output_folder(output))


def _targets(output: str, shards: Sequence[Shard]) -> list[Place]:
    """The path of the fingerprint file of each shard.

    Raises:
        InputError: the output is missing, has another ending, or would be written by two shards.
    """
    if not output:
        raise InputError("Name an output: a file that ends in .parquet, or a folder that ends in /.")
    folder = output_folder(output)
    if folder is None:
        if not output.endswith(".parquet") and digit_format(output) is None:
            raise InputError(
                f"{output}: fingerprint files are Parquet. Give a name that ends in .parquet, or a folder that ends in /. To write "
                f"digits for other programs, give a name that ends in {DIGIT_ENDINGS}."
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


def write_fingerprint_files(
    corpus: FileCorpus,
    read: Callable[[Batch], Documents],
    content: FileRecipe,
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
            writer = _writer(path, outputs, content)
            total += _write(writer, (rows for _, rows in part.map(read)), content, progress)
            writer.close(stored_shards(part.shards, part.starts or [0], content.reading))
            rejected += part.rejected
        corpus.demand_readable()
        for path in paths.rejects:
            outputs.write_lines(path, reject_lines(rejected))
        outputs.commit()
    if rejected:
        progress.say(f"{counted(len(rejected), 'row')} could not be read: {paths.rejects[0]}{why(rejected)}")
    return total


def write_digits(
    parts: Iterable[Documents], content: FileRecipe, paths: FingerprintPaths, outputs: Outputs, progress: Progress
) -> int:
    """Write documents, all to one file of digits, and commit; returns the number of documents."""
    with progress.stage("write"):
        writer = _writer(paths.files[0], outputs, content)
        total = _write(writer, parts, content, progress)
        writer.close(())
        for path in paths.rejects:
            outputs.write_lines(path, ())
        outputs.commit()
    return total


def _writer(path: Place, outputs: Outputs, content: FileRecipe) -> FingerprintWriter | DigitWriter:
    if content.digits is not None:
        return DigitWriter(path, outputs.claim(path), content.digits, content.recipe.bits)
    return FingerprintWriter(outputs.claim(path), content.recipe, content.value)


def _write(
    writer: FingerprintWriter | DigitWriter, parts: Iterable[Documents], content: FileRecipe, progress: Progress
) -> int:
    """Write documents, and tell of what a file of digits cannot say; returns their number."""
    total = short = 0
    for rows in parts:
        writer.write(rows)
        total += int(rows.valid.sum())
        short += int(np.count_nonzero(rows.valid & (rows.tokens < content.recipe.min_tokens)))
        progress.advance(len(rows))
    if short and content.digits is not None:
        progress.say(
            f"{counted(short, 'fingerprint')} of {short_document(content.recipe)}s: they say little, and only a "
            ".parquet file marks them"
        )
    return total
