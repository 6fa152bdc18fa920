"""JUDGE: keep what somebody has said of a pair, and list it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from neardup.errors import OptionError
from neardup.matching.text_features import digest_words
from neardup.store.answers import Judgement, PairKind, PairText, RecentDuplicate, ReviewPair
from neardup.store.arguments import id_as_json, whole_number
from neardup.store.decisions.all_matches import similarity_to
from neardup.store.record.documents_table import with_survivor
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.review.lists import PAIRS_AT_ONCE, bytes_of, id_of, limit_of, position_in, within
from neardup.store.session.backend import Backend
from neardup.store.upkeep.read_texts import judged_texts, originals_of_removed

Pair = RecentDuplicate | ReviewPair | tuple[Any, Any]
"""What `Store.judge` takes."""


class Reference(NamedTuple):
    """Which pair is meant.

    Attributes:
        position: of a remembered duplicate, on the left; None if both are kept.
        left, right: the ids as JSON; None if it is that of a remembered duplicate.
        digests: of the texts that were seen, if they are known.
    """

    position: str | None
    left: str | None
    right: str
    digests: frozenset[str] = frozenset()


def judge(files: Backend, pair: Pair, same: bool) -> int:
    """See `Store.judge`."""
    files.demand_writable()
    if not isinstance(same, bool):
        raise OptionError(f"`same={same!r}`: give True if the two are duplicates, or False.")
    meant = _reference(pair)
    with files.one_change():
        now = max(files.clock(), files.latest)
        row = _kept_judgement(files, meant, now) if meant.position is None else _removed_judgement(files, meant, now)
        if not meant.digests <= {row.left.hex(), row.right.hex()}:
            raise OptionError("A document that is to be judged has another text by now. List pairs again.")
        files.keep_judgement(row._replace(same=same))
    return files.count_judgements()


def _reference(pair: Pair) -> Reference:
    if isinstance(pair, RecentDuplicate):
        return Reference(pair.position, None, id_as_json(pair.duplicate_of))
    if isinstance(pair, ReviewPair):
        digests = frozenset(filter(None, (pair.left.digest, pair.right.digest)))
        if pair.left.position is not None:
            return Reference(pair.left.position, None, id_as_json(pair.right.id), digests)
        return _of_ids((pair.left.id, pair.right.id), digests)
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise OptionError(
            f"`pair={pair!r}`: give what `recent` or `review` has listed, or the ids of two kept documents."
        )
    return _of_ids((pair[0], pair[1]))


def _of_ids(ids: tuple[Any, Any], digests: frozenset[str] = frozenset()) -> Reference:
    left, right = map(id_as_json, ids)
    if left == right:
        raise OptionError(f"`pair`: {left} is one document. Give the ids of two.")
    return Reference(None, left, right, digests)


def _removed_judgement(files: Backend, meant: Reference, now: float) -> JudgementRow:
    """A judgement of a remembered duplicate and its survivor."""
    digest = position_in("pair", meant.position)[1]
    numbers = files.known.all_removed(digest_words([digest])).found.tolist()
    rows = [row for row in files.record.removed(numbers).values() if row.digest == digest]
    there = with_survivor(sorted(rows, key=lambda row: row.number), files.gone)
    survivors = files.record.documents([row.survivor for row in there])
    there = [row for row in there if survivors[row.survivor].id == meant.right]
    if not there:
        raise OptionError(
            "The duplicate that is to be judged is forgotten: its survivor was removed. List pairs again."
        )
    row = there[-1]
    survivor = survivors[row.survivor]
    original, kept = originals_of_removed(files, [row])[0], files.originals({row.survivor: survivor.id})
    return JudgementRow(
        left=digest,
        right=files.digests(np.array([row.survivor]))[0],
        kind="removed",
        left_id=None if original is None or original.name == "null" else original.name,
        right_id=survivor.id,
        same=False,
        similarity=row.similarity,
        distance=row.distance,
        judged=now,
        left_text=None if original is None else original.sealed,
        right_text=kept[row.survivor].sealed if kept else None,
    )


def _kept_judgement(files: Backend, meant: Reference, now: float) -> JudgementRow:
    """A judgement of two kept documents, the earlier first."""
    names = [name for name in (meant.left, meant.right) if name is not None]
    found = files.known.of_ids(names)
    for name in names:
        if name not in found:
            raise OptionError(f"There is no document with the id {name}.")
    earlier, later = sorted(found.values(), key=lambda row: row.number)
    numbers = np.array([earlier.number, later.number])
    left, right = files.digests(numbers)
    kept = files.originals({row.number: row.id for row in (earlier, later)})
    similarity, distance = similarity_to(files, files.contents.texts(numbers[1:]), earlier.number)
    return JudgementRow(
        left=left,
        right=right,
        kind="kept",
        left_id=earlier.id,
        right_id=later.id,
        same=False,
        similarity=similarity,
        distance=distance,
        judged=now,
        left_text=kept[earlier.number].sealed if kept else None,
        right_text=kept[later.number].sealed if kept else None,
    )


def judgements(files: Backend, limit: int | None, after: int, max_bytes: int | None) -> list[Judgement]:
    """See `Store.judgements`."""
    limit, max_bytes = None if limit is None else limit_of(limit), bytes_of(max_bytes)
    after = whole_number("after", after, "the number of a judgement, or 0")
    return within(max_bytes, _parts(files, limit, after, max_bytes), lambda each: (each.left.text, each.right.text))


def _parts(files: Backend, limit: int | None, after: int, max_bytes: int | None) -> Iterator[list[Judgement]]:
    """Judgements, some at a time if there is a limit of bytes."""
    left = limit
    while left is None or left > 0:
        most = left if max_bytes is None else PAIRS_AT_ONCE if left is None else min(PAIRS_AT_ONCE, left)
        rows = files.judgements(after, most)
        yield [_judgement(number, row, files.texts_shown) for number, row in rows]
        if most is None or len(rows) < most:
            return
        after, left = rows[-1][0], None if left is None else left - most


def _judgement(number: int, row: JudgementRow, shown: str) -> Judgement:
    left, right = judged_texts(row, shown)
    kind: PairKind = "removed" if row.kind == "removed" else "kept"
    return Judgement(
        number=number,
        kind=kind,
        left=PairText(id=id_of(row.left_id), digest=row.left.hex(), text=left),
        right=PairText(id=id_of(row.right_id), digest=row.right.hex(), text=right),
        similarity=row.similarity,
        distance=row.distance,
        same=row.same,
        judged=row.judged,
    )
