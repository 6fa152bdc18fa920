"""CLUSTERS: the largest ones, with what differs among their texts; and those in which all texts are equal."""

from collections.abc import Iterator, Sequence
from typing import Any

from neardup.judging.reports.changes import changes_of
from neardup.judging.reports.sources import Sources
from neardup.judging.reports.tally import Members, Tally
from neardup.judging.reports.texts import Text, Texts
from neardup.survivors.records.audit_reader import Line
from neardup.text.side_by_side.visible import language, name_of, plainly

SNIPPET_CHARACTERS = 220
"""Characters shown of a survivor's text."""

SHOWN_TEXTS = 4
"""Different texts shown of a cluster, besides that of its survivor."""

SHOWN_SOURCES = 3
"""Sources named of a cluster."""


def largest_clusters(
    counts: Tally, members: dict[int, Members], texts: Texts, sources: Sources | None
) -> Iterator[dict[str, Any]]:
    """Yield the clusters with the most duplicates, of those whose texts differ: the survivor, and the texts least like it."""
    for cluster, duplicates in counts.largest:
        some = members[cluster]
        survivor = texts.survivor_of(some.lines[0])
        groups = _groups(some.lines, texts)
        first = groups[0][0] if groups else some.lines[0]
        yield _cluster(duplicates, some, survivor, sources) | {
            "equal": some.exact,
            "near": duplicates - some.exact,
            "least": first["similarity"] if some.most else None,
            "most": some.most,
            "groups": [_group(lines, survivor, texts) for lines in groups[:SHOWN_TEXTS]],
            "more": duplicates - some.exact - sum(map(len, groups[:SHOWN_TEXTS])),
        }


def equal_clusters(
    counts: Tally, members: dict[int, Members], texts: Texts, sources: Sources | None
) -> Iterator[dict[str, Any]]:
    """Yield the clusters with the most duplicates, of those whose texts are all equal."""
    for cluster, duplicates in counts.equal:
        some = members[cluster]
        yield _cluster(duplicates, some, texts.survivor_of(some.lines[0]), sources)


def _cluster(duplicates: int, some: Members, survivor: Text | None, sources: Sources | None) -> dict[str, Any]:
    return {
        "size": duplicates + 1,
        "survivor_id": some.lines[0]["survivor_id"],
        "snippet": _snippet(survivor),
        "lang": "" if survivor is None else language(survivor.beginning),
        "characters": None if survivor is None else survivor.characters,
        "sources": _sources(some, sources),
    }


def _groups(lines: Sequence[Line], texts: Texts) -> list[list[Line]]:
    """The lines whose texts differ from the survivor's, those of equal text together, in the order of the lines."""
    found: dict[Any, list[Line]] = {}
    for line in lines:
        if line["exact"]:
            continue
        text = texts.removed(line)
        found.setdefault(("row", line["row"]) if text is None else text.digest, []).append(line)
    return list(found.values())


def _group(lines: Sequence[Line], survivor: Text | None, texts: Texts) -> dict[str, Any]:
    first = lines[0]
    text = texts.removed(first)
    changes, figures = None, False
    if survivor is not None and text is not None:
        changes = changes_of(
            survivor.beginning,
            text.beginning,
            texts.normalize,
            version=texts.version,
            cut=(survivor.goes_on, text.goes_on),
        )
        figures = text.differs_in_figures(survivor)
    return {
        "id": first["id"],
        "others": len(lines) - 1,
        "similarity": first["similarity"],
        "distance": first["distance"],
        "changes": changes,
        "figures": figures,
    }


def _sources(some: Members, sources: Sources | None) -> str:
    """The sources of a cluster in words; empty if nothing can be said, or all documents are of one file."""
    if sources is None or (sources.column is None and len(sources.counts) < 2):
        return ""
    rows = [*some.rows, *(line["survivor_row"] for line in some.lines[:1] if line["survivor_row"] is not None)]
    found = sources.of(rows)
    named = ", ".join(f"{name_of(name, 60)} ({count:,})" for name, count in found[:SHOWN_SOURCES])
    more = f" and {len(found) - SHOWN_SOURCES:,} more" if len(found) > SHOWN_SOURCES else ""
    return f"{named}{more}"


def _snippet(text: Text | None) -> str | None:
    if text is None:
        return None
    some = " ".join(text.beginning[: 4 * SNIPPET_CHARACTERS].split())
    is_all = len(some) <= SNIPPET_CHARACTERS and text.characters <= 4 * SNIPPET_CHARACTERS
    return plainly(some if is_all else some[:SNIPPET_CHARACTERS].rstrip() + "…")
