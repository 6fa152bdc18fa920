"""Write fingerprint files of numeric vectors."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InputError
from neardup.fingerprints.documents import Documents
from neardup.fingerprints.vectors.dense import DenseRoute
from neardup.fingerprints.vectors.planes import planes_of
from neardup.io.corpora.batch import BATCH_BYTES, Batch, Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.corpora.shards import find_shards, listed_inputs
from neardup.io.corpora.stored_shards import recorded_reading
from neardup.io.formats.columnar.vector_columns import fixed_dimension
from neardup.io.formats.table import opened_table
from neardup.io.outputs.output_names import output_for
from neardup.io.storage.places import path_text
from neardup.jobs.stages.fingerprint_outputs import fingerprint_paths, write_fingerprint_files
from neardup.kernels.xxh3 import digest_rows
from neardup.options import OnError
from neardup.progress import Watcher, progress_of
from neardup.recipe.programs import Digits
from neardup.recipe.vectors import VectorMethod, VectorRecipe
from neardup.resources.resources import Resources
from neardup.resources.unfinished import temporary_folder
from neardup.text.nested import column_at, type_at


def fingerprint_vector_files(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    vector: str,
    bits: int = 64,
    seed: int = 0,
    method: VectorMethod = "signs",
    max_distance: int | None = None,
    id: str | None = None,  # noqa: A002 - the option's name
    value: Sequence[str] = (),
    digits: Digits | None = None,
    on_error: OnError = "stop",
    threads: int | None = None,
    temp_dir: str | None = None,
    temp_limit: int | str | None = None,
    overwrite: bool = False,
    progress: Watcher = None,
) -> int:
    """Write the fingerprint of every vector; see `neardup.fingerprints.files.fingerprint_file` for the format.

    All vectors have the length of the first one. A vector of zeros only has no direction, so it is `short` and near no other.

    Args:
        inputs: Parquet files, folders of them or globs.
        output, value, digits: as in `fingerprint_files`.
        vector: the column of vectors: lists, or lists of fixed size, of float16, float32, float64 or integers.
        bits, seed, method: as in `fingerprint_vectors`.
        max_distance: the distance that later steps take by default, kept in the file; there is none by default.
        id: the column of the ids. By default this is `id`; without such a column, ids are FILE:ROW.
        on_error: the treatment of vectors that are null, have another length, or hold null, NaN or infinite numbers: `stop`, or
            `skip` them into a file of rejects, which is the output without its ending + `.rejects.jsonl`.
        threads, temp_dir, temp_limit, overwrite, progress: as in `fingerprint_files`.

    Returns:
        The number of vectors, without rejected rows.

    Raises:
        InputError: an input is missing, is not Parquet or has no such column of vectors, or an output exists.
        OptionError: bits, seed or method has a value that is not allowed.
        DataError: a vector cannot be read, or a file is damaged.
    """
    output = output_for(path_text(output), listed_inputs(inputs)) or ""
    made_by = partial(VectorRecipe, bits=bits, seed=seed, method=method, max_distance=max_distance)
    made_by(dimension=1)  # refuses options before any work
    progress, resources = progress_of(progress), Resources(threads, temp_dir=temp_dir, temp_limit=temp_limit)
    with temporary_folder(resources.files) as spool:
        shards = find_shards(inputs, temporary=spool, progress=progress)
        for shard in shards:
            if shard.format not in OF_COLUMNS:
                raise InputError(
                    f"{shard.name} is {shard.format}, but vectors are read from Parquet and Arrow files. Convert it."
                )
        paths = fingerprint_paths(output, shards, on_error)
        paths.content(made_by(dimension=1), value, digits)
        asked_by = dict.fromkeys(value, "value=")
        FileCorpus(shards, Columns(id=id, values=tuple(value), vector=vector, asked_by=asked_by)).check()
        recipe = made_by(dimension=_dimension(shards, vector))
        columns = Columns(id=id, values=tuple(value), vector=vector, dimension=recipe.dimension)
        corpus = FileCorpus(shards, columns, on_error=on_error, progress=progress, resources=resources)
        with paths.opened(shards, overwrite=overwrite, temp_dir=temp_dir) as outputs:
            read_by = recorded_reading(Reading(id=id))
            read, content = _Reader(recipe, value).read, paths.content(recipe, value, digits, read_by)
            return write_fingerprint_files(corpus, read, content, paths, outputs, progress)


def _dimension(shards: Sequence[Shard], vector: str) -> int:
    """The length of the first vector."""
    for shard in shards:
        with opened_table(shard) as file:
            schema = file.schema
            keys = (vector,) if schema.get_all_field_indices(vector) else tuple(vector.split("."))
            kind = type_at(schema, keys)
            if pa.types.is_null(kind):
                continue
            fixed = fixed_dimension(kind)
            if fixed:
                return fixed
            for block in file.blocks([".".join(keys)], BATCH_BYTES, None):
                lengths = np.asarray(pc.fill_null(pc.list_value_length(column_at(block.batch, keys)), 0))
                if lengths.any():
                    return int(lengths[lengths > 0][0])
    raise InputError(f'The column "{vector}" has no vector with any number in it, so there is nothing to fingerprint.')


class _Reader:
    """Fingerprints the vectors of a batch, on any thread."""

    def __init__(self, recipe: VectorRecipe, value: Sequence[str]) -> None:
        self._recipe, self._planes, self._value = recipe, planes_of(recipe), value

    def read(self, batch: Batch) -> Documents:
        n, d = len(batch.texts), self._recipe.dimension
        found = np.zeros((n, self._recipe.words), np.uint64)
        null = batch.texts.is_null().to_numpy(zero_copy_only=False)
        rows = batch.texts.values.to_numpy(zero_copy_only=False).reshape(n, d)
        DenseRoute(self._planes, rows.dtype).fill(rows, found, 1)
        digests = np.empty((n, 2), np.uint64)
        numbers = rows.astype(np.float64) + 0.0  # makes -0 equal to 0
        digest_rows(numbers.view(np.uint8).reshape(-1), 8 * d, digests)
        tokens = np.where(null, -1, np.count_nonzero(rows, axis=1))
        values = dict(zip(self._value, batch.values, strict=True))
        return Documents(found, digests, tokens, np.where(null, 0, d), batch.ids, values)
