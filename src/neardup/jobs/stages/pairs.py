"""List the pairs of near-duplicates among texts or fingerprint files."""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import InputError, OptionError
from neardup.fingerprints.documents import FirstPass, KeptValues, join_documents, read_documents
from neardup.fingerprints.files.fingerprint_file import common_distance, hold_fingerprints, read_fingerprint_files
from neardup.hamming.candidate_graph import candidate_pairs
from neardup.hamming.near import hamming_distances, near_fingerprints
from neardup.io.checks.number_files import refuse_numbers
from neardup.io.corpora.file_corpus import FileCorpus, check_on_error
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import ReadingDict, recipe_for, refuse_reading, split_options
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import find_shards, listed_inputs, repeated_files
from neardup.io.corpora.stored_shards import StoredShard, recorded_reading, starts_of, stored_shards
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import Place, path_text, place_of
from neardup.matching.candidates.simhash import check_cost
from neardup.matching.candidates.task import Found
from neardup.matching.distance_limit import distance_limit
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import Matches, list_matches
from neardup.matching.pair_file import PairSummary, PairWriter, Side, check_pair_name, pair_summary_path
from neardup.matching.resolved_options import resolve
from neardup.options import DedupOptions, MatchingOptions, OnError
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.kinds import short_document
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.recipe.similarity import similarity_to_store
from neardup.recipe.tables.methods import BY_DISTANCE, METHODS
from neardup.recipe.tables.parts import VERSION
from neardup.resources.resources import ResourceOptions
from neardup.resources.unfinished import temporary_folder
from neardup.text.scripts import ScriptCount


class PairFileOptions(ReadingDict, MatchingOptions, ResourceOptions, total=False):
    """The options of `pair_files`."""


def pair_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    against: str | Path | Sequence[str | Path] = (),
    distinct: bool = False,
    recipe: RecipeLike | None = None,
    on_error: OnError = "stop",
    overwrite: bool = False,
    progress: Watcher = None,
    **options: Unpack[PairFileOptions],
) -> int:
    """Write every pair of near-duplicates, and a summary beside the file; see `neardup.matching.pair_file`.

    For texts, these are the pairs that the method finds whose similarity is at least min_similarity. With min_similarity=0, pairs
    match by distance alone, and their similarity is null, except that equal short texts have 1. For fingerprint files, these are
    the pairs within the distance; their similarity is null. Short texts match only if their normalized texts are equal, so by
    fingerprints alone they have no pairs.
    Of equal texts without any word (empty, or only punctuation), each is listed with the first of them only.

    Args:
        inputs: texts as in `deduplicate_files`, or fingerprint files, all of one recipe.
        output: a file that ends in .jsonl (also .gz, .zst, .bz2, .xz or .lz4) or .parquet.
        against: more inputs of the same kind. Then each pair has one document of `inputs` and one of `against`.
        distinct: of documents with equal normalized texts, list pairs only for the first one in `inputs` (and the first one in
            `against`). `cluster_files` knows the others from their fingerprint files.
        recipe, on_error, overwrite, progress: as in `deduplicate_files`. Fingerprint files have their own ids and recipe. Skipped
            rows are only counted; `fingerprint_files` writes them to a file.
        **options: the fields of `neardup.io.corpora.reading.Reading` (text, id …; for texts only);
            method, min_similarity and guard (of texts only), similarity, max_distance, threads, memory, temp_dir, temp_limit of
            `DedupOptions`.

    Returns:
        The number of pairs.

    Raises:
        RecipeMismatch: the fingerprint files were made by different recipes.
        InputError, OptionError, DataError: as in `deduplicate_files`.
    """
    output, distinct = path_text(output), bool(distinct)
    (reading, chosen), progress = split_options(options, pair_files), progress_of(progress)
    check_on_error(on_error)
    is_open = recipe is None and reading.elements is None and chosen.version == VERSION
    recipe = None if is_open else recipe_for(reading, recipe_of(recipe, chosen.version))
    references = listed_inputs(against)
    if "-" in map(str, references):
        raise InputError("`against='-'`: these are read from files. Name files, folders or globs.")
    with temporary_folder(chosen.resources.files) as spool:
        left = find_shards(inputs, temporary=spool, reading=reading, progress=progress)
        right = find_shards(references, temporary=spool, reading=reading, progress=progress) if references else []
        shards = [*left, *right]
        if problems := repeated_files(shards):
            raise InputError("\n".join(problems))
        of_fingerprints = hold_fingerprints(shards)
        if of_fingerprints and options.get("min_similarity"):
            raise OptionError(
                f"`min_similarity={chosen.min_similarity}`: fingerprint files hold no texts, so no similarity is known. "
                "Leave it out, or give the texts."
            )
        if of_fingerprints:
            refuse_reading(reading)
            if chosen.guard is not None:
                raise OptionError(
                    f"`guard={chosen.guard!r}`: fingerprint files hold no texts, so their digits are not known. Leave it out, or "
                    "give the texts."
                )
        path = place_of(output)
        paths = [path, pair_summary_path(path)]
        with Outputs(paths, reads=ReadFiles(shards), overwrite=overwrite, temp_dir=chosen.temp_dir) as outputs:
            check_pair_name(path)
            temporary = outputs.claim(path)
            if of_fingerprints:
                found = _of_fingerprints(left, right, recipe, chosen, progress, distinct=distinct)
            else:
                corpus = FileCorpus(
                    shards,
                    reading.columns(),
                    on_error=on_error,
                    progress=progress,
                    resources=chosen.resources,
                    refine=refuse_numbers,
                )
                corpus.check()
                with_other = len(left) if right else None
                of_texts = partial(_of_texts, corpus, with_other, recipe or Recipe(), chosen, progress)
                found = of_texts(recorded_reading(reading), distinct=distinct)
            total, checksum = _write(found, path, temporary)
            summary = dataclasses.replace(found.summary, pairs=total, checksum=checksum)
            outputs.claim(paths[1]).write_bytes(summary.to_json())
            outputs.commit()
    return total


@dataclass
class _Listing:
    """Pairs as they are found; `summary` is set after the last one. `ids` is an Arrow large_string[rows] of JSON values."""

    ids: Any
    shards: tuple[StoredShard, ...]
    matches: Iterator[Matches]
    summary: Any = None


def _write(found: _Listing, path: Place, temporary: Path) -> tuple[int, int | None]:
    """The number of pairs, and the checksum of their lines if they are lines."""
    starts, total = starts_of(found.shards), 0

    def side(rows: Array) -> Side:
        files = np.searchsorted(starts, rows, "right") - 1
        return Side(found.ids.take(pa.array(rows)), files, rows - starts[files])

    with contextlib.closing(PairWriter(path, temporary, [shard.name for shard in found.shards])) as writer:
        for part in found.matches:
            writer.write(side(part.left), side(part.right), part.distance, part.similarity)
            total += len(part)
    return total, writer.checksum


def _sides(shards: tuple[StoredShard, ...], left: int | None) -> dict[str, Any]:
    return {"left": shards[:left], "right": None if left is None else shards[left:]}


def _of_texts(
    corpus: FileCorpus,
    left: int | None,
    recipe: Recipe,
    options: DedupOptions,
    progress: Progress,
    read_by: Mapping[str, Any],
    *,
    distinct: bool,
) -> _Listing:
    """List the pairs of a corpus; with two sides, the first `left` shards are one side."""
    resolved = resolve(recipe, options)
    options = resolved.options
    if resolved.note is not None:
        progress.say(resolved.note)
    scripts = ScriptCount.wanted(recipe, options.compared_by)
    with progress.stage("fingerprint"):
        how = FirstPass(scripts=scripts)
        values = KeptValues.of(options)
        documents = read_documents(
            corpus, recipe, progress=progress, resources=options.resources, values=values, how=how
        )
    if scripts is not None and (advice := scripts.advice(recipe)):
        progress.say(advice)
    corpus.tell_rejected()
    starts = corpus.starts or [0]
    shards = stored_shards(corpus.shards, starts, read_by)

    def report(how: Found) -> None:
        listing.summary = PairSummary(
            recipe=recipe.stored(),
            digest=recipe.digest(),
            method=how.method,
            similarity=similarity_to_store(options.similarity),
            min_similarity=options.min_similarity,
            max_distance=how.max_distance,
            min_tokens=how.min_tokens,
            distinct=distinct,
            pairs=0,
            recipe_decides=resolved.note,
            guard=options.guard,
            **_sides(shards, left),
        )

    first_of_other = None if left is None else starts[left]
    matches = list_matches(
        corpus,
        documents,
        recipe,
        options=options,
        progress=progress,
        first_of_other=first_of_other,
        distinct=distinct,
        report=report,
    )
    listing = _Listing(documents.ids, shards, matches)
    return listing


def _of_fingerprints(
    left: Sequence[Shard],
    right: Sequence[Shard],
    recipe: Recipe | None,
    options: DedupOptions,
    progress: Progress,
    *,
    distinct: bool,
) -> _Listing:
    if METHODS[options.method].needs_similarity:
        raise OptionError(
            f"`method={options.method!r}` needs texts, and these are fingerprint files. Leave it out, or give the texts."
        )
    with progress.stage("read"):
        files = read_fingerprint_files([*left, *right], progress.say)
    made_by = files[0].made_by() if recipe is None else recipe
    if recipe is not None:
        check_same(recipe, files[0].recipe, left[0].name)
    if options.max_distance is None and (recipe is None or recipe.max_distance is None):
        names = [shard.name for shard in (*left, *right)]
        known = common_distance(zip(names, [file.max_distance for file in files], strict=True))
        made_by = dataclasses.replace(made_by, max_distance=known)
    max_distance = distance_limit(made_by, dataclasses.replace(options, method=BY_DISTANCE), have_texts=False)
    assert max_distance is not None  # simhash has one
    documents = join_documents(*(file.documents for file in files), resources=options.resources)
    sides = np.repeat(np.arange(len(files)) >= len(left), [len(file.documents) for file in files])
    rows = np.flatnonzero(documents.valid)
    if distinct:
        rows = rows[exact_representatives(documents, rows, sides.astype(np.int64)) == rows]
    long_enough = rows[documents.tokens[rows] >= made_by.min_tokens]
    if len(long_enough) < len(rows):
        short = len(rows) - len(long_enough)
        have = "has" if short == 1 else "have"
        progress.say(f"{counted(short, short_document(made_by))} {have} no pairs by fingerprints alone")
    check_cost(len(long_enough), made_by, max_distance, progress)
    fingerprints = documents.fingerprints[long_enough]

    def matches() -> Iterator[Matches]:
        with progress.stage("join"):
            candidates = near_fingerprints(fingerprints, max_distance=max_distance, resources=options.resources)
            for a, b in candidate_pairs(candidates):
                order = np.lexsort((b, a))
                a, b = a[order], b[order]
                if right:
                    across = sides[long_enough[a]] != sides[long_enough[b]]
                    a, b = a[across], b[across]
                distance, unknown = hamming_distances(fingerprints, a, b), np.full(len(a), np.nan)
                yield Matches(long_enough[a], long_enough[b], distance, unknown)

    shards = tuple(stored for file in files for stored in file.shards)
    summary = PairSummary(
        recipe=made_by.stored(),
        digest=made_by.digest(),
        method=BY_DISTANCE,
        similarity=similarity_to_store(options.similarity),
        min_similarity=0.0,
        max_distance=max_distance,
        min_tokens=made_by.min_tokens,
        distinct=distinct,
        pairs=0,
        **_sides(shards, sum(len(file.shards) for file in files[: len(left)]) if right else None),
    )
    return _Listing(documents.ids, shards, matches(), summary)
