"""BUILD a store of a finished run: keep what the run kept, and remember what it removed, without deciding anything again."""

import contextlib
import json
import os
import shutil
import struct
import tempfile
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, OptionError
from neardup.hamming.near import row_distances
from neardup.io.corpora.batch import Batch
from neardup.matching.text_features import Texts, digest_bytes, texts_of_column
from neardup.progress import Progress
from neardup.resources.resources import Resources
from neardup.resources.unfinished import removed_by, undisturbed
from neardup.store.record.command_state import RowIds
from neardup.store.record.documents_table import DocumentRow, removed_rows
from neardup.store.record.sealed_texts import Original, originals
from neardup.store.record.skipped_table import SkippedRow
from neardup.store.session.folder import demand_empty, free_folder
from neardup.store.session.reader import TEXTS_AT_ONCE
from neardup.store.session.writer import Files
from neardup.store.upkeep.finished_run import DecidedRun
from neardup.survivors.records.audit_files import read_audit

_NAME = struct.Struct("<q")


class SpooledTexts:
    """Texts in the order in which they were added."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the file lies."""
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close()
        self._starts = array("q", [0])

    def add(self, given: Iterable[Original]) -> None:
        """Add documents, with their texts if the store keeps texts."""
        for each in given:
            name, text = each.name.encode(), each.sealed or b""
            size = self._file.write(_NAME.pack(len(name))) + self._file.write(name) + self._file.write(text)
            self._starts.append(self._starts[-1] + size)

    def read(self, places: Iterable[int]) -> list[Original]:
        """The texts at some places."""
        return list(map(self._read, places))

    def _read(self, place: int) -> Original:
        self._file.seek(self._starts[place])
        content = self._file.read(self._starts[place + 1] - self._starts[place])
        end = _NAME.size + _NAME.unpack_from(content)[0]
        return Original(content[_NAME.size : end].decode(), content[end:])

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Removals:
    """What an audit says of the removed documents, by row.

    Attributes:
        rows, survivors: int64[n]: the rows, ascending, and those of their survivors.
        similarity: float64[n], NaN where the run knows none.
        distance: int64[n].
        exact: bool[n].
    """

    rows: Array
    survivors: Array
    similarity: Array
    distance: Array
    exact: Array


@dataclass(frozen=True, slots=True)
class Seen:
    """What reading the inputs has told.

    Attributes:
        numbers: int64[rows], of the documents that were kept; -1 elsewhere.
        digests, prints: uint64[n, 2] and uint64[n, words], of the documents that were removed, by row.
        documents: how many there are.
    """

    numbers: Array
    digests: Array
    prints: Array
    documents: int


@contextlib.contextmanager
def folder_for(target: Path) -> Iterator[Path]:
    """A folder beside the target, which must be free, and gets its name at the end of the block; if that fails, it is removed."""
    demand_empty(target)
    folder = target.with_name(f".{target.name}.unfinished-{os.getpid()}")
    shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
    free_folder(folder)

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    with removed_by(remove):
        try:
            yield folder
            with undisturbed():
                folder.rename(target)
        except BaseException:
            remove()
            raise


def build(files: Files, run: DecidedRun, resources: Resources, progress: Progress) -> None:
    """Fill an empty store with what a run has decided; see `Store.build`."""
    removals = read_removals(run)
    now, ids = time.time(), RowIds(None, files.known.of_ids)
    with progress.stage("build"), contextlib.ExitStack() as stack:
        came = stack.enter_context(contextlib.closing(SpooledTexts(files.path)))
        seen = _keep(files, run, removals, came, ids, now, resources, progress)
        if seen.documents != run.documents or len(seen.digests) != len(removals.rows):
            raise run.changed()
        _remember(files, run, removals, seen, came, now)
    files.state = ids.state() or None
    files.acknowledge({"state": files.state})
    files.flush()


def read_removals(run: DecidedRun) -> Removals:
    """Read the audit; a DataError if it is not that of the run."""
    columns: tuple[list[int], list[int], list[float], list[int], list[bool]] = ([], [], [], [], [])
    with_audit = run.removed > 0 or run.audit.is_file()
    for line in read_audit(run.audit) if with_audit else ():
        survivor, alike = line["survivor_row"], line["similarity"]
        values = (line["row"], survivor, np.nan if alike is None else alike, line["distance"], line["exact"])
        for column, value in zip(columns, values, strict=True):
            column.append(value)  # type: ignore[attr-defined]
    if any(survivor is None for survivor in columns[1]):
        raise OptionError(f"{run.audit} has survivors of a reference, which are not in the store.")
    rows = np.array(columns[0], np.int64)
    order = np.argsort(rows, kind="stable")
    found = Removals(
        rows[order],
        np.array(columns[1], np.int64)[order],
        np.array(columns[2], np.float64)[order],
        np.array(columns[3], np.int64)[order],
        np.array(columns[4], np.bool_)[order],
    )
    inside = all(not len(each) or 0 <= each.min() <= each.max() < run.rows for each in (found.rows, found.survivors))
    if len(rows) != run.removed or not inside or not (np.diff(found.rows) > 0).all():
        raise DataError(f"{run.audit} is not the audit of the run that its summary describes. Put that one back.")
    return found


def _keep(
    files: Files,
    run: DecidedRun,
    removals: Removals,
    came: SpooledTexts,
    ids: RowIds,
    now: float,
    resources: Resources,
    progress: Progress,
) -> Seen:
    """Read the inputs, and keep the documents that the run kept; `came` gets the ids of the others, and their texts."""
    corpus = run.open(resources, progress)

    def read(batch: Batch) -> tuple[Batch, Array, Texts]:
        present = batch.texts.is_valid()
        rows = np.flatnonzero(present.to_numpy(zero_copy_only=False))
        column = batch.texts.filter(present)
        guard = files.rules.options.guard
        texts = texts_of_column(column, files.recipe, files.similarity, files.candidates.signing, guard=guard)
        return batch, rows, replace(texts, originals=column) if files.rules.texts else texts

    is_removed = np.zeros(run.rows, np.bool_)
    is_removed[removals.rows] = True
    numbers = np.full(run.rows, -1, np.int64)
    digests, prints, documents = [np.empty((0, 2), np.uint64)], [np.empty((0, files.layout.words), np.uint64)], 0
    for first, (batch, rows, texts) in corpus.map(read):
        if first + len(batch.texts) > run.rows:
            raise run.changed()
        names = ids.of(batch.ids.take(rows), corpus.shards[batch.shard], batch.row + rows)
        removed = is_removed[first + rows]
        kept = np.flatnonzero(~removed)
        for begin in range(0, len(kept), TEXTS_AT_ONCE):
            some = kept[begin : begin + TEXTS_AT_ONCE]
            at = len(files.contents)
            _keep_some(files, texts[some], [json.dumps(names[i], ensure_ascii=False) for i in some.tolist()], now)
            numbers[first + rows[some]] = at + np.arange(len(some))
        part = texts[np.flatnonzero(removed)]
        of_part = [json.dumps(names[i], ensure_ascii=False) for i in np.flatnonzero(removed).tolist()]
        given = part.originals.to_pylist() if files.rules.texts else [None] * len(part)
        came.add(originals(part.digests, of_part, given))
        digests.append(texts.prints.digests[removed])
        prints.append(texts.prints.values[removed])
        documents += len(rows)
    return Seen(numbers, np.concatenate(digests), np.concatenate(prints), documents)


def _keep_some(files: Files, texts: Texts, names: list[str], now: float) -> None:
    """Keep documents with these ids (JSON); an OptionError if two have the same id."""
    known, before = files.known.of_ids(names), set[str]()
    for name in names:
        if name in known or name in before:
            raise OptionError(
                f"The run kept two documents with the id {name}, and a store has one document of an id: a second one is an update. "
                "Give the documents other ids and run again, or add them with `neardup store add`."
            )
        before.add(name)
    first = len(files.contents)
    rows = [DocumentRow(first + i, name, now, now) for i, name in enumerate(names)]
    files.keep(texts, rows, [], set(), now)
    files.acknowledge({})


def _remember(files: Files, run: DecidedRun, removals: Removals, seen: Seen, came: SpooledTexts, now: float) -> None:
    """Remember each distinct text that the run removed, but for those that equal a kept one.

    Raises:
        InputError: a distance is not that of the audit, or a text equals its survivor's although the audit says it does not.
    """
    survivors = seen.numbers[removals.survivors]
    first_of = np.zeros(len(survivors), np.bool_)
    first_of[np.unique(seen.digests, axis=0, return_index=True)[1]] = True
    for begin in range(0, len(survivors), TEXTS_AT_ONCE):
        some = slice(begin, begin + TEXTS_AT_ONCE)
        if (survivors[some] < 0).any():
            raise run.changed()
        kept = files.contents.rows(survivors[some])
        far = row_distances(files.contents.fingerprints(kept), seen.prints[some])
        is_equal = (files.contents.digests(kept) == seen.digests[some]).all(axis=1)
        if (is_equal != removals.exact[some]).any() or (far != removals.distance[some]).any():
            raise run.changed()
        places = begin + np.flatnonzero(first_of[some] & ~is_equal)
        columns = (survivors[places], removals.similarity[places], removals.distance[places])
        rows = removed_rows(files.removed, digest_bytes(seen.digests[places]), *columns, now)
        originals_of_rows = came.read(places.tolist()) if files.rules.texts else []
        files.keep(files.texts([]), [], rows, set(), now, originals_of_rows)
        names = [each.name for each in came.read(range(begin, begin + len(is_equal)))]
        _skip(files, names, survivors[some], seen.digests[some], is_equal)
        files.acknowledge({})


def _skip(files: Files, names: Sequence[str], survivors: Array, digests: Array, is_equal: Array) -> None:
    """Remember documents that the run removed by their ids, unless it has kept one of the same id."""
    kept = files.known.of_ids(names)
    columns = zip(names, survivors.tolist(), is_equal.tolist(), digest_bytes(digests), strict=True)
    files.keep_skipped(
        {
            name: SkippedRow(name, survivor, None if is_same else digest)
            for name, survivor, is_same, digest in columns
            if name not in kept
        }
    )
