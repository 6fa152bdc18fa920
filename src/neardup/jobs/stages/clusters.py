"""Decide clusters from files of pairs and of fingerprints, as `deduplicate_files` would."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.hamming.candidate_graph import no_candidates
from neardup.io.corpora.file_corpus import check_on_error, is_within, rank_of_source
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.shard import Shard
from neardup.io.corpora.shards import Inputs, find_shards, listed_inputs
from neardup.io.corpora.stored_shards import StoredShard, starts_of
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import path_text, place_of
from neardup.jobs.results import FileResult
from neardup.jobs.stages.paired_documents import PairedDocuments, demand_pairs, read_paired_documents
from neardup.matching.candidates.task import Found
from neardup.matching.equal_texts import exact_representatives
from neardup.options import DedupOptions, OnError, SurvivorOptions, WholeClusterOptions, refuse_unknown
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import stored_similarity
from neardup.recipe.tables.keeps import By
from neardup.survivors.decisions import Findings, chosen, decide, demand_small_clusters, in_order_of_preference
from neardup.survivors.listed_pairs import LISTED_CLUSTERERS, EqualTexts, RowPairs, pairs_of_representatives
from neardup.survivors.records.cluster_file import ClusterFile, write_cluster_file
from neardup.survivors.records.counting import summarize
from neardup.survivors.records.summary import Summary
from neardup.text.preference import groups_of


class ClusterFileOptions(SurvivorOptions, WholeClusterOptions, total=False):
    """The options of `cluster_files`."""


def cluster_files(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    documents: str | Path | Sequence[str | Path],
    rethreshold: float | None = None,
    partial: bool = False,
    on_error: OnError = "stop",
    overwrite: bool = False,
    progress: Watcher = None,
    **options: Unpack[ClusterFileOptions],
) -> FileResult:
    """Decide which documents survive, from pairs and fingerprints alone; `neardup.survivors.records.cluster_file` has the format.

    With star clustering, decisions, similarities and distances equal those of `deduplicate_files` over the same shards in the same
    order with the same method and threshold. With components, survivors and clusters are also the same. But the similarity of a
    document to its survivor is null unless the pair is listed, and `matched_id` may name another member of its cluster.

    Args:
        pairs: files that `pair_files` wrote, all with the same recipe and options.
        output: a file that ends in .parquet.
        documents: the fingerprint files of all documents, in the order of the shards; this order is also the order of the rows.
        rethreshold: a similarity threshold above that of the pairs; the pairs' own by default. The bands of minhash depend on the
            threshold, so its pairs may include a few that a run at the higher threshold would miss.
        partial: accept that some shards were not compared with each other.
        on_error: the treatment of values that do not fit `keep_as`: `stop`, or `skip` them, so that they count as missing.
        overwrite, progress: as in `deduplicate_files`.
        **options: keep, keep_as, cluster, keep_most, drop_matched, max_cluster, prefer_source, within of `DedupOptions`; columns
            must be stored in the fingerprint files.

    Raises:
        RecipeMismatch: pairs or fingerprints were made by different recipes.
        InputError: pairs were made with different options, shards were not compared, or documents are missing.
        OptionError: `rethreshold` is below the threshold of the pairs, or a value is not allowed.
        DataError: a file is damaged.
    """
    output = path_text(output)
    refuse_unknown(options, cluster_files)
    check_on_error(on_error)
    progress = progress_of(progress)
    path = place_of(output)
    if not output.endswith(".parquet"):
        raise InputError(f"{output}: clusters are Parquet. Give a name that ends in .parquet.")
    pair_shards = [shard for shard in _found(pairs) if not shard.name.endswith(".summary.json")]
    print_shards = _found(documents)
    demand_pairs(pair_shards)
    shards = [*pair_shards, *print_shards]
    with Outputs([path], reads=ReadFiles(shards), overwrite=overwrite) as outputs:
        with progress.stage("read"):
            paired = read_paired_documents(
                pair_shards, print_shards, rethreshold=rethreshold, partial=partial, progress=progress
            )
        chosen = _options(paired, print_shards[0].name, options)
        with progress.stage("cluster", len(paired.documents)):
            findings = _decided(paired, chosen, skips=on_error == "skip")
        file, summary = _cluster_file(paired, findings, chosen, progress)
        write_cluster_file(outputs.claim(path), file)
        outputs.commit()
    given = {"pairs": [shard.name for shard in pair_shards], "documents": [shard.name for shard in print_shards]}
    files = given | {"output": output, "audit": None, "summary": None, "rejects": None}
    return FileResult(summary, files, shards=tuple(shard.name for shard in paired.shards))


def _options(paired: PairedDocuments, prints: str, given: ClusterFileOptions) -> DedupOptions:
    """The options of the pairs, with those that are chosen here."""
    made = paired.made
    determined: dict[str, Any] = {
        "method": made.method,
        "similarity": stored_similarity(made.similarity),
        "min_similarity": paired.threshold,
        "max_distance": made.max_distance,
        "guard": made.guard,
    }
    chosen = DedupOptions(**determined, **given)
    missing = [name for name in chosen.columns if name not in paired.documents.values]
    if missing:
        raise InputError(
            f"{prints} has no column {missing[0]!r}. Make it anew with `neardup fingerprint --value {missing[0]}`."
        )
    if chosen.preference.by is By.LENGTH and not _knows_lengths(paired):
        raise OptionError(
            f"`keep={chosen.keep!r}`: {prints} has fingerprints of vectors or of another program, so the lengths of texts are not "
            "known. Keep the first or the last, or store a column with `value` and keep by that: 'max:COLUMN'."
        )
    if chosen.functions:
        raise OptionError("A function of the text needs texts, and these are fingerprint files. Name a column.")
    return chosen


def _knows_lengths(paired: PairedDocuments) -> bool:
    """Whether the fingerprints are of texts whose lengths are known."""
    documents = paired.documents
    return isinstance(paired.recipe, Recipe) and not (documents.lengths[documents.valid] < 0).any()


def _decided(paired: PairedDocuments, options: DedupOptions, *, skips: bool) -> Findings:
    known, made = paired.documents, paired.made
    groups = None if options.grouped_by is None else groups_of(known.values[options.grouped_by])
    preferred = in_order_of_preference(known, options, sources=_sources(paired.shards, options), skips=skips)
    representative = exact_representatives(known, preferred, groups)
    pairs = RowPairs(paired.left, paired.right, paired.distance, paired.similarity)
    listed = pairs_of_representatives(known, EqualTexts(preferred, representative, groups), pairs)
    clustering = LISTED_CLUSTERERS[options.cluster](listed, by_distance=paired.threshold == 0)
    decisions = decide(known, preferred, representative, listed.rows, clustering)
    demand_small_clusters(decisions, known.ids, options)
    decisions = chosen(decisions, preferred, options, inputs=len(known))
    how = Found(listed.rows, no_candidates(), made.min_tokens, made.method, max_distance=made.max_distance)
    short = int(np.count_nonzero(_short(paired)))
    return Findings(known, len(known), decisions, how, short, clustering.compared, clustering.matches)


def _short(paired: PairedDocuments) -> Array:
    """bool[rows]: documents that are too short to match any but equal texts."""
    found: Array = paired.documents.valid & (paired.documents.tokens < paired.made.min_tokens)
    return found


def _cluster_file(
    paired: PairedDocuments, findings: Findings, options: DedupOptions, progress: Progress
) -> tuple[ClusterFile, Summary]:
    """The content of the cluster file, and the summary in it."""
    repeated = _repeats(paired.documents.ids)
    summary = summarize(findings, paired.recipe, options, progress, repeated_ids=int(repeated.sum()))
    starts = starts_of(paired.shards)
    short, repeats = (np.diff(np.concatenate([[0], np.cumsum(each)])[starts]) for each in (_short(paired), repeated))
    file = ClusterFile(findings.decisions, paired.documents.ids, paired.shards, short, repeats, summary.as_dict())
    return file, summary


def _found(inputs: Inputs) -> list[Shard]:
    given = listed_inputs(inputs)
    if "-" in map(str, given):
        raise InputError("-: pairs and fingerprints are read from files. Name files, folders or globs.")
    return find_shards(given)


def _sources(shards: Sequence[StoredShard], options: DedupOptions) -> Array | None:
    sources = tuple(options.prefer_source)
    if not sources:
        return None
    for source in sources:
        if not any(is_within(shard.name, source) for shard in shards):
            raise InputError(
                f"`prefer_source={source!r}`: no shard is of this source. Give a file, a folder or a glob."
            )
    ranks = [rank_of_source(shard.name, sources) for shard in shards]
    return np.repeat(np.array(ranks, np.int64), [shard.rows for shard in shards])


def _repeats(ids: Any) -> Array:
    """bool[rows]: whether an earlier document has the same id."""
    encoded = pc.dictionary_encode(ids).indices
    present = encoded.is_valid().to_numpy(zero_copy_only=False)
    repeats: Array = present.copy()
    rows = np.flatnonzero(present)
    repeats[rows[np.unique(encoded.drop_null().to_numpy(), return_index=True)[1]]] = False
    return repeats
