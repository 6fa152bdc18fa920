"""Read the fingerprints of documents and their listed pairs from files, and check that they belong together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import DataError, InputError, OptionError
from neardup.fingerprints.documents import Documents, join_documents
from neardup.fingerprints.files.fingerprint_file import is_fingerprint_file, read_fingerprint_files
from neardup.io.checks.column_checks import MAX_LISTED
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.stored_shards import FINGERPRINT, StoredShard, is_as_it_was, plain_columns, starts_of
from neardup.matching.pair_file import PairChunk, PairSummary, read_pair_summary, read_pairs
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.serialization import check_same
from neardup.recipe.tables.parts import FILES

MADE_BY = ("method", "similarity", "max_distance", "min_tokens", "guard")


@dataclass(frozen=True, slots=True)
class PairedDocuments:
    """The content of files of pairs and of fingerprints that belong together.

    Attributes:
        documents: the documents of all fingerprint files, one file after another.
        shards: the shards of texts from which the fingerprints were made, in the order of the rows.
        recipe: the recipe of the fingerprints.
        made: how the pairs were found; the same for all files.
        threshold: the minimum similarity of the pairs; 0 if they match by distance alone.
        left, right: int64[p], the rows of each pair.
        distance: int64[p], the Hamming distance of each pair.
        similarity: float64[p], the similarity of each pair.
    """

    documents: Documents
    shards: tuple[StoredShard, ...]
    recipe: FingerprintRecipe
    made: PairSummary
    threshold: float
    left: Array
    right: Array
    distance: Array
    similarity: Array


def read_paired_documents(
    pair_shards: Sequence[Shard],
    print_shards: Sequence[Shard],
    *,
    rethreshold: float | None,
    partial: bool,
    progress: Progress,
) -> PairedDocuments:
    """Read files of pairs and of fingerprints.

    Raises:
        RecipeMismatch: pairs or fingerprints were made by different recipes.
        InputError: pairs were made with different options, shards were not compared, or documents are missing.
        OptionError: `rethreshold` is below the threshold of the pairs.
        DataError: a file is damaged.
    """
    files = read_fingerprint_files(print_shards, progress.say)
    shards = tuple(stored for file in files for stored in file.shards)
    summaries = [read_pair_summary(shard.path) for shard in pair_shards]
    _check(pair_shards, summaries, files[0].recipe, print_shards[0].name)
    _check_compared(pair_shards, summaries, shards, partial=partial, progress=progress)
    threshold = _threshold(pair_shards, summaries, rethreshold)
    documents = join_documents(*(file.documents for file in files))
    (left, right), distance, similarity = _read(pair_shards, summaries, shards, documents, threshold)
    made_by, made = files[0].made_by(), summaries[0]
    return PairedDocuments(documents, shards, made_by, made, threshold, left, right, distance, similarity)


def demand_pairs(shards: Sequence[Shard]) -> None:
    """Raise InputError if one of the files holds fingerprints."""
    for shard in shards:
        if is_fingerprint_file(shard):
            raise InputError(
                f"{shard.name} holds fingerprints, not pairs. Give it as `documents`, and what `neardup pairs` wrote as `pairs`."
            )


def _check(pair_shards: Sequence[Shard], summaries: Sequence[PairSummary], recipe: dict[str, Any], prints: str) -> None:
    """Raise RecipeMismatch or InputError unless all pairs were made by the same recipe and options."""
    first = summaries[0]
    for shard, summary in zip(pair_shards, summaries, strict=True):
        check_same(recipe, summary.recipe, shard.name, f"that of {prints}")
        differing = [name for name in MADE_BY if _made(summary, name) != _made(first, name)]
        if differing:
            name = differing[0]
            raise InputError(
                f"{pair_shards[0].name} was made with `{name}={_made(first, name)!r}`, {shard.name} with "
                f"{_made(summary, name)!r}: they do not belong together. "
                "Make all pairs with the same options, and name the method."
            )


def _made(summary: PairSummary, name: str) -> Any:
    """An option of the pairs; a similarity without the files that it brings, which may lie anywhere."""
    value = getattr(summary, name)
    return {key: each for key, each in value.items() if key != FILES} if isinstance(value, dict) else value


def _threshold(pair_shards: Sequence[Shard], summaries: Sequence[PairSummary], rethreshold: float | None) -> float:
    made = [summary.min_similarity for summary in summaries]
    highest = max(made)
    if rethreshold is None:
        if min(made) < highest:
            low, high = made.index(min(made)), made.index(highest)
            raise InputError(
                f"{pair_shards[low].name} was made with `min_similarity={made[low]}`, {pair_shards[high].name} with {highest}. "
                f"Make all with the same, or give `rethreshold={highest}` or more."
            )
        return highest
    try:
        chosen = DedupOptions(min_similarity=rethreshold).min_similarity
    except OptionError:
        raise OptionError(f"`rethreshold={rethreshold!r}`: give a number from 0 to 1.") from None
    if min(made) == 0:
        raise OptionError(
            f"`rethreshold={rethreshold}`: {pair_shards[made.index(0)].name} was made by distance alone, so no similarity is "
            "known. Make the pairs of the texts with a `min_similarity` above 0."
        )
    if chosen < highest:
        raise OptionError(
            f"`rethreshold={rethreshold}`: {pair_shards[made.index(highest)].name} was made with `min_similarity={highest}`, and "
            f"pairs below that are not listed. Give {highest} or more, or make the pairs anew."
        )
    return chosen


def _check_compared(
    pair_shards: Sequence[Shard],
    summaries: Sequence[PairSummary],
    shards: Sequence[StoredShard],
    *,
    partial: bool,
    progress: Progress,
) -> None:
    """Raise InputError if pairs refer to unknown or changed shards, or if shards were not compared with each other."""
    numbers = {shard.name: number for number, shard in enumerate(shards)}
    compared = np.zeros((len(shards), len(shards)), np.bool_)

    def places(of: Iterable[StoredShard], file: str) -> list[int]:
        found = []
        for shard in of:
            number = numbers.get(shard.name)
            if number is None:
                raise InputError(
                    f"{file} has pairs of {shard.name}, which no fingerprint file is about. Name its fingerprint file, too."
                )
            if (shards[number].rows, shards[number].size) != (shard.rows, shard.size):
                raise InputError(
                    f"{shard.name} had {shard.rows:,} rows in {shard.size:,} bytes when {file} was made, but "
                    f"{shards[number].rows:,} in {shards[number].size:,} when its fingerprints were. Make both anew."
                )
            if not is_as_it_was(shards[number], shard.content):
                raise InputError(
                    f"{shard.name} was another file when {file} was made than when its fingerprints were: it has as many bytes and "
                    "rows, but others. Make both anew."
                )
            _check_read_alike(shards[number], shard, file)
            found.append(number)
        return found

    for shard, summary in zip(pair_shards, summaries, strict=True):
        left = places(summary.left, shard.name)
        right = left if summary.right is None else places(summary.right, shard.name)
        compared[np.ix_(left, right)] = True
        compared[np.ix_(right, left)] = True
    missing = np.argwhere(np.triu(~compared))
    if not len(missing):
        return
    lines = [
        f"{shards[a].name} was not compared with {'itself' if a == b else shards[b].name}"
        for a, b in missing[:MAX_LISTED].tolist()
    ]
    more = f"\n… and {counted(len(missing) - MAX_LISTED, 'more pair')} of files." if len(missing) > MAX_LISTED else ""
    if not partial:
        raise InputError(
            "\n".join(lines) + more + "\nName more files of pairs, or pass `partial=True` to decide without them."
        )
    progress.say("partial: " + "; ".join(lines) + more)


def _check_read_alike(known: StoredShard, paired: StoredShard, file: str) -> None:
    """Raise InputError if pairs were made of other texts of the shard than its fingerprints, as far as both are recorded."""
    a, b = known.reading, paired.reading
    if a is None or b is None or FINGERPRINT in a or FINGERPRINT in b:
        return
    usual = Reading()
    for name in ("text", "elements", "html"):
        there, here = (each.get(name, getattr(usual, name)) for each in (b, a))
        if list(there or ()) != list(here or ()):
            raise InputError(
                f"{known.name} was read with `{name}={plain_columns(there)!r}` when {file} was made, but with "
                f"`{name}={plain_columns(here)!r}` when its fingerprints were: other texts. Make both anew alike."
            )


def _read(
    pair_shards: Sequence[Shard],
    summaries: Sequence[PairSummary],
    shards: Sequence[StoredShard],
    documents: Documents,
    min_similarity: float,
) -> tuple[Array, Array, Array]:
    """The pairs whose similarity is at least `min_similarity`: rows int64[2, p], distances int64[p], similarities float64[p]."""
    names = pa.array([shard.name for shard in shards], pa.large_string())
    starts, sizes, valid = starts_of(shards), np.array([shard.rows for shard in shards]), documents.valid
    rows, distances, similarities = [np.empty((2, 0), np.int64)], [np.empty(0, np.int64)], [np.empty(0)]

    def global_rows(files: Any, there: Array, path: str) -> Array:
        numbers = pc.index_in(files, names)
        if numbers.null_count:
            name = files.filter(numbers.is_null())[0].as_py()
            raise DataError(f"{path} has pairs of {name}, of which its summary says nothing. Make the pairs anew.")
        number = numbers.to_numpy()
        found: Array = starts[number] + there
        if ((there < 0) | (there >= sizes[number])).any() or not valid[found].all():
            raise DataError(f"{path} has pairs of rows that are no documents. Make the pairs anew.")
        return found

    for shard, summary in zip(pair_shards, summaries, strict=True):
        for chunk in read_pairs(shard.path, summary):
            chunk = _at_least(chunk, min_similarity)
            left = global_rows(chunk.left_files, chunk.left_rows, shard.name)
            right = global_rows(chunk.right_files, chunk.right_rows, shard.name)
            rows.append(np.stack([left, right]))
            distances.append(chunk.distance)
            similarities.append(chunk.similarity)
    return np.concatenate(rows, axis=1), np.concatenate(distances), np.concatenate(similarities)


def _at_least(chunk: PairChunk, min_similarity: float) -> PairChunk:
    if min_similarity == 0:
        return chunk
    enough = chunk.similarity >= min_similarity
    mask = pa.array(enough)
    return PairChunk(
        chunk.left_files.filter(mask),
        chunk.left_rows[enough],
        chunk.right_files.filter(mask),
        chunk.right_rows[enough],
        chunk.distance[enough],
        chunk.similarity[enough],
    )
