"""RESTORE a store from what `export` has written, once all of it is found whole."""

import json
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import DECODER_ERRORS, DataError, InputError
from neardup.fingerprints.simhash import Fingerprints
from neardup.hamming.index.files.stored_recipe import located_fields
from neardup.io.checksums import checksum
from neardup.io.outputs.sealed_parquet import SEAL, BrokenSealError, batches_of, metadata_of, opened_sealed
from neardup.io.storage.places import place_of
from neardup.matching.similarities.table import Elements
from neardup.matching.text_features import Texts, digest_words
from neardup.recipe.recipe import Recipe
from neardup.recipe.short_rule import NAME, short_rule_of
from neardup.store.candidates.proposing import DOCUMENTS_AT_ONCE
from neardup.store.formats.contents import weights_of
from neardup.store.formats.versions import demand_version
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.sealed_texts import Original, originals, sealed
from neardup.store.record.skipped_table import SkippedContent, SkippedRow
from neardup.store.rules import KEEP_AS, stored_rules
from neardup.store.session.backend import Backend
from neardup.store.session.creating import recipe_of_facts
from neardup.store.session.writer import Files
from neardup.store.upkeep.export import (
    DOCUMENTS,
    FACTS,
    FORMAT,
    JUDGEMENTS,
    OF_ROWS,
    ORPHANS,
    REMOVED,
    SKIPPED,
)

AGAIN = "Export the store again."


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
    except DECODER_ERRORS as problem:
        raise DataError(f"{path} is damaged: {problem!r}. {AGAIN}") from None
    demand_version(path, written, FORMAT, is_export=True)
    if facts.pop("checksum", None) != checksum(facts):
        raise DataError(f"{path} is damaged: its checksum is another. {AGAIN}")
    for name in (DOCUMENTS, REMOVED, *(each for each in (JUDGEMENTS, SKIPPED, ORPHANS) if each in facts["seals"])):
        deque(_read(source / name, facts), maxlen=0)  # checked before a store is made of it
    found: dict[str, Any] = facts
    return found


def recipe_of_export(source: Path, facts: dict[str, Any]) -> Recipe:
    """The recipe of an export; its files lie beside the facts."""
    return recipe_of_facts(facts, located_fields(facts["recipe"], source), None, str(source))


def given_of_export(facts: dict[str, Any]) -> dict[str, Any]:
    """The rules of an export, as a new store takes them."""
    rules = stored_rules(facts["rules"])
    return rules.given | {KEEP_AS: rules.keep_as or facts.get(KEEP_AS)}


def restore(files: Files, source: Path, facts: dict[str, Any]) -> None:
    """Fill an empty store with what was exported."""
    with files.record.changing():
        files.record.set_facts({"plan": facts["plan"], NAME: short_rule_of(facts)})
    files.reopen()
    fill(files, source, facts)


def fill(files: Backend, source: Path, facts: dict[str, Any]) -> None:
    """Fill an empty store that has the plan of what was exported."""
    number = 0
    for batch in _read(source / DOCUMENTS, facts):
        texts = _texts(files, batch)
        if files.rules.texts:
            texts = replace(texts, originals=batch.column("text"))
        columns = zip(*(batch.column(name).to_pylist() for name in OF_ROWS), strict=True)
        rows = [DocumentRow(number + i, *values) for i, values in enumerate(columns)]
        with files.one_change():
            files.keep(texts, rows, [], set(), 0.0)
        number += len(rows)
    removed = [row for batch in _read(source / REMOVED, facts) for row in batch.to_pylist()]
    rows_of = [RemovedRow(i, *(row[name] for name in RemovedRow._fields[1:])) for i, row in enumerate(removed)]
    with files.one_change() as written:
        for begin in range(0, len(rows_of), DOCUMENTS_AT_ONCE):
            came = _came(removed[begin : begin + DOCUMENTS_AT_ONCE]) if files.rules.texts else ()
            files.keep(files.texts([]), [], rows_of[begin : begin + DOCUMENTS_AT_ONCE], set(), 0.0, came)
        if JUDGEMENTS in facts["seals"]:
            for batch in _read(source / JUDGEMENTS, facts):
                for values in batch.to_pylist():
                    files.keep_judgement(_judgement(values))
        written["state"] = facts["state"]
        _restore_skipped(files, source, facts)


def _restore_skipped(files: Backend, source: Path, facts: dict[str, Any]) -> None:
    """The skipped documents of an export, and its orphans, with new numbers. Older exports do not know them."""
    if SKIPPED in facts["seals"]:
        for batch in _read(source / SKIPPED, facts):
            rows = [SkippedRow(*values[:3]) for values in zip(*batch.to_pydict().values(), strict=True)]
            contents = [
                SkippedContent(row.survivor, row.digest, content)
                for row, content in zip(rows, batch.column("content").to_pylist(), strict=True)
                if row.digest is not None and content is not None
            ]
            files.keep_skipped({row.id: row for row in rows}, contents)
    if ORPHANS in facts["seals"]:
        for batch in _read(source / ORPHANS, facts):
            for orphaned, rows_of in groupby(batch.to_pylist(), key=lambda row: row["orphaned"]):
                files.add_orphans([(row["id"], row["compared"]) for row in rows_of], orphaned)
    files.set_skipped_since(facts.get("skipped_since", time.time()))


def _came(rows: Sequence[Mapping[str, Any]]) -> list[Original]:
    """The texts of remembered duplicates."""
    return originals(
        [row["digest"] for row in rows], [row["id"] or "null" for row in rows], [row["text"] for row in rows]
    )


def _judgement(values: Mapping[str, Any]) -> JudgementRow:
    """A judgement of an export, with its texts sealed."""
    row = JudgementRow(**values)
    left = sealed(row.left, row.left_id or "null", values["left_text"])
    return row._replace(left_text=left, right_text=sealed(row.right, row.right_id, values["right_text"]))


def _read(path: Path, facts: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file of an export; a DataError if it is missing, damaged, or of another export."""
    try:
        with opened_sealed(place_of(path)) as file:
            if metadata_of(file)[SEAL] != facts["seals"][path.name]:
                raise BrokenSealError("it is of another export")
            yield from batches_of(file)
    except FileNotFoundError:
        raise DataError(f"{path} is missing. {AGAIN}") from None
    except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as problem:
        raise DataError(f"{path} is damaged: {problem}. {AGAIN}") from None


def _texts(files: Backend, batch: pa.RecordBatch) -> Texts:
    layout, n = files.layout, len(batch)
    digests = digest_words(batch.column("digest").to_pylist())
    words = np.frombuffer(b"".join(batch.column("fingerprint").to_pylist()), ">u8").astype(np.uint64)
    prints = Fingerprints(words.reshape(n, layout.words), digests, batch.column("tokens").to_numpy())
    made = {kind: _elements(batch, kind, weighted=layout.weighted) for kind in layout.kinds}
    signatures = None
    if layout.signing is not None:
        signatures = np.array(batch.column("signature").flatten().to_numpy(), np.uint32).reshape(n, -1)
    numbers = np.array(batch.column("numbers").to_numpy(), np.uint64) if layout.guarded else None
    return layout.texts(prints, made, signatures, numbers)


def _elements(batch: pa.RecordBatch, kind: str, *, weighted: bool) -> Elements:
    lists = batch.column(kind)
    lengths = lists.value_lengths().to_numpy()
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    weights = batch.column(weights_of(kind)).flatten().to_numpy() if weighted else np.empty(0)
    return Elements(np.array(lists.flatten().to_numpy(), np.uint64), np.array(weights, np.float64), offsets)
