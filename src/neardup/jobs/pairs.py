"""List the near pairs of texts or of fingerprint files."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.candidates.simhash import check_cost, near_fingerprints
from neardup.documents import read_documents
from neardup.errors import InputError, OptionError
from neardup.io.corpus import FileCorpus
from neardup.io.fingerprint_file import FingerprintFile, is_fingerprint_file, read_fingerprint_file
from neardup.io.ids import json_ids
from neardup.io.outputs import Outputs
from neardup.io.reading import READING, Reading, split_options
from neardup.io.records import PairWriter
from neardup.io.shards import Shard, find_shards
from neardup.jobs.targets import refuse_inputs
from neardup.matches import candidate_pairs, hamming_distances, list_matches
from neardup.options import DedupOptions, distance_limit, memory_bytes
from neardup.progress import Progress
from neardup.recipe import Recipe, check_same


def pair_files(
    inputs: str | Path | Sequence[str | Path],
    output: str,
    *,
    recipe: Recipe | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> int:
    """Write every pair of documents that are near each other: left_id, right_id, distance, similarity.

    Of texts, the pairs within the distance whose similarity is at least min_similarity (null for 0, by distance alone). Of
    fingerprint files, the pairs within the distance; their similarity is null. Short texts match only where their normalized
    texts are equal, so they have no pairs by fingerprints alone.

    Args:
        inputs: texts as in `deduplicate_files`, or fingerprint files, all of one recipe.
        output: a file that ends in .jsonl, .jsonl.gz, .jsonl.zst or .parquet.
        recipe, overwrite, progress: as in `deduplicate_files`; fingerprint files bring their ids and recipe.
        **options: the fields of `neardup.io.reading.Reading` (text, id …; for texts only);
            method, min_similarity (of texts only), similarity, max_distance, threads, temp_dir of `DedupOptions`.

    Returns:
        The number of pairs.

    Raises:
        RecipeMismatch: the fingerprint files were made by different recipes.
        InputError, OptionError, DataError: as `deduplicate_files`.
    """
    reading, others = split_options(options)
    progress, chosen = progress or Progress(), DedupOptions(**others)
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=chosen.temp_dir) as spool:
        shards = find_shards(inputs, temporary=Path(spool))
        made = [shard.format == "parquet" and is_fingerprint_file(shard.path) for shard in shards]
        if any(made) and not all(made):
            other = shards[made.index(False)].name
            raise InputError(
                f"{other} holds texts, other inputs hold fingerprints. Give only texts, or only fingerprint files."
            )
        if any(made) and options.get("min_similarity"):
            raise OptionError(
                f"min_similarity={chosen.min_similarity}: fingerprint files hold no texts, so no similarity is known. "
                "Leave it out, or give the texts."
            )
        if any(made) and reading != Reading():
            given = [name for name in READING if getattr(reading, name) != getattr(Reading(), name)]
            raise OptionError(f"{', '.join(given)}: these are fingerprint files, not texts. Leave it out.")
        path = Path(output)
        refuse_inputs([path], shards)
        with Outputs([path], inputs=shards, overwrite=overwrite) as outputs:
            with contextlib.closing(PairWriter(path, outputs.claim(path))) as writer:
                if any(made):
                    total = _of_fingerprints(shards, recipe, chosen, writer, progress)
                else:
                    corpus = FileCorpus(shards, reading.columns(), progress=progress)
                    corpus.check()
                    total = _of_texts(corpus, recipe or Recipe(), chosen, writer, progress)
            outputs.commit()
    return total


def _of_texts(corpus: FileCorpus, recipe: Recipe, options: DedupOptions, writer: PairWriter, progress: Progress) -> int:
    distance_limit(recipe, options)  # refused, if at all, before any work
    with progress.stage("fingerprint"):
        documents = read_documents(corpus, recipe, threads=options.threads, progress=progress)
    total = 0
    for found in list_matches(corpus, documents, recipe, options=options, progress=progress):
        left, right = documents.ids.take(pa.array(found.left)), documents.ids.take(pa.array(found.right))
        writer.write(left, right, found.distance, found.similarity)
        total += len(found)
    return total


def _read_files(shards: Sequence[Shard]) -> list[FingerprintFile]:
    files = [read_fingerprint_file(shard.path) for shard in shards]
    for shard, file in zip(shards, files, strict=True):
        check_same(files[0].digest, file.digest, shard.name)
    return files


def _of_fingerprints(
    shards: Sequence[Shard], recipe: Recipe | None, options: DedupOptions, writer: PairWriter, progress: Progress
) -> int:
    if options.method not in ("auto", "simhash"):
        raise OptionError(
            f"method={options.method!r} needs texts, and these are fingerprint files. Leave it out, or give the texts."
        )
    with progress.stage("read"):
        files = _read_files(shards)
    made_by = files[0].made_by()
    if recipe is not None:
        check_same(recipe.digest(), files[0].digest, shards[0].name)
        made_by = recipe
    max_distance = distance_limit(made_by, dataclasses.replace(options, method="simhash"))
    assert max_distance is not None  # simhash has one
    ids = pa.chunked_array([file.ids for file in files]).combine_chunks()
    long_enough = np.flatnonzero(~np.concatenate([file.short for file in files]))
    if len(long_enough) < len(ids):
        progress.say(f"{len(ids) - len(long_enough):,} short texts have no pairs by fingerprints alone")
    fingerprints = np.concatenate([file.fingerprints for file in files])[long_enough]
    check_cost(len(fingerprints), made_by, max_distance, progress)
    total = 0
    with progress.stage("join"):
        candidates = near_fingerprints(
            fingerprints,
            max_distance=max_distance,
            threads=options.threads,
            memory=memory_bytes(options.memory),
            temp_dir=options.temp_dir,
        )
        for left, right in candidate_pairs(candidates):
            order = np.lexsort((right, left))
            left, right = left[order], right[order]
            left_ids, right_ids = (json_ids(ids.take(pa.array(long_enough[side]))) for side in (left, right))
            writer.write(left_ids, right_ids, hamming_distances(fingerprints, left, right), np.full(len(left), np.nan))
            total += len(left)
    return total
