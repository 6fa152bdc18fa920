"""Stores and exports: what they answer, hold, and still answer when they were compacted or repaired."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import neardup
from flips.corpus import ROWS
from flips.form import Form
from neardup.store.candidates import exact

OPTIONS: dict[str, dict[str, Any]] = {
    "exact": {"min_similarity": 0.6, "floor": 0.3},
    "exact cosine": {"min_similarity": 0.8, "similarity": "cosine"},
    "exact texts": {"min_similarity": 0.6, "texts": True},
    "exact edit": {"min_similarity": 0.6, "similarity": "edit"},
    "minhash": {"method": "minhash", "min_similarity": 0.6},
    "simhash": {"method": "simhash", "min_similarity": 0, "max_distance": 20},
    "simhash and similarity": {"method": "simhash", "min_similarity": 0.5, "max_distance": 40},
}
TEXTS = [row["text"] for row in ROWS]
HELD = ("id", "tokens", "fingerprint", "first_seen", "last_seen", "expires", "metadata", "text")

NAMELESS = ("a file that is made of others names document",)
"""Of a segment that names a document that is not there, nobody knows which one it was, unless it is asked to check."""


def _make(options: dict[str, Any]) -> None:
    """A store of several segments, with texts that were not kept and documents that were removed."""
    ids = [row["id"] for row in ROWS]
    with mock.patch.object(exact, "MIN_DOCUMENTS_LEARNED", 6):
        for first in range(0, len(ROWS), 8):
            part = slice(first, first + 8)
            with neardup.Store("seen", threads=1, **options) as store:
                store.check_and_add_many(
                    ids[part], TEXTS[part], metadata=[{"row": row} for row in ids[part]], state=first
                )
                store.remove(ids[first : first + 1])
                for pair in store.review(limit=2) if options.get("texts") else ():
                    store.judge(pair, same=True)


def _held(store: Any) -> list[Any]:
    """All that a store says of its documents, in values that can be compared."""
    found = [store.get(row["id"]) for row in ROWS]
    told = [None if each is None else [getattr(each, name) for name in HELD] for each in found]
    answers = [repr(answer) for answer in (*store.check_many(TEXTS), *store.judgements())]
    recent = [(each.duplicate_of, each.similarity, each.text, each.survivor_text) for each in store.recent()]
    return [told, answers, recent, store.state, len(store)]


def _asked() -> Any:
    """What a copy of the store answers, also when it was compacted, and opened again."""
    shutil.copytree("seen", "used/seen")
    said = []
    with neardup.Store("used/seen", threads=1) as store:
        said.append(_held(store))
        store.compact()
        said.append(_held(store))
    with neardup.Store("used/seen", mode="r", threads=1) as store:
        said.append(_held(store))
    return said


def _is_damaged() -> bool:
    with neardup.Store("seen", mode="r", threads=1) as store:
        return not store.verify().is_sound


def _files(folder: str) -> list[str]:
    return sorted(str(path) for path in Path(folder).rglob("*") if path.is_file() and path.stat().st_size)


def _imported() -> Any:
    with neardup.Store.from_export("again", "exported", threads=1) as store:
        return _held(store)


def _exporting(options: dict[str, Any]) -> Callable[[], None]:
    def make() -> None:
        _make(options)
        with neardup.Store("seen", mode="r", threads=1) as store:
            store.export("exported")

    return make


STORES = [
    *(
        Form(
            f"store: {name}",
            lambda options=options: _make(options),
            lambda: _files("seen"),
            _asked,
            doubts=_is_damaged,
            named=NAMELESS,
        )
        for name, options in OPTIONS.items()
    ),
    *(
        Form(f"export of a store: {name}", _exporting(OPTIONS[name]), lambda: _files("exported"), _imported)
        for name in ("exact cosine", "exact texts", "minhash")
    ),
]
