"""ORPHANS: what becomes of skipped documents when the kept ones that they duplicate go.

Each is compared with all documents that are kept then. If one matches, it takes the place of the one that went; otherwise the
skipped document is an orphan. Texts are compared by what the store has of them: an exact copy by the contents of the document
that it equals, which stay readable until `compact`; a near-duplicate by its text, if the store keeps texts. When a skipped document
moves to another one, whose text is another, what it was compared by is kept with it.
"""

import json
from collections.abc import Iterator, Sequence

import numpy as np

from neardup.arrays import Array
from neardup.matching.text_features import Texts, digest_words
from neardup.store.answers import MAX_LISTED_ORPHANS, NO_ORPHANS, Orphans
from neardup.store.decisions.all_matches import every_match
from neardup.store.formats.row_contents import contents_of, texts_of_contents
from neardup.store.record.sealed_texts import text_of
from neardup.store.record.skipped_table import SkippedContent, SkippedRow
from neardup.store.session.backend import Backend
from neardup.store.session.batching import by_halves

SURVIVORS_AT_ONCE = 1 << 10
"""Documents that went whose skipped ones are looked at together."""
Key = tuple[int, bytes | None]
"""A survivor and a digest: skipped documents with the same ones are compared once."""


def forget(files: Backend, numbers: Array, *, compares: bool = True, now: float | None = None) -> Orphans:
    """Remove documents (int64[n], each once, none of them gone). Returns the orphans that they leave.

    Args:
        files, numbers: the store, and the documents.
        compares: whether the store can be asked what matches; otherwise all of their skipped documents are orphans.
        now: the time of the record; by default, that of the clock.
    """
    files.forget(numbers)
    return settle(files, numbers, compares=compares, now=now)


def settle(files: Backend, numbers: Array, *, compares: bool = True, now: float | None = None) -> Orphans:
    """Let the skipped documents of documents that went have others that they match, or be orphans."""
    found = NO_ORPHANS
    for first in range(0, len(numbers), SURVIVORS_AT_ONCE):
        some = numbers[first : first + SURVIVORS_AT_ONCE].tolist()
        if rows := files.skipped_of(some):
            found += _settle(files, some, rows, compares=compares, now=now)
        files.forget_skipped(some)
    return found


def _settle(
    files: Backend, gone: Sequence[int], rows: Sequence[SkippedRow], *, compares: bool, now: float | None
) -> Orphans:
    keys = list(dict.fromkeys((row.survivor, row.digest) for row in rows))
    contents = _contents(files, gone, keys) if compares else {}
    matched = _matched(files, contents)
    moved: dict[str, SkippedRow | None] = {}
    orphans = list[tuple[str, bool]]()
    for row in rows:
        key = row.survivor, row.digest
        if key in matched:
            moved[row.id] = SkippedRow(row.id, *matched[key])
        else:
            orphans.append((row.id, key in contents))
    files.keep_skipped(
        moved,
        [
            SkippedContent(survivor, digest, contents[key])
            for key, (survivor, digest) in matched.items()
            if digest is not None
        ],
    )
    if not orphans:
        return NO_ORPHANS
    after = files.add_orphans(orphans, files.clock() if now is None else now)
    ids = tuple(json.loads(name) for name, _ in orphans) if len(orphans) <= MAX_LISTED_ORPHANS else ()
    return Orphans(len(orphans), sum(not compared for _, compared in orphans), ids, after)


def _contents(files: Backend, gone: Sequence[int], keys: Sequence[Key]) -> dict[Key, bytes]:
    """What is compared of texts, of those that the store has."""
    kept = files.skipped_contents(gone)
    found: dict[Key, bytes] = {key: kept[key] for key in keys if key in kept}
    copies = np.array([survivor for survivor, digest in keys if digest is None], np.int64)
    for numbers, texts in by_halves(files.contents.texts, copies) if len(copies) else ():
        if texts is not None:
            contents = contents_of(files.layout, texts)
            found |= {(number, None): each for number, each in zip(numbers.tolist(), contents, strict=True)}
    if files.has_texts:
        found |= _contents_of_originals(files, [key for key in keys if key not in found and key[1] is not None])
    return {key: found[key] for key in keys if key in found}


def _contents_of_originals(files: Backend, keys: Sequence[Key]) -> dict[Key, bytes]:
    """What is compared of near-duplicates, by the texts that the store keeps of them."""
    if not keys:
        return {}
    asked, numbers = files.known.all_removed(digest_words([digest or b"" for _, digest in keys]))
    rows = files.record.removed(np.unique(numbers).tolist())
    of_key = {}
    for place, number in zip(asked.tolist(), numbers.tolist(), strict=True):
        row = rows.get(number)
        if row is not None and (row.survivor, row.digest) == keys[place]:
            of_key[keys[place]] = row
    originals = files.removed_originals([row.number for row in of_key.values()])
    where = f"{files.texts_shown} is damaged: the text of a skipped document"
    texts = {key: text_of(row.digest, originals.get(row.number), where) for key, row in of_key.items()}
    there = {key: text for key, text in texts.items() if text is not None}
    made = contents_of(files.layout, files.texts(list(there.values())))
    return dict(zip(there, made, strict=True))


def _matched(files: Backend, contents: dict[Key, bytes]) -> dict[Key, tuple[int, bytes | None]]:
    """The best match of those texts that have one: its number, and the digest of the text, None if it is equal."""
    if not contents:
        return {}
    keys = list(contents)
    texts = texts_of_contents(files.layout, list(contents.values()), files.shown)
    found: dict[Key, tuple[int, bytes | None]] = {}
    for first, survivors, equal in _best(files, texts):
        digests = texts.digests[first : first + len(survivors)]
        for place, survivor in enumerate(survivors.tolist()):
            if survivor >= 0:
                found[keys[first + place]] = survivor, None if equal[place] else digests[place]
    return found


def _best(files: Backend, texts: Texts) -> Iterator[tuple[int, Array, Array]]:
    """For texts from a place on, some together: the numbers of their best matches, -1 for none, and whether these are equal."""

    def asked(block: slice) -> tuple[int, Array, Array]:
        some = texts[np.arange(block.start, block.stop)]
        decided, equal = every_match(files, some, files.rules.options.min_similarity)
        best, matches = decided.starts[:-1], ~decided.is_new
        survivors, is_equal = np.full(len(some), -1, np.int64), np.zeros(len(some), np.bool_)
        survivors[matches], is_equal[matches] = decided.documents[best[matches]], equal[best[matches]]
        return block.start, survivors, is_equal

    yield from files.blocks.over(len(texts), asked)
