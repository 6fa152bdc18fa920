"""Bands of similarity or distance from which pairs are sampled; borderline bands first."""

import itertools
from dataclasses import dataclass
from typing import Any

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75)
"""Where bands begin between the minimum similarity and 1: narrow at first, where a person has to judge."""

FIRST_PAIRS, OTHER_PAIRS = 12, 6
"""Number of pairs shown from the first band, and from each other band."""


@dataclass(frozen=True, slots=True)
class Band:
    """A range of pairs, whose title says what it includes; `key`: short, usable as a name in a page."""

    key: str
    title: str
    shown: int = OTHER_PAIRS


class Bands:
    """The bands of a run.

    Attributes:
        by: `similarity`, or `distance` if no similarity was asked for.
        table: all bands, borderline ones first.
    """

    def __init__(self, min_similarity: float, max_distance: int | None) -> None:
        self.by = "similarity" if min_similarity > 0 else "distance"
        table: list[Band] = []
        if self.by == "similarity":
            self._edges = sorted({min_similarity + (1 - min_similarity) * share for share in SHARES} - {1.0})
            for number, (low, high) in enumerate(itertools.pairwise([*self._edges, 1.0])):
                title = f"similarity {_short(low)} to below {_short(high)}"
                table.append(Band(f"s{number}", title, FIRST_PAIRS if number == 0 else OTHER_PAIRS))
            table.append(
                Band("below", f"similarity to the survivor below {_short(min_similarity)}: matched in a chain")
            )
            table.append(Band("full", "similarity 1, texts not equal"))
            table.append(Band("none", "similarity to the survivor not computed"))
        else:
            far = 0 if max_distance is None else max_distance
            self._far = sorted({round(far * share) for share in (0.25, 0.5, 0.75, 1)}, reverse=True)
            for number, (high, low) in enumerate(zip(self._far, [*self._far[1:], -1], strict=True)):
                table.append(
                    Band(f"d{number}", f"distance {_span(low + 1, high)}", FIRST_PAIRS if number == 0 else OTHER_PAIRS)
                )
            table.append(Band("beyond", f"distance to the survivor above {far}: matched in a chain"))
        table.append(Band("equal", "equal text after normalization"))
        self.table = tuple(table)

    def key_of(self, line: dict[str, Any]) -> str:
        """Return the key of the band that an audit line belongs to."""
        if line["exact"]:
            return "equal"
        if self.by == "distance":
            return self._by_distance(int(line["distance"]))
        alike = line["similarity"]
        if alike is None:
            return "none"
        if alike >= 1:
            return "full"
        number = sum(alike >= edge for edge in self._edges) - 1
        return f"s{number}" if number >= 0 else "below"

    def _by_distance(self, distance: int) -> str:
        number = sum(distance <= edge for edge in self._far) - 1
        return f"d{number}" if number >= 0 else "beyond"


def _short(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _span(low: int, high: int) -> str:
    return str(high) if low >= high else f"{low} to {high}"
