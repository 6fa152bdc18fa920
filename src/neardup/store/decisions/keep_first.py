"""DECIDE: the answers to texts, and which documents are kept, by the rules of a store."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
from neardup.store.record.skipped_table import SkippedRow
from neardup.store.session.backend import Backend


@dataclass(frozen=True)
class KnownAnswers:
    """The answers to copies of texts that were seen before.

    Attributes:
        answers: by place.
        fresh: int64[m], the other places, ascending.
        survivors: by place the number of the kept document, and whether its text is equal.
        ids: of these documents, as JSON, by their numbers.
    """

    answers: dict[int, StoreAnswer]
    fresh: Array
    survivors: dict[int, tuple[int, bool]]
    ids: dict[int, str]


def known_answers(files: Backend, texts: Texts) -> KnownAnswers:
    """Look for equal texts, among the kept ones and among those that were not kept."""
    kept = files.known.kept(texts.prints)
    removed = files.known.removed(texts.prints, np.flatnonzero(kept < 0))
    numbers = {number for number in kept.tolist() if number >= 0} | {row.survivor for row in removed.values()}
    rows = files.record.documents(list(numbers))
    survivors = {place: (number, True) for place, number in enumerate(kept.tolist()) if number >= 0}
    answers = {place: copy_of(rows[number].id) for place, (number, _) in survivors.items()}
    for place, row in removed.items():
        survivors[place] = row.survivor, False
        match = StoreMatch(json.loads(rows[row.survivor].id), row.similarity, row.distance)
        answers[place] = StoreAnswer(False, (match,))
    unknown = kept < 0
    unknown[list(removed)] = False
    return KnownAnswers(answers, np.flatnonzero(unknown), survivors, {number: row.id for number, row in rows.items()})


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


class Range(NamedTuple):
    """Documents to decide together.

    Attributes:
        places: theirs.
        earlier: if the first of them is an update, the earlier text of its id, which has been removed when the range comes.
        is_same: whether the first of them is kept with an equal text.
        gone: of an update, the number of the earlier text, if it has skipped documents; then the range has no other document.
    """

    places: slice
    earlier: StoreMatch | None = None
    is_same: bool = False
    gone: int | None = None


def without_updates(files: Backend, texts: Texts, names: Sequence[str]) -> Iterator[Range]:
    """The ranges of some documents, in their order."""
    begin, seen, earlier, is_same = 0, set[str](), None, False
    known = files.known.of_ids(names)
    for place, name in enumerate(names):
        if name in seen or name in known:
            if place > begin:
                yield Range(slice(begin, place), earlier, is_same)
                begin, earlier = place, None
            row, text = files.known.of_ids([name]).get(name), texts[np.array([place])]
            is_same = row is not None and row.number in files.known.all_kept(text.prints).found
            if row is not None and not is_same:
                earlier = StoreMatch(json.loads(name), *similarity_to(files, text, row.number), row.first_seen)
                files.forget(np.array([row.number]))
                if files.skipped_of([row.number]):
                    yield Range(slice(place, place + 1), earlier, gone=row.number)
                    begin, earlier = place + 1, None
                else:
                    files.forget_skipped([row.number])
        seen.add(name)
    if begin < len(names):
        yield Range(slice(begin, len(names)), earlier, is_same)


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
    seen = known.ids.keys() | {row.survivor for row in removed}
    files.keep(texts[kept], rows, removed, seen, now, _came(files, some, ~decided.is_new, [names[i] for i in places]))
    own = {row.number: row for row in rows}
    skipped: dict[str, SkippedRow | None] = dict.fromkeys(row.id for row in rows)
    if len(rows) < len(names):
        of_new = {digests[place]: row.number for place, row in zip(kept.tolist(), rows, strict=True)}
        of_removed = {row.digest: row.survivor for row in removed}
        others = np.delete(np.arange(len(names)), kept).tolist()
        skipped |= _skipped(names, digests, others, known, of_removed, of_new)
    files.keep_skipped(skipped)
    answers = known.answers
    for place, answer in zip(places.tolist(), decided.answers(files.record, own), strict=True):
        answers[place] = answer
    for place in known.fresh.tolist():
        earlier = first_of[digests[place]]
        if earlier != place:
            answers[place] = copy_of(names[earlier]) if answers[earlier].is_new else answers[earlier]
    return [answers[place] for place in range(len(texts))]


def _skipped(
    names: Sequence[str],
    digests: Sequence[bytes],
    places: Sequence[int],
    known: KnownAnswers,
    survivors: Mapping[bytes, int],
    kept: Mapping[bytes, int],
) -> dict[str, SkippedRow]:
    """What is remembered of documents that are not kept, by their ids.

    Args:
        names, digests: of all documents.
        places: of those that are not kept, or are kept already.
        known: of those whose texts were seen before.
        survivors: of other texts that are not kept, by digest.
        kept: the numbers of texts that are, by digest.
    """
    found: dict[str, SkippedRow] = {}
    for place in places:
        name, digest = names[place], digests[place]
        if place in known.survivors:
            survivor, is_equal = known.survivors[place]
            if known.ids[survivor] != name:  # otherwise it is kept with an equal text
                found[name] = SkippedRow(name, survivor, None if is_equal else digest)
        elif digest in survivors:
            found[name] = SkippedRow(name, survivors[digest], digest)
        else:
            found[name] = SkippedRow(name, kept[digest], None)
    return found


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
