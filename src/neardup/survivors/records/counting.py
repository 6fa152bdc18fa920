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
from neardup.resources.memory_use import peak_memory_bytes
from neardup.resources.spool import peak_temporary_bytes
from neardup.survivors.decisions import Decisions, Findings
from neardup.survivors.records.summary import Summary
from neardup.text.html import html_versions
from neardup.text.preference import comparison_of
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
) -> Summary:
    """Count the outcomes of the documents.

    `html`: how HTML became text, if the texts were HTML; `rejected`: rows of files that could not be read.
    """
    decisions = findings.of_inputs
    valid = findings.documents.valid
    documents = int(np.count_nonzero(valid[: findings.inputs]))
    duplicates, by = decisions.duplicates, options.preferred_by
    return Summary(
        rows=findings.inputs,
        documents=documents,
        rejected=findings.inputs - documents,
        reference_documents=int(np.count_nonzero(valid[findings.inputs :])),
        survivors=documents - len(duplicates),
        duplicates=len(duplicates),
        exact_duplicates=int(decisions.exact.sum()),
        against_reference=int(np.count_nonzero(decisions.survivor >= findings.inputs)),
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
        seconds=progress.seconds | {"total": round(sum(progress.seconds.values()), 3)},
        read_bytes=progress.read_bytes | {"total": sum(progress.read_bytes.values())},
        written_bytes=progress.written_bytes | {"total": sum(progress.written_bytes.values())},
        peak_memory_bytes=peak_memory_bytes(),
        peak_temporary_bytes=peak_temporary_bytes(),
        memory=options.resources.as_dict(),
        versions=versions() | {"kernels": described()} | html_versions(html),
        passed_over=progress.passed_over,
        similarity_of=similarity_mark(recipe.as_dict()),
        recipe_decides=what_recipe_decides(recipe, options) if isinstance(recipe, Recipe) else None,
        much_longer=_much_longer(findings.documents, decisions),
        rejected_for=by_reason(rejected),
        compared_as=None if by is None else comparison_of(findings.documents.values[by], by),
    )


def _much_longer(documents: Documents, decisions: Decisions) -> int:
    """The number of duplicates with more than twice as many tokens as their survivor, as far as these are known."""
    rows = decisions.duplicates
    rows = rows[documents.lengths[decisions.survivor[rows]] >= 0]
    tokens = documents.tokens
    return int(np.count_nonzero(tokens[rows] > 2 * tokens[decisions.survivor[rows]]))
