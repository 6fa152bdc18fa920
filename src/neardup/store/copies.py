"""COPY a store: a backup while it runs, and an export that other programs can read."""

import contextlib
import json
import os
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DataError, InputError
from neardup.fingerprints.simhash import Fingerprints
from neardup.hamming.index.stored_recipe import located_fields
from neardup.io.checksums import checksum
from neardup.io.growing_file import to_disk
from neardup.io.sealed_parquet import SEAL, BrokenSealError, SealedWriter, batches_of, metadata_of, opened_sealed
from neardup.io.storage.places import place_of
from neardup.matching.similarities.table import Elements
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import recipe_of_run
from neardup.store.contents import Contents, Layout, weights_of
from neardup.store.derived import Derived
from neardup.store.files import Files
from neardup.store.judgement_columns import OF_JUDGEMENTS, judgement_columns, judgement_rows
from neardup.store.opening import RECORD, REPLICA_MARK, free_folder, to_store
from neardup.store.originals import Original, sealed
from neardup.store.recalling import AT_ONCE
from neardup.store.record import DocumentRow, Record, RemovedRow
from neardup.store.text_reading import texts_of_documents, texts_of_removed
from neardup.store.texts import Texts, digest_words, no_elements
from neardup.store.versions import demand_version

FORMAT = 1
DOCUMENTS, REMOVED, JUDGEMENTS, FACTS = "documents.parquet", "removed.parquet", "judgements.parquet", "store.json"
AGAIN = "Export the store again."


def backup(files: Files, target: Path) -> None:
    """Copy a store as its record is now, which a reader holds as it is: a writer may go on. The copy of a replica is a replica.

    Raises:
        InputError: the target is not free, or within the store.
        DataError: the copy is not what the record says.
    """
    _demand_outside(files, target)
    free_folder(target)
    files.flush()
    facts = files.record.facts()
    files.contents.copy_to(target, facts["ends"])
    files.derived.copy_to(target, facts["derived"])
    _copy_recipe(files, target)
    for folder in files.candidates.folders():
        with contextlib.suppress(OSError):  # a writer replaces it: what is not whole is removed
            shutil.copytree(folder, target / folder.name)
    files.candidates.copied(target, facts)
    if (files.path / REPLICA_MARK).exists():
        _copy(files.path / REPLICA_MARK, target / REPLICA_MARK)
    files.record.copy_to(target / RECORD)  # last: without it, the copy is no store
    to_disk(target)
    _demand_whole(files, target)


def _demand_outside(files: Files, target: Path) -> None:
    """Refuse to write into the folder of the store itself."""
    if target.resolve().is_relative_to(files.path.resolve()):
        raise InputError(f"{target} is in the folder of the store. Name a folder elsewhere.")


def _demand_whole(files: Files, target: Path) -> None:
    """Refuse a copy whose files are not those that its record names, as far as headers, lengths and seals tell."""
    with contextlib.closing(Record(target / RECORD, readonly=True)) as record:
        facts = record.facts()
        record.marks()
    whose = {"store": facts["store"], "generation": facts["generation"]}
    Contents(target, files.layout, facts["ends"], **whose, readonly=True).close()
    Derived(target, facts["derived"]).close()


def _copy_recipe(files: Files, target: Path) -> None:
    """Copy the files of the recipe."""
    for path in [*files.path.glob("words-*"), *files.path.glob("frequencies-*")]:
        _copy(path, target / path.name)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, durably."""
    with source.open("rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write, 1 << 22)
        write.flush()
        os.fsync(write.fileno())


# ------------------------------------------------------------------------------------------------------------- export


def export(files: Files, target: Path) -> None:
    """Write all documents and remembered texts as Parquet, and the facts as JSON."""
    _demand_outside(files, target)
    free_folder(target)
    kept, schema = files.kept(), _schema(files.layout, has_texts=files.has_texts)
    blocks = (_table(files, kept[first : first + AT_ONCE], schema) for first in range(0, len(kept), AT_ONCE))
    seals = {DOCUMENTS: _write(target / DOCUMENTS, schema, blocks)}
    places = {number: place for place, number in enumerate(kept.tolist())}
    rows = [row for row in files.record.removed_from(0) if row.survivor in places]
    of_removed = pa.schema([*_OF_REMOVED, *_OF_TEXTS]) if files.has_texts else _OF_REMOVED
    blocks = (_removed_table(files, rows[first : first + AT_ONCE], places) for first in range(0, len(rows), AT_ONCE))
    seals[REMOVED] = _write(target / REMOVED, of_removed, (pa.record_batch(each, schema=of_removed) for each in blocks))
    if judged := files.judgements(0, None):
        columns = judgement_columns([row for _, row in judged], files.texts_shown)
        seals[JUDGEMENTS] = _write(target / JUDGEMENTS, OF_JUDGEMENTS, [pa.record_batch(columns, schema=OF_JUDGEMENTS)])
    facts = {
        "format": FORMAT,
        "recipe": files.record.facts()["recipe"],
        "max_distance": files.recipe.max_distance,
        "rules": to_store(files.rules),
        "plan": files.plan.to_store(),
        "state": files.state,
        "documents": len(kept),
        "removed": len(rows),
        "seals": seals,
    }
    _copy_recipe(files, target)
    sealed = facts | {"checksum": checksum(facts)}
    (target / FACTS).write_text(json.dumps(sealed, indent=1, sort_keys=True) + "\n")


def _write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> str:
    """Write a Parquet file. Returns its seal."""
    writer = SealedWriter(path, schema, {"neardup.format": str(FORMAT)})
    for batch in batches:
        writer.write(batch)
    return writer.close()


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
    return pa.schema(fields)


def _table(files: Files, numbers: Array, schema: pa.Schema) -> pa.RecordBatch:
    texts = files.contents.texts(numbers)
    rows = files.record.documents(numbers.tolist())
    found = [rows[number] for number in numbers.tolist()]
    columns: dict[str, Any] = {name: [getattr(row, name) for row in found] for name in _OF_ROWS}
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
    return pa.record_batch([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def _removed_table(files: Files, rows: Sequence[RemovedRow], places: Mapping[int, int]) -> list[pa.Array]:
    """Remembered duplicates as columns. `places`: of their survivors, by number."""
    columns: list[list[Any]] = [
        [row.digest for row in rows],
        [places[row.survivor] for row in rows],
        [row.similarity for row in rows],
        [row.distance for row in rows],
        [row.last_seen for row in rows],
    ]
    fields = list(_OF_REMOVED)
    if files.has_texts:
        fields += _OF_TEXTS
        columns += texts_of_removed(files, rows)
    return [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]


_OF_ROWS = ("id", "first_seen", "last_seen", "expires", "metadata", "rank")


def read_export(source: Path) -> dict[str, Any]:
    """The facts of an export, all of which is whole.

    Raises:
        InputError: there is none.
        DataError: it is of another format, or a file is missing or damaged.
    """
    path = source / FACTS
    try:
        facts = json.loads(path.read_bytes())
        written = facts["format"]
    except NotADirectoryError:
        raise InputError(f"{source} is a file. Name the folder that `neardup store export` has made.") from None
    except FileNotFoundError:
        raise InputError(f"{source} is no export of a store: it has no {FACTS}.") from None
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise DataError(f"{path} is damaged: {problem!r}. {AGAIN}") from None
    demand_version(path, written, FORMAT, is_export=True)
    if facts.pop("checksum", None) != checksum(facts):
        raise DataError(f"{path} is damaged: its checksum is another. {AGAIN}")
    for name in (DOCUMENTS, REMOVED, *([JUDGEMENTS] if JUDGEMENTS in facts["seals"] else [])):
        deque(_read(source / name, facts), maxlen=0)  # checked before a store is made of it
    found: dict[str, Any] = facts
    return found


def recipe_of_export(source: Path, facts: dict[str, Any]) -> Recipe:
    """The recipe of an export; its files lie beside the facts."""
    found = recipe_of_run(located_fields(facts["recipe"], source), None, str(source))
    return replace(found, max_distance=facts["max_distance"])


def restore(files: Files, source: Path, facts: dict[str, Any]) -> None:
    """Fill an empty store with what was exported."""
    with files.record.changing():
        files.record.set_facts({"plan": facts["plan"]})
    files.reopen()
    fill(files, source, facts)


def fill(files: Files, source: Path, facts: dict[str, Any]) -> None:
    """Fill an empty store that has the plan of what was exported."""
    number = 0
    for batch in _read(source / DOCUMENTS, facts):
        texts = _texts(files, batch)
        if files.rules.texts:
            texts = replace(texts, originals=batch.column("text"))
        columns = zip(*(batch.column(name).to_pylist() for name in _OF_ROWS), strict=True)
        rows = [DocumentRow(number + i, *values) for i, values in enumerate(columns)]
        with files.one_change():
            files.keep(texts, rows, [], set(), 0.0)
        number += len(rows)
    removed = [row for batch in _read(source / REMOVED, facts) for row in batch.to_pylist()]
    rows_of = [
        RemovedRow(i, row["digest"], row["survivor"], row["similarity"], row["distance"], row["last_seen"])
        for i, row in enumerate(removed)
    ]
    with files.one_change() as written:
        for begin in range(0, len(rows_of), AT_ONCE):
            came = _came(removed[begin : begin + AT_ONCE]) if files.rules.texts else ()
            files.keep(files.texts([]), [], rows_of[begin : begin + AT_ONCE], set(), 0.0, came)
        if JUDGEMENTS in facts["seals"]:
            for batch in _read(source / JUDGEMENTS, facts):
                for judged in judgement_rows(batch):
                    files.keep_judgement(judged)
        written["state"] = facts["state"]


def _came(rows: Sequence[Mapping[str, Any]]) -> list[Original]:
    """The texts of remembered duplicates."""
    names = [row["id"] or "null" for row in rows]
    return [
        Original(name, None if row["text"] is None else sealed(row["digest"], name, row["text"]))
        for name, row in zip(names, rows, strict=True)
    ]


def _read(path: Path, facts: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file of an export, checked.

    Raises:
        DataError: it is missing, damaged, or of another export.
    """
    try:
        with opened_sealed(place_of(path)) as file:
            if metadata_of(file)[SEAL] != facts["seals"][path.name]:
                raise BrokenSealError("it is of another export")
            yield from batches_of(file)
    except FileNotFoundError:
        raise DataError(f"{path} is missing. {AGAIN}") from None
    except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as problem:
        raise DataError(f"{path} is damaged: {problem}. {AGAIN}") from None


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
    weights = batch.column(weights_of(kind)).flatten().to_numpy() if weighted else np.empty(0)
    return Elements(np.array(lists.flatten().to_numpy(), np.uint64), np.array(weights, np.float64), offsets)
