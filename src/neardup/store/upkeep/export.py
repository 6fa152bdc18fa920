"""EXPORT a store as files that other programs can read: documents and remembered texts as Parquet, the facts as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.arrays import Array
from neardup.io.checksums import checksum
from neardup.io.outputs.sealed_parquet import SealedWriter
from neardup.matching.similarities.table import Elements
from neardup.recipe.short_rule import NAME
from neardup.store.candidates.proposing import DOCUMENTS_AT_ONCE
from neardup.store.formats.contents import Layout, weights_of
from neardup.store.record.documents_table import RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.rules import KEEP_AS, to_store
from neardup.store.session.backend import Backend
from neardup.store.session.folder import free_folder
from neardup.store.upkeep.backup import copy_recipe, demand_outside
from neardup.store.upkeep.read_texts import judged_texts, texts_of_documents, texts_of_removed

FORMAT = 1
DOCUMENTS, REMOVED, JUDGEMENTS, FACTS = "documents.parquet", "removed.parquet", "judgements.parquet", "store.json"
SKIPPED, ORPHANS = "skipped.parquet", "orphans.parquet"
OF_ROWS = ("id", "first_seen", "last_seen", "expires", "metadata", "rank")
"""Columns of documents that are in a row of the record."""
_OF_REMOVED = pa.schema(
    {
        "digest": pa.binary(16),
        "survivor": pa.int64(),
        "similarity": pa.float64(),
        "distance": pa.int32(),
        "last_seen": pa.float64(),
    }
)

_OF_TEXTS = [pa.field("id", pa.string()), pa.field("text", pa.large_string())]
"""Of remembered duplicates, if the store keeps texts."""
OF_JUDGEMENTS = pa.schema(
    {
        "left": pa.binary(16),
        "right": pa.binary(16),
        "kind": pa.string(),
        "left_id": pa.string(),
        "right_id": pa.string(),
        "same": pa.bool_(),
        "similarity": pa.float64(),
        "distance": pa.int32(),
        "judged": pa.float64(),
        "left_text": pa.large_string(),
        "right_text": pa.large_string(),
    }
)
"""One column for each field of `JudgementRow`."""


OF_SKIPPED = pa.schema(
    {"id": pa.string(), "survivor": pa.int64(), "digest": pa.binary(16), "content": pa.large_binary()}
)
OF_ORPHANS = pa.schema({"number": pa.int64(), "id": pa.string(), "compared": pa.bool_(), "orphaned": pa.float64()})
"""One column for each field of `OrphanRow`."""


def export(files: Backend, target: Path) -> None:
    """Write all documents and remembered texts as Parquet, and the facts as JSON."""
    demand_outside(files, target)
    free_folder(target)
    kept, schema = files.kept(), _schema(files.layout, has_texts=files.has_texts)
    blocks = (
        _table(files, kept[first : first + DOCUMENTS_AT_ONCE], schema)
        for first in range(0, len(kept), DOCUMENTS_AT_ONCE)
    )
    seals = {DOCUMENTS: _write(target / DOCUMENTS, schema, blocks)}
    places = {number: place for place, number in enumerate(kept.tolist())}
    rows = [row for row in files.record.removed_from(0) if row.survivor in places]
    of_removed = pa.schema([*_OF_REMOVED, *_OF_TEXTS]) if files.has_texts else _OF_REMOVED
    parts = (rows[first : first + DOCUMENTS_AT_ONCE] for first in range(0, len(rows), DOCUMENTS_AT_ONCE))
    blocks = (pa.record_batch(_removed_table(files, some, places), schema=of_removed) for some in parts)
    seals[REMOVED] = _write(target / REMOVED, of_removed, blocks)
    if judged := files.judgements(0, None):
        columns = _judgement_columns([row for _, row in judged], files.texts_shown)
        seals[JUDGEMENTS] = _write(target / JUDGEMENTS, OF_JUDGEMENTS, [pa.record_batch(columns, schema=OF_JUDGEMENTS)])
    skipped = list(_skipped(files, kept, places))
    if skipped:
        seals[SKIPPED] = _write(target / SKIPPED, OF_SKIPPED, skipped)
    if orphans := files.orphans(0, None):
        columns = [pa.array(list(column)) for column in zip(*orphans, strict=True)]
        seals[ORPHANS] = _write(target / ORPHANS, OF_ORPHANS, [pa.record_batch(columns, schema=OF_ORPHANS)])
    facts = {
        "format": FORMAT,
        "recipe": files.record.facts()["recipe"],
        "max_distance": files.recipe.max_distance,
        "rules": to_store(files.rules),
        "plan": files.plan.to_store(),
        "state": files.state,
        NAME: files.short_rule,
        **({} if files.keep_as is None else {KEEP_AS: files.keep_as}),
        "documents": len(kept),
        "removed": len(rows),
        "skipped_since": files.skipped_since,
        "seals": seals,
    }
    copy_recipe(files, target)
    sealed = facts | {"checksum": checksum(facts)}
    (target / FACTS).write_text(json.dumps(sealed, indent=1, sort_keys=True) + "\n")


def _write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> str:
    """Write a Parquet file. Returns its seal."""
    writer = SealedWriter(path, schema, {"neardup.format": str(FORMAT)})
    for batch in batches:
        writer.write(batch)
    return writer.close()


def _schema(layout: Layout, *, has_texts: bool) -> pa.Schema:
    fields = [
        ("id", pa.string()),
        ("first_seen", pa.float64()),
        ("last_seen", pa.float64()),
        ("expires", pa.float64()),
        ("metadata", pa.string()),
        ("rank", pa.float64()),
        *([("text", pa.large_string())] if has_texts else []),
        ("digest", pa.binary(16)),
        ("tokens", pa.int64()),
        ("fingerprint", pa.binary(8 * layout.words)),
    ]
    for kind in layout.kinds:
        fields.append((kind, pa.list_(pa.field("element", pa.uint64()))))
        if layout.weighted:
            fields.append((weights_of(kind), pa.list_(pa.field("element", pa.float64()))))
    if layout.signing is not None:
        fields.append(("signature", pa.list_(pa.field("element", pa.uint32()), layout.signing.values)))
    if layout.guarded:
        fields.append(("numbers", pa.uint64()))
    return pa.schema(fields)


def _table(files: Backend, numbers: Array, schema: pa.Schema) -> pa.RecordBatch:
    texts = files.contents.texts(numbers)
    rows = files.record.documents(numbers.tolist())
    found = [rows[number] for number in numbers.tolist()]
    columns: dict[str, Any] = {name: [getattr(row, name) for row in found] for name in OF_ROWS}
    columns["digest"] = texts.digests
    if files.has_texts:
        columns["text"] = texts_of_documents(files, found, texts.digests)
    columns["tokens"] = texts.prints.tokens
    columns["fingerprint"] = [value.tobytes() for value in texts.prints.values.astype(">u8")]
    for kind in files.layout.kinds:
        elements: Elements = getattr(texts, kind)
        offsets = pa.array(elements.offsets, pa.int32())
        columns[kind] = pa.ListArray.from_arrays(offsets, pa.array(elements.values), schema.field(kind).type)
        if files.layout.weighted:
            name = weights_of(kind)
            columns[name] = pa.ListArray.from_arrays(offsets, pa.array(elements.weights), schema.field(name).type)
    if texts.signatures is not None:
        values = pa.array(texts.signatures.values.ravel())
        columns["signature"] = pa.FixedSizeListArray.from_arrays(values, type=schema.field("signature").type)
    columns["numbers"] = texts.numbers
    return pa.record_batch([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def _removed_table(files: Backend, rows: Sequence[RemovedRow], places: Mapping[int, int]) -> list[pa.Array]:
    """Remembered duplicates as columns. `places`: of their survivors, by number."""
    columns: list[list[Any]] = [[getattr(row, name) for row in rows] for name in _OF_REMOVED.names]
    columns[_OF_REMOVED.names.index("survivor")] = [places[row.survivor] for row in rows]
    fields = list(_OF_REMOVED)
    if files.has_texts:
        fields += _OF_TEXTS
        columns += texts_of_removed(files, rows)
    return [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]


def _skipped(files: Backend, kept: Array, places: Mapping[int, int]) -> Iterator[pa.RecordBatch]:
    """Skipped documents as columns, each content with the first that has it. `places`: of their survivors, by number."""
    for first in range(0, len(kept), DOCUMENTS_AT_ONCE):
        numbers = kept[first : first + DOCUMENTS_AT_ONCE].tolist()
        rows, contents = files.skipped_of(numbers), files.skipped_contents(numbers)
        values = [
            (
                row.id,
                places[row.survivor],
                row.digest,
                None if row.digest is None else contents.pop((row.survivor, row.digest), None),
            )
            for row in rows
        ]
        if values:
            columns = zip(*values, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, OF_SKIPPED, strict=True)]
            yield pa.record_batch(arrays, schema=OF_SKIPPED)


def _judgement_columns(rows: Sequence[JudgementRow], shown: str) -> list[Any]:
    """Judgements as the columns of `OF_JUDGEMENTS`."""
    texts = [judged_texts(row, shown) for row in rows]
    values = [[*row[:-2], *both] for row, both in zip(rows, texts, strict=True)]
    return [
        pa.array(column, field.type) for column, field in zip(zip(*values, strict=True), OF_JUDGEMENTS, strict=True)
    ]
