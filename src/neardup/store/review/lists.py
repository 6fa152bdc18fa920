"""LIST what was removed lately, and the pairs that are worth judging."""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.store.answers import PairText, RecentDuplicate, ReviewPair
from neardup.store.arguments import whole_number
from neardup.store.decisions.neighbors import numbered_pairs
from neardup.store.record.documents_table import RemovedRow, with_survivor
from neardup.store.session.backend import Backend
from neardup.store.upkeep.read_texts import texts_of_documents, texts_of_removed

LATEST_DOCUMENTS = 1 << 8
"""Kept documents whose pairs are looked for: the last ones that were added. Comparing all would take minutes."""
PAIRS_AT_ONCE = 4
"""Pairs whose texts are read together if they must not have too many bytes."""
ORDERED_PAIRS = 1 << 8
"""Pairs whose digests are read together."""
R = TypeVar("R")
T = TypeVar("T")
_POSITION = re.compile(r"([0-9]{1,18})-([0-9a-f]{32})")


def recent(files: Backend, limit: int, before: str | None, max_bytes: int | None) -> list[RecentDuplicate]:
    """See `Store.recent`."""
    number = (1 << 62) if before is None else position_in("before", before)[0]
    limit, max_bytes = limit_of(limit), bytes_of(max_bytes)
    found: list[RemovedRow] = []
    while len(found) < limit:
        rows = files.record.removed_before(number, limit)
        if not rows:
            break
        found += with_survivor(rows, files.gone)
        number = rows[-1].number
    return within(
        max_bytes,
        parts_of(found[:limit], max_bytes, partial(_recent, files)),
        lambda each: (each.text, each.survivor_text),
    )


def parts_of(rows: Sequence[R], max_bytes: int | None, made: Callable[[Sequence[R]], list[T]]) -> Iterator[list[T]]:
    """What is made of rows, some at a time if there is a limit."""
    size = PAIRS_AT_ONCE if max_bytes is not None else max(1, len(rows))
    return (made(rows[first : first + size]) for first in range(0, len(rows), size))


def within(
    max_bytes: int | None, parts: Iterable[list[T]], texts_in: Callable[[T], tuple[str | None, str | None]]
) -> list[T]:
    """So many of some values, one at least, that their texts have no more bytes."""
    found: list[T] = []
    left = float("inf") if max_bytes is None else float(max_bytes)
    for each in itertools.chain.from_iterable(parts):
        left -= sum(len(text.encode()) for text in texts_in(each) if text is not None)
        if left < 0 and found:
            break
        found.append(each)
    return found


def _recent(files: Backend, rows: Sequence[RemovedRow]) -> list[RecentDuplicate]:
    survivors = _documents(files, [row.survivor for row in rows])
    names, own = texts_of_removed(files, rows)
    return [
        RecentDuplicate(
            position=position_of(row),
            id=id_of(name),
            duplicate_of=survivors[row.survivor].id,
            similarity=row.similarity,
            distance=row.distance,
            exact=False,
            seen=row.last_seen,
            text=text,
            survivor_text=survivors[row.survivor].text,
        )
        for row, name, text in zip(rows, names, own, strict=True)
    ]


def _documents(files: Backend, numbers: Iterable[int]) -> dict[int, PairText]:
    """Kept documents with their digests and texts, by number."""
    rows = files.record.documents(list(dict.fromkeys(numbers)))
    digests = files.digests(np.array(list(rows), np.int64))
    texts = texts_of_documents(files, list(rows.values()), digests)
    return {
        number: PairText(id=json.loads(row.id), digest=digest.hex(), text=text)
        for (number, row), digest, text in zip(rows.items(), digests, texts, strict=True)
    }


# ------------------------------------------------------------------------------------------------------------- to judge


def review(files: Backend, limit: int, max_bytes: int | None, *, latest: int = LATEST_DOCUMENTS) -> list[ReviewPair]:
    """See `Store.review`; `latest`: kept documents whose pairs are looked for."""
    limit, max_bytes = limit_of(limit), bytes_of(max_bytes)
    judged = {pair for each in files.judged_pairs() for pair in (each, each[::-1])}
    threshold = files.rules.options.min_similarity
    pairs: list[RemovedRow | KeptPair] = [
        *_removed_pairs(files, judged, limit),
        *_kept_pairs(files, judged, limit, latest),
    ]
    nearest = sorted(pairs, key=lambda pair: _farness(pair.similarity, pair.distance, threshold))[:limit]
    return within(
        max_bytes,
        parts_of(nearest, max_bytes, partial(_with_texts, files)),
        lambda pair: (pair.left.text, pair.right.text),
    )


class KeptPair(NamedTuple):
    """Two kept documents by their numbers, the earlier first."""

    left: int
    right: int
    similarity: float | None
    distance: int


def _with_texts(files: Backend, pairs: Sequence[RemovedRow | KeptPair]) -> list[ReviewPair]:
    removed = [pair for pair in pairs if isinstance(pair, RemovedRow)]
    kept = [number for pair in pairs if isinstance(pair, KeptPair) for number in (pair.left, pair.right)]
    sides = _documents(files, [*(row.survivor for row in removed), *kept])
    came = {row.number: each for row, *each in zip(removed, *texts_of_removed(files, removed), strict=True)}
    found = []
    for pair in pairs:
        scores: Any = {"similarity": pair.similarity, "distance": pair.distance}
        if isinstance(pair, KeptPair):
            found.append(ReviewPair(kind="kept", left=sides[pair.left], right=sides[pair.right], **scores))
            continue
        name, text = came[pair.number]
        left = PairText(id=id_of(name), position=position_of(pair), digest=pair.digest.hex(), text=text)
        found.append(ReviewPair(kind="removed", left=left, right=sides[pair.survivor], **scores))
    return found


def _farness(similarity: float | None, distance: int, threshold: float) -> float:
    """How far a pair is from the threshold; where the distance decides, none is farther apart than the threshold."""
    return -float(distance) if similarity is None else abs(similarity - threshold)


def _removed_pairs(files: Backend, judged: set[tuple[bytes, bytes]], limit: int) -> list[RemovedRow]:
    """The remembered duplicates that are least like their survivors, and not judged."""
    size = limit + len(judged)
    while True:
        rows = files.record.least_similar(size)
        there = with_survivor(rows, files.gone)
        survivors = files.digests(np.array([row.survivor for row in there], np.int64))
        found = [row for row, survivor in zip(there, survivors, strict=True) if (row.digest, survivor) not in judged]
        if len(found) >= limit or len(rows) < size:
            return found[:limit]
        size *= 4


def _kept_pairs(files: Backend, judged: set[tuple[bytes, bytes]], limit: int, latest: int) -> list[KeptPair]:
    """The pairs of kept documents that are nearest the threshold, and not judged."""
    rules = files.rules
    if rules.floor is None and rules.keep != "always":
        return []
    threshold = rules.options.min_similarity
    best: list[tuple[float, KeptPair]] = []
    for left, right, alike, far in numbered_pairs(files, rules.least, files.kept()[-latest:]):
        farness = np.where(np.isnan(alike), -far, np.abs(alike - threshold))
        for at in islice(_nearest(files, farness, left, right, judged), limit):
            score = None if np.isnan(alike[at]) else float(alike[at])
            pair = KeptPair(int(left[at]), int(right[at]), score, int(far[at]))
            best.append((float(farness[at]), pair))
        best = sorted(best, key=lambda each: (each[0], each[1][:2]))[:limit]
    return [pair for _, pair in best]


def _nearest(
    files: Backend, farness: Array, left: Array, right: Array, judged: set[tuple[bytes, bytes]]
) -> Iterator[int]:
    """The places of the pairs that are not judged, the nearest first."""
    order = np.argsort(farness, kind="stable")
    for first in range(0, len(order), ORDERED_PAIRS):
        some = order[first : first + ORDERED_PAIRS]
        digests = zip(files.digests(left[some]), files.digests(right[some]), strict=True)
        yield from (at for at, pair in zip(some.tolist(), digests, strict=True) if pair not in judged)


def id_of(name: str | None) -> Any:
    return None if name is None else json.loads(name)


def position_of(row: RemovedRow) -> str:
    return f"{row.number}-{row.digest.hex()}"


def position_in(option: str, given: Any) -> tuple[int, bytes]:
    """The number and the digest of a position; an OptionError if it is none."""
    found = _POSITION.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise OptionError(f"`{option}={given!r}`: give a `position` that was listed.")
    return int(found[1]), bytes.fromhex(found[2])


def limit_of(limit: Any) -> int:
    """A number of pairs; an OptionError if it is none."""
    return whole_number("limit", limit, "a number of pairs, 1 or more", least=1, below=1 << 31)


def bytes_of(max_bytes: Any) -> int | None:
    """A number of bytes, or None for any number; an OptionError if it is neither."""
    if max_bytes is None:
        return None
    return whole_number("max_bytes", max_bytes, "a number of bytes, 1 or more", least=1)
