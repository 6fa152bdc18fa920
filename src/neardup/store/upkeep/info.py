"""INFO: what a store is and takes, what it knows of a document, and which documents are to be removed because they are old."""

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.options import Guard
from neardup.recipe.similarity import similarity_to_store
from neardup.recipe.tables.keeps import KeepAs
from neardup.recipe.tables.spellings import one_of
from neardup.store.answers import Removal, StoredDocument
from neardup.store.arguments import Duration, seconds_of, whole_number
from neardup.store.decisions.orphans import forget
from neardup.store.session.backend import Backend
from neardup.store.upkeep.read_texts import texts_of_documents


@dataclass(frozen=True, kw_only=True)
class StoreInfo:
    """What `Store.info` tells.

    Attributes:
        documents: how many are kept.
        removed: how many distinct texts that were not kept are remembered; also those whose survivor is
            gone since, which decide nothing, until `compact`.
        gone: documents that were removed, whose room `compact` gives up.
        orphans: skipped documents that no kept document matched when their own went; see `Store.orphans`.
        skipped_since: from when on skipped documents are remembered, in seconds since 1970: a store that an older version has made
            does not know those before. None if it knows all.
        method, similarity, min_similarity, max_distance, guard, floor, keep, texts: the rules.
        keep_as: how `keep` compares values; None if it compares none, or had none to compare yet.
        short_rule: the version of the rule of short texts; see `neardup.recipe.short_rule`.
        recipe: how fingerprints are made, as plain values.
        bytes: what each kind of file takes.
    """

    documents: int
    removed: int
    gone: int
    orphans: int = 0
    skipped_since: float | None = None
    method: str
    similarity: Any
    min_similarity: float
    max_distance: int | None
    guard: Guard | None = None
    floor: float | None
    keep: str
    keep_as: KeepAs | None
    texts: bool
    short_rule: int
    recipe: dict[str, Any]
    bytes: dict[str, int]


def info_of(files: Backend) -> StoreInfo:
    """See `Store.info`."""
    sizes: dict[str, int] = {}
    for folder, _, names in os.walk(files.path):  # unlike `rglob`, it bears that a writer removes folders
        for path in sorted(Path(folder) / name for name in names):
            kind = path.relative_to(files.path).parts[0]
            name = "record" if kind.startswith("record") else kind.split("-")[0]
            with contextlib.suppress(FileNotFoundError):
                sizes[name] = sizes.get(name, 0) + path.stat().st_blocks * 512
    options = files.rules.options
    return StoreInfo(
        documents=len(files.contents) - files.gone.count,
        removed=files.removed,  # as many rows as the record has of them, which it would count one by one
        gone=files.gone.count,
        method=options.method,
        similarity=similarity_to_store(options.compared_by),
        min_similarity=options.min_similarity,
        max_distance=files.candidates.max_distance,
        guard=options.guard,
        floor=files.rules.floor,
        keep=files.rules.keep,
        keep_as=files.keep_as,
        texts=files.rules.texts,
        short_rule=files.short_rule,
        recipe=files.recipe.as_dict(),
        bytes=sizes,
        orphans=files.count_orphans(),
        skipped_since=files.skipped_since,
    )


def stored_document(files: Backend, name: str) -> StoredDocument | None:
    """See `Store.get`; `name`: the id as JSON."""
    row = files.known.of_ids([name]).get(name)
    if row is None:
        return None
    texts = files.contents.texts(np.array([row.number]))
    prints = texts.prints
    return StoredDocument(
        id=json.loads(row.id),
        tokens=int(prints.tokens[0]),
        fingerprint=prints.values[0].astype(">u8").tobytes(),
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        expires=row.expires,
        metadata=None if row.metadata is None else json.loads(row.metadata),
        text=texts_of_documents(files, [row], texts.digests)[0],
    )


SeenBy = Literal["first_seen", "last_seen"]
ReportIds = Callable[[list[int | str]], object] | None
"""A function that gets the ids of documents that go, some thousand at a time."""
IDS_AT_ONCE = 1 << 12


def forgotten(files: Backend, numbers: Array, report_ids: ReportIds) -> Removal:
    """Remove documents (int64[n], ascending), after their ids were reported; returns their number, and the orphans they leave."""
    if report_ids is not None:
        files.is_repeatable = False  # the function may have done something
        for first in range(0, len(numbers), IDS_AT_ONCE):
            some = files.record.documents(numbers[first : first + IDS_AT_ONCE].tolist())
            report_ids([json.loads(some[number].id) for number in sorted(some)])
    return Removal(len(numbers), forget(files, numbers))


def expired(files: Backend, older_than: Duration | None, newest: int | None, by: SeenBy, now: float) -> Array:
    """int64[n], ascending: the documents to remove; see `Store.expire`."""
    if by not in get_args(SeenBy):
        raise OptionError(f"{one_of('by', by, get_args(SeenBy))}.")
    age = None if older_than is None else seconds_of("older_than", older_than)
    if newest is not None:
        newest = whole_number("newest", newest, "a number of documents, 0 or more")
    parts = [files.record.expired(now)]
    if age is not None:
        parts.append(files.record.seen_before(by, now - age))
    if newest is not None:
        parts.append(files.record.all_but_newest(newest))
    return np.unique(np.concatenate(parts))
