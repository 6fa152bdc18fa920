"""CLUSTERS: the largest, with the beginnings of some of their texts."""

from collections.abc import Iterator
from typing import Any

from neardup.judging.reports.tally import Tally
from neardup.judging.reports.texts import Text, Texts
from neardup.survivors.audit_reader import Line
from neardup.text.visible import language, plainly

SNIPPET = 220
"""Characters shown of each text."""


def largest_clusters(counts: Tally, members: dict[int, list[Line]], texts: Texts) -> Iterator[dict[str, Any]]:
    """Yield the clusters with the most duplicates: their survivors and some `members`, with the beginnings of their texts."""
    for cluster, duplicates in counts.largest:
        lines = members[cluster]
        survivor = texts.survivor_of(lines[0])
        yield {
            "size": duplicates + 1,
            "survivor_id": lines[0]["survivor_id"],
            "cluster": cluster,
            "snippet": _snippet(survivor),
            "lang": "" if survivor is None else language(survivor.beginning),
            "characters": None if survivor is None else survivor.characters,
            "members": [
                {"line": line, "snippet": _snippet(texts.removed(line)), "alike": _alike(line)} for line in lines
            ],
            "more": duplicates - len(lines),
        }


def _snippet(text: Text | None) -> str | None:
    if text is None:
        return None
    some = " ".join(text.beginning[: 4 * SNIPPET].split())
    is_all = len(some) <= SNIPPET and text.characters <= 4 * SNIPPET
    return plainly(some if is_all else some[:SNIPPET].rstrip() + "…")


def _alike(line: Line) -> str:
    if line["exact"]:
        return "equal text"
    alike = "" if line["similarity"] is None else f"similarity {line['similarity']:.4f}, "
    return f"{alike}distance {line['distance']}"
