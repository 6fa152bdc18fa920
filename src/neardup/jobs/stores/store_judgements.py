"""The judgements of a store, as labeled pairs that `evaluate` reads, and the documents that they name."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neardup.errors import InputError, OptionError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.storage.places import path_text
from neardup.jobs.answer_files import answers_place, answers_to
from neardup.jobs.store_places import folder_of_store, opened_store
from neardup.store.answers import Judgement, PairText
from neardup.store.back_ends import shown_place
from neardup.store.store import Store

JUDGEMENTS_AT_ONCE = 500
"""Judgements that are read together."""


class Names:
    """The ids under which pairs name texts: each its own, unless it is not known, or another text has it already."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, Any], str] = {}
        self._taken: set[str] = set()

    def of(self, side: PairText) -> str:
        """The name of a text. Integers are named by their digits, as in files of labels."""
        key = (side.digest, json.dumps(side.id))
        if key not in self._of:
            own = None if side.id is None else str(side.id)
            name = f"text:{side.digest}" if own is None or own in self._taken else own
            self._of[key] = name
            self._taken.add(name)
        return self._of[key]

    def is_new(self, side: PairText) -> bool:
        """Whether a text has no name yet."""
        return (side.digest, json.dumps(side.id)) not in self._of


def judgements_of_store(
    path: str | Path, output: str | Path = "-", *, documents: str | Path | None = None, overwrite: bool = False
) -> int:
    """Write all judgements as labeled pairs, and the documents that they name; returns the number of pairs.

    Args:
        path: the store.
        output: JSON lines with left_id, right_id, label (1 if the two are the same, else 0), kind, and similarity unless the
            distance decides.
        documents: JSON lines with id and text, a line for each text that the pairs name, for a store that keeps texts. Pairs whose
            texts a repair has lost are left out.
        overwrite: whether files may be there already.

    Raises:
        InputError: there is no store, or an output exists.
        OptionError: the store keeps no texts, and `documents` is given.
    """
    target = answers_place(path_text(output))
    beside = None if documents is None else answers_place(path_text(documents))
    if beside is not None and beside == target:
        raise InputError(f"{documents} is the file of the pairs, too. Name another file for the documents.")
    names, count = Names(), 0
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(opened_store(path, "r"))
        if beside is not None and not store.info().texts:
            raise OptionError(
                f"`documents`: {shown_place(path)} keeps no texts. Leave it out, and evaluate on the documents that were added; "
                "or make a store with texts."
            )
        reads = ReadFiles(others=folder_of_store(path))
        pairs = stack.enter_context(answers_to(target, reads, overwrite=overwrite))
        texts = None if beside is None else stack.enter_context(answers_to(beside, reads, overwrite=overwrite))
        for judged in _all(store):
            sides = (judged.right, judged.left)  # the right one is kept, so it has an id of its own
            if texts is not None:
                if any(side.text is None for side in sides):
                    continue
                for side in filter(names.is_new, sides):
                    texts.write(_line({"id": names.of(side), "text": side.text}))
            pairs.write(_line(_labeled(judged, names)))
            count += 1
    return count


def _all(store: Store) -> Iterator[Judgement]:
    """All judgements, some at a time."""
    after = 0
    while some := store.judgements(limit=JUDGEMENTS_AT_ONCE, after=after):
        yield from some
        after = some[-1].number


def _labeled(judged: Judgement, names: Names) -> dict[str, Any]:
    right, left = names.of(judged.right), names.of(judged.left)
    score = {} if judged.similarity is None else {"similarity": judged.similarity}
    return {"left_id": left, "right_id": right, "label": int(judged.same), **score, "kind": judged.kind}


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"
