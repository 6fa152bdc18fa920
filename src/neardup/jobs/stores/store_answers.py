"""The answers of a store as JSON lines, and the counts of updates among them."""

import dataclasses
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.display import ToldLine, counted
from neardup.jobs.results import told_of_unfit
from neardup.store.answers import StoreAnswer, StoreMatch


@dataclass(kw_only=True)
class UpdateCounts:
    """How many documents of a run came with an id of which the store kept another text.

    Attributes:
        updated: those that are kept in the place of that text.
        dropped: those that are not, because they are duplicates of other documents: of these ids, the store keeps no text.
        repeated_ids: those of both kinds whose earlier text came in the same run.
        orphans: skipped documents that no kept document matches any more, since others went; see `Store.orphans`.
        only_digits: near duplicates that differ from their first match in digits only; `digits_unknown`: those of which that is not
            known.
        unfit_values: values that the store could not compare, and that counted as missing.
        began: when the run began, in seconds since 1970.
    """

    updated: int = 0
    dropped: int = 0
    repeated_ids: int = 0
    orphans: int = 0
    only_digits: int = 0
    digits_unknown: int = 0
    unfit_values: int = 0
    began: float = field(default_factory=time.time, compare=False)

    def count_updates(self, answers: Iterable[StoreAnswer]) -> None:
        """Count the updates among some answers of a store."""
        for answer in answers:
            self.orphans += answer.orphans.count
            known = digits_as_number(answer)
            if not answer.is_new:
                self.only_digits += known > 0
                self.digits_unknown += known < 0
            if answer.is_update:
                self.updated += answer.status == "updated"
                self.dropped += answer.status == "duplicate"
                self.repeated_ids += (answer.replaces[0].first_seen or 0.0) >= self.began


def digits_as_number(answer: StoreAnswer) -> int:
    """Whether a duplicate differs in digits only: 1 or 0, -1 if that is not known."""
    if answer.exact or answer.status == "unchanged":
        return 0
    return -1 if answer.only_digits is None else int(answer.only_digits)


def told_of_updates(updated: int, dropped: int, repeated_ids: int) -> Iterator[ToldLine]:
    """The counts of `UpdateCounts` as lines for a person."""
    if updated:
        yield "updated", f"{counted(updated, 'document')} in the place of an earlier text of the same id"
    if dropped:
        yield "dropped", f"{counted(dropped, 'id')}: the new text is a duplicate of another document"
    if repeated_ids:
        yield "warning", f"{counted(repeated_ids, 'repeated id')}; a store keeps only the last text of each id"


def told_of_orphans(orphans: int, not_compared: int = 0) -> Iterator[ToldLine]:
    """Orphans as lines for a person."""
    if orphans:
        unknown = f" ({not_compared:,} of them not compared: the store keeps no texts)" if not_compared else ""
        said = f"{counted(orphans, 'skipped document')} that no kept document matches any more{unknown}"
        yield "orphans", f"{said}; list them with `neardup store orphans`"


def told_of_values(compared_as: str | None, unfit: int) -> Iterator[ToldLine]:
    """How a store compares values by its `keep`."""
    if compared_as is not None:
        yield "note", f"documents are preferred by {compared_as}{told_of_unfit(unfit)}"


def answer_line(
    id: int | str,  # noqa: A002
    answer: StoreAnswer,
    *,
    all_matches: bool = False,
) -> bytes:
    """One line: the outcome of a document and its first match.

    Args:
        id: of the document.
        answer: what the store says of it.
        all_matches: whether to list all matches, best first, instead of the ids of the documents that were removed for this one.
    """
    first = answer.matches[0] if answer.matches else None
    line: dict[str, Any] = {
        "id": id,
        "is_new": answer.is_new,
        "duplicate_of": answer.duplicate_of,
        "similarity": None if first is None else first.similarity,
        "distance": None if first is None else first.distance,
        "exact": answer.exact,
        "status": answer.status,
    }
    if answer.only_digits is not None:
        line["only_digits"] = answer.only_digits
    if all_matches:
        line["matches"] = list(map(match_values, answer.matches))
    else:
        line["replaces"] = [each.id for each in answer.replaces]
        line |= {"is_update": True} if answer.is_update else {}
        line |= {"orphans": dataclasses.asdict(answer.orphans)} if answer.orphans.count else {}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def match_values(match: StoreMatch) -> dict[str, Any]:
    """A match as JSON has it."""
    return {"id": match.id, "similarity": match.similarity, "distance": match.distance}


def meant_ids(given: Sequence[str]) -> list[list[int | str]]:
    """For each id in a command line, the ids that it may mean: the string, and the integer of these digits."""
    return [[text, int(text)] if _is_integer(text) else [text] for text in given]


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(text)) == text
