"""PAIRS to judge: some from each band, most doubtful first, each with its two texts side by side."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from neardup.judging.reports.bands import Bands
from neardup.judging.reports.tally import Tally
from neardup.judging.reports.texts import Text, Texts
from neardup.survivors.records.audit_reader import Line
from neardup.text.side_by_side.rows import Row, aligned_rows
from neardup.text.side_by_side.visible import language, name_of

LABELED_ID_CHARACTERS = 1000
"""Longer ids are not written in full into the page, so their pairs cannot be labeled there."""

FIGURE_PAIRS = 6
"""So many pairs that differ only in figures are shown, if as many were sampled."""


@dataclass(frozen=True, slots=True)
class Side:
    """One text of a pair."""

    role: str
    id: Any
    place: str
    characters: int
    lang: str


class Link(NamedTuple):
    """The document that brought a removed one into a cluster; `similarity`: of the two, if it is known."""

    id: Any
    similarity: float | None


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair to judge.

    Attributes:
        figures: the texts are equal but for their digits.
        ids: as JSON, None if too long to be labeled.
    """

    number: int
    similarity: float | None
    distance: int
    exact: bool
    figures: bool
    matched: Link | None
    sides: tuple[Side, Side] | None
    rows: list[Row]
    names: tuple[Any, Any]
    ids: str | None


def bands_of_pairs(counts: Tally, bands: Bands, texts: Texts) -> Iterator[dict[str, Any]]:
    """Yield each band that has pairs, borderline bands first: its title, its number of pairs, and the shown pairs, numbered.

    Of those sampled, the page shows as many as the band says, and up to FIGURE_PAIRS in all that differ only in figures.
    """
    number, figures = 0, 0
    for band in bands.table:
        sampled = counts.sample[band.key]
        if not sampled:
            continue
        lines, further = sampled[: band.shown], sampled[band.shown :]
        figures += sum(_differs_in_figures(line, texts) for line in lines)
        more = [line for line in further if _differs_in_figures(line, texts)][: max(0, FIGURE_PAIRS - figures)]
        figures += len(more)
        pairs = []
        for line in sorted([*lines, *more], key=partial(_doubt, by=bands.by)):
            number += 1
            pairs.append(_pair(number, line, texts))
        yield {"key": band.key, "title": band.title, "of": counts.of_band[band.key], "pairs": pairs}


def _differs_in_figures(line: Line, texts: Texts) -> bool:
    survivor, removed = texts.survivor_of(line), texts.removed(line)
    return survivor is not None and removed is not None and removed.differs_in_figures(survivor)


def _doubt(line: Line, by: str) -> tuple[float, int]:
    """Sort key that puts the most doubtful pair first."""
    return (-line["distance"] if by == "distance" else line["similarity"] or 0.0), line["row"]


def _pair(number: int, line: Line, texts: Texts) -> ShownPair:
    survivor, removed = texts.survivor_of(line), texts.removed(line)
    sides, rows = None, list[Row]()
    if survivor is not None and removed is not None:
        rows = aligned_rows(
            survivor.beginning,
            removed.beginning,
            texts.normalize,
            version=texts.version,
            cut=(survivor.goes_on, removed.goes_on),
        )
        sides = (
            _side("Survivor", line["survivor_id"], _place_of_survivor(line), survivor),
            _side("Removed", line["id"], f"row {line['row']:,}", removed),
        )
    names = (line["survivor_id"], line["id"])
    known = json.dumps(list(map(str, names))) if max(map(len, map(str, names))) <= LABELED_ID_CHARACTERS else None
    return ShownPair(
        number=number,
        similarity=line["similarity"],
        distance=line["distance"],
        exact=line["exact"],
        figures=_differs_in_figures(line, texts),
        matched=_matched(line),
        sides=sides,
        rows=rows,
        names=names,
        ids=known,
    )


def _side(role: str, name: Any, place: str, text: Text) -> Side:
    return Side(role, name, place, text.characters, language(text.beginning))


def _place_of_survivor(line: Line) -> str:
    if line["survivor_row"] is not None:
        return f"row {line['survivor_row']:,}"
    return name_of(f"row {line['reference_row']:,} of {line['reference']}, in the reference", 200)


def _matched(line: Line) -> Link | None:
    """The document it was matched with, if that is not the survivor, and how similar they are."""
    if line.get("matched_id") is None or line["matched_id"] == line["survivor_id"]:
        return None
    return Link(line["matched_id"], line["matched_similarity"])
