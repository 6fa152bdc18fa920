"""KEEP ALL: the answers of a store that keeps every document: all matches of each, the equal ones first."""

import numpy as np

from neardup.matching.text_features import Texts
from neardup.store.answers import StoreAnswer
from neardup.store.decisions.all_matches import every_match
from neardup.store.record.documents_table import Given
from neardup.store.session.backend import Backend


def ask_all(files: Backend, texts: Texts) -> list[StoreAnswer]:
    """The answers to texts, each for itself."""
    decided, equal = every_match(files, texts, files.rules.options.min_similarity)
    return decided.answers(files.record, {}, equal)


def add_all(files: Backend, texts: Texts, given: Given) -> list[StoreAnswer]:
    """Answer documents with different ids that are not kept, or with equal texts, in order; and keep those that are not."""
    there, first = files.known.of_ids(given.names), len(files.contents)
    keeps = np.array([name not in there for name in given.names], np.bool_)
    decided, equal = every_match(files, texts, files.rules.options.min_similarity, keeps)
    kept = np.flatnonzero(keeps)
    rows = given.rows(kept.tolist(), first)
    best = decided.documents[decided.starts[:-1][~decided.is_new]]
    seen = {*best[best < first].tolist(), *(row.number for row in there.values())}
    files.keep(texts[kept], rows, [], seen, given.now)
    return decided.answers(files.record, {row.number: row for row in rows}, equal)
