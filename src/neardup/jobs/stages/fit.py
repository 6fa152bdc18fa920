"""Count the document frequencies of the features of a corpus, and write them to a file."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from neardup.display import counted
from neardup.errors import InputError, OptionError
from neardup.fingerprints.feature_arrays import features_of
from neardup.fingerprints.weights.counting import FeatureCounter, Run, merged
from neardup.fingerprints.weights.table import EXTRACTORS
from neardup.io.corpora.file_corpus import FileCorpus, open_corpus, why
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import TextReadingDict, reading_of
from neardup.io.corpora.shards import listed_inputs
from neardup.io.endings import REJECTS_ENDING
from neardup.io.outputs.output_names import stem
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import local_path, parquet_sink
from neardup.options import OnError
from neardup.progress import Watcher, progress_of
from neardup.recipe.files.document_frequencies import DocumentFrequencies
from neardup.recipe.files.frequency_file import FrequencyWriter, describe_frequency_file, frequency_parts
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.resources.resources import Resources
from neardup.resources.threads import in_order
from neardup.resources.unfinished import temporary_folder
from neardup.survivors.records.audit import reject_lines
from neardup.text.columns import in_chunks
from neardup.text.frames import text_arrays
from neardup.text.normalizers import normalized
from neardup.text.segmenters.table import tokens_of


def _count(texts: Any, recipe: Recipe) -> tuple[int, Run]:
    """Count the non-null texts of an Arrow `large_string` array, and the number of them in which each feature occurs."""
    runs = []
    for chunk in in_chunks(texts.drop_null()):
        hashes = features_of(tokens_of(normalized(chunk, recipe.normalize), recipe), recipe).hashes
        runs.append(np.unique(hashes, return_counts=True))
    return len(texts) - texts.null_count, merged([(features, counts.astype(np.int64)) for features, counts in runs])


def _recipe(given: RecipeLike | None) -> Recipe:
    recipe = recipe_of(given)
    if recipe.profile is not None:
        raise OptionError(
            f"`profile={recipe.profile!r}`: that tool weighs features by their counts, without document frequencies. Give the "
            "recipe that the frequencies are for."
        )
    if recipe.weights in EXTRACTORS:
        raise OptionError(
            f"`weights={recipe.weights!r}`: the package jieba finds the words of such a recipe, and knows how rare they are. "
            "Give the recipe that the frequencies are for, with other weights."
        )
    return recipe


def _target(output: str | Path) -> Path:
    if not str(output).endswith(".parquet"):
        raise InputError(f"{output}: document frequencies are Parquet. Give a name that ends in .parquet.")
    return local_path(output, "a file of document frequencies")


class _Fit:
    """The counts of documents and features so far, from texts and from merged files."""

    def __init__(self, recipe: Recipe, merge: Sequence[str | Path], resources: Resources) -> None:
        self.recipe, self.documents = recipe, 0
        self._counter = FeatureCounter(resources.share("frequencies"), resources.files, resources.use)
        if isinstance(merge, str) or not isinstance(merge, Iterable):
            raise OptionError(f"`merge={merge!r}`: give a list of files of document frequencies.")
        self._merge = [describe_frequency_file(path) for path in merge]
        for named in self._merge:
            named.check(recipe.tokenization())

    def take(self, documents: int, run: Run) -> None:
        self.documents += documents
        self._counter.add(*run)

    def write(self, path: Path) -> None:
        for named in self._merge:
            self.documents += named.documents
            for run in frequency_parts(named):
                self._counter.add(*run)
        writer = FrequencyWriter(parquet_sink(path), self.recipe.tokenization())
        for features, counts in self._counter.parts():
            writer.write(features, counts)
        writer.close(self.documents)


def fit(
    texts: Any,
    output: str | Path,
    *,
    text: str | Iterable[str] = "text",
    recipe: RecipeLike | None = None,
    merge: Sequence[str | Path] = (),
    memory: int | str | None = None,
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    overwrite: bool = False,
    progress: Watcher = None,
) -> DocumentFrequencies:
    """Count in how many of the texts each feature occurs, for recipes with `weights="tfidf"`.

    Args:
        texts: a list or an iterator of strings, a column or a table: any input of `deduplicate`.
        output: a file that ends in .parquet; see `neardup.recipe.files.frequency_file` for the format.
        text: the column of the texts in a table, or several columns; as in `deduplicate`.
        recipe: decides the features; its weights, hash and bits do not matter. `Recipe()` by default.
        merge: files of document frequencies of the same tokens, whose counts are added: parts of a corpus, or earlier counts. A
            document that was counted in two of them counts twice. With `overwrite`, the sum may replace one of them.
        memory: a number of bytes, or a size such as `512M`; half of the machine's memory by default. What exceeds it goes into
            temporary files.
        threads: the number of threads; all processors by default. The result does not depend on it.
        temp_dir, temp_limit: the folder for temporary files, and the bytes that these may take together; see `DedupOptions`.
        overwrite: replace an existing file.
        progress: as in `deduplicate`.

    Returns:
        A description of the file. A recipe takes it, or the path, as `document_frequencies`.

    Raises:
        OptionError, InputError: a value is not allowed, the output exists, or a file to merge is missing.
        RecipeMismatch: a file to merge counts the features of other tokens.
        DataError: a text is not valid Unicode, or a file to merge is damaged.
    """
    path, resources, progress = _target(output), Resources(threads, memory, temp_dir, temp_limit), progress_of(progress)
    work = _Fit(_recipe(recipe), merge, resources)
    arrays = text_arrays(texts, text)
    with Outputs([path], overwrite=overwrite) as outputs, progress.stage("fit", sum(map(len, arrays))):
        chunks = (chunk for array in arrays for chunk in in_chunks(array))
        for found in in_order(partial(_count, recipe=work.recipe), chunks, resources.thread_count):
            work.take(*found)
            progress.advance(found[0])
        work.write(outputs.claim(path))
        outputs.commit()
    return describe_frequency_file(path)


def fit_files(
    inputs: str | Path | Iterable[str | Path],
    output: str | Path,
    *,
    recipe: RecipeLike | None = None,
    merge: Sequence[str | Path] = (),
    on_error: OnError = "stop",
    memory: int | str | None = None,
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    overwrite: bool = False,
    progress: Watcher = None,
    **reading: Unpack[TextReadingDict],
) -> DocumentFrequencies:
    """Count in how many documents of files each feature occurs; like `fit`, but for files.

    Args:
        inputs: files, folders, globs, or `-` for standard input; may be empty if `merge` names files.
        output, recipe, merge, memory, threads, temp_dir, temp_limit, overwrite: as in `fit`.
        on_error: the treatment of rows that cannot be read: `stop`, or `skip` them into a file of rejects, which is the output
            without its ending + `.rejects.jsonl`.
        progress: as in `deduplicate_files`.
        **reading: the fields of `neardup.io.corpora.reading.Reading` (text, id …).

    Raises:
        InputError: an input is missing, and as in `fit`.
        DataError: a row cannot be read or a file is damaged, and as in `fit`.
        OptionError, RecipeMismatch: as in `fit`.
    """
    given = list(listed_inputs(inputs))
    if not given and not merge:
        raise InputError("Give texts to count, or files of document frequencies to merge.")
    path, progress, how = _target(output), progress_of(progress), reading_of(reading, fit_files)
    resources = Resources(threads, memory, temp_dir, temp_limit)
    work = _Fit(_recipe(recipe), merge, resources)
    with temporary_folder(resources.files) as spool:
        corpus: FileCorpus | None = None
        if given:
            corpus = open_corpus(given, how, temporary=spool, on_error=on_error, progress=progress, resources=resources)
            corpus.check()
        shards = () if corpus is None else corpus.shards
        rejects = [Path(stem(str(output)) + REJECTS_ENDING)] if on_error == "skip" else []
        with Outputs([path, *rejects], reads=ReadFiles(shards), overwrite=overwrite) as outputs, progress.stage("fit"):
            if corpus is not None:
                for _, (documents, run) in corpus.map(lambda batch: _count(batch.texts, work.recipe)):
                    work.take(documents, run)
                    progress.advance(documents)
            work.write(outputs.claim(path))
            rejected = [] if corpus is None else corpus.rejected
            for name in rejects:
                outputs.write_lines(name, reject_lines(rejected))
            outputs.commit()
    if rejected:
        progress.say(f"{counted(len(rejected), 'row')} could not be read: {rejects[0]}{why(rejected)}")
    return describe_frequency_file(path)
