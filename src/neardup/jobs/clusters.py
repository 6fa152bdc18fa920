"""From files of pairs and of fingerprints to clusters, as `deduplicate_files` would find them."""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import DataError, InputError, OptionError
from neardup.fingerprints.documents import Documents, join_documents
from neardup.fingerprints.fingerprint_file import is_fingerprint_file
from neardup.hamming.classes import no_candidates
from neardup.io.corpus import LISTED, is_of_source
from neardup.io.outputs import Outputs
from neardup.io.shards import Shard, find_shards
from neardup.io.storage.places import place_of
from neardup.io.stored_shards import StoredShard, is_as_it_was, starts_of
from neardup.jobs.output_paths import refuse_inputs
from neardup.jobs.pairs import read_fingerprint_files
from neardup.jobs.results import FileResult
from neardup.matching.candidates.task import Found
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.pair_file import PairChunk, PairSummary, read_pair_summary, read_pairs
from neardup.options import DedupOptions, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.serialization import check_same
from neardup.survivors.cluster_file import ClusterFile, write_cluster_file
from neardup.survivors.decisions import Findings, decide, in_order_of_preference
from neardup.survivors.listed_pairs import LISTED_CLUSTERERS, pairs_of_representatives
from neardup.survivors.summary import summarize
from neardup.text.preference import groups_of

MADE_BY = ("method", "similarity", "max_distance", "min_tokens")


def cluster_files(
    pairs: str | Path | Sequence[str | Path],
    output: str,
    *,
    documents: str | Path | Sequence[str | Path],
    rethreshold: float | None = None,
    partial: bool = False,
    overwrite: bool = False,
    progress: Watcher = None,
    **options: Any,
) -> FileResult:
    """Decide which documents survive, from pairs and fingerprints alone; see `neardup.survivors.cluster_file` for what is written.

    With star clustering, decisions, similarities and distances are those of `deduplicate_files` over the same shards in the same
    order with the same method and threshold. So are survivors and clusters with components; there the similarity to a survivor is
    null unless the two are a listed pair, and the match that brought a document in may be another one of its cluster.

    Args:
        pairs: files that `pair_files` wrote, all with the same recipe and options.
        output: a file that ends in .parquet.
        documents: the fingerprint files of all documents, in the order of the shards; that order is that of the rows.
        rethreshold: a higher similarity than the pairs were made for; theirs if not given. By minhash, whose bands depend on the
            similarity asked for, a few pairs more may be found than if it had been asked for at once.
        partial: do not ask that every shard was compared with every shard.
        overwrite, progress: as in `deduplicate_files`.
        **options: keep, cluster, prefer_source, within of `DedupOptions`; columns must be stored in the fingerprint files.

    Raises:
        RecipeMismatch: pairs or fingerprints were made by different recipes.
        InputError: pairs were made with different options, shards were not compared, or documents are missing.
        OptionError: `rethreshold` is below what the pairs were made for, or a value is not allowed.
        DataError: a file is damaged.
    """
    unknown = set(options) - {"keep", "cluster", "prefer_source", "within"}
    if unknown:
        raise OptionError(f"{', '.join(sorted(unknown))}: the pairs say how they were found. Leave it out.")
    progress = progress_of(progress)
    path = place_of(output)
    if not output.endswith(".parquet"):
        raise InputError(f"{output}: clusters are Parquet. Give a name that ends in .parquet.")
    with tempfile.TemporaryDirectory(prefix="neardup-") as spool:
        pair_shards = [shard for shard in _found(pairs, spool) if not shard.name.endswith(".summary.json")]
        print_shards = _found(documents, spool)
    _demand_pairs(pair_shards)
    refuse_inputs([path], [*pair_shards, *print_shards])
    with Outputs([path], inputs=[*pair_shards, *print_shards], overwrite=overwrite) as outputs:
        with progress.stage("read"):
            files = read_fingerprint_files(print_shards)
            shards = tuple(stored for file in files for stored in file.shards)
            summaries = [read_pair_summary(shard.path) for shard in pair_shards]
            _check(pair_shards, summaries, files[0].recipe, print_shards[0].name)
            _check_compared(pair_shards, summaries, shards, partial=partial, progress=progress)
            least = _threshold(pair_shards, summaries, rethreshold)
            known = join_documents(*(file.documents for file in files))
            rows, distance, similarity = _read(pair_shards, summaries, shards, known, least)
        made = summaries[0]
        chosen = options_of(
            method=made.method,
            similarity=made.similarity,
            min_similarity=least,
            max_distance=made.max_distance,
            **options,
        )
        missing = [name for name in chosen.columns if name not in known.values]
        if missing:
            raise InputError(
                f"{print_shards[0].name} has no column {missing[0]!r}. Make it anew with "
                f"`neardup fingerprint --value {missing[0]}`."
            )
        if chosen.functions:
            raise OptionError("A function of the text needs texts, and these are fingerprint files. Name a column.")
        groups = None if chosen.grouped_by is None else groups_of(known.values[chosen.grouped_by])
        with progress.stage("cluster", len(known)):
            preferred = in_order_of_preference(known, chosen, sources=_sources(shards, chosen))
            representative = exact_representatives(known, preferred, groups)
            listed = pairs_of_representatives(
                known, preferred, representative, groups, rows[0], rows[1], distance, similarity
            )
            clustering = LISTED_CLUSTERERS[chosen.cluster](listed, by_distance=least == 0)
            decisions = decide(known, preferred, representative, listed.rows, clustering)
        short = known.valid & (known.tokens < made.min_tokens)
        repeated = _repeats(known.ids)
        how = Found(listed.rows, no_candidates(), made.min_tokens, made.method, max_distance=made.max_distance)
        findings = Findings(
            known, len(known), decisions, how, int(short.sum()), clustering.compared, clustering.matches
        )
        summary = summarize(findings, files[0].made_by(), chosen, progress, repeated_ids=int(repeated.sum()))
        starts = starts_of(shards)
        by_shard = [np.diff(np.concatenate([[0], np.cumsum(each)])[starts]) for each in (short, repeated)]
        write_cluster_file(
            outputs.claim(path), ClusterFile(decisions, known.ids, shards, by_shard[0], by_shard[1], summary.as_dict())
        )
        outputs.commit()
    given = {"pairs": [shard.name for shard in pair_shards], "documents": [shard.name for shard in print_shards]}
    return FileResult(summary, given | {"output": output, "audit": None, "summary": None, "rejects": None})


def _found(inputs: str | Path | Sequence[str | Path], spool: str) -> list[Shard]:
    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    if "-" in map(str, given):
        raise InputError("-: pairs and fingerprints are read from files. Name files, folders or globs.")
    return find_shards(given, temporary=Path(spool))


def _demand_pairs(shards: Sequence[Shard]) -> None:
    """Raise InputError if one of the files is of fingerprints."""
    for shard in shards:
        if shard.format == "parquet" and is_fingerprint_file(shard.path):
            raise InputError(
                f"{shard.name} holds fingerprints, not pairs. Give it with --documents, and what `neardup pairs` wrote as PAIRS."
            )


def _check(pair_shards: Sequence[Shard], summaries: Sequence[PairSummary], recipe: dict[str, Any], prints: str) -> None:
    """Raise RecipeMismatch or InputError unless all were made likewise."""
    first = summaries[0]
    for shard, summary in zip(pair_shards, summaries, strict=True):
        check_same(recipe, summary.recipe, shard.name, f"that of {prints}")
        differing = [name for name in MADE_BY if getattr(summary, name) != getattr(first, name)]
        if differing:
            name = differing[0]
            raise InputError(
                f"{pair_shards[0].name} was made with {name}={getattr(first, name)!r}, {shard.name} with "
                f"{getattr(summary, name)!r}: they do not belong together. "
                "Make all pairs with the same options, and name the method."
            )


def _threshold(pair_shards: Sequence[Shard], summaries: Sequence[PairSummary], rethreshold: float | None) -> float:
    made = [summary.min_similarity for summary in summaries]
    highest = max(made)
    if rethreshold is None:
        if min(made) < highest:
            low, high = made.index(min(made)), made.index(highest)
            raise InputError(
                f"{pair_shards[low].name} was made with min_similarity={made[low]}, {pair_shards[high].name} with {highest}. "
                f"Make all with the same, or give rethreshold={highest} or more."
            )
        return highest
    chosen = DedupOptions(min_similarity=rethreshold).min_similarity
    if min(made) == 0:
        raise OptionError(
            f"rethreshold={rethreshold}: {pair_shards[made.index(0)].name} was made by distance alone, so no similarity is known. "
            "Make the pairs of the texts with a min_similarity above 0."
        )
    if chosen < highest:
        raise OptionError(
            f"rethreshold={rethreshold}: {pair_shards[made.index(highest)].name} was made with min_similarity={highest}, and pairs "
            f"below that are not listed. Give {highest} or more, or make the pairs anew."
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
    """Raise InputError if pairs are of unknown or changed shards, or shards were not compared with each other."""
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
        for a, b in missing[:LISTED].tolist()
    ]
    more = f"\n… and {counted(len(missing) - LISTED, 'more pair')} of files." if len(missing) > LISTED else ""
    if not partial:
        raise InputError(
            "\n".join(lines) + more + "\nName more files of pairs, or pass --partial to decide without them."
        )
    progress.say("partial: " + "; ".join(lines) + more)


def _read(
    pair_shards: Sequence[Shard],
    summaries: Sequence[PairSummary],
    shards: Sequence[StoredShard],
    documents: Documents,
    least: float,
) -> tuple[Array, Array, Array]:
    """int64[2, p], rows; int64[p], distance; float64[p], similarity; of pairs of at least the similarity."""
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
        total = 0
        for chunk in read_pairs(shard.path):
            total += len(chunk)
            chunk = _at_least(chunk, least)
            left = global_rows(chunk.left_files, chunk.left_rows, shard.name)
            right = global_rows(chunk.right_files, chunk.right_rows, shard.name)
            rows.append(np.stack([left, right]))
            distances.append(chunk.distance)
            similarities.append(chunk.similarity)
        if total != summary.pairs:
            raise DataError(
                f"{shard.name} has {total:,} pairs, its summary says {summary.pairs:,}: one of them is not whole. Make both anew."
            )
    return np.concatenate(rows, axis=1), np.concatenate(distances), np.concatenate(similarities)


def _at_least(chunk: PairChunk, least: float) -> PairChunk:
    if least == 0:
        return chunk
    enough = chunk.similarity >= least
    mask = pa.array(enough)
    return PairChunk(
        chunk.left_files.filter(mask),
        chunk.left_rows[enough],
        chunk.right_files.filter(mask),
        chunk.right_rows[enough],
        chunk.distance[enough],
        chunk.similarity[enough],
    )


def _sources(shards: Sequence[StoredShard], options: DedupOptions) -> Array | None:
    sources = tuple(options.prefer_source)
    if not sources:
        return None
    for source in sources:
        if not any(is_of_source(shard, source) for shard in shards):
            raise InputError(f"prefer_source={source!r}: no shard is of this source. Give a file, a folder or a glob.")
    ranks = [
        next((rank for rank, source in enumerate(sources) if is_of_source(shard, source)), len(sources))
        for shard in shards
    ]
    return np.repeat(np.array(ranks, np.int64), [shard.rows for shard in shards])


def _repeats(ids: Any) -> Array:
    """bool[rows]: an earlier document has the same id."""
    encoded = pc.dictionary_encode(ids).indices
    present = encoded.is_valid().to_numpy(zero_copy_only=False)
    repeats: Array = present.copy()
    rows = np.flatnonzero(present)
    repeats[rows[np.unique(encoded.drop_null().to_numpy(), return_index=True)[1]]] = False
    return repeats
