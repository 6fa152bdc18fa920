"""REPLACE: decide documents in order where a better one takes the place of all documents that it matches."""

import numpy as np

from neardup.arrays import Array
from neardup.matching.text_features import Texts
from neardup.store.answers import NEW, StoreAnswer
from neardup.store.decisions.all_matches import every_match
from neardup.store.record.documents_table import Given
from neardup.store.rules import is_better
from neardup.store.session.backend import Backend


def add_better(files: Backend, texts: Texts, given: Given) -> list[StoreAnswer]:
    """Decide documents with different ids that are not kept, or with equal texts, in order.

    One that matches kept documents, and is better than all of them, is kept, and replaces them; another one is a duplicate. Texts
    that were not kept are not remembered: each is compared with what is kept.
    """
    answers: list[StoreAnswer] = []
    alone = _alone(files, texts)
    place = 0
    while place < len(texts):
        last = place
        while last < len(texts) and alone[last]:
            last += 1
        if last > place:
            some = np.arange(place, last)
            files.keep(texts[some], given.rows(some.tolist(), len(files.contents)), [], set(), given.now)
            answers += [NEW] * (last - place)
            place = last
        else:
            answers.append(_decide(files, texts[np.array([place])], given, place))
            place += 1
    return answers


def _alone(files: Backend, texts: Texts) -> Array:
    """bool[n]: which texts are like nothing that is kept, and like no other of them, as far as candidates tell."""
    found = np.ones(len(texts), np.bool_)
    found[files.candidates.of_kept(texts).asked] = False
    found[files.known.all_kept(texts.prints).asked] = False
    if len(texts) > 1:
        for places in files.candidates.among(texts):
            found[places] = False
    _, first, counts = np.unique(texts.prints.digests, axis=0, return_inverse=True, return_counts=True)
    found[counts[first.ravel()] > 1] = False
    return found


def _decide(files: Backend, text: Texts, given: Given, place: int) -> StoreAnswer:
    """Decide one document by what is kept now."""
    found, _ = every_match(files, text, files.rules.options.min_similarity)
    numbers = found.documents.tolist()
    rows = files.record.documents(numbers)
    exact = set(files.known.all_kept(text.prints).found.tolist())
    matches = tuple(found.matches(rows))
    keep = files.rules.keep
    if all(is_better(keep, given.ranks[place], row.rank) for row in rows.values()):
        files.keep(text, given.rows([place], len(files.contents)), [], set(), given.now)
        files.forget(np.array(sorted(numbers), np.int64))
        return StoreAnswer(True, replaces=matches) if matches else NEW
    files.keep(text[np.empty(0, np.int64)], [], [], {numbers[0]}, given.now)
    return StoreAnswer(False, matches, exact=numbers[0] in exact)
