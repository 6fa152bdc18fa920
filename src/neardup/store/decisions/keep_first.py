"""DECIDE: the answers to texts, and which documents are kept, by the rules of a store."""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.matching.text_features import Texts
from neardup.store.answers import StoreAnswer, StoreMatch
from neardup.store.decisions.all_matches import similarity_to
from neardup.store.decisions.keep_always import ask_all
from neardup.store.decisions.star import Decided, walk
from neardup.store.formats.segments import NOTHING_FOUND, Found
from neardup.store.record.documents_table import Given, RemovedRow, removed_rows
from neardup.store.record.sealed_texts import Original, originals
from neardup.store.session.backend import Backend


@dataclass(frozen=True)
class KnownAnswers:
    """The answers to copies of texts that were seen before.

    Attributes:
        answers: by place.
        fresh: int64[m], the other places, ascending.
        documents: the numbers of the kept documents in the answers.
    """

    answers: dict[int, StoreAnswer]
    fresh: Array
    documents: set[int]


def known_answers(files: Backend, texts: Texts) -> KnownAnswers:
    """Look for equal texts, among the kept ones and among those that were not kept."""
    kept = files.known.kept(texts.prints)
    removed = files.known.removed(texts.prints, np.flatnonzero(kept < 0))
    numbers = {number for number in kept.tolist() if number >= 0} | {row.survivor for row in removed.values()}
    rows = files.record.documents(list(numbers))
    answers = {place: copy_of(rows[number].id) for place, number in enumerate(kept.tolist()) if number >= 0}
    for place, row in removed.items():
        match = StoreMatch(json.loads(rows[row.survivor].id), row.similarity, row.distance)
        answers[place] = StoreAnswer(False, (match,))
    unknown = kept < 0
    unknown[list(removed)] = False
    return KnownAnswers(answers, np.flatnonzero(unknown), numbers)


def ask(files: Backend, texts: Texts) -> list[StoreAnswer]:
    """The answers to texts, each for itself."""
    ask_some = ask_all if files.rules.keep == "always" else _ask
    parts = files.blocks.over(len(texts), lambda some: ask_some(files, texts[np.arange(some.start, some.stop)]))
    return list(itertools.chain.from_iterable(parts))


def _ask(files: Backend, texts: Texts) -> list[StoreAnswer]:
    known = known_answers(files, texts)
    if len(known.fresh):
        decided = _walk(files, texts[known.fresh], NOTHING_FOUND)
        known.answers.update(zip(known.fresh.tolist(), decided.answers(files.record, {}), strict=True))
    return [known.answers[place] for place in range(len(texts))]


def without_updates(
    files: Backend, texts: Texts, names: Sequence[str]
) -> Iterator[tuple[slice, StoreMatch | None, bool]]:
    """Ranges of documents to decide together. If the first of them is an update, with the earlier text of its id, which has been
    removed when the range comes. And whether the first of them is kept with an equal text.
    """
    begin, seen, earlier, is_same = 0, set[str](), None, False
    known = files.known.of_ids(names)
    for place, name in enumerate(names):
        if name in seen or name in known:
            if place > begin:
                yield slice(begin, place), earlier, is_same
                begin, earlier = place, None
            row, text = files.known.of_ids([name]).get(name), texts[np.array([place])]
            is_same = row is not None and row.number in files.known.all_kept(text.prints).found
            if row is not None and not is_same:
                earlier = StoreMatch(json.loads(name), *similarity_to(files, text, row.number), row.first_seen)
                files.forget(np.array([row.number]))
        seen.add(name)
    if begin < len(names):
        yield slice(begin, len(names)), earlier, is_same


def add(files: Backend, texts: Texts, given: Given) -> list[StoreAnswer]:
    """Decide documents with different ids that are not kept, or with equal texts, in order; and keep the new ones."""
    names, now = given.names, given.now
    known = known_answers(files, texts)
    digests, first_of = texts.digests, dict[bytes, int]()
    for place in known.fresh.tolist():
        first_of.setdefault(digests[place], place)
    places = np.array(list(first_of.values()), np.int64)
    some, first = texts[places], len(files.contents)
    among = files.candidates.among(some) if len(places) > 1 else NOTHING_FOUND
    decided = _walk(files, some, among)
    kept, numbers = places[decided.is_new], first + np.cumsum(decided.is_new) - 1
    decided = decided.named(numbers)
    rows = given.rows(kept.tolist(), first)
    removed = _removed_rows(some, decided, files.removed, now)
    seen = known.documents | {row.survivor for row in removed}
    files.keep(texts[kept], rows, removed, seen, now, _came(files, some, ~decided.is_new, [names[i] for i in places]))
    own = {row.number: row for row in rows}
    answers = known.answers
    for place, answer in zip(places.tolist(), decided.answers(files.record, own), strict=True):
        answers[place] = answer
    for place in known.fresh.tolist():
        earlier = first_of[digests[place]]
        if earlier != place:
            answers[place] = copy_of(names[earlier]) if answers[earlier].is_new else answers[earlier]
    return [answers[place] for place in range(len(texts))]


def _walk(files: Backend, texts: Texts, among: Found) -> Decided:
    return walk(files, texts, files.candidates.of_kept(texts), among, files.rules.options.min_similarity)


def _removed_rows(texts: Texts, decided: Decided, first: int, now: float) -> list[RemovedRow]:
    """What is remembered of texts that are not new, under the numbers from `first` on."""
    digests = texts.digests
    places = np.flatnonzero(~decided.is_new)
    best = decided.starts[places]
    columns = (decided.documents[best], decided.similarity[best], decided.distance[best])
    return removed_rows(first, [digests[place] for place in places.tolist()], *columns, now)


def _came(files: Backend, texts: Texts, is_removed: Array, names: Sequence[str]) -> list[Original]:
    """Those of some texts that are not kept, as they were given, if the store keeps texts."""
    if not files.rules.texts:
        return []
    places = np.flatnonzero(is_removed)
    part = texts[places]
    return originals(part.digests, [names[place] for place in places.tolist()], part.originals.to_pylist())


def copy_of(name: str) -> StoreAnswer:
    """The answer to a text that equals a kept one."""
    return StoreAnswer(False, (StoreMatch(json.loads(name), 1.0, 0),), exact=True)
