"""EXAMPLES: one session with a store of `min_similarity=0.7` and `texts=True`. The OpenAPI document shows it, and tests run it."""

from dataclasses import dataclass
from typing import Any

FERRY = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = "The evening ferry to the islands leaves at ten past nine from the old customs pier."
BREAD = "Flour, water, salt and a day of patience make bread."

POSITION = "0-5c96fd76f2014d0bc801cf0063a2a97b"


@dataclass(frozen=True, kw_only=True)
class Example:
    """A request and its answer. Where values of the answer are times or sizes, those of tests are others.

    Attributes:
        route: its name in the table of routes.
        title: what it shows.
        given, answer: the bodies; `given` is None for GET, `answer` if it is too long to be shown.
    """

    route: str
    title: str
    given: Any = None
    answer: Any = None


_LEFT = {"id": "late", "position": POSITION, "digest": POSITION[2:], "text": LATER}
_RIGHT = {"id": "ferry", "position": None, "digest": "d0cf0d7a6973a07f2be00a7cc40924ef", "text": FERRY}
_NEAR = {"id": "ferry", "similarity": 0.75, "distance": 16}


def _answer(id: int | str, first: dict[str, Any] | None = None, *, exact: bool = False) -> dict[str, Any]:  # noqa: A002
    """An answer with one match, or with none."""
    return {
        "id": id,
        "is_new": first is None,
        "duplicate_of": None if first is None else first["id"],
        "similarity": None if first is None else first["similarity"],
        "distance": None if first is None else first["distance"],
        "exact": exact,
        "matches": [] if first is None else [first],
        "replaces": [],
        "status": "new" if first is None else "duplicate",
        **({} if first is None or exact else {"only_digits": False}),
    }


def _segment(kind: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "text": text, "characters": len(text)}


_REST = FERRY.removeprefix("The night")

EXAMPLES = (
    Example(
        route="check_and_add",
        title="a new document",
        given={"id": "ferry", "text": FERRY, "metadata": {"source": "harbor"}},
        answer=_answer("ferry"),
    ),
    Example(
        route="check_and_add",
        title="several documents",
        given=[{"id": "late", "text": LATER}, {"id": 7, "text": BREAD, "expires": 4_102_444_800}],
        answer=[_answer("late", _NEAR), _answer(7)],
    ),
    Example(
        route="check",
        title="a text",
        given={"text": FERRY.upper()},
        answer=_answer(0, {"id": "ferry", "similarity": 1.0, "distance": 0}, exact=True),
    ),
    Example(
        route="check",
        title="several texts",
        given=[{"text": LATER}, {"id": "mine", "text": "something else"}],
        answer=[_answer(0, _NEAR), _answer("mine")],
    ),
    Example(route="neighbors", title="of a text", given={"text": LATER}, answer={"neighbors": [_NEAR]}),
    Example(route="neighbors", title="of a kept document", given={"id": "ferry"}, answer={"neighbors": []}),
    Example(
        route="get",
        title="a kept document, and an id that none has",
        given={"ids": [7, "7"]},
        answer={
            "documents": [
                {
                    "id": 7,
                    "tokens": 10,
                    "fingerprint": "c594aa002457e3677905825e8a86e042",
                    "first_seen": 1_790_000_000.0,
                    "last_seen": 1_790_000_000.0,
                    "expires": 4_102_444_800.0,
                    "metadata": None,
                    "text": BREAD,
                }
            ],
            "unknown": ["7"],
        },
    ),
    Example(
        route="recent",
        title="the latest duplicates",
        given={"limit": 10},
        answer={
            "duplicates": [
                {
                    "position": POSITION,
                    "id": "late",
                    "duplicate_of": "ferry",
                    "similarity": 0.75,
                    "distance": 16,
                    "exact": False,
                    "seen": 1_790_000_000.0,
                    "text": LATER,
                    "survivor_text": FERRY,
                }
            ],
            "next": None,
        },
    ),
    Example(
        route="review",
        title="pairs to judge",
        given={"limit": 10},
        answer={"pairs": [{"kind": "removed", "left": _LEFT, "right": _RIGHT, "similarity": 0.75, "distance": 16}]},
    ),
    Example(
        route="judge",
        title="a duplicate and its survivor",
        given={"left": {"position": POSITION}, "right": {"id": "ferry"}, "same": False},
        answer={"judged": 1},
    ),
    Example(
        route="judge",
        title="two kept documents",
        given={"left": {"id": "ferry"}, "right": {"id": 7}, "same": False},
        answer={"judged": 2},
    ),
    Example(
        route="judgements",
        title="the first",
        given={"limit": 1},
        answer={
            "judgements": [
                {
                    "number": 1,
                    "kind": "removed",
                    "left": _LEFT | {"position": None},
                    "right": _RIGHT,
                    "similarity": 0.75,
                    "distance": 16,
                    "same": False,
                    "judged": 1_790_000_000.0,
                }
            ],
            "next": 1,
        },
    ),
    Example(route="compare", title="two texts", given={"left": FERRY, "right": LATER}),
    Example(
        route="passages",
        title="two texts side by side",
        given={"left": FERRY, "right": LATER},
        answer={
            "rows": [
                {
                    "left": [_segment("common", "The "), _segment("only", "night"), _segment("common", _REST)],
                    "right": [_segment("common", "The "), _segment("only", "evening"), _segment("common", _REST)],
                    "skipped": 0,
                }
            ]
        },
    ),
    Example(
        route="info",
        title="the store",
        answer={
            "documents": 2,
            "removed": 1,
            "gone": 0,
            "method": "exact",
            "similarity": "jaccard",
            "min_similarity": 0.7,
            "max_distance": None,
            "guard": None,
            "floor": None,
            "keep": "first",
            "keep_as": None,
            "texts": True,
            "short_rule": 2,
            "recipe": {
                "word_shingle": 1,
                "cjk_shingle": 2,
                "weights": "log",
                "hash": "xxh3",
                "bits": 128,
                "min_tokens": 8,
                "unicode": "14.0.0",
                "version": 1,
            },
            "bytes": {"compared": 4096, "lock": 4096, "record": 114688, "rows": 4096},
            "orphans": 0,
            "skipped_since": None,
        },
    ),
    Example(route="stores", title="all stores", answer={"stores": ["default"]}),
    Example(route="health", title="alive", answer={"ready": True, "stores": {"default": None}}),
    Example(route="ready", title="ready", answer={"ready": True, "stores": {"default": None}}),
    Example(
        route="remove",
        title="documents by their ids",
        given={"ids": ["ferry", "unheard of"]},
        answer={
            "removed": 1,
            "unknown": ["unheard of"],
            "ids": ["ferry"],
            "orphans": {"count": 1, "not_compared": 0, "ids": ["late"], "after": 0},
        },
    ),
    Example(
        route="orphans",
        title="the first",
        given={"limit": 1},
        answer={
            "orphans": [{"number": 1, "id": "late", "compared": True, "orphaned": 1_790_000_000.0}],
            "next": None,
        },
    ),
    Example(route="compact", title="what was removed", given={}, answer={"compacted": True}),
    Example(route="expire", title="old documents", given={"older_than": "30d"}, answer={"removed": 0}),
    Example(
        route="expire",
        title="all but the newest, with their ids",
        given={"newest": 0, "by": "first_seen", "limit": 1000},
        answer={"removed": 1, "ids": [7]},
    ),
)
