"""Explain why a document was removed, or what it is near and why it was kept."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import DECODER_ERRORS, InputError
from neardup.io.storage.places import Place, place_of
from neardup.recipe.presets import RecipeLike
from neardup.survivors.records.audit_files import (
    read_audit,
    read_superseded,
    same_id,
    summary_paths,
    superseded_beside,
)

if TYPE_CHECKING:
    from neardup.judging.difference import Difference
    from neardup.judging.nearest import Neighbor


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of a document.

    Attributes:
        id, row: of the document. If several removed documents have the id: of the first.
        removed: the audit lines of the removed documents with that id; empty if none was removed. Those of documents of a reference
            that was ordered together with the inputs come last, and have `file`: `row` is then the row there.
        neighbors: for a kept document, the nearest documents, and why each was no reason to remove it.
        nearest_by: how nearness is measured: fingerprint `distance` if the run used simhash, else `similarity`.
        repeated_ids: whether the run found ids shared by several documents; others with this id may have been kept.
        differences: if asked for, the differences between the texts of each removed document and its survivor, or of the kept
            document and the nearest.
        min_similarity: the threshold of the run; 0 if distances alone decided, or the run's summary is not there.
        keep: the rule by which the kept documents were preferred; `compared_as`: how it compared values, if it compared any. None
            if the run's summary is not there.
    """

    id: Any
    row: int
    removed: tuple[dict[str, Any], ...]
    neighbors: tuple["Neighbor", ...]
    nearest_by: str
    repeated_ids: bool
    differences: tuple["Difference", ...] = ()
    min_similarity: float = 0.0
    keep: str | None = None
    compared_as: str | None = None


def explain(audit: str | Path, wanted: str, *, recipe: RecipeLike | None = None, diff: bool = False) -> Explanation:
    """Look `wanted` up in the audit; if it was not removed, find its neighbors in the inputs that the summary names.

    Args:
        audit: a file, or a folder with one for each shard.
        wanted: the document id; write integer ids as digits.
        recipe: the recipe of the run; needed only for a kept document, if the recipe has a function of yours, or a file that is
            too large to be kept in the summary (more than 64 KiB) and is not where it was.
        diff: also read the inputs again, and say how the texts differ.

    Raises:
        InputError: there is no such audit or document, or the inputs are missing or have changed.
        RecipeMismatch: the run had another recipe than the given one.
        OptionError: a part of the recipe is not available; the message says which, and what to do.
        DataError: the audit is damaged.
    """
    path, wanted = place_of(audit), str(wanted)
    if isinstance(path, Path) and not path.exists() and Path(wanted).exists():
        raise InputError(
            f"There is no audit {str(audit)!r}, but there is a {wanted!r}: the audit comes first, then the id."
        )
    removed = tuple(line for line in _lines(path) if same_id(line["id"], wanted))
    if not removed:
        from neardup.judging.nearest import why_kept  # reads the inputs again, with all that this takes

        kept = why_kept(path, wanted, recipe)
        if not kept.removed:
            found = Explanation(
                kept.id, kept.row, (), kept.neighbors, kept.nearest_by, False, min_similarity=kept.min_similarity
            )
            return replace(found, differences=_from_the_nearest(path, found)) if diff and kept.neighbors else found
        removed = kept.removed
    found = Explanation(removed[0]["id"], removed[0]["row"], removed, (), "similarity", **_told_by(summary_paths(path)))
    return replace(found, differences=_from_survivors(path, removed)) if diff else found


def _lines(audit: Place) -> Iterator[dict[str, Any]]:
    """The lines of an audit, and those of the list of superseded documents beside it, if there is one."""
    beside = superseded_beside(audit)
    if audit != beside:
        yield from read_audit(audit)
    if beside.is_file():
        yield from read_superseded(beside)


def _from_the_nearest(audit: Place, kept: Explanation) -> tuple["Difference", ...]:
    from neardup.judging.compared_texts import Side, differences

    nearest = kept.neighbors[0]
    return differences(audit, [(Side(kept.id, kept.row), Side(nearest.id, nearest.row))])


def _from_survivors(audit: Place, removed: Iterable[dict[str, Any]]) -> tuple["Difference", ...]:
    from neardup.judging.compared_texts import differences, sides_of

    return differences(audit, map(sides_of, removed))


def _told_by(summaries: Iterable[Place]) -> dict[str, Any]:
    """What summaries tell of a removal: repeated ids, the least similarity of a match, and the rule of preference."""
    try:
        found = [json.loads(path.read_text(encoding="utf-8")) for path in summaries]
        first = found[0]
        keep, compared_as = first["options"]["keep"], first.get("compared_as")
        return {
            "repeated_ids": any(each["repeated_ids"] for each in found),
            "min_similarity": min(float(each["min_similarity"]) for each in found),
            "keep": keep if isinstance(keep, str) else None,
            "compared_as": compared_as if isinstance(compared_as, str) else None,
        }
    except (OSError, *DECODER_ERRORS):
        return {"repeated_ids": False}  # the audit alone answers the question
