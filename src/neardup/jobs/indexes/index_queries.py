"""Search an index on disk for the neighbors of texts or fingerprints."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from neardup.errors import InputError
from neardup.fingerprints.documents import Documents
from neardup.fingerprints.files.digit_file import TEXT_DIGITS
from neardup.fingerprints.files.digits import Reading as DigitReading
from neardup.fingerprints.files.digits import check_digits, named, width_of, words_of_texts
from neardup.fingerprints.silent_texts import count_silent_tokens
from neardup.fingerprints.simhash import fingerprint_array
from neardup.hamming.index.files.folder import home_of
from neardup.hamming.index.index import Index
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import ReadingDict, reading_of
from neardup.io.corpora.shards import Inputs, listed_inputs
from neardup.io.formats.json.json_values import quote
from neardup.io.storage.places import path_text
from neardup.jobs.answer_files import answers_place, answers_to
from neardup.jobs.indexes.index_inputs import opened, recipe_of_index, recipe_of_texts, refuse_lists
from neardup.options import OnError
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.recipe.programs import Digits
from neardup.recipe.recipe import Recipe
from neardup.recipe.short_rule import SHORT_RULE
from neardup.recipe.vectors import VectorRecipe
from neardup.resources.resources import Resources


def query_index(
    path: str | Path,
    inputs: Inputs = (),
    output: str | Path = "-",
    *,
    texts: Sequence[str] = (),
    fingerprints: Sequence[str] = (),
    digits: Digits = "hexadecimal",
    max_distance: int | None = None,
    recipe: RecipeLike | VectorRecipe | None = None,
    on_error: OnError = "stop",
    overwrite: bool = False,
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    progress: Watcher = None,
    **reading: Unpack[ReadingDict],
) -> int:
    """Write the neighbors of each document in an index: JSON lines with `id`, `neighbor_id` and `distance`, nearest first.

    Args:
        path: the folder of the index.
        inputs: texts, or fingerprint files of the index's recipe.
        output: a file that ends in .jsonl (also .gz, .zst, .bz2, .xz or .lz4), or `-` for standard output.
        texts: texts as strings; their ids are 0, 1, …
        fingerprints: fingerprints in digits; their ids are the strings as given.
        digits: how `fingerprints` are written: `hexadecimal` (with all leading zeros, or with 0x), `decimal`, `signed`, `binary`.
        max_distance: the distance of the search, at most that of the index; the index's by default.
        recipe: as in `add_to_index`; needed only in rare cases.
        overwrite: replace an output that exists.
        on_error, threads, temp_dir, temp_limit, progress, **reading: as in `build_index`.

    Returns:
        The number of lines.

    Raises:
        RecipeMismatch, InputError, OptionError, DataError: as in `add_to_index`.
    """
    progress, how = progress_of(progress), reading_of(reading, query_index)
    given = listed_inputs(inputs)
    if bool(given) + bool(texts) + bool(fingerprints) != 1:
        raise InputError("Give one of `inputs`, `texts` and `fingerprints` to search for.")
    target = answers_place(path_text(output))
    index = Index.open(path)
    ask = partial(_answers, index, max_distance=max_distance, threads=threads)
    with contextlib.ExitStack() as stack:
        source = None
        answers: Iterator[bytes]
        if given:
            source = stack.enter_context(
                opened(given, how, on_error, Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit), progress)
            )
            of_all = source.demand_recipe_of(path, recipe_of_index(index, path, recipe))
            rule = source.demand_short_rule(of_all, index.short_rule, path)
            answers = (line for part in source.parts(of_all, rule) for line in ask(part, of_all.min_tokens))
        elif texts:
            of_all = recipe_of_index(index, path, recipe)
            made_by = refuse_lists(recipe_of_texts(of_all), path)
            answers = ask(_of_texts(texts, made_by, index.short_rule), of_all.min_tokens)
        else:
            answers = _of_fingerprints(index, fingerprints, digits, max_distance)
        reads = ReadFiles(source.shards if source else (), {"the index": [home_of(path)]})
        sink = stack.enter_context(answers_to(target, reads, overwrite=overwrite))
        total = 0
        for line in answers:
            sink.write(line)
            total += 1
    return total


def _answers(
    index: Index, part: Documents, min_tokens: int, *, max_distance: int | None, threads: int | None
) -> Iterator[bytes]:
    """One line for each neighbor of each document, in the documents' order."""
    valid, short = part.valid, part.tokens < min_tokens
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


def _of_texts(texts: Sequence[str], recipe: Recipe, short_rule: int) -> Documents:
    try:
        found = fingerprint_array(pa.array(texts, pa.large_string()), recipe)
    except UnicodeEncodeError:
        raise InputError("A text is not valid Unicode.") from None
    if short_rule < SHORT_RULE:
        count_silent_tokens(found, texts, recipe)
    names = pa.array(map(str, range(len(texts))), pa.large_string())
    return Documents(found.values, found.digests, found.tokens, np.zeros(len(texts), np.int64), names)


def _of_fingerprints(
    index: Index, fingerprints: Sequence[str], digits: Digits, max_distance: int | None
) -> Iterator[bytes]:
    check_digits(digits, allowed=TEXT_DIGITS)
    bits = index.bits if index.recipe is None else index.recipe.bits
    words, problems = words_of_texts(pa.array(fingerprints, pa.large_string()), DigitReading(digits, bits))
    for row, given in enumerate(fingerprints):
        width = width_of(given, digits)
        if width is None or given[:2].lower() in ("0x", "0b"):
            expected, fits = f"of a fingerprint of {bits} bits", True
        else:
            count = -(-bits // 4) if digits == "hexadecimal" else bits
            expected, fits = f"{count} of them", width in (index.bits, width_of("1" * count, digits))
        if row in problems or not fits:
            this_is = f"; it is {problems[row]}" if row in problems else ""
            raise InputError(f"`fingerprints={[given]!r}`: give {named(digits)}, {expected}{this_is}.")
    for given, row in zip(fingerprints, words, strict=True):
        for neighbor, distance in index.query(int.from_bytes(row.astype(">u8").tobytes(), "big"), max_distance):
            yield _line(quote(given), neighbor, distance)
