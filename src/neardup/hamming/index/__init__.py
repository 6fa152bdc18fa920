"""The Hamming index: fingerprints with ids, searched by distance, by any of a family of methods."""

from neardup.hamming.index.answers import Groups, IdPairs, IndexInfo, Neighbors
from neardup.hamming.index.index import Index
from neardup.hamming.index.methods import METHODS

__all__ = ["METHODS", "Groups", "IdPairs", "Index", "IndexInfo", "Neighbors"]
