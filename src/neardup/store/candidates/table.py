"""CANDIDATES: one row for each method of a store."""

from neardup.store.candidates.exact import ExactCandidates
from neardup.store.candidates.minhash import MinHashCandidates
from neardup.store.candidates.proposing import Candidates
from neardup.store.candidates.simhash import SimHashCandidates

CANDIDATES: dict[str, type[Candidates]] = {
    "exact": ExactCandidates,
    "minhash": MinHashCandidates,
    "simhash": SimHashCandidates,
}
"""The methods of a store."""
