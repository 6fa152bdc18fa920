"""ADD documents: check what is given, decide part by part, and write what belongs to all of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from neardup.errors import OptionError
from neardup.matching.text_features import Texts
from neardup.recipe.tables.keeps import KeepAs
from neardup.store.answers import DocumentStatus, StoreAnswer
from neardup.store.arguments import Duration, as_json, ends_of, id_as_json, plain, several
from neardup.store.decisions import keep_first as deciding
from neardup.store.decisions.digits import with_digits
from neardup.store.decisions.keep_always import add_all
from neardup.store.decisions.keep_best import add_better
from neardup.store.decisions.orphans import settle
from neardup.store.record.command_state import demand_no_own, state_after
from neardup.store.record.documents_table import Given
from neardup.store.record.notes_table import keys_of, note_rows
from neardup.store.rules import KEEP_AS, first_kind, key_of, rank_of, replaces, value_in
from neardup.store.session.backend import Backend
from neardup.store.session.prepared import parts_of
from neardup.store.session.reader import TEXTS_AT_ONCE

Expires = float | Sequence[float | None] | None
"""When documents expire, in seconds since 1970: all of them, or each."""
TTL = Duration | Sequence[Duration | None] | None
"""After how long they expire."""
Notes = Callable[[list[StoreAnswer]], Mapping[str, tuple[Any, float | timedelta]]] | None
"""A function that makes of the answers plain values to keep by key, each with the time until which it is kept, or for how long."""
State = Any | Callable[[list[StoreAnswer]], Any]
"""Plain values of a program; or a function that makes them of the answers, just before these become durable."""


def add_documents(
    files: Backend,
    ids: Sequence[int | str],
    texts: Sequence[str],
    metadata: Sequence[Any] | None,
    expires: Expires,
    ttl: TTL,
    state: State,
    notes: Notes,
    unless: Sequence[str],
) -> list[StoreAnswer]:
    """See `neardup.store.store.Store.check_and_add_many`."""
    files.demand_writable()
    ids, texts = several("ids", ids), several("texts", texts)
    metadata = None if metadata is None else several("metadata", metadata)
    if not callable(state):
        _facts(files, state)  # refuses what is no state before anything is decided
    names, keys = [id_as_json(each) for each in ids], keys_of("unless", unless)
    given = None if metadata is None else [None if each is None else as_json(each) for each in metadata]
    ends_at = ends_of(expires, ttl, len(texts))
    for what, values in (("ids", names), ("metadata", given)):
        if values is not None and len(values) != len(texts):
            raise OptionError(f"{len(values)} {what} for {len(texts)} texts: give one each.")
    made = list(parts_of(files, texts))  # refuses what is no text
    decide, found = _decider(files.rules.keep), list[StoreAnswer]()
    with files.one_change(keys) as facts:
        demand_no_own(names, files.state)
        compared = _compared_values(files.rules.keep, metadata, len(texts))
        keep_as = _compared_as(files, compared, facts)
        ranks = _ranks(files.rules.keep, texts, compared, keep_as)
        clock = files.clock()
        now = max(clock, files.latest)
        ends = ends_at(clock, now)
        for part, first in zip(made, range(0, len(names), TEXTS_AT_ONCE), strict=True):
            names_of_part = names[first : first + TEXTS_AT_ONCE]
            for some, earlier, is_same, gone in deciding.without_updates(files, part, names_of_part):
                texts_of_some, begin = part[np.arange(some.start, some.stop)], first + some.start

                def decided(block: slice, texts: Texts = texts_of_some, begin: int = begin) -> list[StoreAnswer]:
                    rows = slice(begin + block.start, begin + block.stop)
                    of_rows = Given(
                        names[rows], None if given is None else given[rows], ranks[rows], ends[rows], now, keep_as
                    )
                    return decide(files, texts[np.arange(block.start, block.stop)], of_rows)

                for answers in files.blocks.over(len(texts_of_some), decided):
                    found += answers
                if is_same:
                    found[begin] = replace(found[begin], status="unchanged")
                elif earlier is not None:
                    answer = found[begin]
                    status: DocumentStatus = "updated" if answer.is_new or files.rules.keep == "always" else "duplicate"
                    both = (earlier, *answer.replaces)
                    orphans = (
                        answer.orphans if gone is None else answer.orphans + settle(files, np.array([gone]), now=now)
                    )
                    found[begin] = replace(answer, replaces=both, is_update=True, status=status, orphans=orphans)
        found = with_digits(files, found, texts, names)
        if callable(state):
            files.is_repeatable = False  # the function may have done something
            state = state(found)
        if notes is not None:
            files.keep_notes(note_rows(notes(found), now), clock)
        facts.update(_facts(files, state))
    return found


def _facts(files: Backend, state: Any) -> dict[str, Any]:
    """What the record says of a program's values, which are as they will be read."""
    return {} if state is None else {"state": json.loads(as_json(state_after(files.state, state)))}


def _decider(keep: str) -> Callable[[Backend, Texts, Given], list[StoreAnswer]]:
    """What decides documents by a rule."""
    if keep == "always":
        return add_all
    return add_better if replaces(keep) else deciding.add


def _compared_values(keep: str, metadata: Sequence[Any] | None, count: int) -> list[Any]:
    """The value of each document that the rule compares, None where it compares none: of metadata, one is decoded at a time."""
    key = key_of(keep)
    return [None] * count if key is None or metadata is None else [value_in(plain(each), key) for each in metadata]


def _compared_as(files: Backend, values: Sequence[Any], facts: dict[str, Any]) -> KeepAs | None:
    """How the values of documents are compared; None if there is none to be compared. What the first value decides goes to the
    facts of the call.
    """
    keep, keep_as, key = files.rules.keep, files.keep_as, key_of(files.rules.keep)
    if key is None or keep_as is not None:
        return keep_as
    keep_as = first_kind(keep, values)
    if keep_as is None:
        return None
    if (before := files.record.first_ranked()) is not None:  # of a store that was made before this was recorded
        keep_as = first_kind(keep, [value_in(json.loads(before), key)]) or keep_as
    facts[KEEP_AS] = keep_as
    return keep_as


def _ranks(keep: str, texts: Sequence[str], values: Sequence[Any], keep_as: KeepAs | None) -> list[float | None]:
    """How good documents are, by their values; empty where nothing is compared."""
    if not replaces(keep):
        return []
    return [rank_of(keep, text, value, keep_as) for text, value in zip(texts, values, strict=True)]
