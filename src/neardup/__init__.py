"""Find near-duplicate texts, and de-duplicate corpora.

Names are imported when they are first used: `import neardup` costs nothing, and kernels are loaded only for what runs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.band_plan import Bands, hit_probability, miss_probability, plan_bands
    from neardup.bands import BandedPairs, find_banded
    from neardup.comparison import Comparison, compare, replay
    from neardup.dedup import DedupResult, deduplicate
    from neardup.document_frequencies import DocumentFrequencies
    from neardup.errors import (
        CallableError,
        DataError,
        InputError,
        MissingExtra,
        NeardupError,
        OptionError,
        RecipeMismatch,
        RowError,
        TransferError,
    )
    from neardup.evaluation.flow import evaluate
    from neardup.evaluation.result import Evaluation
    from neardup.explanation import Explanation, explain
    from neardup.fingerprints.given import fingerprint_features
    from neardup.fingerprints.minhash import Estimate, Signatures, jaccard_estimate, signatures
    from neardup.fingerprints.simhash import fingerprint
    from neardup.hashes.names import HashFunction
    from neardup.index.answers import Groups, IdPairs, IndexInfo, Neighbors
    from neardup.index.index import Index
    from neardup.index.index_plan import IndexPlan, plan
    from neardup.jobs.apply import apply_files
    from neardup.jobs.clusters import cluster_files
    from neardup.jobs.dedup import deduplicate_files
    from neardup.jobs.estimate import CostEstimate, estimate_files
    from neardup.jobs.evaluate import evaluate_files
    from neardup.jobs.filter import filter_files
    from neardup.jobs.fingerprint import fingerprint_files
    from neardup.jobs.fit import fit, fit_files
    from neardup.jobs.index import add_to_index, build_index, query_index, remove_from_index
    from neardup.jobs.pairs import pair_files
    from neardup.jobs.report import ReportFile, report
    from neardup.jobs.units import deduplicate_units
    from neardup.jobs.vectors import fingerprint_vector_files
    from neardup.keyword_lists import keywords
    from neardup.matches import Matches, match
    from neardup.options import DedupOptions
    from neardup.pairs import Pairs, distance, distances, join
    from neardup.progress import ProgressEvent
    from neardup.recipe import RECIPES, Recipe
    from neardup.segmenters.names import Segmenter
    from neardup.similarities import similarity
    from neardup.stream import Match, Stream
    from neardup.summary import Summary
    from neardup.vectors.cosine import EstimatedCosine, estimated_cosine
    from neardup.vectors.fingerprint import fingerprint_vectors
    from neardup.vectors.recipe import VectorRecipe

_HOME = {
    "BandedPairs": "bands",
    "Bands": "band_plan",
    "CallableError": "errors",
    "Comparison": "comparison",
    "CostEstimate": "jobs.estimate",
    "DataError": "errors",
    "DedupOptions": "options",
    "DedupResult": "dedup",
    "DocumentFrequencies": "document_frequencies",
    "Estimate": "fingerprints.minhash",
    "EstimatedCosine": "vectors.cosine",
    "Evaluation": "evaluation.result",
    "Explanation": "explanation",
    "HashFunction": "hashes.names",
    "Groups": "index.answers",
    "IdPairs": "index.answers",
    "Index": "index.index",
    "IndexInfo": "index.answers",
    "IndexPlan": "index.index_plan",
    "InputError": "errors",
    "Match": "stream",
    "Matches": "matches",
    "MissingExtra": "errors",
    "NeardupError": "errors",
    "Neighbors": "index.answers",
    "OptionError": "errors",
    "Pairs": "pairs",
    "ProgressEvent": "progress",
    "RECIPES": "recipe",
    "Recipe": "recipe",
    "RecipeMismatch": "errors",
    "ReportFile": "jobs.report",
    "RowError": "errors",
    "Segmenter": "segmenters.names",
    "Signatures": "fingerprints.minhash",
    "Stream": "stream",
    "Summary": "summary",
    "TransferError": "errors",
    "VectorRecipe": "vectors.recipe",
    "add_to_index": "jobs.index",
    "apply_files": "jobs.apply",
    "build_index": "jobs.index",
    "cluster_files": "jobs.clusters",
    "compare": "comparison",
    "deduplicate": "dedup",
    "deduplicate_files": "jobs.dedup",
    "deduplicate_units": "jobs.units",
    "distance": "pairs",
    "distances": "pairs",
    "estimate_files": "jobs.estimate",
    "estimated_cosine": "vectors.cosine",
    "evaluate": "evaluation.flow",
    "evaluate_files": "jobs.evaluate",
    "explain": "explanation",
    "filter_files": "jobs.filter",
    "find_banded": "bands",
    "fingerprint": "fingerprints.simhash",
    "fingerprint_features": "fingerprints.given",
    "fingerprint_files": "jobs.fingerprint",
    "fingerprint_vector_files": "jobs.vectors",
    "fingerprint_vectors": "vectors.fingerprint",
    "fit": "jobs.fit",
    "fit_files": "jobs.fit",
    "hit_probability": "band_plan",
    "jaccard_estimate": "fingerprints.minhash",
    "join": "pairs",
    "keywords": "keyword_lists",
    "match": "matches",
    "miss_probability": "band_plan",
    "pair_files": "jobs.pairs",
    "plan": "index.index_plan",
    "plan_bands": "band_plan",
    "query_index": "jobs.index",
    "remove_from_index": "jobs.index",
    "replay": "comparison",
    "report": "jobs.report",
    "signatures": "fingerprints.minhash",
    "similarity": "similarities",
}
"""Every public name and the module that has it."""

__all__ = [  # noqa: RUF022 - sorted as in _HOME; tests/test_public.py compares the two
    "BandedPairs",
    "Bands",
    "CallableError",
    "Comparison",
    "CostEstimate",
    "DataError",
    "DedupOptions",
    "DedupResult",
    "DocumentFrequencies",
    "Estimate",
    "EstimatedCosine",
    "Evaluation",
    "Explanation",
    "Groups",
    "HashFunction",
    "IdPairs",
    "Index",
    "IndexInfo",
    "IndexPlan",
    "InputError",
    "Match",
    "Matches",
    "MissingExtra",
    "NeardupError",
    "Neighbors",
    "OptionError",
    "Pairs",
    "ProgressEvent",
    "RECIPES",
    "Recipe",
    "RecipeMismatch",
    "ReportFile",
    "RowError",
    "Segmenter",
    "Signatures",
    "Stream",
    "Summary",
    "TransferError",
    "VectorRecipe",
    "add_to_index",
    "apply_files",
    "build_index",
    "cluster_files",
    "compare",
    "deduplicate",
    "deduplicate_files",
    "deduplicate_units",
    "distance",
    "distances",
    "estimate_files",
    "estimated_cosine",
    "evaluate",
    "evaluate_files",
    "explain",
    "filter_files",
    "find_banded",
    "fingerprint",
    "fingerprint_features",
    "fingerprint_files",
    "fingerprint_vector_files",
    "fingerprint_vectors",
    "fit",
    "fit_files",
    "hit_probability",
    "jaccard_estimate",
    "join",
    "keywords",
    "match",
    "miss_probability",
    "pair_files",
    "plan",
    "plan_bands",
    "query_index",
    "remove_from_index",
    "replay",
    "report",
    "signatures",
    "similarity",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    return getattr(importlib.import_module(f"neardup.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
