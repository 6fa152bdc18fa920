"""Count the outcomes of a run."""

import platform
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from neardup.fingerprints.documents import Documents
from neardup.io.corpora.file_corpus import Rejected, by_reason
from neardup.kernels.compilation import described
from neardup.matching.resolved_options import what_recipe_decides
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import similarity_to_store
from neardup.recipe.tables.similarities import similarity_mark
from neardup.survivors.decisions import Decisions, Findings
from neardup.survivors.records.summary import Summary
from neardup.text.html import html_versions
from neardup.text.preference import Comparison, comparison_of
from neardup.version import __version__


def versions() -> dict[str, str]:
    """The versions of this package and of the libraries it computes with."""
    return {
        "neardup": __version__,
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }


def summarize(
    findings: Findings,
    recipe: FingerprintRecipe,
    options: DedupOptions,
    progress: Progress,
    *,
    repeated_ids: int,
    html: str | None = None,
    rejected: Iterable[Rejected] = (),
    unnamed: int = 0,
    shared_ids: int = 0,
) -> Summary:
    """Count the outcomes of the documents.

    `html`: how HTML became text, if the texts were HTML; `rejected`: rows of files that could not be read; `unnamed`, `shared_ids`:
    as in `Summary`.
    """
    decisions = findings.of_inputs
    valid = findings.documents.valid
    documents = int(np.count_nonzero(valid[: findings.inputs]))
    duplicates, by = decisions.duplicates, options.preferred_by
    comparison = Comparison()
    if by is not None:
        comparison = comparison_of(findings.documents.values[by], by, options.keep_as)
    only_digits, digits_unknown = count_of_digits(decisions)
    return Summary(
        rows=findings.inputs,
        documents=documents,
        rejected=findings.inputs - documents,
        reference_documents=int(np.count_nonzero(valid[findings.inputs :])),
        survivors=documents - len(duplicates),
        duplicates=len(duplicates),
        exact_duplicates=int(decisions.exact.sum()),
        against_reference=int(np.count_nonzero(decisions.survivor >= findings.inputs)),
        matching_reference=findings.matching_reference,
        clusters=int(np.count_nonzero(decisions.cluster == np.arange(len(decisions.cluster)))),
        short=findings.short,
        min_tokens=findings.found.min_tokens,
        repeated_ids=repeated_ids,
        method=findings.found.method,
        reason=findings.found.reason,
        max_distance=findings.found.max_distance,
        min_similarity=options.min_similarity,
        candidates=findings.candidates,
        matches=findings.matches,
        join=findings.found.costs,
        options=options.as_dict() | {"similarity": similarity_to_store(options.similarity)},
        recipe=recipe.stored() | {"digest": recipe.digest()},
        **progress.costs(),
        peak_temporary_bytes=options.resources.files.peak,
        temporary_limit_bytes=options.resources.files.limit,
        memory=options.resources.as_dict(),
        versions=versions() | {"kernels": described()} | html_versions(html),
        similarity_of=similarity_mark(recipe.as_dict()),
        recipe_decides=what_recipe_decides(recipe, options) if isinstance(recipe, Recipe) else None,
        only_digits=only_digits,
        digits_unknown=digits_unknown,
        much_longer=_much_longer(findings.documents, decisions),
        rejected_for=by_reason(rejected),
        unnamed=unnamed,
        superseded=len(findings.superseded) if findings.together else None,
        shared_ids=shared_ids,
        compared_as=comparison.compared_as,
        unfit_values=comparison.unfit,
    )


def count_of_digits(decisions: Decisions) -> tuple[int | None, int]:
    """How many duplicates differ from their survivor in digits only, None if that is known of no near one; and of how many it is
    not known.
    """
    rows = decisions.duplicates
    rows = rows[decisions.survivor[rows] >= 0]
    of_near = decisions.only_digits[rows][~decisions.exact[rows]]
    unknown = int(np.count_nonzero(of_near < 0))
    return (None if unknown and unknown == len(of_near) else int(np.count_nonzero(of_near > 0))), unknown


def _much_longer(documents: Documents, decisions: Decisions) -> int:
    """The number of duplicates with more than twice as many tokens as their survivor, as far as these are known."""
    rows = decisions.duplicates
    rows = rows[decisions.survivor[rows] >= 0]  # of others, none stays
    rows = rows[documents.lengths[decisions.survivor[rows]] >= 0]
    tokens = documents.tokens
    return int(np.count_nonzero(tokens[rows] > 2 * tokens[decisions.survivor[rows]]))
