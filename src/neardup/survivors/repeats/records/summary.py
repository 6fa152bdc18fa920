"""The counts of a run that cuts repeated passages."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.display import counted, html_table
from neardup.io.corpora.file_corpus import Rejected, by_reason
from neardup.kernels.compilation import described
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.survivors.records.counting import versions
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.outcomes import Passages
from neardup.survivors.repeats.token_stream import SEPARATOR
from neardup.text.html import html_versions
from neardup.text.preference import Comparison, comparison_of


@dataclass(frozen=True, kw_only=True)
class PassagesSummary:
    """Counts, options and costs of a run that cuts repeated passages.

    Attributes:
        rows: rows read: `documents` plus `rejected`.
        documents: those of the inputs.
        rejected: rows that could not be read and were set aside.
        reference_documents: documents of the reference; they are not counted in `rows`.
        changed: documents that lose a passage, and stay.
        removed: documents that are removed, because fewer than `min_left` tokens are left.
        kept_for_copies: documents that stay with fewer tokens, because the copy of a passage is in them.
        passages: the passages that are cut; one that has copies in several places counts once for each.
        tokens: tokens of all documents.
        cut_tokens: those of the passages that are cut.
        removed_tokens: what was left of removed documents.
        characters, cut_characters: the same of characters.
        repeated_ids: documents whose id occurs on an earlier document.
        seconds, read_bytes, written_bytes: by stage, and `total`.
        peak_memory_bytes: the most memory that the program has used since it started.
        peak_temporary_bytes: the most space that temporary files of the run took; `temporary_limit_bytes`: what they may take.
        memory: as in `Summary`.
        passed_over: files in input folders that were not read.
        compared_as: how the values that `keep` names were compared; None if there are none.
        unfit_values: values that do not fit `keep_as`, and counted as missing.
        rejected_for: for each reason, the rows that could not be read.
        unnamed: documents without an id where others have one; their ids are FILE:ROW.
    """

    rows: int
    documents: int
    rejected: int
    reference_documents: int
    changed: int
    removed: int
    kept_for_copies: int
    passages: int
    tokens: int
    cut_tokens: int
    removed_tokens: int
    characters: int
    cut_characters: int
    repeated_ids: int
    options: dict[str, Any]
    recipe: dict[str, Any]
    seconds: dict[str, float]
    read_bytes: dict[str, int]
    written_bytes: dict[str, int]
    peak_memory_bytes: int
    peak_temporary_bytes: int
    temporary_limit_bytes: int
    memory: dict[str, Any]
    versions: dict[str, str]
    passed_over: int = 0
    compared_as: str | None = None
    unfit_values: int = 0
    rejected_for: dict[str, int] = field(default_factory=dict)
    unnamed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def in_a_line(self) -> str:
        """One line, such as `9 documents → 812 of 5,021 tokens cut, 4 documents changed, 1 removed`."""
        return (
            f"{counted(self.documents, 'document')} → {self.cut_tokens:,} of {counted(self.tokens, 'token')} cut, "
            f"{counted(self.changed, 'document')} changed, {self.removed:,} removed"
        )

    def __repr__(self) -> str:
        return f"PassagesSummary({self.in_a_line()}; {self.seconds['total']:.1f} s)"

    def _repr_html_(self) -> str:
        rows = [(name, value) for name, value in self.as_dict().items() if not isinstance(value, dict)]
        return html_table(("", ""), rows)


def summarize_passages(
    found: Passages,
    columns: int,
    recipe: Recipe,
    options: PassageOptions,
    progress: Progress,
    *,
    repeated_ids: int,
    html: str | None = None,
    rejected: Iterable[Rejected] = (),
    unnamed: int = 0,
) -> PassagesSummary:
    """Count what was found in the texts of so many columns; the other arguments are as for `summarize`."""
    known, inputs, cut = found.repeats.documents, found.repeats.inputs, found.cut
    valid = known.valid[:inputs]
    documents = int(np.count_nonzero(valid))
    by = options.order.preferred_by
    comparison = Comparison() if by is None else comparison_of(known.values[by], by, options.keep_as)
    between = len(SEPARATOR) * (columns - 1)
    removed = cut.left[np.isin(cut.rows, found.emptied)]
    return PassagesSummary(
        rows=inputs,
        documents=documents,
        rejected=inputs - documents,
        reference_documents=int(np.count_nonzero(known.valid[inputs:])),
        changed=len(cut.rows) - len(found.emptied),
        removed=len(found.emptied),
        kept_for_copies=found.kept_for_copies,
        passages=len(cut.segments),
        tokens=int(known.tokens[:inputs][valid].sum(dtype=np.int64)),
        cut_tokens=int(cut.segments[:, 2].sum()),
        removed_tokens=int(removed.sum()),
        characters=int(known.lengths[:inputs][valid].sum(dtype=np.int64)) - between * documents,
        cut_characters=int((cut.spans[:, 3] - cut.spans[:, 2]).sum()),
        repeated_ids=repeated_ids,
        options=options.as_dict(),
        recipe=recipe.stored() | {"digest": recipe.digest()},
        **progress.costs(),
        peak_temporary_bytes=options.resources.files.peak,
        temporary_limit_bytes=options.resources.files.limit,
        memory=options.resources.as_dict(),
        versions=versions() | {"kernels": described()} | html_versions(html),
        compared_as=comparison.compared_as,
        unfit_values=comparison.unfit,
        rejected_for=by_reason(rejected),
        unnamed=unnamed,
    )
