"""Indexes on disk: built of files, added to, removed from, and asked."""

import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.display import counted
from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import Documents, read_part
from neardup.fingerprints.fingerprint_file import fingerprint_file_parts, fingerprint_file_recipe, is_fingerprint_file
from neardup.fingerprints.simhash import fingerprint_array
from neardup.hamming.index.index import AUTO, Index
from neardup.hamming.index.labels import labels_of
from neardup.hamming.index.store import demand_free, is_index
from neardup.io.corpus import FileCorpus
from neardup.io.formats.json_values import quote
from neardup.io.outputs import STANDARD_OUTPUT, Outputs
from neardup.io.reading import READING, Reading
from neardup.io.records import compression_of
from neardup.io.shards import Shard, find_shards, split_ending
from neardup.io.storage.compression import open_for_writing
from neardup.jobs.output_paths import refuse_inputs
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import usual_distance
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.resources import Resources

Inputs = str | Path | Sequence[str | Path]


def build_index(
    path: str | Path,
    inputs: Inputs,
    *,
    max_distance: int | None = None,
    recipe: Recipe | None = None,
    method: str = AUTO,
    method_options: dict[str, int] | None = None,
    integer_ids: bool = False,
    overwrite: bool = False,
    on_error: str = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    progress: Watcher = None,
    **reading: Any,
) -> int:
    """Make an index of texts, or of fingerprint files, in a folder. It is there whole, or not at all.

    Texts shorter than the recipe's `min_tokens` are in it by their digests: only equal ones are found.

    Args:
        path: a folder that is not there, or is empty.
        inputs: texts as in `deduplicate_files`, or fingerprint files, all of one recipe.
        max_distance: the largest that will be asked for; the recipe's if not given.
        recipe: of the fingerprints; `Recipe()` for texts, the files' own for fingerprint files.
        method, method_options: as in `Index`.
        integer_ids: ids are integers, all of them; else they are kept as strings, 17 as well as "17".
        overwrite: replace an index that is there, once the new one is complete.
        on_error, threads, temp_dir, progress: as in `fingerprint_files`; rows that are skipped are counted.
        **reading: the fields of `neardup.io.reading.Reading` (text, id …), for texts.

    Returns:
        The number of documents.

    Raises:
        RecipeMismatch: fingerprint files were made by different recipes.
        InputError: an input is missing, or something is at `path`.
        OptionError, DataError: as `fingerprint_files`.
    """
    home, progress = Path(path), progress_of(progress)
    if is_index(home):
        if not overwrite:
            raise InputError(f"{home} has an index. Add to it with `neardup index add`, or pass --overwrite.")
    else:
        demand_free(home)
    with _opened(inputs, reading, on_error, Resources(threads, temp_dir=temp_dir), progress) as source:
        made_by = source.demand_recipe(recipe)
        index = new_index(made_by, max_distance, method, method_options)
        index.has_strings = not integer_ids
        total = source.add_to(index, made_by)
        with progress.stage("save"):
            index.save(home, overwrite=overwrite)
    return total


def new_index(
    recipe: Recipe | VectorRecipe, max_distance: int | None, method: str, options: dict[str, int] | None = None
) -> Index:
    """An empty index for fingerprints of a recipe.

    Raises:
        OptionError: no distance is given, and the recipe has none.
    """
    distance = usual_distance(recipe) if max_distance is None else max_distance
    if distance is None:
        raise OptionError("This recipe has no max_distance. Give --max-distance, the largest that will be asked for.")
    return Index(max_distance=distance, bits=64 * recipe.words, method=method, recipe=recipe, **options or {})


def add_to_index(
    path: str | Path,
    inputs: Inputs,
    *,
    on_error: str = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    progress: Watcher = None,
    **reading: Any,
) -> int:
    """Add texts, or fingerprint files of its recipe, to an index: all of them, or after a failure none.

    Args:
        path: the index.
        inputs, on_error, threads, temp_dir, progress, **reading: as in `build_index`.

    Returns:
        The number of documents that were added.

    Raises:
        RecipeMismatch: fingerprint files were made by another recipe.
        InputError, OptionError, DataError: as `build_index`.
    """
    progress = progress_of(progress)
    index = Index.open(path)
    with (
        index.reserved(),
        _opened(inputs, reading, on_error, Resources(threads, temp_dir=temp_dir), progress) as source,
    ):
        total = source.add_to(index, source.demand_recipe(_recipe(index, path)))
        with progress.stage("save"):
            index.save()
    return total


def remove_from_index(path: str | Path, ids: Iterable[str]) -> int:
    """Remove documents from an index by their ids, as text. Returns how many documents there were.

    Raises:
        InputError: there is no index, or its ids are integers and one of these is none.
        DataError: the index is damaged.
    """
    index = Index.open(path)
    if index.has_strings is None:
        return 0
    tokens = [quote(each) if index.has_strings else each for each in ids]
    for token in tokens:
        if not index.has_strings and not _is_integer(token):
            raise InputError(f"The ids of {path} are integers; {token!r} is none.")
    removed = index.remove(labels_of(pa.array(tokens, pa.large_string()), strings=index.has_strings))
    if removed:
        index.save()
    return removed


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()


def query_index(
    path: str | Path,
    inputs: Inputs = (),
    output: str = "-",
    *,
    texts: Sequence[str] = (),
    fingerprints: Sequence[str] = (),
    max_distance: int | None = None,
    on_error: str = "stop",
    overwrite: bool = False,
    threads: int | None = None,
    temp_dir: str | None = None,
    progress: Watcher = None,
    **reading: Any,
) -> int:
    """Write what of an index is near each document: JSON lines with `id`, `neighbor_id` and `distance`, nearest first.

    Args:
        path: the index.
        inputs: texts, or fingerprint files of the index's recipe.
        output: a file that ends in .jsonl, .jsonl.gz or .jsonl.zst, or `-` for standard output.
        texts: texts themselves; they are called 0, 1, …
        fingerprints: fingerprints themselves, in hexadecimal; they are called as they are given.
        max_distance: up to the index's; that if not given.
        overwrite: replace an output that exists.
        on_error, threads, temp_dir, progress, **reading: as in `build_index`.

    Returns:
        The number of lines.

    Raises:
        RecipeMismatch, InputError, OptionError, DataError: as `add_to_index`.
    """
    progress = progress_of(progress)
    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    if bool(given) + bool(texts) + bool(fingerprints) != 1:
        raise InputError("Give either INPUT..., or --literal TEXT, or --fingerprint HEX, to be looked for.")
    known = split_ending(Path(output).name) if output != "-" else ("", "jsonl", "plain")
    if known is None or known[1] != "jsonl":
        raise InputError(
            f"{output}: the answers are JSON lines. Give a name that ends in .jsonl, .jsonl.gz or .jsonl.zst."
        )
    index, target = Index.open(path), Path(output)
    ask = partial(_answers, index, max_distance=max_distance, threads=threads)
    with contextlib.ExitStack() as stack:
        source = None
        answers: Iterator[bytes]
        if given:
            source = stack.enter_context(
                _opened(given, reading, on_error, Resources(threads, temp_dir=temp_dir), progress)
            )
            recipe = source.demand_recipe(_recipe(index, path))
            refuse_inputs([target], source.shards)
            answers = (line for part in source.parts(recipe) for line in ask(part))
        elif texts:
            recipe = _recipe(index, path)
            answers = ask(_of_texts(texts, _of_text(recipe)))
        else:
            answers = _of_fingerprints(index, fingerprints, max_distance)
        outputs = stack.enter_context(Outputs([target], inputs=source.shards if source else (), overwrite=overwrite))
        total = 0
        if target == STANDARD_OUTPUT:
            for line in answers:
                sys.stdout.buffer.write(line)
                total += 1
            sys.stdout.buffer.flush()
            return total
        with open_for_writing(outputs.claim(target), compression_of(target)) as file:
            for line in answers:
                file.write(line)
                total += 1
        outputs.commit()
    return total


def _answers(index: Index, part: Documents, *, max_distance: int | None, threads: int | None) -> Iterator[bytes]:
    """One line for each neighbor of each document, in the documents' order."""
    assert index.recipe is not None  # it was asked for before
    valid, short = part.valid, part.tokens < index.recipe.min_tokens
    tokens = part.ids.to_pylist()
    equal = index.find_short(part.digests[valid & short])
    of_short = iter(range(len(equal)))
    found = index.query_stream(part.fingerprints[valid & ~short], max_distance, threads=threads)
    lists = (neighbors[i] for neighbors in found for i in range(len(neighbors)))
    for row in np.flatnonzero(valid).tolist():
        for neighbor, distance in equal[next(of_short)] if short[row] else next(lists):
            yield _line(tokens[row], neighbor, distance)


def _line(token: str, neighbor: Any, distance: int) -> bytes:
    return f'{{"id": {token}, "neighbor_id": {json.dumps(neighbor, ensure_ascii=False)}, "distance": {distance}}}\n'.encode()


def _of_texts(texts: Sequence[str], recipe: Recipe) -> Documents:
    try:
        found = fingerprint_array(pa.array(texts, pa.large_string()), recipe)
    except UnicodeEncodeError:
        raise InputError("A text is not valid Unicode.") from None
    names = pa.array(map(str, range(len(texts))), pa.large_string())
    return Documents(found.values, found.digests, found.tokens, np.zeros(len(texts), np.int64), names)


def _of_fingerprints(index: Index, fingerprints: Sequence[str], max_distance: int | None) -> Iterator[bytes]:
    for given in fingerprints:
        if not re.fullmatch(f"[0-9a-fA-F]{{{index.bits // 4}}}", given):
            raise InputError(f"--fingerprint {given}: give hexadecimal digits, {index.bits // 4} of them.")
    for given in fingerprints:
        for neighbor, distance in index.query(int(given, 16), max_distance):
            yield _line(quote(given), neighbor, distance)


def _recipe(index: Index, path: str | Path) -> Recipe | VectorRecipe:
    recipe = index.recipe
    if recipe is None:
        raise InputError(
            f"{path} does not know the recipe of its fingerprints, so no files go with it. Use it from Python, "
            "or build it with a recipe."
        )
    return recipe


def _of_text(recipe: Recipe | VectorRecipe) -> Recipe:
    if isinstance(recipe, VectorRecipe):
        raise InputError("This index holds fingerprints of vectors, so no texts go with it. Give fingerprint files.")
    return recipe


class _Source:
    """Texts or fingerprint files, read in parts."""

    def __init__(
        self, shards: Sequence[Shard], reading: Reading, on_error: str, resources: Resources, progress: Progress
    ) -> None:
        self.shards, self._progress = shards, progress
        made = [shard.format == "parquet" and is_fingerprint_file(shard.path) for shard in shards]
        self._hold_fingerprints = any(made)
        if any(made) and not all(made):
            raise InputError(
                f"{shards[made.index(False)].name} holds texts, other inputs hold fingerprints. Give only texts, or only "
                "fingerprint files."
            )
        if any(made) and reading != Reading():
            given = [name for name in READING if getattr(reading, name) != getattr(Reading(), name)]
            raise OptionError(f"{', '.join(given)}: these are fingerprint files, not texts. Leave it out.")
        self._corpus = FileCorpus(shards, reading.columns(), on_error=on_error, progress=progress, resources=resources)
        if not any(made):
            self._corpus.check()

    def demand_recipe(self, wanted: Recipe | VectorRecipe | None) -> Recipe | VectorRecipe:
        """The recipe of all the fingerprints."""
        if not self._hold_fingerprints:
            return _of_text(wanted or Recipe())
        recipe = wanted or fingerprint_file_recipe(self.shards[0].path)
        than = "which is asked for" if wanted else f"that of {self.shards[0].name}"
        for shard in self.shards:
            check_same(recipe, fingerprint_file_recipe(shard.path), shard.name, than)
        return recipe

    def parts(self, recipe: Recipe | VectorRecipe) -> Iterator[Documents]:
        """Rows, some at a time."""
        if self._hold_fingerprints:
            for shard in self.shards:
                yield from fingerprint_file_parts(shard.path)
            return
        work = partial(read_part, recipe=_of_text(recipe), functions={})
        for _, part in self._corpus.map(work):
            prints = part.found
            yield Documents(prints.values, prints.digests, prints.tokens, part.lengths, part.ids)
        if self._corpus.rejected:
            self._progress.say(f"{counted(len(self._corpus.rejected), 'row')} could not be read, and were left out")

    def add_to(self, index: Index, recipe: Recipe | VectorRecipe) -> int:
        """Add all documents; returns how many there were."""
        total = 0
        with self._progress.stage("add"):
            for part in self.parts(recipe):
                add_documents(index, part, recipe)
                total += int(part.valid.sum())
                self._progress.advance(len(part))
        return total


def add_documents(index: Index, part: Documents, recipe: Recipe | VectorRecipe) -> None:
    """Add documents by fingerprint, and those that are too short for it by digest."""
    valid, short = part.valid, part.tokens < recipe.min_tokens
    for chosen, add, values in (
        (valid & ~short, index.add, part.fingerprints),
        (valid & short, index.add_short, part.digests),
    ):
        if chosen.any():
            add(labels_of(part.ids.filter(pa.array(chosen)), strings=index.has_strings is not False), values[chosen])


@contextlib.contextmanager
def _opened(
    inputs: Inputs, reading: dict[str, Any], on_error: str, resources: Resources, progress: Progress
) -> Iterator[_Source]:
    how = Reading(**reading)
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=resources.temp_dir) as spool:
        shards = find_shards(inputs, temporary=Path(spool), reading=how, progress=progress)
        yield _Source(shards, how, on_error, resources, progress)
