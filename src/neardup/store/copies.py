"""COPY a store: a backup while it runs, and an export that other programs can read."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import DataError, InputError
from neardup.fingerprints.simhash import Fingerprints
from neardup.hamming.index.stored_recipe import located_fields
from neardup.io.growing_file import to_disk
from neardup.matching.similarities.table import Elements
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.store.contents import Layout
from neardup.store.files import REBUILT, Files
from neardup.store.opening import RECORD, demand_empty, to_store
from neardup.store.record import DocumentRow, RemovedRow
from neardup.store.texts import Texts, digest_words, no_elements

FORMAT = 1
DOCUMENTS, REMOVED, FACTS = "documents.parquet", "removed.parquet", "store.json"


def free_folder(path: Path) -> None:
    """Make a folder to write to.

    Raises:
        InputError: it is there, and is not empty.
    """
    demand_empty(path)
    path.mkdir(parents=True, exist_ok=True)


def backup(files: Files, target: Path) -> None:
    """Copy a store as its record is now; a writer may go on, but for compaction."""
    free_folder(target)
    files.flush()
    facts = files.record.facts()
    for name, path in files.contents.paths.items():
        size = facts["ends"].get(name, 0) * files.contents.item_bytes(name)
        _copy(path, target / path.name, size)
    listed = facts["derived"]
    names = [each["file"] for each in listed.get("orders", [])]
    names += [each["file"] for segments in listed.get("segments", {}).values() for each in segments]
    for name in names:
        _copy(files.path / name, target / name, None)
    _copy_recipe(files, target)
    for folder in files.candidates.folders():
        shutil.copytree(folder, target / folder.name)
    files.record.copy_to(target / RECORD)
    to_disk(target)


def _copy_recipe(files: Files, target: Path) -> None:
    """Copy the files of the recipe."""
    for path in [*files.path.glob("words-*"), *files.path.glob("frequencies-*")]:
        _copy(path, target / path.name, None)


def _copy(source: Path, target: Path, size: int | None) -> None:
    """Copy a file, or its first bytes, and flush it to the disk."""
    with source.open("rb") as read, target.open("xb") as write:
        left = os.fstat(read.fileno()).st_size if size is None else size
        while left > 0:
            part = read.read(min(left, 1 << 22))
            if not part:
                raise DataError(f"{source} is shorter than the store knows. Verify the store.")
            write.write(part)
            left -= len(part)
        write.flush()
        os.fsync(write.fileno())


# ------------------------------------------------------------------------------------------------------------- export


def export(files: Files, target: Path) -> None:
    """Write all documents and remembered texts as Parquet, and the facts as JSON."""
    free_folder(target)
    schema = _schema(files.layout)
    with pq.ParquetWriter(target / DOCUMENTS, schema, compression="zstd") as writer:
        kept = files.kept()
        for first in range(0, len(kept), REBUILT):
            writer.write_table(_table(files, kept[first : first + REBUILT], schema))
    places = {number: place for place, number in enumerate(files.kept().tolist())}
    rows = [row for row in files.record.removed_from(0) if row.survivor in places]
    columns = {
        "digest": pa.array([row.digest for row in rows], pa.binary(16)),
        "survivor": pa.array([places[row.survivor] for row in rows], pa.int64()),
        "similarity": pa.array([row.similarity for row in rows], pa.float64()),
        "distance": pa.array([row.distance for row in rows], pa.int32()),
        "last_seen": pa.array([row.last_seen for row in rows], pa.float64()),
    }
    pq.write_table(pa.table(columns), target / REMOVED)
    facts = {
        "format": FORMAT,
        "recipe": files.record.facts()["recipe"],
        "max_distance": files.recipe.max_distance,
        "rules": to_store(files.rules),
        "state": files.state,
        "documents": len(kept),
        "removed": len(rows),
    }
    _copy_recipe(files, target)
    (target / FACTS).write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


def _schema(layout: Layout) -> pa.Schema:
    fields = [
        ("id", pa.string()),
        ("first_seen", pa.float64()),
        ("last_seen", pa.float64()),
        ("expires", pa.float64()),
        ("metadata", pa.string()),
        ("rank", pa.float64()),
        ("digest", pa.binary(16)),
        ("tokens", pa.int64()),
        ("fingerprint", pa.binary(8 * layout.words)),
    ]
    for kind in layout.kinds:
        fields.append((kind, pa.list_(pa.uint64())))
        if layout.weighted:
            fields.append((f"{kind}_weights", pa.list_(pa.float64())))
    if layout.signing is not None:
        fields.append(("signature", pa.list_(pa.uint32(), layout.signing.values)))
    return pa.schema(fields)


def _table(files: Files, numbers: Any, schema: pa.Schema) -> pa.Table:
    texts = files.contents.texts(numbers)
    rows = files.record.documents(numbers.tolist())
    found = [rows[number] for number in numbers.tolist()]
    columns: dict[str, Any] = {name: [getattr(row, name) for row in found] for name in _OF_ROWS}
    columns["digest"] = texts.digests
    columns["tokens"] = texts.prints.tokens
    columns["fingerprint"] = [value.tobytes() for value in texts.prints.values.astype(">u8")]
    for kind in files.layout.kinds:
        elements: Elements = getattr(texts, kind)
        offsets = pa.array(elements.offsets, pa.int32())
        columns[kind] = pa.ListArray.from_arrays(offsets, pa.array(elements.values))
        if files.layout.weighted:
            columns[f"{kind}_weights"] = pa.ListArray.from_arrays(offsets, pa.array(elements.weights))
    if texts.signatures is not None:
        width = texts.signatures.values.shape[1]
        columns["signature"] = pa.FixedSizeListArray.from_arrays(pa.array(texts.signatures.values.ravel()), width)
    return pa.table(columns, schema=schema)


_OF_ROWS = ("id", "first_seen", "last_seen", "expires", "metadata", "rank")


def read_export(source: Path) -> dict[str, Any]:
    """The facts of an export.

    Raises:
        InputError: there is none.
        DataError: it is of another format, or damaged.
    """
    try:
        facts: dict[str, Any] = json.loads((source / FACTS).read_bytes())
    except FileNotFoundError:
        raise InputError(f"{source} is no export of a store: it has no {FACTS}.") from None
    except ValueError as problem:
        raise DataError(f"{source / FACTS} is damaged: {problem}. Export the store again.") from None
    if facts.get("format") != FORMAT:
        raise DataError(
            f"{source} is of format {facts.get('format')}; this version of neardup reads {FORMAT}. Export the store again."
        )
    return facts


def recipe_of_export(source: Path, facts: dict[str, Any]) -> Recipe:
    """The recipe of an export; its files lie beside the facts."""
    found = recipe_of_run(located_fields(facts["recipe"], source), None, str(source))
    return replace(found, max_distance=facts["max_distance"])


def restore(files: Files, source: Path, facts: dict[str, Any]) -> None:
    """Fill an empty store with what was exported."""
    with pq.ParquetFile(source / DOCUMENTS) as file:
        if file.metadata.num_rows != facts["documents"]:
            raise DataError(f"{source / DOCUMENTS} has {file.metadata.num_rows:,} rows, not {facts['documents']:,}.")
        number = 0
        for batch in file.iter_batches(REBUILT):
            texts = _texts(files, batch)
            columns = zip(*(batch.column(name).to_pylist() for name in _OF_ROWS), strict=True)
            rows = [DocumentRow(number + i, *values) for i, values in enumerate(columns)]
            files.keep(texts, rows, [], set(), 0.0)
            files.acknowledge({})
            number += len(rows)
    removed = pq.read_table(source / REMOVED).to_pylist()
    rows_of = [
        RemovedRow(i, row["digest"], row["survivor"], row["similarity"], row["distance"], row["last_seen"])
        for i, row in enumerate(removed)
    ]
    files.keep(files.texts([]), [], rows_of, set(), 0.0)
    files.state = facts["state"]
    files.acknowledge({"state": facts["state"]})


def _texts(files: Files, batch: pa.RecordBatch) -> Texts:
    layout, n = files.layout, len(batch)
    digests = digest_words(batch.column("digest").to_pylist())
    words = np.frombuffer(b"".join(batch.column("fingerprint").to_pylist()), ">u8").astype(np.uint64)
    prints = Fingerprints(words.reshape(n, layout.words), digests, batch.column("tokens").to_numpy())
    made = {kind: _elements(batch, kind, weighted=layout.weighted) for kind in layout.kinds}
    compared = made.get("compared", no_elements())
    joined = made.get("joined", compared)
    if layout.signing is None:
        return Texts(prints, joined, compared, None)
    values = np.array(batch.column("signature").flatten().to_numpy(), np.uint32).reshape(n, -1)
    signatures = layout.signing.none(n)
    signatures.values[:] = values
    signatures.sizes[:] = np.diff(compared.offsets)
    return Texts(prints, joined, compared, signatures)


def _elements(batch: pa.RecordBatch, kind: str, *, weighted: bool) -> Elements:
    lists = batch.column(kind)
    lengths = lists.value_lengths().to_numpy()
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    weights = batch.column(f"{kind}_weights").flatten().to_numpy() if weighted else np.empty(0)
    return Elements(np.array(lists.flatten().to_numpy(), np.uint64), np.array(weights, np.float64), offsets)
