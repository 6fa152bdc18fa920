"""NEIGHBORS of a text, and all pairs of kept documents, at or above a similarity that candidates are found for."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import OptionError
from neardup.store.answers import StoreMatch, StorePair
from neardup.store.decisions.all_matches import every_match
from neardup.store.session.backend import Backend
from neardup.store.session.prepared import PreparedTexts, parts_of
from neardup.survivors.listed_pairs import connected

DOCUMENTS_AT_ONCE = 1 << 14
"""Documents whose rows are read at a time."""
PAIRS_AT_ONCE = 1 << 20
"""Pairs that are connected at a time: each time takes a step for each document."""


def neighbors(
    files: Backend, text: str | PreparedTexts | None, name: str | None, min_similarity: float | None
) -> list[StoreMatch]:
    """See `Store.neighbors`; `name`: the id as JSON."""
    least, own = _least(files, min_similarity), -1
    if name is None:
        texts = next(parts_of(files, text if isinstance(text, PreparedTexts) else [text or ""]))
    else:
        row = files.known.of_ids([name]).get(name)
        if row is None:
            raise OptionError(f"There is no document with the id {name}.")
        own = row.number
        texts = files.contents.texts(np.array([own]))
    found, _ = every_match(files, texts, least)
    matches = found.matches(files.record.documents(found.documents.tolist()))
    return [match for match, number in zip(matches, found.documents.tolist(), strict=True) if number != own]


def ids(files: Backend) -> list[Any]:
    """See `Store.ids`."""
    kept = files.kept().tolist()
    found: list[Any] = []
    for first in range(0, len(kept), DOCUMENTS_AT_ONCE):
        some = kept[first : first + DOCUMENTS_AT_ONCE]
        rows = files.record.documents(some)
        found += [json.loads(rows[number].id) for number in some]
    return found


def pairs(files: Backend, min_similarity: float | None) -> Iterator[StorePair]:
    """See `Store.pairs`."""
    for left, right, alike, distance in numbered_pairs(files, _least(files, min_similarity), files.kept()):
        rows = files.record.documents(np.unique([left, right]).tolist())
        for a, b, grade, far in zip(left.tolist(), right.tolist(), alike.tolist(), distance.tolist(), strict=True):
            yield StorePair(json.loads(rows[a].id), json.loads(rows[b].id), None if grade != grade else grade, far)


def clusters(files: Backend, min_similarity: float | None) -> list[tuple[Any, ...]]:
    """See `Store.clusters`."""
    kept, least = files.kept(), _least(files, min_similarity)
    roots = connected(len(kept), _gathered(kept, numbered_pairs(files, least, kept)))
    is_member = np.bincount(roots, minlength=len(kept))[roots] > 1
    members, roots = kept[is_member], roots[is_member]
    rows = files.record.documents(members.tolist())
    names: dict[int, list[Any]] = {}
    for number, root in zip(members.tolist(), roots.tolist(), strict=True):
        names.setdefault(root, []).append(json.loads(rows[number].id))
    return [tuple(each) for each in names.values()]


def _gathered(kept: Array, parts: Iterable[tuple[Array, Array, Array, Array]]) -> Iterator[tuple[Array, Array]]:
    """The places in `kept` (int64[n], ascending) of the documents of pairs, about `PAIRS_AT_ONCE` pairs at a time."""
    waiting = [np.empty((2, 0), np.int64)]
    for left, right, *_ in parts:
        waiting.append(np.searchsorted(kept, np.stack([left, right])))
        if sum(part.shape[1] for part in waiting) >= PAIRS_AT_ONCE:
            yield tuple(np.concatenate(waiting, axis=1))
            waiting = [np.empty((2, 0), np.int64)]
    yield tuple(np.concatenate(waiting, axis=1))


def numbered_pairs(files: Backend, least: float, kept: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Pairs of some kept documents (int64[n]) and earlier ones, the earlier first, by the later one.

    Yields their numbers, similarities and distances: int64[p], int64[p], float64[p], int64[p].
    """

    def found_in(block: slice) -> tuple[Array, Array, Array, Array]:
        numbers = kept[block]
        found, _ = every_match(files, files.contents.texts(numbers), least)
        right = np.repeat(numbers, np.diff(found.starts))
        earlier = found.documents < right
        order = np.lexsort((found.documents[earlier], right[earlier]))
        left, right, alike, distance = (
            column[earlier][order] for column in (found.documents, right, found.similarity, found.distance)
        )
        return left, right, alike, distance

    return files.blocks.over(len(kept), found_in)


def _least(files: Backend, min_similarity: float | None) -> float:
    """The similarity that is asked for; an OptionError if candidates are not found for it."""
    least, rules = files.rules.least, files.rules
    if min_similarity is None:
        return float(rules.options.min_similarity)
    if not isinstance(min_similarity, int | float) or not least <= min_similarity <= 1:
        raise OptionError(
            f"`min_similarity={min_similarity!r}`: this store finds what is similar from {least:g} to 1. For less, make a store "
            "with a lower floor: `neardup store create FOLDER --floor J`, or `floor=J` in Python."
        )
    if rules.options.min_similarity == 0 and min_similarity > 0:
        raise OptionError(
            f"`min_similarity={min_similarity!r}`: this store has fingerprints alone, so it tells distances only."
        )
    return float(min_similarity)
