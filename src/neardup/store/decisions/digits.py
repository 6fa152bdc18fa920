"""DIGITS: which duplicates differ from their first match in digits only, in a store that keeps texts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.store.answers import StoreAnswer
from neardup.store.arguments import id_as_json
from neardup.store.session.backend import Backend
from neardup.store.upkeep.read_texts import texts_of_documents
from neardup.text.normalizers import compared_form, digests_without_figures


def with_digits(
    files: Backend, answers: Sequence[StoreAnswer], texts: Sequence[str], names: Sequence[str] | None = None
) -> list[StoreAnswer]:
    """The answers to some texts, with what differs. `names`: the ids that they were added with, as JSON."""
    found = list(answers)
    if not files.rules.texts:
        return found
    now, others, asked = dict[str, str](), dict[int, str](), dict[int, str]()
    for place, answer in enumerate(found):  # an id may come again, with another text
        if answer.matches and not answer.is_new and not answer.exact:
            first = id_as_json(answer.matches[0].id)
            (others if first in now else asked)[place] = now.get(first, first)
        elif names is not None and answer.is_new:
            now[names[place]] = texts[place]
    kept = _kept(files, list(dict.fromkeys(first for first in asked.values() if first not in now)))
    others |= {place: kept[first] for place, first in asked.items() if first in kept}
    if others:
        mine, theirs = (_digests(files, given) for given in ([texts[i] for i in others], list(others.values())))
        for place, is_same in zip(others, (mine == theirs).tolist(), strict=True):
            found[place] = replace(found[place], only_digits=is_same)
    return found


def _kept(files: Backend, names: Sequence[str]) -> dict[str, str]:
    """The texts of kept documents with these ids, as JSON; of those that there are."""
    rows = list(files.known.of_ids(names).values())
    if not rows:
        return {}
    texts = texts_of_documents(files, rows, files.digests(np.array([row.number for row in rows])))
    return {row.id: text for row, text in zip(rows, texts, strict=True) if text is not None}


def _digests(files: Backend, texts: Sequence[str]) -> Any:
    return digests_without_figures(compared_form(pa.array(texts, pa.large_string()), files.recipe.normalize))
