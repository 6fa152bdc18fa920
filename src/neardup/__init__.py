"""Find near-duplicate texts, and de-duplicate corpora.

Names are imported when they are first used: `import neardup` costs nothing, and kernels are loaded only for what runs.
"""

import importlib
from typing import TYPE_CHECKING, Any

from neardup.version import __version__ as __version__

if TYPE_CHECKING:
    from neardup.dedup import deduplicate
    from neardup.errors import (
        CallableError,
        DataError,
        InputError,
        MissingExtra,
        NeardupError,
        OptionError,
        RecipeMismatch,
        RowError,
        ServiceError,
        TransferError,
    )
    from neardup.fingerprints.files.written import format_fingerprints, read_fingerprints
    from neardup.fingerprints.from_features import fingerprint_features
    from neardup.fingerprints.keyword_lists import keywords
    from neardup.fingerprints.minhash import Estimate, Signatures, jaccard_estimate, signatures
    from neardup.fingerprints.simhash import fingerprint
    from neardup.fingerprints.vectors.cosine import EstimatedCosine, estimated_cosine
    from neardup.fingerprints.vectors.fingerprint import fingerprint_vectors
    from neardup.hamming.distances import distance, distances
    from neardup.hamming.index.answers import Groups, IdPairs, IndexInfo, Neighbors
    from neardup.hamming.index.index import Index
    from neardup.hamming.index.planning.index_plan import IndexPlan
    from neardup.hamming.index.planning.plan_index import plan
    from neardup.hamming.pairs import Pairs, join
    from neardup.jobs.evaluate import evaluate_files
    from neardup.jobs.indexes.index import add_to_index, build_index, remove_from_index
    from neardup.jobs.indexes.index_queries import query_index
    from neardup.jobs.leaks.leak_files import leak_files
    from neardup.jobs.leaks.leak_steps import FileLeaks
    from neardup.jobs.leaks.leaks import LeakResult, leaks
    from neardup.jobs.removal.apply import apply_files
    from neardup.jobs.removal.decontaminate import decontaminate_files
    from neardup.jobs.removal.decontamination_steps import FileDecontamination
    from neardup.jobs.removal.dedup import deduplicate_files
    from neardup.jobs.removal.passage_steps import FilePassages
    from neardup.jobs.removal.passages import passages_files
    from neardup.jobs.removal.units import deduplicate_units
    from neardup.jobs.reproduction.reproduce import reproduce
    from neardup.jobs.reproduction.result import Reproduction
    from neardup.jobs.results import FileResult, UnitResult
    from neardup.jobs.splits.group_splitter import GroupSplitter
    from neardup.jobs.splits.split import SplitWarning, split
    from neardup.jobs.splits.split_files import split_files
    from neardup.jobs.splits.steps import FileSplit
    from neardup.jobs.stages.clusters import cluster_files
    from neardup.jobs.stages.fingerprint import fingerprint_files
    from neardup.jobs.stages.fit import fit, fit_files
    from neardup.jobs.stages.imported_fingerprints import import_fingerprint_files
    from neardup.jobs.stages.pairs import pair_files
    from neardup.jobs.stages.vectors import fingerprint_vector_files
    from neardup.jobs.streams.filter import FilterResult, filter_files
    from neardup.jobs.verification.verify import verify_files
    from neardup.judging.comparison import Comparison, FingerprintSteps, compare, replay
    from neardup.judging.estimate import estimate_files
    from neardup.judging.evaluation.evaluate import evaluate
    from neardup.judging.evaluation.result import Evaluation
    from neardup.judging.explanation import Explanation, explain
    from neardup.judging.plan import JoinPlan, plan_files
    from neardup.judging.report import ReportFile, report
    from neardup.judging.run_cost import CostEstimate
    from neardup.judging.runs.diff import diff
    from neardup.judging.runs.result import RunDiff
    from neardup.judging.verification.result import Check, Missed, Verification
    from neardup.matching.band_plan import Bands, hit_probability, miss_probability, plan_bands
    from neardup.matching.bands import BandedPairs, find_banded
    from neardup.matching.contamination.options import DecontaminationOptions
    from neardup.matching.matches import Matches, match
    from neardup.matching.similarities.compare_texts import similarity
    from neardup.options import DedupOptions
    from neardup.progress import ProgressEvent
    from neardup.recipe.files.document_frequencies import DocumentFrequencies
    from neardup.recipe.presets import RECIPES, NamedRecipe
    from neardup.recipe.programs import ProgramRecipe
    from neardup.recipe.recipe import Recipe
    from neardup.recipe.similarity import Similarity
    from neardup.recipe.tables.hashes import HashFunction
    from neardup.recipe.tables.segmenters import Segmenter
    from neardup.recipe.vectors import VectorRecipe
    from neardup.service.client.clients import AsyncClient, Client
    from neardup.store.answers import StoreAnswer, StoreMatch
    from neardup.store.store import Store
    from neardup.store.stream import Match, Stream
    from neardup.survivors.contamination.decontaminate import DecontaminationResult, decontaminate
    from neardup.survivors.contamination.summary import BenchmarkCounts, DecontaminationSummary
    from neardup.survivors.dedup_result import DedupResult
    from neardup.survivors.leaks.summary import LeakSummary, StrengthCounts, TestCounts
    from neardup.survivors.records.summary import Summary, UnitSummary
    from neardup.survivors.repeats.options import PassageOptions
    from neardup.survivors.repeats.records.passages import PassagesResult, passages
    from neardup.survivors.repeats.records.summary import PassagesSummary
    from neardup.survivors.splits.options import SplitOptions
    from neardup.survivors.splits.summary import SideCounts, SplitSummary, StratumCounts

_HOME = {
    "AsyncClient": "service.client.clients",
    "BandedPairs": "matching.bands",
    "Bands": "matching.band_plan",
    "BenchmarkCounts": "survivors.contamination.summary",
    "CallableError": "errors",
    "Check": "judging.verification.result",
    "Client": "service.client.clients",
    "Comparison": "judging.comparison",
    "CostEstimate": "judging.run_cost",
    "DataError": "errors",
    "DecontaminationOptions": "matching.contamination.options",
    "DecontaminationResult": "survivors.contamination.decontaminate",
    "DecontaminationSummary": "survivors.contamination.summary",
    "DedupOptions": "options",
    "DedupResult": "survivors.dedup_result",
    "DocumentFrequencies": "recipe.files.document_frequencies",
    "Estimate": "fingerprints.minhash",
    "EstimatedCosine": "fingerprints.vectors.cosine",
    "Evaluation": "judging.evaluation.result",
    "Explanation": "judging.explanation",
    "FileDecontamination": "jobs.removal.decontamination_steps",
    "FileLeaks": "jobs.leaks.leak_steps",
    "FilePassages": "jobs.removal.passage_steps",
    "FileResult": "jobs.results",
    "FileSplit": "jobs.splits.steps",
    "FilterResult": "jobs.streams.filter",
    "FingerprintSteps": "judging.comparison",
    "GroupSplitter": "jobs.splits.group_splitter",
    "Groups": "hamming.index.answers",
    "HashFunction": "recipe.tables.hashes",
    "IdPairs": "hamming.index.answers",
    "Index": "hamming.index.index",
    "IndexInfo": "hamming.index.answers",
    "IndexPlan": "hamming.index.planning.index_plan",
    "InputError": "errors",
    "JoinPlan": "judging.plan",
    "LeakResult": "jobs.leaks.leaks",
    "LeakSummary": "survivors.leaks.summary",
    "Match": "store.stream",
    "Matches": "matching.matches",
    "Missed": "judging.verification.result",
    "MissingExtra": "errors",
    "NamedRecipe": "recipe.presets",
    "NeardupError": "errors",
    "Neighbors": "hamming.index.answers",
    "OptionError": "errors",
    "Pairs": "hamming.pairs",
    "PassageOptions": "survivors.repeats.options",
    "PassagesResult": "survivors.repeats.records.passages",
    "PassagesSummary": "survivors.repeats.records.summary",
    "ProgramRecipe": "recipe.programs",
    "ProgressEvent": "progress",
    "RECIPES": "recipe.presets",
    "Recipe": "recipe.recipe",
    "RecipeMismatch": "errors",
    "ReportFile": "judging.report",
    "Reproduction": "jobs.reproduction.result",
    "RowError": "errors",
    "RunDiff": "judging.runs.result",
    "Segmenter": "recipe.tables.segmenters",
    "ServiceError": "errors",
    "SideCounts": "survivors.splits.summary",
    "Signatures": "fingerprints.minhash",
    "Similarity": "recipe.similarity",
    "SplitOptions": "survivors.splits.options",
    "SplitSummary": "survivors.splits.summary",
    "SplitWarning": "jobs.splits.split",
    "Store": "store.store",
    "StoreAnswer": "store.answers",
    "StoreMatch": "store.answers",
    "StratumCounts": "survivors.splits.summary",
    "Stream": "store.stream",
    "StrengthCounts": "survivors.leaks.summary",
    "Summary": "survivors.records.summary",
    "TestCounts": "survivors.leaks.summary",
    "TransferError": "errors",
    "UnitResult": "jobs.results",
    "UnitSummary": "survivors.records.summary",
    "VectorRecipe": "recipe.vectors",
    "Verification": "judging.verification.result",
    "add_to_index": "jobs.indexes.index",
    "apply_files": "jobs.removal.apply",
    "build_index": "jobs.indexes.index",
    "cluster_files": "jobs.stages.clusters",
    "compare": "judging.comparison",
    "decontaminate": "survivors.contamination.decontaminate",
    "decontaminate_files": "jobs.removal.decontaminate",
    "deduplicate": "dedup",
    "deduplicate_files": "jobs.removal.dedup",
    "deduplicate_units": "jobs.removal.units",
    "diff": "judging.runs.diff",
    "distance": "hamming.distances",
    "distances": "hamming.distances",
    "estimate_files": "judging.estimate",
    "estimated_cosine": "fingerprints.vectors.cosine",
    "evaluate": "judging.evaluation.evaluate",
    "evaluate_files": "jobs.evaluate",
    "explain": "judging.explanation",
    "filter_files": "jobs.streams.filter",
    "find_banded": "matching.bands",
    "fingerprint": "fingerprints.simhash",
    "fingerprint_features": "fingerprints.from_features",
    "fingerprint_files": "jobs.stages.fingerprint",
    "fingerprint_vector_files": "jobs.stages.vectors",
    "fingerprint_vectors": "fingerprints.vectors.fingerprint",
    "fit": "jobs.stages.fit",
    "fit_files": "jobs.stages.fit",
    "format_fingerprints": "fingerprints.files.written",
    "hit_probability": "matching.band_plan",
    "import_fingerprint_files": "jobs.stages.imported_fingerprints",
    "jaccard_estimate": "fingerprints.minhash",
    "join": "hamming.pairs",
    "keywords": "fingerprints.keyword_lists",
    "leak_files": "jobs.leaks.leak_files",
    "leaks": "jobs.leaks.leaks",
    "match": "matching.matches",
    "miss_probability": "matching.band_plan",
    "pair_files": "jobs.stages.pairs",
    "passages": "survivors.repeats.records.passages",
    "passages_files": "jobs.removal.passages",
    "plan": "hamming.index.planning.plan_index",
    "plan_bands": "matching.band_plan",
    "plan_files": "judging.plan",
    "query_index": "jobs.indexes.index_queries",
    "read_fingerprints": "fingerprints.files.written",
    "remove_from_index": "jobs.indexes.index",
    "replay": "judging.comparison",
    "report": "judging.report",
    "reproduce": "jobs.reproduction.reproduce",
    "signatures": "fingerprints.minhash",
    "similarity": "matching.similarities.compare_texts",
    "split": "jobs.splits.split",
    "split_files": "jobs.splits.split_files",
    "verify_files": "jobs.verification.verify",
}
"""All public names, each with the module that has it."""

__all__ = [  # noqa: RUF022 - sorted as in _HOME; tests/project/test_public.py compares the two
    "AsyncClient",
    "BandedPairs",
    "Bands",
    "BenchmarkCounts",
    "CallableError",
    "Check",
    "Client",
    "Comparison",
    "CostEstimate",
    "DataError",
    "DecontaminationOptions",
    "DecontaminationResult",
    "DecontaminationSummary",
    "DedupOptions",
    "DedupResult",
    "DocumentFrequencies",
    "Estimate",
    "EstimatedCosine",
    "Evaluation",
    "Explanation",
    "FileDecontamination",
    "FileLeaks",
    "FilePassages",
    "FileResult",
    "FileSplit",
    "FilterResult",
    "FingerprintSteps",
    "GroupSplitter",
    "Groups",
    "HashFunction",
    "IdPairs",
    "Index",
    "IndexInfo",
    "IndexPlan",
    "InputError",
    "JoinPlan",
    "LeakResult",
    "LeakSummary",
    "Match",
    "Matches",
    "Missed",
    "MissingExtra",
    "NamedRecipe",
    "NeardupError",
    "Neighbors",
    "OptionError",
    "Pairs",
    "PassageOptions",
    "PassagesResult",
    "PassagesSummary",
    "ProgramRecipe",
    "ProgressEvent",
    "RECIPES",
    "Recipe",
    "RecipeMismatch",
    "ReportFile",
    "Reproduction",
    "RowError",
    "RunDiff",
    "Segmenter",
    "ServiceError",
    "SideCounts",
    "Signatures",
    "Similarity",
    "SplitOptions",
    "SplitSummary",
    "SplitWarning",
    "Store",
    "StoreAnswer",
    "StoreMatch",
    "StratumCounts",
    "Stream",
    "StrengthCounts",
    "Summary",
    "TestCounts",
    "TransferError",
    "UnitResult",
    "UnitSummary",
    "VectorRecipe",
    "Verification",
    "add_to_index",
    "apply_files",
    "build_index",
    "cluster_files",
    "compare",
    "decontaminate",
    "decontaminate_files",
    "deduplicate",
    "deduplicate_files",
    "deduplicate_units",
    "diff",
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
    "format_fingerprints",
    "hit_probability",
    "import_fingerprint_files",
    "jaccard_estimate",
    "join",
    "keywords",
    "leak_files",
    "leaks",
    "match",
    "miss_probability",
    "pair_files",
    "passages",
    "passages_files",
    "plan",
    "plan_bands",
    "plan_files",
    "query_index",
    "read_fingerprints",
    "remove_from_index",
    "replay",
    "report",
    "reproduce",
    "signatures",
    "similarity",
    "split",
    "split_files",
    "verify_files",
]


_OTHER_NAMES = {
    "compare_runs": "diff",
    "containment": "similarity",
    "cosine": "similarity",
    "dedup": "deduplicate",
    "dedupe": "deduplicate",
    "diff_runs": "diff",
    "drop_duplicates": "deduplicate",
    "exact_substring": "passages",
    "find_duplicates": "deduplicate",
    "fuzzy_dedup": "deduplicate",
    "hamming": "distance",
    "hamming_distance": "distance",
    "jaccard": "similarity",
    "lsh": "find_banded",
    "minhash": "signatures",
    "minhashlsh": "find_banded",
    "pairs": "match",
    "shingles": "Similarity",
    "simhash": "fingerprint",
    "simhashindex": "Index",
    "substrings": "passages",
    "suffix_array": "passages",
    "unique": "deduplicate",
}
"""Names of other tools and of ideas, in lower case without underscores at their ends, each with ours."""


def _meant(name: str) -> str:
    """The public names that a name may mean, as the end of a message; nothing if none is like it."""
    import difflib

    if name.startswith("_"):
        return ""
    given, public = name.lower(), {each.lower(): each for each in _HOME}
    found = [_OTHER_NAMES.get(given), public.get(given)]
    found += [each for each in _HOME if each.endswith("_files") and given in (each[:-6], each[:-6] + "s", each[:-5])]
    close = difflib.get_close_matches(given, public, 1, 0.75) or difflib.get_close_matches(given, _OTHER_NAMES, 1, 0.8)
    names = dict.fromkeys(each for each in found if each)
    if not names:
        names = dict.fromkeys(public.get(each) or _OTHER_NAMES[each] for each in close)
    return f". Did you mean {' or '.join(map(repr, names))}?" if names else ""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}{_meant(name)}")
    module = importlib.import_module(f"neardup.{_HOME[name]}")
    if _HOME[name] == "errors":  # which are there before anything else is
        return getattr(module, name)
    return importlib.import_module("neardup.options").public(module, name, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
