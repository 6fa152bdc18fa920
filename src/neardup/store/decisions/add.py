"""ADD documents: check what is given, decide part by part, and write what belongs to all of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neardup.errors import OptionError
from neardup.matching.text_features import Texts
from neardup.store.answers import DocumentStatus, StoreAnswer
from neardup.store.arguments import Duration, as_json, ends_of, id_as_json, plain, several
from neardup.store.decisions import keep_first as deciding
from neardup.store.decisions.keep_always import add_all
from neardup.store.decisions.keep_best import add_better
from neardup.store.record.command_state import state_after
from neardup.store.record.documents_table import Given
from neardup.store.record.notes_table import keys_of, note_rows
from neardup.store.rules import rank_of, replaces
from neardup.store.session.backend import Backend
from neardup.store.session.reader import TEXTS_AT_ONCE

Expires = float | Sequence[float | None] | None
"""When documents expire, in seconds since 1970: all of them, or each."""
TTL = Duration | Sequence[Duration | None] | None
"""After how long they expire."""
Notes = Callable[[list[StoreAnswer]], Mapping[str, tuple[Any, float]]] | None
"""A function that makes of the answers plain values to keep by key, each with the time until which it is kept."""
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
    made = [
        files.texts(texts[first : first + TEXTS_AT_ONCE]) for first in range(0, len(names), TEXTS_AT_ONCE)
    ]  # refuses what is no text
    ranks = _ranks(files.rules.keep, texts, metadata)
    decide, found = _decider(files.rules.keep), list[StoreAnswer]()
    with files.one_change(keys) as facts:
        clock = files.clock()
        now = max(clock, files.latest)
        ends = ends_at(clock, now)
        for part, first in zip(made, range(0, len(names), TEXTS_AT_ONCE), strict=True):
            for some, earlier, is_same in deciding.without_updates(files, part, names[first : first + TEXTS_AT_ONCE]):
                texts_of_some, begin = part[np.arange(some.start, some.stop)], first + some.start

                def decided(block: slice, texts: Texts = texts_of_some, begin: int = begin) -> list[StoreAnswer]:
                    rows = slice(begin + block.start, begin + block.stop)
                    of_rows = Given(names[rows], None if given is None else given[rows], ranks[rows], ends[rows], now)
                    return decide(files, texts[np.arange(block.start, block.stop)], of_rows)

                for answers in files.blocks.over(len(texts_of_some), decided):
                    found += answers
                if is_same:
                    found[begin] = replace(found[begin], status="unchanged")
                elif earlier is not None:
                    answer = found[begin]
                    status: DocumentStatus = "updated" if answer.is_new or files.rules.keep == "always" else "duplicate"
                    both = (earlier, *answer.replaces)
                    found[begin] = replace(answer, replaces=both, is_update=True, status=status)
        if callable(state):
            files.is_repeatable = False  # the function may have done something
            state = state(found)
        if notes is not None:
            files.keep_notes(note_rows(notes(found)), clock)
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


def _ranks(keep: str, texts: Sequence[str], metadata: Sequence[Any] | None) -> list[float | None]:
    """How good documents are; empty where nothing is compared."""
    if not replaces(keep):
        return []
    told = [None] * len(texts) if metadata is None else metadata
    return [rank_of(keep, text, plain(each)) for text, each in zip(texts, told, strict=True)]
